"""Metrics of a resample from how often each cluster was drawn, without building it.

A resample is a vector ``count`` over clusters; every group of cluster c weighs ``count[c]``.
Each function here takes a ranking and gives a function of ``count``: one pass over the
ranking, or less. ``WEIGHTED`` says which metric each one is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.decision import is_alarm
from groupcm.metrics.curves import group_average_precision
from groupcm.metrics.operating import (
    sensitivity_at_specificity,
    sensitivity_at_threshold,
    specificity_at_threshold,
)
from groupcm.metrics.ranking import Ranking
from groupcm.metrics.roc import candidate_roc_auc, group_roc_auc

__all__ = ["WEIGHTED", "OfCounts", "sensitivities_at"]

#: What a resample gives: a number, or several.
OfCounts = Callable[[NDArray[np.int64]], Any]


def _auc(ranking: Ranking) -> OfCounts:
    from groupcm.kernels.resample import twice_the_pairs_in_order

    def of(count: NDArray[np.int64]) -> float:
        twice = twice_the_pairs_in_order(
            ranking.cluster, ranking.is_positive, ranking.ends_tie, count
        )
        return twice / (2 * int(count @ ranking.positives) * int(count @ ranking.negatives))

    return of


def _average_precision(ranking: Ranking) -> OfCounts:
    from groupcm.kernels.resample import summed_precision

    def of(count: NDArray[np.int64]) -> Any:
        total = summed_precision(*ranking.with_candidates, count)
        return total / (count @ ranking.positives)

    return of


def _sensitivity_at_specificity(ranking: Ranking, specificity: float = 0.9) -> OfCounts:
    def of(count: NDArray[np.int64]) -> float:
        n_negative = int(count @ ranking.negatives)
        most_fp = round((1 - specificity) * n_negative)
        # Rounding may be one off; the condition itself decides, as on the whole data.
        while most_fp < n_negative and (n_negative - most_fp - 1) / n_negative >= specificity:
            most_fp += 1
        while most_fp > 0 and (n_negative - most_fp) / n_negative < specificity:
            most_fp -= 1
        return _sensitivities(ranking, count, np.array([most_fp]))[0]

    return of


def sensitivities_at(ranking: Ranking, fpr: NDArray[np.float64]) -> OfCounts:
    """``max { tpr(t) : fpr(t) <= fpr_j }`` for every j; ``fpr`` rises.

    Examples
    --------
    >>> from groupcm.metrics.ranking import rank
    >>> groups = rank(np.array([True, False]), np.array([1.0, 2.0]), np.array([0, 1]), 2)
    >>> sensitivities_at(groups, np.array([0.0, 1.0]))(np.array([1, 1])).tolist()
    [0.0, 1.0]
    """

    def of(count: NDArray[np.int64]) -> NDArray[np.float64]:
        n_negative = int(count @ ranking.negatives)
        most_fp = np.floor(fpr * n_negative).astype(np.int64)
        most_fp += (most_fp + 1) / n_negative <= fpr
        most_fp -= most_fp / n_negative > fpr
        return _sensitivities(ranking, count, most_fp)

    return of


def _sensitivities(
    ranking: Ranking, count: NDArray[np.int64], most_fp: NDArray[np.int64]
) -> NDArray[np.float64]:
    from groupcm.kernels.resample import positives_within

    tp = np.empty(len(most_fp), dtype=np.int64)
    positives_within(*ranking.with_candidates, count, most_fp, tp)
    return tp / (count @ ranking.positives)


def _sensitivity_at_threshold(ranking: Ranking, threshold: float) -> OfCounts:
    found = _alarms_by_cluster(ranking, threshold, ranking.is_positive)
    return lambda count: (count @ found) / (count @ ranking.positives)


def _specificity_at_threshold(ranking: Ranking, threshold: float) -> OfCounts:
    quiet = ranking.negatives - _alarms_by_cluster(ranking, threshold, ~ranking.is_positive)
    return lambda count: (count @ quiet) / (count @ ranking.negatives)


def _alarms_by_cluster(
    ranking: Ranking, threshold: float, among: NDArray[np.bool_]
) -> NDArray[np.int64]:
    alarms = among & is_alarm(ranking.scores, threshold)
    return np.bincount(ranking.cluster[alarms], minlength=len(ranking.positives))


WEIGHTED: dict[Any, Callable[..., OfCounts]] = {
    group_roc_auc: _auc,
    candidate_roc_auc: _auc,
    group_average_precision: _average_precision,
    sensitivity_at_specificity: _sensitivity_at_specificity,
    sensitivity_at_threshold: _sensitivity_at_threshold,
    specificity_at_threshold: _specificity_at_threshold,
}
