"""AUC against annotated groups, and below it what the others add when they take part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import FuncFormatter, MaxNLocator

from groupcm.experiments.annotation import AnnotationCurve
from groupcm.experiments.size_figure import SizeLine, size_figure
from groupcm.report.figures.axes import plain
from groupcm.report.figures.style import MUTED, SURFACE, WIDTH, Series, in_style
from groupcm.report.words import fraction

__all__ = ["annotation_figure"]

_HEIGHT = 5.0
_UPPER_SHARE = 2.4  # of the lower axes' height
_MARGIN = 0.06  # of the range shown
_BESIDE = 1.02


@in_style
def annotation_figure(
    curve: AnnotationCurve, lines: Sequence[SizeLine], focus: Sequence[SizeLine], look: Series
) -> Figure:
    """Draw the lines over the range of those in focus, and the differences below them.

    Where a line leaves that range its AUC is written there: a method that fails with few groups
    would make all others look flat.

    Parameters
    ----------
    curve : AnnotationCurve
    lines, focus : sequence of SizeLine
        All lines, and those whose values and intervals fill the upper axes.
    look : Series
        Of the differences.
    """
    figure = size_figure(lines, "", "AUC of groups")
    upper = figure.axes[0]
    if not curve.added:
        upper.set_xlabel("Annotated positive groups")
        return figure
    figure.set_size_inches(WIDTH, _HEIGHT)
    grid = GridSpec(2, 1, figure, height_ratios=(_UPPER_SHARE, 1.0))
    upper.set_subplotspec(grid[0])
    upper.tick_params(labelbottom=False)
    _show_range_of(upper, lines, focus)
    lower = figure.add_subplot(grid[1], sharex=upper)
    _draw_differences(lower, curve, look)
    lower.set_xlabel("Annotated positive groups")
    figure.align_ylabels()
    return figure


def _show_range_of(axes: Axes, lines: Sequence[SizeLine], focus: Sequence[SizeLine]) -> None:
    ends = [end for line in focus for auc in line.auc for end in auc if np.isfinite(end)]
    ends += [one for line in focus for of_size in line.repeats for one in of_size]
    low, high = min(ends), max(ends)
    margin = _MARGIN * ((high - low) or 0.1)
    axes.set_ylim(low - margin, high + margin)
    for line in lines:
        for size, auc in zip(line.sizes, line.auc, strict=True):
            if auc.estimate < low - margin:
                axes.annotate(
                    f"{fraction(auc.estimate, 2)} ↓",
                    (size * _BESIDE, low - margin),
                    xytext=(5, 4),
                    textcoords="offset points",
                    color=line.look.colour,
                    fontsize=8,
                    bbox={"facecolor": SURFACE, "edgecolor": "none", "pad": 1.0},
                    zorder=6,
                )


def _draw_differences(axes: Axes, curve: AnnotationCurve, look: Series) -> None:
    """The mean change of each size with its interval, and the single repeats."""
    added = curve.added
    x = np.asarray(curve.sizes[: len(added)], float)
    axes.axhline(0.0, color=MUTED, linewidth=0.9)
    low, middle, high = (
        np.array([getattr(each, end) for each in added]) for end in ("low", "estimate", "high")
    )
    axes.vlines(x, low, high, color=look.colour, linewidth=1.2, alpha=0.8)
    for at, alone, more in zip(x, curve.gcm, curve.with_others, strict=False):
        dots = more - alone
        axes.plot(
            np.full(len(dots), at * _BESIDE),
            dots,
            "o",
            color=look.colour,
            markersize=2.2,
            alpha=0.55,
        )
    axes.plot(
        x,
        middle,
        color=look.colour,
        linestyle=look.dashes,
        marker=look.marker,
        markersize=5,
        markeredgecolor=SURFACE,
        markeredgewidth=0.6,
        linewidth=1.5,
    )
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axes.set_ylabel("Added AUC")
