"""The weights and importances of features: one bar per feature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from groupcm.evaluation.results import Importance, Weight
from groupcm.report.figures.axes import plain_ticks, shorten_apart
from groupcm.report.figures.style import INK, NEGATIVE, POSITIVE, empty_axes, in_style, new_axes
from groupcm.report.formatting import number

__all__ = ["by_size", "importances_figure", "weights_figure"]

_MOST_BARS = 20
_LONGEST_NAME = 25


@in_style
def weights_figure(weights: Sequence[Weight]) -> Figure:
    """Draw the weights per standard deviation, the largest on top; at most twenty of them.

    Examples
    --------
    >>> figure = weights_figure([Weight("redness", -0.5, -2.0), Weight("size", 1.5, 0.1)])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['size', 'redness']
    """
    shown = by_size(weights)
    values = [weight.per_deviation for weight in shown]
    return _bars([each.feature for each in shown], values, "Weight for one standard deviation")


@in_style
def importances_figure(importances: Sequence[Importance]) -> Figure:
    """Draw the importances of features, the first on top; at most twenty of them.

    Examples
    --------
    >>> figure = importances_figure([Importance("size", 0.8), Importance("redness", 0.1)])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['size', 'redness']
    """
    names = [each.feature for each in importances]
    return _bars(names, [each.moves for each in importances], "Mean move of a winner’s score")


def _bars(names: Sequence[str], lengths: Sequence[float], label: str) -> Figure:
    names, values = names[:_MOST_BARS], np.array(lengths[:_MOST_BARS])
    figure, axes = new_axes(0.85 + 0.205 * max(len(names), 3))
    if not len(names):
        empty_axes(axes, "no weights")
        return figure
    rows = np.arange(len(names))
    colours = [POSITIVE if value > 0 else NEGATIVE for value in values]
    axes.barh(rows, values, color=colours, height=0.66)
    axes.axvline(0, color=INK, linewidth=0.9)
    reach = float(np.abs(values).max()) or 1.0
    for row, value in zip(rows, values, strict=True):
        is_right = value >= 0
        axes.annotate(
            number(value, 2),
            (value, row),
            xytext=(3 if is_right else -3, 0),
            textcoords="offset points",
            ha="left" if is_right else "right",
            va="center",
            fontsize=7.5,
        )
    # Room at the bars' ends for their numbers.
    left = -1.38 * reach if (values < 0).any() else -0.04 * reach
    right = 1.38 * reach if (values > 0).any() else 0.04 * reach
    axes.set_xlim(min(left, 1.38 * values.min()), max(right, 1.38 * values.max()))
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(rows, shorten_apart(list(names), _LONGEST_NAME))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(False, axis="y")
    plain_ticks(axes.xaxis, 5)
    axes.set_xlabel(label)
    return figure


def by_size(weights: Sequence[Weight]) -> list[Weight]:
    """Return the weights, the largest of either sign first.

    Examples
    --------
    >>> [w.feature for w in by_size([Weight("a", 0.1, 1), Weight("b", -2, 1)])]
    ['b', 'a']
    """
    return sorted(weights, key=lambda weight: -abs(weight.per_deviation))
