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
    """

    fpr: Vector
    tpr: Vector
    thresholds: Vector


class PrecisionRecallCurve(NamedTuple):
    """Precision against recall; thresholds fall, the first is infinite (precision 1, recall 0)."""

    precision: Vector
    recall: Vector
    thresholds: Vector


class FrocCurve(NamedTuple):
    """Share of objects found against false alarms per group; thresholds fall from infinity."""

    false_alarms: Vector
    sensitivity: Vector
    thresholds: Vector


class Interval(NamedTuple):
    """An estimate between two bounds; the bounds are NaN where the data do not determine them."""

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
    """Bounds of the sensitivity, one of each per false positive rate."""

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
    """

    a: Interval
    b: Interval
    difference: Interval
    p_value: float
    n_resamples: int
    metric: str
