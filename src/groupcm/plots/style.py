"""The style of the displays: colours, one look per model, and the frame of their axes.

A display respects the user's fonts and backgrounds: it reads the colours of text and of the
background from the axes that it draws into, and changes no parameter of matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "CHANCE",
    "GRID",
    "INK",
    "MUTED",
    "NEGATIVE",
    "POSITIVE",
    "SERIES",
    "SURFACE",
    "Series",
    "empty_axes",
    "frame",
    "ink",
    "legend_inside",
    "looks",
    "n_curves",
    "next_look",
    "series_of",
    "surface",
]

INK, MUTED, GRID, SURFACE = "#1f2933", "#5f6b7a", "#dfe4ea", "#ffffff"
# Okabe and Ito's colours, which can be distinguished with any colour vision.
SERIES = ("#0072b2", "#d55e00", "#009e73", "#b8558f", "#c28500", "#3c9fd6", "#6b7280")
POSITIVE, NEGATIVE = SERIES[1], SERIES[0]
_DASHES = ("solid", (0, (5, 1.6)), (0, (1.4, 1.4)), (0, (6, 1.6, 1.4, 1.6)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_CURVE = "groupcm-curve"
CHANCE: dict[str, Any] = {"color": MUTED, "linewidth": 0.9, "linestyle": (0, (3, 3))}


@dataclass(frozen=True)
class Series:
    """The look of one model in all figures."""

    colour: str
    dashes: str | tuple[int, tuple[float, ...]]
    marker: str


def looks(k: int) -> Series:
    """Return the look of the model number ``k``.

    Examples
    --------
    >>> looks(1).colour
    '#d55e00'
    """
    return Series(SERIES[k % len(SERIES)], _DASHES[k % len(_DASHES)], _MARKERS[k % len(_MARKERS)])


def series_of(names: Iterable[str]) -> dict[str, Series]:
    """Assign each name a colour, a dash and a marker.

    Examples
    --------
    >>> found = series_of(["SVM", "GCM"])
    >>> found["SVM"].colour, found["GCM"].colour
    ('#0072b2', '#d55e00')
    """
    return {name: looks(k) for k, name in enumerate(dict.fromkeys(names))}


def next_look(axes: Axes, line: dict[str, Any]) -> dict[str, Any]:
    """Return how to draw the next curve in these axes: the look that no curve there has yet.

    ``line`` overrides it. The curve that is drawn with the result is counted by the next call.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().add_subplot()
    >>> _ = axes.plot([0, 1], [0, 1], **next_look(axes, {}))
    >>> next_look(axes, {"linewidth": 3})["color"]
    '#d55e00'
    """
    look = looks(n_curves(axes))
    given = dict(line)
    # Matplotlib refuses a property that is given by both its names.
    colour = given.pop("c", given.pop("color", look.colour))
    dashes = given.pop("ls", given.pop("linestyle", look.dashes))
    if "lw" not in given:
        given.setdefault("linewidth", 1.8)
    return {"gid": _CURVE, "color": colour, "linestyle": dashes, **given}


def n_curves(axes: Axes) -> int:
    """Return the number of curves that displays have drawn into these axes."""
    return sum(line.get_gid() == _CURVE for line in axes.get_lines())


def ink(axes: Axes) -> Any:
    """Return the colour of text in these axes."""
    return axes.xaxis.label.get_color()


def surface(axes: Axes) -> str:
    """Return the colour of the background."""
    from matplotlib.colors import to_hex

    return to_hex(axes.get_figure(root=True).get_facecolor())  # pyright: ignore


def frame(axes: Axes, xlabel: str, ylabel: str = "") -> None:
    """Label the axes, draw a faint grid behind the curves, and remove the box around them."""
    axes.set_xlabel(xlabel)
    if ylabel:
        axes.set_ylabel(ylabel)
    axes.set_axisbelow(True)
    axes.grid(True, color=MUTED, alpha=0.2, linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)


def legend_inside(axes: Axes, location: Any) -> None:
    """Draw the legend of the labelled curves, if there are any; a dollar sign is a dollar sign."""
    if not axes.get_legend_handles_labels()[1]:
        return
    legend = axes.legend(loc=location, frameon=True, framealpha=0.85, edgecolor="none")
    for text in legend.get_texts():
        text.set_parse_math(False)


def empty_axes(axes: Axes, message: str) -> None:
    """Write in the middle of a figure that there is nothing to draw."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, message, transform=axes.transAxes, ha="center", va="center", color=MUTED)
