"""Performance against the size of the training data, and over repeated training sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator
from numpy.typing import NDArray

from groupcm.evaluation.results import LearningCurve
from groupcm.metrics import Interval
from groupcm.plots.axes import many, plain_ticks, shorten
from groupcm.plots.style import SURFACE, Series, empty_axes
from groupcm.report.figures.style import in_style, legend_below, new_axes
from groupcm.utils.formatting import fraction
from groupcm.utils.text import in_unit

__all__ = ["SizeLine", "draw_repeats", "learning_figure", "size_figure", "spread_figure"]

_MOST_BANDS = 2  # more than these would hide each other
_LONGEST_NAME = 22
_CLOSEST_TICKS, _SHIFT = 0.11, 0.012  # of the axis
_FAR = 1.0  # of the others' range


@in_style
def learning_figure(
    learning: LearningCurve, series: Mapping[str, Series], unit: str = "group"
) -> Figure:
    """Draw the group AUC of each model against the size of its training data.

    Examples
    --------
    >>> from groupcm.evaluation.results import LearningLine
    >>> from groupcm.plots.style import series_of
    >>> line = LearningLine("GCM", [Interval(0.8, 0.7, 0.9), Interval(0.9, 0.85, 0.95)])
    >>> curve = LearningCurve([100, 1000], "negative groups", [line])
    >>> learning_figure(curve, series_of(["GCM"])).axes[0].get_xlabel()
    'Trained on: negative groups'
    """
    several = len(learning.lines) > 1
    figure, axes = new_axes(3.2 + (0.09 * len(learning.lines) if several else 0))
    sizes = np.asarray(learning.sizes, float)
    if not len(sizes):
        empty_axes(axes, "no sizes")
        return figure
    for line, shift in zip(learning.lines, _shifts(learning.lines, sizes), strict=True):
        known = [(size, auc) for size, auc in zip(sizes, line.auc, strict=True) if auc is not None]
        if not known:
            continue
        x = np.array([size for size, _ in known])
        low, middle, high = np.transpose([(auc.low, auc.estimate, auc.high) for _, auc in known])
        look = series[line.model]
        if len(learning.lines) <= _MOST_BANDS:
            axes.fill_between(x, low, high, color=look.colour, alpha=0.16, linewidth=0)
        else:
            # Side by side, so that intervals at one size do not cover each other.
            x = x * shift
            axes.vlines(x, low, high, color=look.colour, linewidth=1.1, alpha=0.75)
        _draw_line(axes, x, middle, look, markersize=4.5, label=shorten(line.model, _LONGEST_NAME))
    trained_on = shorten(in_unit(learning.unit, unit), 40)
    _frame(axes, sizes, f"Trained on: {trained_on}", f"AUC of {many(unit)}")
    if several:
        legend_below(figure)
    return figure


@dataclass(frozen=True)
class SizeLine:
    """The AUC of a method at each size; a method with one size is drawn as a horizontal line.

    Attributes
    ----------
    name : str
    look : Series
    sizes : sequence of int
    auc : sequence of Interval
    repeats : sequence of sequences of float
        At each size, the AUC of each repeat.
    """

    name: str
    look: Series
    sizes: Sequence[int]
    auc: Sequence[Interval]
    repeats: Sequence[Sequence[float]]


@in_style
def size_figure(lines: Sequence[SizeLine], xlabel: str, ylabel: str) -> Figure:
    """Draw lines with intervals and single repeats; a level far below the others is only named.

    Examples
    --------
    >>> look = Series("#0072b2", "solid", "o")
    >>> auc = [Interval(0.8, 0.7, 0.9), Interval(0.9, 0.85, 0.95)]
    >>> line = SizeLine("GCM", look, [25, 500], auc, [[0.79, 0.81], [0.9, 0.9]])
    >>> size_figure([line], "Negative candidates", "AUC of groups").axes[0].get_xlabel()
    'Negative candidates'
    """
    figure, axes = new_axes(3.7)
    sizes = np.unique(np.concatenate([line.sizes for line in lines]).astype(float))
    shown, below = _split(lines)
    for line, shift in zip(shown, _shifts(shown, sizes), strict=True):
        if len(line.sizes) == 1:
            level, look = line.auc[0].estimate, line.look
            axes.axhline(level, color=look.colour, linestyle=look.dashes, linewidth=1.0)
        x = np.asarray(line.sizes, float) * shift
        offset = _ratio(sizes) ** 0.004
        draw_repeats(axes, x, line.auc, line.repeats, line.look, offset=offset, label=line.name)
    _frame(axes, sizes, xlabel, ylabel)
    for k, line in enumerate(below):
        axes.text(
            0.985,
            0.03 + 0.075 * k,
            f"{line.name}: {fraction(line.auc[0].estimate)}, below this axis ↓",
            transform=axes.transAxes,
            ha="right",
            color=line.look.colour,
            fontsize=8.5,
            bbox={"facecolor": SURFACE, "edgecolor": "none", "pad": 1.5},
            zorder=6,
        )
    legend_below(figure)
    return figure


@in_style
def spread_figure(
    values: Mapping[str, Sequence[float] | NDArray[np.float64]],
    series: Mapping[str, Series],
    label: str,
) -> Figure:
    """Draw the single values of each method below each other, with their median.

    Examples
    --------
    >>> look = Series("#0072b2", "solid", "o")
    >>> figure = spread_figure({"GCM": [0.8, 0.9, 0.85]}, {"GCM": look}, "AUC of groups")
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['GCM']
    """
    figure, axes = new_axes(0.9 + 0.5 * len(values))
    for k, (name, found) in enumerate(values.items()):
        x, look = np.sort(np.asarray(found, float)), series[name]
        # Neighbours are set off, so that equal values do not hide each other.
        shift = 0.07 * (np.arange(len(x)) % 3 - 1)
        axes.plot(x, k + shift, look.marker, color=look.colour, markersize=4.5, alpha=0.65)
        axes.plot([np.median(x)] * 2, [k - 0.3, k + 0.3], color=look.colour, linewidth=2)
    axes.set_yticks(range(len(values)), [shorten(name, _LONGEST_NAME + 2) for name in values])
    axes.set_ylim(len(values) - 0.5, -0.5)
    plain_ticks(axes.xaxis, 5)
    axes.set_xlabel(label)
    return figure


def _split(lines: Sequence[SizeLine]) -> tuple[list[SizeLine], list[SizeLine]]:
    """Return the lines to draw, and the levels so far below that the others would look flat."""
    growing = [auc for line in lines if len(line.sizes) > 1 for auc in line.auc]
    if not growing:  # one size
        return list(lines), []
    ends = [end for auc in growing for end in auc if np.isfinite(end)]
    low, high = min(ends), max(ends)
    bottom = low - _FAR * (high - low)
    far = [line for line in lines if len(line.sizes) == 1 and line.auc[0].estimate < bottom]
    return [line for line in lines if line not in far], far


def draw_repeats(
    axes: Axes,
    x: NDArray[np.float64],
    intervals: Sequence[Interval],
    repeats: Sequence[Sequence[float] | NDArray[np.float64]],
    look: Series,
    *,
    offset: float,
    label: str | None = None,
) -> None:
    """Draw a line with intervals, and the single repeats as dots at ``x * offset``."""
    low, middle, high = np.transpose([(each.low, each.estimate, each.high) for each in intervals])
    axes.vlines(x, low, high, color=look.colour, linewidth=1.2, alpha=0.8)
    dots = [(at * offset, one) for at, of in zip(x, repeats, strict=True) for one in of]
    dot = {"marker": "o", "markersize": 2.2, "alpha": 0.55, "linestyle": "none"}
    axes.plot(*np.transpose(dots), color=look.colour, **dot)
    edge = {"markersize": 5, "markeredgecolor": SURFACE, "markeredgewidth": 0.6}
    _draw_line(axes, x, middle, look, label=label, **edge)


def _draw_line(axes: Axes, x: Any, y: Any, look: Series, **more: Any) -> None:
    line = {"color": look.colour, "linestyle": look.dashes, "marker": look.marker}
    axes.plot(x, y, linewidth=1.5, **line, **more)


def _shifts(lines: Sequence[Any], sizes: NDArray[np.float64]) -> list[float]:
    """Return a factor per line that draws the lines side by side at each size."""
    middle = (len(lines) - 1) / 2
    return [_ratio(sizes) ** (_SHIFT * (k - middle)) for k in range(len(lines))]


def _ratio(sizes: NDArray[np.float64]) -> float:
    return max(float(sizes.max() / sizes.min()), 1.5)


def _frame(axes: Axes, sizes: NDArray[np.float64], xlabel: str, ylabel: str) -> None:
    axes.set_xscale("log")
    low, high = float(sizes.min()), float(sizes.max())
    margin = (high / low) ** 0.07 if high > low else 1.5
    axes.set_xlim(low / margin, high * margin)
    plain_ticks(axes.xaxis, FixedLocator(_labelled_sizes(np.unique(sizes))))
    plain_ticks(axes.yaxis, 6)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)


def _labelled_sizes(sizes: NDArray[np.float64]) -> list[float]:
    """Return the sizes whose labels do not overlap each other."""
    reach = np.log(sizes[-1] / sizes[0]) or 1.0
    kept = [float(sizes[0])]
    for size in sizes[1:]:
        if np.log(size / kept[-1]) / reach >= _CLOSEST_TICKS:
            kept.append(float(size))
    return kept
