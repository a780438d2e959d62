"""The style of every figure: colours, sizes, fonts, and one colour per model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = [
    "GRID",
    "INK",
    "MUTED",
    "NAMED_COLOURS",
    "NEGATIVE",
    "POSITIVE",
    "SQUARE",
    "SURFACE",
    "WIDTH",
    "Series",
    "colour_name",
    "empty_axes",
    "in_style",
    "legend_below",
    "new_axes",
    "series_of",
    "style",
]

INK, MUTED, GRID, SURFACE = "#1f2933", "#5f6b7a", "#dfe4ea", "#ffffff"
# Okabe and Ito's colours, which can be distinguished with any colour vision.
_SERIES = ("#0072b2", "#d55e00", "#009e73", "#b8558f", "#c28500", "#3c9fd6", "#6b7280")
POSITIVE, NEGATIVE = _SERIES[1], _SERIES[0]
_DASHES = ("solid", (0, (5, 1.6)), (0, (1.4, 1.4)), (0, (6, 1.6, 1.4, 1.6)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")

NAMED_COLOURS: Mapping[str, str] = {
    "ink": INK,
    "muted": MUTED,
    "grid": GRID,
    "surface": SURFACE,
    **{f"series-{k}": colour for k, colour in enumerate(_SERIES, start=1)},
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
    with matplotlib.rc_context(), warnings.catch_warnings():
        # A name in a script that the font lacks is still right in the SVG and in the page.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from")
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


@dataclass(frozen=True)
class Series:
    """The look of one model in all figures."""

    colour: str
    dashes: str | tuple[int, tuple[float, ...]]
    marker: str


def series_of(names: Iterable[str]) -> dict[str, Series]:
    """Assign each name a colour, a dash and a marker.

    Examples
    --------
    >>> looks = series_of(["SVM", "GCM"])
    >>> looks["SVM"].colour, looks["GCM"].colour
    ('#0072b2', '#d55e00')
    """
    return {
        name: Series(
            _SERIES[k % len(_SERIES)], _DASHES[k % len(_DASHES)], _MARKERS[k % len(_MARKERS)]
        )
        for k, name in enumerate(dict.fromkeys(names))
    }


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


def empty_axes(axes: Axes, message: str) -> None:
    """Write in the middle of a figure that there is nothing to draw."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, message, transform=axes.transAxes, ha="center", va="center", color=MUTED)
