"""The style of the figures of a page: their sizes and fonts, and colours that the page can set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from groupcm.plots.style import GRID, INK, MUTED, SERIES, SURFACE
from groupcm.utils.merged_warnings import ignore_warnings

__all__ = [
    "NAMED_COLOURS",
    "SQUARE",
    "WIDTH",
    "colour_name",
    "in_style",
    "legend_below",
    "new_axes",
    "style",
]

NAMED_COLOURS: Mapping[str, str] = {
    "ink": INK,
    "muted": MUTED,
    "grid": GRID,
    "surface": SURFACE,
    **{f"series-{k}": colour for k, colour in enumerate(SERIES, start=1)},
}
"""The name of each colour in a page, which can give it another value in dark mode."""

SQUARE = 4.25
WIDTH = 4.3  # inches: the text is then of its true size on a phone, and larger elsewhere

_PARAMETERS: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.unicode_minus": True,
    "figure.constrained_layout.h_pad": 0.08,
    "figure.constrained_layout.w_pad": 0.08,
    "figure.facecolor": SURFACE,
    "axes.facecolor": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "savefig.facecolor": SURFACE,
    "svg.fonttype": "none",
    "text.color": INK,
    # A dollar sign in a feature's name is a dollar sign.
    "text.parse_math": False,
    "text.usetex": False,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "xtick.major.size": 3,
    "xtick.major.width": 0.8,
    "xtick.minor.size": 0,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.labelsize": 8.5,
    "ytick.major.size": 3,
    "ytick.major.width": 0.8,
    "ytick.minor.size": 0,
}

P = ParamSpec("P")
Result = TypeVar("Result")


@contextmanager
def style() -> Iterator[None]:
    """Draw with these parameters alone, whatever the user's matplotlibrc contains.

    Examples
    --------
    >>> with style():
    ...     matplotlib.rcParams["text.parse_math"]
    False
    """
    # A name in a script that the font lacks is still right in the SVG and in the page.
    with matplotlib.rc_context(), ignore_warnings(message=r"Glyph .* missing from"):
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_PARAMETERS)
        yield


def in_style(draw: Callable[P, Result]) -> Callable[P, Result]:
    """Let a function draw in `style`."""

    @wraps(draw)
    def drawing(*args: P.args, **kwargs: P.kwargs) -> Result:
        with style():
            return draw(*args, **kwargs)

    return drawing


def colour_name(colour: str) -> str:
    """Return the name of a colour in a page.

    Examples
    --------
    >>> colour_name("#0072b2")
    'series-1'
    """
    return next(name for name, value in NAMED_COLOURS.items() if value == colour)


def new_axes(height: float = SQUARE) -> tuple[Figure, Axes]:
    """Start a figure of the common width; by default its axes are a square."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.add_subplot()


def legend_below(figure: Figure, columns: int = 2, title: str | None = None) -> None:
    """Put the legend below the axes, where no line crosses it."""
    figure.legend(
        loc="outside lower center",
        ncols=columns,
        columnspacing=1.4,
        handlelength=1.8,
        title=title,
        title_fontsize=8.5,
    )
