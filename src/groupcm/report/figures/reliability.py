"""Whether the probabilities mean what they say."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from groupcm.evaluation.numbers import Reliability
from groupcm.report.figures.axes import share_x, share_y
from groupcm.report.figures.style import MUTED, NEGATIVE, SURFACE, in_style, new_axes
from groupcm.report.words import fraction

__all__ = ["reliability_figure"]

_LARGEST_AREA = 110.0


@in_style
def reliability_figure(reliability: Reliability) -> Figure:
    """Observed share of positive groups against the probability predicted for them.

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
