"""FROC: how many objects are found, against false alarms a group."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from groupcm.evaluation.numbers import Froc
from groupcm.report.figures.axes import log_left, log_x, share_y
from groupcm.report.figures.marks import mark_point
from groupcm.report.figures.style import NEGATIVE, in_style, legend_below, new_axes
from groupcm.report.figures.text import shorten
from groupcm.report.words import plural

__all__ = ["froc_at", "froc_figure"]

_FEW_ALARMS = 0.1  # always on the axis: none is what one hopes for


@in_style
def froc_figure(froc: Froc, threshold: float | None = None) -> Figure:
    """Objects found against the mean number of false alarms a group, on a logarithmic axis.

    Examples
    --------
    >>> from groupcm.metrics import FrocCurve
    >>> alarms, found = np.array([0, 0.1, 1, 10]), np.array([0, 0.5, 0.8, 1])
    >>> curve = FrocCurve(alarms, found, np.array([9.0, 3.0, 2.0, 1.0]))
    >>> froc_figure(Froc(curve, 10, "polyp")).axes[0].get_ylabel()
    'Polyps found (share of all)'
    """
    figure, axes = new_axes(3.5)
    curve = froc.curve
    left = min(log_left(curve.false_alarms), _FEW_ALARMS)
    log_x(axes, left, max(float(curve.false_alarms.max()), 10 * left))
    share_y(axes)
    things = shorten(plural(froc.object_word), 24)
    axes.set_xlabel("False alarms a group (mean)")
    axes.set_ylabel(f"{things[:1].upper()}{things[1:]} found (share of all)")
    axes.plot(np.maximum(curve.false_alarms, left), curve.sensitivity, color=NEGATIVE)
    if threshold is not None:
        alarms, found = froc_at(froc, threshold)
        mark_point(axes, max(alarms, left), found)
        legend_below(figure)
    return figure


def froc_at(froc: Froc, threshold: float) -> tuple[float, float]:
    """False alarms a group, and the share of objects found, at a threshold.

    Examples
    --------
    >>> from groupcm.metrics import FrocCurve
    >>> alarms, found = np.array([0, 0.1, 1, 10]), np.array([0, 0.5, 0.8, 1])
    >>> curve = FrocCurve(alarms, found, np.array([9.0, 3.0, 2.0, 1.0]))
    >>> froc_at(Froc(curve, 10), threshold=2.5), froc_at(Froc(curve, 10), threshold=10)
    ((0.1, 0.5), (0.0, 0.0))
    """
    curve = froc.curve
    reached = np.flatnonzero(curve.thresholds >= threshold)
    if not len(reached):
        return 0.0, 0.0
    return float(curve.false_alarms[reached[-1]]), float(curve.sensitivity[reached[-1]])
