"""FROC: how many objects are found, against false alarms a group."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from groupcm.evaluation.numbers import Froc
from groupcm.metrics import OperatingPoint
from groupcm.report.figures.axes import log_left, log_x, share_y
from groupcm.report.figures.marks import mark_point
from groupcm.report.figures.style import NEGATIVE, in_style, legend_below, new_axes
from groupcm.report.figures.text import shorten
from groupcm.report.words import plural

__all__ = ["froc_figure"]

_FEW_ALARMS = 0.1  # always on the axis: none is what one hopes for


@in_style
def froc_figure(froc: Froc, point: OperatingPoint | None = None) -> Figure:
    """Draw objects found against the mean number of false alarms per group, on a logarithmic axis.

    The point is marked where it was counted, which need not be a point of the thinned curve.

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
    if point is not None:
        mark_point(axes, max(point.false_alarms, left), point.objects_found / point.n_objects)
        legend_below(figure)
    return figure
