"""Axes that several figures share, their ticks, and names shortened to fit a figure."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from groupcm.utils.text import is_control, plural, singular

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.ticker import Locator

__all__ = [
    "clean",
    "log_left",
    "log_x",
    "many",
    "one",
    "plain",
    "plain_ticks",
    "share_x",
    "share_y",
    "shorten",
    "shorten_apart",
]

_MARGIN = 0.02
_LONGEST_WORD = 24


def one(word: str) -> str:
    """Return a user's word for a group in the singular, short enough for a label.

    Examples
    --------
    >>> one("query/queries"), many("query/queries")
    ('query', 'queries')
    """
    return shorten(singular(word), _LONGEST_WORD)


def many(word: str) -> str:
    """Return a user's word for a group in the plural, short enough for a label."""
    return shorten(plural(word), _LONGEST_WORD)


def share_x(axes: Axes) -> None:
    """Let x run from 0 to 1."""
    from matplotlib.ticker import MultipleLocator

    axes.set_xlim(-_MARGIN, 1 + _MARGIN)
    plain_ticks(axes.xaxis, MultipleLocator(0.2))


def share_y(axes: Axes) -> None:
    """Let y run from 0 to 1."""
    from matplotlib.ticker import MultipleLocator

    axes.set_ylim(-_MARGIN, 1 + _MARGIN)
    plain_ticks(axes.yaxis, MultipleLocator(0.2))


def plain_ticks(axis: Axis, ticks: int | Locator) -> None:
    """Place at most so many ticks, or those of a locator, with plain numbers."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

    axis.set_major_locator(MaxNLocator(ticks) if isinstance(ticks, int) else ticks)
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))


def log_left(values: ArrayLike) -> float:
    """Return where a logarithmic axis begins so that it shows the smallest positive value.

    Examples
    --------
    >>> log_left([0, 0.004, 0.3])
    0.002
    """
    positive = np.asarray(values, float)
    positive = positive[positive > 0]
    if not len(positive):
        return 0.01
    smallest = float(positive.min())
    decade = 10.0 ** floor(log10(smallest) + 1e-9)
    steps = (0.5, 1, 2, 5)
    return max(round(step * decade, 12) for step in steps if step * decade < smallest * 0.999)


def log_x(axes: Axes, left: float, right: float) -> None:
    """Let x run over decades, with plain numbers at its ticks."""
    from matplotlib.ticker import LogLocator

    axes.set_xscale("log")
    axes.set_xlim(left, right)
    few_decades = right / left < 30
    plain_ticks(axes.xaxis, LogLocator(subs=(1.0, 2.0, 5.0) if few_decades else (1.0,)))


def plain(value: float) -> str:
    """Write a tick's number without powers of ten.

    Examples
    --------
    >>> plain(0.001), plain(0.6000000000000001), plain(-1.5), plain(100000.0), plain(1e7)
    ('0.001', '0.6', '−1.5', '100,000', '10 M')
    """
    if abs(value) >= 1e6:
        text = f"{value / 1e6:,.6g} M"
    elif abs(value) >= 1:
        text = f"{value:,.6g}"
    else:
        text = np.format_float_positional(round(value, 9) + 0.0, trim="-")
    return text.replace("-", "−")


def clean(text: str) -> str:
    """Remove what a text file cannot hold: control characters, line ends, unpaired surrogates.

    Examples
    --------
    >>> clean("mean\\nred\\x00 level")
    'mean red level'
    """
    visible = (" " if _is_unprintable(letter) else letter for letter in str(text))
    return " ".join("".join(visible).split())


def shorten(text: str, most: int) -> str:
    """Leave out the middle of a long name, because names differ most often at their ends.

    Examples
    --------
    >>> shorten("texture_gabor_orientation_3_scale_2_mean", 24)
    'texture_gab…cale_2_mean'
    >>> shorten("redness", 24)
    'redness'
    """
    text = clean(text)
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def shorten_apart(names: Sequence[str], most: int) -> list[str]:
    """Shorten the names of a list, first by what they all begin and end with.

    Examples
    --------
    >>> shorten_apart(["texture_gabor_3_mean", "texture_gabor_11_mean"], 12)
    ['…3…', '…11…']
    >>> shorten_apart(["redness", "size"], 12)
    ['redness', 'size']
    """
    names = [clean(name) for name in names]
    if all(len(name) <= most for name in names) or len(set(names)) < 2:
        return [shorten(name, most) for name in names]
    begin = _n_shared(names)
    rests = [name[begin:] for name in names]
    end = _n_shared([rest[::-1] for rest in rests])
    return [
        shorten(f"{'…' * (begin > 0)}{rest[: len(rest) - end]}{'…' * (end > 0)}", most)
        for rest in rests
    ]


def _n_shared(names: Sequence[str]) -> int:
    """Return the number of letters that all names begin with."""
    # The first and the last in the alphabet differ no later than any other two.
    first, last = min(names), max(names)
    length = min(len(first), len(last))
    return next((k for k in range(length) if first[k] != last[k]), length)


def _is_unprintable(letter: str) -> bool:
    return is_control(letter) or unicodedata.category(letter) == "Cn"
