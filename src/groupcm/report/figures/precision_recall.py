"""How many alarms are right, against how many positive groups are found."""

from __future__ import annotations

from matplotlib.figure import Figure

from groupcm.evaluation.numbers import Decision
from groupcm.metrics import Interval, PrecisionRecallCurve
from groupcm.report.figures.axes import share_x, share_y
from groupcm.report.figures.marks import mark_point
from groupcm.report.figures.style import MUTED, NEGATIVE, in_style, legend_below, new_axes
from groupcm.report.words import interval

__all__ = ["precision_recall_figure"]


@in_style
def precision_recall_figure(
    curve: PrecisionRecallCurve,
    average_precision: Interval,
    positive_share: float,
    decision: Decision | None = None,
) -> Figure:
    """Precision against sensitivity, with the precision of guessing as a dashed line.

    Examples
    --------
    >>> import numpy as np
    >>> curve = PrecisionRecallCurve(np.array([0.5, 1, 1]), np.array([1, 0.8, 0]), np.array([1, 2]))
    >>> figure = precision_recall_figure(curve, Interval(0.9, 0.8, 1.0), 0.5)
    >>> figure.axes[0].get_ylabel()
    'Alarms that are right (precision)'
    """
    figure, axes = new_axes()
    share_x(axes)
    share_y(axes)
    axes.set_aspect("equal")
    axes.set_xlabel("Positive groups found (sensitivity)")
    axes.set_ylabel("Alarms that are right (precision)")
    axes.axhline(positive_share, color=MUTED, linewidth=0.9, linestyle=(0, (3, 3)))
    label = f"average precision {interval(average_precision)}"
    axes.plot(curve.recall, curve.precision, color=NEGATIVE, label=label)
    if decision is not None:
        mark_point(axes, decision.point.sensitivity, decision.point.precision)
    legend_below(figure, columns=1)
    return figure
