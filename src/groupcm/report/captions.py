"""Sensitivity at high specificity, and descriptions that evaluation and comparison share."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from groupcm.evaluation.results import LearningCurve, Roc
from groupcm.metrics import Interval
from groupcm.metrics.decision import rule_words
from groupcm.utils.formatting import count, fraction, number

__all__ = [
    "at_threshold",
    "describe_learning_curve",
    "has_high_specificity",
    "sensitivity_at",
    "specificities",
]

_SPECIFICITIES = (0.9, 0.95, 0.99, 0.999)
_ROUNDING = 1e-9


def specificities(rocs: Sequence[tuple[str, Roc]]) -> list[float]:
    """Return the high specificities that the curves resolve.

    Examples
    --------
    >>> from groupcm.metrics import RocCurve
    >>> curve = RocCurve(np.array([0, 0.05, 1]), np.array([0, 0.8, 1]), np.array([9, 2, 1]))
    >>> grid = np.array([0.0, 1.0])
    >>> specificities([("GCM", Roc(curve, Interval(0.9, 0.8, 1.0), grid, grid, grid))])
    [0.9, 0.95]
    """
    finest = max((_finest_step(roc) for _, roc in rocs), default=1.0)
    return [each for each in _SPECIFICITIES if finest <= 1 - each + _ROUNDING]


def has_high_specificity(rocs: Sequence[Roc]) -> bool:
    """Return whether there are enough negatives to show the region of high specificity.

    Examples
    --------
    >>> has_high_specificity([])
    False
    """
    finest = min((_finest_step(roc) for roc in rocs), default=1.0)
    return finest <= 1 - _SPECIFICITIES[1] + _ROUNDING


def sensitivity_at(roc: Roc, specificity: float) -> Interval:
    """Return the largest sensitivity with at least this specificity, and its bounds.

    Examples
    --------
    >>> from groupcm.metrics import RocCurve
    >>> curve = RocCurve(np.array([0, 0.05, 1]), np.array([0, 0.8, 1]), np.array([9, 2, 1]))
    >>> grid = np.array([0.0, 1.0])
    >>> roc = Roc(curve, Interval(0.9, 0.8, 1.0), grid, np.array([0.5, 1]), np.array([0.9, 1]))
    >>> sensitivity_at(roc, 0.9).estimate
    0.8
    """
    allowed = 1 - specificity + _ROUNDING
    found = float(roc.curve.tpr[roc.curve.fpr <= allowed].max(initial=0.0))
    low, high = (
        float(np.interp(allowed, roc.band_fpr, band)) for band in (roc.band_low, roc.band_high)
    )
    return Interval(found, low, high)


def _finest_step(roc: Roc) -> float:
    """Return the smallest share of false alarms on the curve."""
    return float(np.min(roc.curve.fpr, initial=1.0, where=roc.curve.fpr > 0))


def describe_learning_curve(learning: LearningCurve) -> str:
    """Describe where each line of a learning curve begins and ends.

    Examples
    --------
    >>> from groupcm.evaluation.results import LearningLine
    >>> from groupcm.metrics import Interval
    >>> line = LearningLine("GCM", [Interval(0.8, 0.7, 0.9), Interval(0.9, 0.85, 0.95)])
    >>> describe_learning_curve(LearningCurve([100, 1000], "negative groups", [line]))
    'GCM: AUC 0.800 with 100 and 0.900 with 1,000 negative groups.'
    """
    sentences = []
    for line in learning.lines:
        known = [
            f"{fraction(auc.estimate)} with {count(size)}"
            for size, auc in zip(learning.sizes, line.auc, strict=True)
            if auc is not None
        ]
        if known:
            ends = known[:1] if len(known) == 1 else [known[0], known[-1]]
            sentences.append(f"{line.model}: AUC {' and '.join(ends)} {learning.unit}.")
    return " ".join(sentences)


def at_threshold(value: float) -> str:
    """Write the beginning of a sentence on the outcomes at a threshold.

    Examples
    --------
    >>> at_threshold(0.42), at_threshold(float("inf"))
    ('At the threshold 0.42', 'Where no group raises an alarm')
    """
    if isfinite(value):
        return f"At the threshold {number(value)}"
    return f"Where {rule_words(value)}"
