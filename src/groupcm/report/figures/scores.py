"""The distribution of scores, the reliability diagram, weights and importances on a page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from groupcm.evaluation.results import Importance, Reliability, Weight
from groupcm.metrics import ReliabilityCurve
from groupcm.plots import ReliabilityDisplay, ScoreDistributionDisplay, WeightsDisplay
from groupcm.report.figures.style import in_style, legend_below, new_axes
from groupcm.utils.typing import Vector

__all__ = [
    "by_size",
    "importances_figure",
    "reliability_figure",
    "score_distribution_figure",
    "weights_figure",
]

_MOST_BARS = 20


@in_style
def score_distribution_figure(
    positive: Vector, negative: Vector, threshold: float, of: str = "group"
) -> Figure:
    """Draw histograms of both kinds of groups, each in shares of its own kind.

    Examples
    --------
    >>> figure = score_distribution_figure(np.array([1.0, 2.0]), np.array([-1.0, 0.0]), 0.5)
    >>> figure.axes[0].get_xlabel()
    'Score of the group'
    """
    figure, axes = new_axes(3.3)
    ScoreDistributionDisplay(positive, negative, threshold, of).plot(axes, legend=False)
    if axes.has_data():
        legend_below(figure, columns=3)
    return figure


@in_style
def reliability_figure(reliability: Reliability, of: str = "group") -> Figure:
    """Draw the observed share of positive groups against their predicted probability.

    Examples
    --------
    >>> half = np.array([0.5])
    >>> figure = reliability_figure(Reliability(half, half, half - 0.1, half + 0.1,
    ...                                         np.array([20]), 0.25))
    >>> figure.legends[0].get_texts()[0].get_text()
    'Brier score 0.250'
    """
    figure, axes = new_axes()
    curve = ReliabilityCurve(
        reliability.predicted,
        reliability.observed,
        reliability.low,
        reliability.high,
        reliability.count,
    )
    ReliabilityDisplay(curve, reliability.brier, of).plot(axes, legend=False)
    legend_below(figure)
    return figure


@in_style
def weights_figure(weights: Sequence[Weight]) -> Figure:
    """Draw the weights per standard deviation, the largest on top; at most twenty of them.

    Examples
    --------
    >>> figure = weights_figure([Weight("redness", -0.5, -2.0), Weight("size", 1.5, 0.1)])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['size', 'redness']
    """
    values = [weight.per_deviation for weight in weights]
    names = [weight.feature for weight in weights]
    return _bars(names, values, "Weight for one standard deviation")


@in_style
def importances_figure(importances: Sequence[Importance]) -> Figure:
    """Draw the importances of features, the largest on top; at most twenty of them.

    Examples
    --------
    >>> figure = importances_figure([Importance("size", 0.8), Importance("redness", 0.1)])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['size', 'redness']
    """
    names = [each.feature for each in importances]
    return _bars(names, [each.moves for each in importances], "Mean move of a winner’s score")


def _bars(names: Sequence[str], values: Sequence[float], label: str) -> Figure:
    n_bars = min(len(names), _MOST_BARS)
    figure, axes = new_axes(0.85 + 0.205 * max(n_bars, 3))
    WeightsDisplay(names, np.array(values), label, _MOST_BARS).plot(axes, legend=False)
    return figure


def by_size(weights: Sequence[Weight]) -> list[Weight]:
    """Return the weights, the largest of either sign first.

    Examples
    --------
    >>> [w.feature for w in by_size([Weight("a", 0.1, 1), Weight("b", -2, 1)])]
    ['b', 'a']
    """
    return sorted(weights, key=lambda weight: -abs(weight.per_deviation))
