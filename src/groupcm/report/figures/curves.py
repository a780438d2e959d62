"""ROC, precision-recall and FROC curves as figures of a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from groupcm.evaluation.results import Decision, Froc, Roc
from groupcm.metrics import (
    FrocSensitivity,
    Interval,
    OperatingPoint,
    PrecisionRecallCurve,
    YieldCurve,
)
from groupcm.plots import FrocDisplay, GroupRocDisplay, PrecisionRecallDisplay, YieldDisplay
from groupcm.plots.axes import shorten
from groupcm.plots.base import Band, MarkedPoint
from groupcm.plots.style import Series
from groupcm.report.figures.style import SQUARE, in_style, legend_below, new_axes
from groupcm.utils.formatting import interval
from groupcm.utils.text import in_unit, plural, singular

__all__ = [
    "end_of_yields",
    "froc_figure",
    "precision_recall_figure",
    "roc_figure",
    "roc_of_models_figure",
    "yield_figure",
]


_LONGEST_NAME = 24
_LEGEND_LINE = 0.16  # inches
_BOTTOM = 0.01  # of the axis of sensitivity
_MOST_BANDS, _FAINT = 4, 0.07  # more bands would hide the curves
_CHOSEN = "chosen threshold"
_ENDS = (0.02, 0.05, 0.1, 0.2, 0.5)  # of the axis of a yield curve


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
    >>> import numpy as np
    >>> from groupcm.metrics import Interval, RocCurve
    >>> curve = RocCurve(np.array([0, 0, 1]), np.array([0, 0.8, 1]), np.array([9, 2, 1]))
    >>> grid = np.array([0.0, 1.0])
    >>> roc = Roc(curve, Interval(0.9, 0.8, 1.0), grid, np.array([0.6, 1]), np.array([0.9, 1]))
    >>> roc_figure(roc).legends[0].get_texts()[0].get_text()
    'AUC 0.900 (0.800 to 1.000)'
    """
    figure, axes = new_axes()
    band = Band(roc.band_fpr, roc.band_low, roc.band_high)
    display = GroupRocDisplay(roc.curve, roc.auc, band, _marked(decision), of)
    display.plot(axes, legend=False, log=log)
    legend_below(figure)
    return figure


@in_style
def roc_of_models_figure(
    rocs: Mapping[str, Roc],
    series: Mapping[str, Series],
    *,
    of: str = "group",
    log: bool = False,
    bands: bool = False,
    best_first: bool = True,
) -> Figure:
    """Draw ROC curves of several models.

    Parameters
    ----------
    rocs, series : mapping
        The curve and the look of each model.
    of : str, default="group"
        What is counted: group or candidate.
    log : bool, default=False
        Whether to spread out the region of high specificity.
    bands : bool, default=False
        Whether to draw the band of each curve.
    best_first : bool, default=True
        Whether the legend begins with the best model, or has them as they are given.

    Examples
    --------
    >>> import numpy as np
    >>> from groupcm.metrics import Interval, RocCurve
    >>> from groupcm.plots.style import series_of
    >>> curve = RocCurve(np.array([0, 0, 1]), np.array([0, 0.8, 1]), np.array([9, 2, 1]))
    >>> grid = np.array([0.0, 1.0])
    >>> roc = Roc(curve, Interval(0.9, 0.8, 1.0), grid, grid, grid)
    >>> figure = roc_of_models_figure({"SVM": roc, "GCM": roc}, series_of(["SVM", "GCM"]))
    >>> len(figure.legends[0].get_texts())
    2
    """
    figure, axes = new_axes(SQUARE + _LEGEND_LINE * len(rocs))
    names = sorted(rocs, key=lambda name: -rocs[name].auc.estimate) if best_first else list(rocs)
    for name in names:
        roc, look = rocs[name], series[name]
        band = Band(roc.band_fpr, roc.band_low, roc.band_high) if bands else None
        GroupRocDisplay(roc.curve, roc.auc, band, of=of).plot(
            axes,
            legend=False,
            log=log,
            color=look.colour,
            linestyle=look.dashes,
            label=f"{shorten(name, _LONGEST_NAME)}: {interval(roc.auc)}",
        )
    if len(rocs) > _MOST_BANDS:
        for band in axes.collections:
            band.set_alpha(_FAINT)
    if log:
        axes.set_xlim(left=max(axes.get_xlim()[0], _first_alarms(list(rocs.values()))))
    legend_below(figure, columns=1, title="AUC with its interval")
    return figure


