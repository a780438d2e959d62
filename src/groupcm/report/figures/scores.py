"""The distribution of scores of positive and negative groups, and the reliability diagram."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from groupcm.evaluation.results import Reliability
from groupcm.report.figures.axes import plain, plain_ticks, share_x, share_y
from groupcm.report.figures.style import (
    INK,
    MUTED,
    NEGATIVE,
    POSITIVE,
    SURFACE,
    empty_axes,
    in_style,
    legend_below,
    new_axes,
)
from groupcm.report.formatting import count, fraction, number
from groupcm.utils.typing import Vector

__all__ = ["reliability_figure", "score_distribution_figure"]

_MOST_TICKS = 150  # groups that are each drawn as a small tick as well
_SPREAD = 4.0


@in_style
def score_distribution_figure(positive: Vector, negative: Vector, threshold: float) -> Figure:
    """Draw histograms of both kinds of groups, each in shares of its own kind.

    Examples
    --------
    >>> figure = score_distribution_figure(np.array([1.0, 2.0]), np.array([-1.0, 0.0]), 0.5)
    >>> figure.axes[0].get_xlabel()
    'Score of the group'
    """
    figure, axes = new_axes(3.3)
    everything = np.concatenate([positive, negative, [threshold]])
    everything = everything[np.isfinite(everything)]
    if not len(positive) + len(negative) or not len(everything):
        empty_axes(axes, "no groups")
        return figure
    low, high = _range(everything)
    edges = np.linspace(low, high, _n_bins(min(len(positive), len(negative))) + 1)
    kinds = (("negative", negative, NEGATIVE), ("positive", positive, POSITIVE))
    n_rows_of_ticks = 0
    for name, scores, colour in kinds:
        _histogram(axes, np.clip(scores, low, high), edges, colour, f"{count(len(scores))} {name}")
        if len(scores) <= _MOST_TICKS:
            _ticks(axes, np.clip(scores, low, high), colour, row=n_rows_of_ticks)
            n_rows_of_ticks += 1
    if np.isfinite(threshold):
        label = f"threshold {number(threshold)}"
        axes.axvline(threshold, color=INK, linewidth=1.3, linestyle=(0, (4, 2)), label=label)
    axes.set_xlim(low, high)
    plain_ticks(axes.xaxis, 6)
    plain_ticks(axes.yaxis, 5)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{plain(value)} %"))
    axes.set_xlabel("Score of the group")
    axes.set_ylabel("Groups of the same kind")
    legend_below(figure, columns=3)
    return figure


def _histogram(axes: Axes, scores: Vector, edges: Vector, colour: str, label: str) -> None:
    heights = 100 * np.histogram(scores, edges)[0] / max(len(scores), 1)
    axes.stairs(heights, edges, fill=True, color=colour, alpha=0.25, linewidth=0)
    axes.stairs(heights, edges, color=colour, linewidth=1.4, label=label)


def _ticks(axes: Axes, scores: Vector, colour: str, row: int) -> None:
    """Draw one small tick per group above the axis, because few groups make rough histograms."""
    bottom = 0.008 + 0.032 * row
    axes.vlines(
        scores,
        bottom,
        bottom + 0.026,
        transform=axes.get_xaxis_transform(),
        color=colour,
        linewidth=0.8,
    )


def _range(scores: Vector) -> tuple[float, float]:
    """Return the lowest and the highest score, without the few that are far from the others."""
    quarter, middle, three = np.quantile(scores, [0.02, 0.5, 0.98])
    low = max(scores.min(), middle - _SPREAD * max(middle - quarter, 1e-12))
    high = min(scores.max(), middle + _SPREAD * max(three - middle, 1e-12))
    margin = 0.03 * (high - low) or 0.5
    return float(low - margin), float(high + margin)


def _n_bins(n_groups: int) -> int:
    return int(np.clip(2 * np.sqrt(n_groups), 12, 40))


_LARGEST_AREA = 110.0


@in_style
def reliability_figure(reliability: Reliability) -> Figure:
    """Draw the observed share of positive groups against their predicted probability.

    Examples
    --------
    >>> half = np.array([0.5])
    >>> figure = reliability_figure(Reliability(half, half, half - 0.1, half + 0.1,
    ...                                         np.array([20]), 0.25))
    >>> figure.axes[0].texts[0].get_text()
    'Brier score 0.250'
    """
    figure, axes = new_axes(4.0)
    share_x(axes)
    share_y(axes)
    axes.set_aspect("equal")
    axes.set_xlabel("Predicted probability")
    axes.set_ylabel("Groups that are positive")
    axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.9, linestyle=(0, (3, 3)))
    axes.vlines(reliability.predicted, reliability.low, reliability.high, color=NEGATIVE, lw=1.3)
    axes.plot(reliability.predicted, reliability.observed, color=NEGATIVE, linewidth=1, alpha=0.5)
    largest = max(int(np.max(reliability.count, initial=1)), 1)
    axes.scatter(
        reliability.predicted,
        reliability.observed,
        s=18 + _LARGEST_AREA * reliability.count / largest,
        color=NEGATIVE,
        edgecolor=SURFACE,
        linewidth=0.8,
        zorder=3,
        clip_on=False,
    )
    axes.text(0.98, 0.02, f"Brier score {fraction(reliability.brier)}", ha="right", va="bottom")
    return figure
