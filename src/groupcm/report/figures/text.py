"""Names that users chose, as short as a figure needs them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from groupcm.words import is_control

__all__ = ["clean", "shorten", "shorten_apart"]


def clean(text: str) -> str:
    """Leave out what no file of text can hold: control characters, line ends, half characters.

    Examples
    --------
    >>> clean("mean\\nred\\x00 level")
    'mean red level'
    """
    visible = (" " if _is_unprintable(letter) else letter for letter in str(text))
    return " ".join("".join(visible).split())


def shorten(text: str, most: int) -> str:
    """Leave out the middle of a long name: both its ends tell names apart.

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
    """Shorten names that stand below each other, first by what they all begin and end with.

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
    """How many letters all names begin with."""
    # The first and the last in the alphabet differ no later than any other two.
    first, last = min(names), max(names)
    length = min(len(first), len(last))
    return next((k for k in range(length) if first[k] != last[k]), length)


def _is_unprintable(letter: str) -> bool:
    return is_control(letter) or unicodedata.category(letter) == "Cn"
