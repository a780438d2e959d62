"""What more training data buys."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from groupcm.evaluation.results import LearningCurve
from groupcm.report.figures.axes import plain, shorten
from groupcm.report.figures.style import Series, empty_axes, in_style, legend_below, new_axes

__all__ = ["labelled_sizes", "learning_figure"]

_MOST_BANDS = 2  # more than these would hide each other
_LONGEST_NAME = 22
_CLOSEST_TICKS, _SHIFT = 0.11, 0.011  # of the axis


@in_style
def learning_figure(learning: LearningCurve, series: Mapping[str, Series]) -> Figure:
    """Group AUC of each model against the size of its training data, on a logarithmic axis.

    Examples
    --------
    >>> from groupcm.evaluation.results import LearningLine
    >>> from groupcm.metrics import Interval
    >>> from groupcm.report.figures.style import series_of
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
    with_bands = len(learning.lines) <= _MOST_BANDS
    for k, line in enumerate(learning.lines):
        known = [(size, auc) for size, auc in zip(sizes, line.auc, strict=True) if auc is not None]
        if not known:
            continue
        x = np.array([size for size, _ in known])
        low, middle, high = (
            np.array([getattr(auc, end) for _, auc in known]) for end in ("low", "estimate", "high")
        )
        look = series[line.model]
        if with_bands:
            axes.fill_between(x, low, high, color=look.colour, alpha=0.16, linewidth=0)
        else:
            # Side by side, so that intervals at one size do not cover each other.
            x = x * (sizes.max() / sizes.min()) ** (_SHIFT * (k - (len(learning.lines) - 1) / 2))
            axes.vlines(x, low, high, color=look.colour, linewidth=1.1, alpha=0.75)
        axes.plot(
            x,
            middle,
            color=look.colour,
            linestyle=look.dashes,
            marker=look.marker,
            markersize=4.5,
            linewidth=1.5,
            label=shorten(line.model, _LONGEST_NAME),
        )
    _frame(axes, sizes, learning.unit)
    if several:
        legend_below(figure)
    return figure


def _frame(axes: Axes, sizes: np.ndarray, unit: str) -> None:
    axes.set_xscale("log")
    low, high = float(sizes.min()), float(sizes.max())
    margin = (high / low) ** 0.07 if high > low else 1.5
    axes.set_xlim(low / margin, high * margin)
    axes.xaxis.set_major_locator(FixedLocator(labelled_sizes(np.unique(sizes))))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axes.set_xlabel(f"Trained on: {shorten(unit, 40)}")
    axes.set_ylabel("AUC of groups")


def labelled_sizes(sizes: np.ndarray) -> list[float]:
    """Those of the sizes whose labels do not run into each other."""
    reach = np.log(sizes[-1] / sizes[0]) or 1.0
    kept = [float(sizes[0])]
    for size in sizes[1:]:
        if np.log(size / kept[-1]) / reach >= _CLOSEST_TICKS:
            kept.append(float(size))
    return kept