def _first_alarms(rocs: Sequence[Roc]) -> float:
    """Return the power of ten of false alarms below which every curve is at the bottom."""
    begins = [roc.curve.fpr[roc.curve.tpr >= _BOTTOM] for roc in rocs]
    first = min(fpr.min(initial=1.0) for fpr in begins)
    return 10.0 ** math.floor(math.log10(first)) if first > 0 else 0.0


@in_style
def froc_figure(
    froc: Froc,
    point: OperatingPoint | None = None,
    band: FrocSensitivity | None = None,
    of: str = "group",
) -> Figure:
    """Draw objects found against the mean number of false alarms per group, on a logarithmic axis.

    The point is marked where it was counted, which need not be a point of the thinned curve.

    Examples
    --------
    >>> import numpy as np
    >>> from groupcm.metrics import FrocCurve
    >>> alarms, found = np.array([0, 0.1, 1, 10]), np.array([0, 0.5, 0.8, 1])
    >>> curve = FrocCurve(alarms, found, np.array([9.0, 3.0, 2.0, 1.0]))
    >>> froc_figure(Froc(curve, 10, "polyp")).axes[0].get_ylabel()
    'Polyps found (share of all)'
    """
    figure, axes = new_axes(3.5)
    marked = None if point is None else MarkedPoint(point, label=_CHOSEN)
    bounds = None if band is None else Band(band.false_alarms, band.low, band.high)
    forms = [in_unit(form(froc.object_word), of) for form in (singular, plural)]
    FrocDisplay(froc.curve, bounds, marked, "/".join(forms), of=of).plot(axes, legend=False)
    if point is not None:
        legend_below(figure)
    return figure


@in_style
def precision_recall_figure(
    curve: PrecisionRecallCurve,
    average_precision: Interval,
    positive_share: float,
    decision: Decision | None = None,
    of: str = "group",
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
    marked = _marked(decision)
    display = PrecisionRecallDisplay(curve, average_precision, positive_share, marked, of)
    display.plot(axes, legend=False)
    legend_below(figure, columns=1)
    return figure


@in_style
def yield_figure(
    curve: YieldCurve,
    unit: str = "group",
    object_word: str = "object",
    threshold: float | None = None,
) -> Figure:
    """Draw units found against the share of groups shown, with the chosen threshold.

    Examples
    --------
    >>> from groupcm.metrics import yield_curve
    >>> curve = yield_curve([1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1], [1, 2, 3, 4])
    >>> yield_figure(curve, "frame").axes[0].get_xlabel()
    'Frames shown (share of all)'
    """
    figure, axes = new_axes(3.9)
    display = YieldDisplay(
        curve, (0.95, 1.0), unit=unit, object_word=object_word, threshold=threshold
    )
    display.plot(axes, legend=False)
    end = end_of_yields(curve, threshold)
    if end < 1.0:
        axes.set_xlim(0.0, end)
        axes.xaxis.set_major_locator(MaxNLocator(5))
    legend_below(figure)
    return figure


def end_of_yields(curve: YieldCurve, threshold: float | None = None) -> float:
    """Return the share shown at which the axis of a yield curve ends.

    That is below 1 where all that can be found, and the threshold, are far to the left.

    Examples
    --------
    >>> from groupcm.metrics import yield_curve
    >>> y, scores = [1] + [0] * 99, range(100, 0, -1)
    >>> end_of_yields(yield_curve(y, scores, range(100)))
    0.02
    """
    at = 0 if threshold is None else np.flatnonzero(curve.thresholds >= threshold)[-1]
    rises = [np.flatnonzero(np.diff(found)) + 1 for found in curve.found.values()]
    last = max([at, *(each[-1] for each in rises if len(each))])
    last = float(curve.shown[last])
    return next((end for end in _ENDS if last <= 0.8 * end), 1.0)


def _marked(decision: Decision | None) -> MarkedPoint | None:
    if decision is None:
        return None
    return MarkedPoint(decision.point, decision.sensitivity, decision.specificity, _CHOSEN)
