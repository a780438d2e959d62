"""The results of metrics: curves, intervals and comparisons with named fields."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from groupcm.utils.typing import Vector

__all__ = [
    "Comparison",
    "FrocCurve",
    "Interval",
    "PrecisionRecallCurve",
    "RocCurve",
    "SensitivityBand",
]


class RocCurve(NamedTuple):
    """Sensitivity (``tpr``) against 1 − specificity (``fpr``); ``score >= threshold`` is an alarm.

    Thresholds fall; the first is infinite, where nothing is an alarm.

    Examples
    --------
    >>> from groupcm.metrics import group_roc_curve
    >>> curve = group_roc_curve([0, 1, 1], [0.2, 0.1, 0.9])
    >>> curve.fpr.tolist(), curve.tpr.tolist()
    ([0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0])
    """

    fpr: Vector
    tpr: Vector
    thresholds: Vector


class PrecisionRecallCurve(NamedTuple):
    """Precision against recall; thresholds fall, the first is infinite (precision 1, recall 0).

    Examples
    --------
    >>> from groupcm.metrics import group_precision_recall_curve
    >>> curve = group_precision_recall_curve([0, 1, 1], [0.2, 0.1, 0.9])
    >>> curve.recall.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """

    precision: Vector
    recall: Vector
    thresholds: Vector


class FrocCurve(NamedTuple):
    """Share of objects found against false alarms per group; thresholds fall from infinity.

    Examples
    --------
    >>> from groupcm.metrics import froc_curve
    >>> curve = froc_curve([0, 1, 0], [0.1, 0.9, 0.8], ["a", "a", "b"])
    >>> isinstance(curve, FrocCurve)
    True
    """

    false_alarms: Vector
    sensitivity: Vector
    thresholds: Vector


class Interval(NamedTuple):
    """An estimate between two bounds; the bounds are NaN where the data do not determine them.

    Examples
    --------
    >>> interval = Interval(0.91, 0.87, 0.94)
    >>> interval.low < interval.estimate < interval.high
    True
    """

    estimate: float
    low: float
    high: float

    def or_unknown(self, least: float = 0.0, most: float = 1.0) -> Interval:
        """Return NaN for bounds that exclude nothing of what is possible.

        Examples
        --------
        >>> Interval(0.8, 0.0, 1.0).or_unknown()
        Interval(estimate=0.8, low=nan, high=nan)
        """
        if self.low <= least and self.high >= most:
            return Interval(self.estimate, math.nan, math.nan)
        return self


class SensitivityBand(NamedTuple):
    """Bounds of the sensitivity, one of each per false positive rate.

    Examples
    --------
    >>> from groupcm.metrics import roc_band
    >>> band = roc_band([0, 1] * 20, range(40), n_resamples=50)
    >>> bool((band.low <= band.high).all())
    True
    """

    low: Vector
    high: Vector


@dataclass(frozen=True)
class Comparison:
    """Two models on the same groups, resampled together.

    Attributes
    ----------
    a, b : Interval
        The metric of each model.
    difference : Interval
        The difference ``a − b``.
    p_value : float
        Two-sided, for the hypothesis of no difference.
    n_resamples : int
        The number of resamples behind the intervals.
    metric : str
        The name of the metric.

    Examples
    --------
    >>> from groupcm.metrics import compare
    >>> y, a, b = [0, 1] * 20, range(40), [0.0, 1.0] * 20
    >>> result = compare(y, a, b, n_resamples=50)
    >>> result.metric, bool(result.difference.estimate < 0)
    ('group_roc_auc', True)
    """

    a: Interval
    b: Interval
    difference: Interval
    p_value: float
    n_resamples: int
    metric: str
