"""ROC, precision-recall and FROC curves, with bands and the chosen operating point."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from groupcm.evaluation.results import Decision, Froc, Roc
from groupcm.metrics import Interval, OperatingPoint, PrecisionRecallCurve
from groupcm.report.figures.axes import log_left, log_x, share_x, share_y, shorten
from groupcm.report.figures.style import (
    GRID,
    INK,
    MUTED,
    NEGATIVE,
    SQUARE,
    SURFACE,
    Series,
    in_style,
    legend_below,
    new_axes,
)
from groupcm.report.formatting import interval, plural

__all__ = [
    "froc_figure",
    "precision_recall_figure",
    "roc_figure",
    "roc_of_models_figure",
]


_LONGEST_NAME = 24
_LEGEND_LINE = 0.16  # inches
_FEW_ALARMS = 0.1  # always on the axis of a FROC curve


@in_style
def roc_figure(
    roc: Roc, *, of: str = "group", decision: Decision | None = None, log: bool = False
) -> Figure:
    """Draw sensitivity against false alarms, with the band and the chosen threshold.

    Parameters
    ----------
    roc : Roc
    of : str, default="group"
        What is counted: group or candidate.
    decision : Decision, optional
        The threshold to mark.
    log : bool, default=False
        Whether to spread out the region of high specificity.

    Examples
    --------
    >>> from groupcm.metrics import Interval, RocCurve
    >>> curve = RocCurve(np.array([0, 0, 1]), np.array([0, 0.8, 1]), np.array([9, 2, 1]))
    >>> grid = np.array([0.0, 1.0])
    >>> roc = Roc(curve, Interval(0.9, 0.8, 1.0), grid, np.array([0.6, 1]), np.array([0.9, 1]))
    >>> roc_figure(roc).legends[0].get_texts()[0].get_text()
    'AUC 0.900 (0.800 to 1.000)'
    """
    figure, axes = new_axes()
    left = _frame(axes, [roc], of, log=log)
    band = np.maximum(roc.band_fpr, left)
    axes.fill_between(band, roc.band_low, roc.band_high, color=NEGATIVE, alpha=0.18, linewidth=0)
    _line(axes, roc, left, color=NEGATIVE, label=f"AUC {interval(roc.auc)}")
    if decision is not None:
        point = decision.point
        sensitivity, specificity = decision.sensitivity, decision.specificity
        _mark_point(
            axes,
            max(1 - point.specificity, left),
            point.sensitivity,
            x_range=(max(1 - specificity.high, left), max(1 - specificity.low, left)),
            y_range=(sensitivity.low, sensitivity.high),
        )
    legend_below(figure)
    return figure


@in_style
def roc_of_models_figure(
    rocs: Mapping[str, Roc],
    series: Mapping[str, Series],
    *,
    of: str = "group",
    log: bool = False,
) -> Figure:
    """Draw ROC curves of several models; the best one is first in the legend.

    Examples
    --------
    >>> from groupcm.metrics import Interval, RocCurve
    >>> from groupcm.report.figures.style import series_of
    >>> curve = RocCurve(np.array([0, 0, 1]), np.array([0, 0.8, 1]), np.array([9, 2, 1]))
    >>> grid = np.array([0.0, 1.0])
    >>> roc = Roc(curve, Interval(0.9, 0.8, 1.0), grid, grid, grid)
    >>> figure = roc_of_models_figure({"SVM": roc, "GCM": roc}, series_of(["SVM", "GCM"]))
    >>> len(figure.legends[0].get_texts())
    2
    """
    figure, axes = new_axes(SQUARE + _LEGEND_LINE * len(rocs))
    left = _frame(axes, list(rocs.values()), of, log=log)
    for name in sorted(rocs, key=lambda name: -rocs[name].auc.estimate):
        look = series[name]
        label = f"{shorten(name, _LONGEST_NAME)}: {interval(rocs[name].auc)}"
        _line(axes, rocs[name], left, color=look.colour, linestyle=look.dashes, label=label)
    legend_below(figure, columns=1, title="AUC with its interval")
    return figure


def _frame(axes: Axes, rocs: list[Roc], of: str, *, log: bool) -> float:
    """Label the axes, draw the line of chance, and return the smallest x that is shown."""
    share_y(axes)
    axes.set_xlabel(f"Negative {of}s called positive (1 − specificity)")
    axes.set_ylabel(f"Positive {of}s found (sensitivity)")
    chance = {"color": MUTED, "linewidth": 0.9, "linestyle": (0, (3, 3))}
    if not log:
        share_x(axes)
        axes.set_aspect("equal")
        axes.plot([0, 1], [0, 1], **chance)
        return 0.0
    left = log_left(np.concatenate([roc.curve.fpr for roc in rocs]))
    log_x(axes, left, 1.0)
    grid = np.geomspace(left, 1, 60)
    axes.plot(grid, grid, **chance)
    axes.grid(True, which="major", color=GRID)
    return left


def _line(axes: Axes, roc: Roc, left: float, **look: object) -> None:
    axes.plot(np.maximum(roc.curve.fpr, left), roc.curve.tpr, **look)  # pyright: ignore[reportArgumentType]


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
    axes.set_xlabel("False alarms per group (mean)")
    axes.set_ylabel(f"{things[:1].upper()}{things[1:]} found (share of all)")
    axes.plot(np.maximum(curve.false_alarms, left), curve.sensitivity, color=NEGATIVE)
    if point is not None:
        _mark_point(axes, max(point.false_alarms, left), point.objects_found / point.n_objects)
        legend_below(figure)
    return figure


@in_style
def precision_recall_figure(
    curve: PrecisionRecallCurve,
    average_precision: Interval,
    positive_share: float,
    decision: Decision | None = None,
) -> Figure:
    """Draw precision against sensitivity, with the precision of guessing as a dashed line.

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
        _mark_point(axes, decision.point.sensitivity, decision.point.precision)
    legend_below(figure, columns=1)
    return figure


def _mark_point(
    axes: Axes,
    x: float,
    y: float,
    *,
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
) -> None:
    """Mark the chosen threshold, with the intervals of both its coordinates.

    Examples
    --------
    >>> from groupcm.report.figures.style import new_axes
    >>> _, axes = new_axes()
    >>> _mark_point(axes, 0.1, 0.8)
    >>> axes.get_legend_handles_labels()[1]
    ['chosen threshold']
    """
    thin = {"color": INK, "linewidth": 1.1, "zorder": 4}
    if x_range is not None:
        axes.plot(x_range, (y, y), **thin)
    if y_range is not None:
        axes.plot((x, x), y_range, **thin)
    axes.plot(
        x,
        y,
        marker="o",
        markersize=7,
        markerfacecolor=INK,
        markeredgecolor=SURFACE,
        markeredgewidth=1.2,
        linestyle="none",
        zorder=5,
        clip_on=False,
        label="chosen threshold",
    )
