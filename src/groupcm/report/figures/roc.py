"""ROC curves: of one model with its band and operating point, and of several models."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from groupcm.evaluation.numbers import Decision, Roc
from groupcm.report.figures.axes import log_left, log_x, share_x, share_y
from groupcm.report.figures.marks import mark_point
from groupcm.report.figures.style import (
    GRID,
    MUTED,
    NEGATIVE,
    SQUARE,
    Series,
    in_style,
    legend_below,
    new_axes,
)
from groupcm.report.figures.text import shorten
from groupcm.report.words import interval

__all__ = ["roc_figure", "roc_of_models_figure"]

_LONGEST_NAME = 24
_LEGEND_LINE = 0.16  # inches


@in_style
def roc_figure(
    roc: Roc, *, of: str = "group", decision: Decision | None = None, log: bool = False
) -> Figure:
    """Sensitivity against false alarms, with the band and the chosen threshold.

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
        mark_point(
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
    """ROC curves of several models in one frame; the best one is first in the legend.

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
