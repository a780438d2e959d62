"""The registry of metrics: name, function, fast form on resamples, and bounds at 0 and 1.

A metric is declared once, as an entry of ``_DECLARED``. Its name makes it available for
``scoring=`` and ``metric=``. Its resampled form computes it from how often each cluster was drawn,
without building the resample: a resample is a vector ``count`` over clusters, and every group of
cluster c has the weight ``count[c]``. Its bounds replace percentiles that collapse at 0 or 1
(`groupcm.metrics.intervals`). A function that is not declared here works as a metric, too: its
resamples are built row by row, which is slow, and an interval that collapses is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.errors import ParameterError, PythonNote
from groupcm.metrics.curves import group_average_precision
from groupcm.metrics.decision import is_alarm
from groupcm.metrics.intervals import Bounds, Edges, auc_bounds, wilson_by_quantile
from groupcm.metrics.operating import (
    sensitivity_at_specificity,
    sensitivity_at_threshold,
    specificity_at_threshold,
)
from groupcm.metrics.resampling import FunctionOfCounts
from groupcm.metrics.roc import (
    Ranking,
    candidate_roc_auc,
    group_partial_auc,
    group_roc_auc,
    partial_area,
    standardised_area,
)

__all__ = [
    "METRICS",
    "RESAMPLED",
    "Metric",
    "edges_of",
    "metric_label",
    "metric_name",
    "metric_named",
    "sensitivities_at",
    "weighted_value",
]

#: ``callable(y, scores, groups) -> float``, larger for better scores.
Metric = Callable[[ArrayLike, ArrayLike, ArrayLike | None], float]

Counts = NDArray[np.int64]
_ROUNDING = 1e-12  # of sums of weights
_LABELS = {
    "group_roc_auc": "group ROC AUC",
    "candidate_roc_auc": "candidate ROC AUC",
    "group_partial_auc": "group partial AUC",
    "sensitivity_at_specificity": "sensitivity at a specificity of 0.9",
}
# Of metrics that are given with their parameters.
_LABELS_WITH = {
    "group_partial_auc": "group partial AUC up to a false-positive rate of {max_fpr:.4g}",
    "sensitivity_at_specificity": "sensitivity at a specificity of {specificity:.4g}",
    "sensitivity_at_threshold": "sensitivity at the threshold {threshold:.4g}",
    "specificity_at_threshold": "specificity at the threshold {threshold:.4g}",
}


def _resampled_auc(ranking: Ranking) -> FunctionOfCounts:
    from groupcm.kernels.resample import twice_the_pairs_in_order

    def of_counts(count: Counts) -> float:
        twice = twice_the_pairs_in_order(
            ranking.cluster, ranking.is_positive, ranking.ends_tie, count
        )
        return twice / (2 * int(count @ ranking.positives) * int(count @ ranking.negatives))

    return of_counts


def _auc_bounds(estimate: float, edges: Edges, t: float) -> Bounds:
    return auc_bounds(estimate, edges.n_positive, edges.n_negative, t)


def _resampled_partial_auc(ranking: Ranking, max_fpr: float = 0.1) -> FunctionOfCounts:
    from groupcm.kernels.resample import area_within

    def of_counts(count: Counts) -> float:
        n_positive, n_negative = int(count @ ranking.positives), int(count @ ranking.negatives)
        parts = (ranking.cluster, ranking.is_positive, ranking.ends_tie, count)
        area = area_within(*parts, max_fpr * n_negative)
        return standardised_area(area / (n_positive * n_negative), max_fpr)

    return of_counts


def _partial_auc_bounds(estimate: float, edges: Edges, t: float, *, max_fpr: float = 0.1) -> Bounds:
    """Only an area near 1 has bounds: those of a curve of one sensitivity."""
    found, _ = _sensitivity_bounds(1.0, edges, t)
    low = standardised_area(max(found, max_fpr / 2.0) * max_fpr, max_fpr)
    return (low, 1.0) if estimate >= low else (math.nan, math.nan)


def _resampled_average_precision(ranking: Ranking) -> FunctionOfCounts:
    from groupcm.kernels.resample import summed_precision

    def of_counts(count: Counts) -> Any:
        total = summed_precision(*ranking.with_candidates, count)
        return total / (count @ ranking.positives)

    return of_counts


def _average_precision_bounds(estimate: float, edges: Edges, t: float) -> Bounds:
    """Only a precision near 1 has bounds; those of any other collapsed one are unknown."""
    found, _ = _sensitivity_bounds(1.0, edges, t)
    _, alarms = _specificity_bounds(0.0, edges, t)
    of_found, of_alarms = edges.share * found, (1.0 - edges.share) * alarms
    low = found * of_found / (of_found + of_alarms) if found else 0.0
    return (low, 1.0) if estimate >= low else (math.nan, math.nan)


def sensitivities_at(ranking: Ranking, fpr: NDArray[np.float64]) -> FunctionOfCounts:
    """Compute ``max { tpr(t) : fpr(t) <= fpr_j }`` for every j; ``fpr`` rises.

    Examples
    --------
    >>> from groupcm.metrics.roc import rank
    >>> groups = rank(np.array([True, False]), np.array([1.0, 2.0]), np.array([0, 1]), 2)
    >>> sensitivities_at(groups, np.array([0.0, 1.0]))(np.array([1, 1])).tolist()
    [0.0, 1.0]
    """

    def of_counts(count: Counts) -> NDArray[np.float64]:
        n_negative = int(count @ ranking.negatives)
        most_fp = np.floor(fpr * n_negative).astype(np.int64)
        most_fp += (most_fp + 1) / n_negative <= fpr
        most_fp -= most_fp / n_negative > fpr
        return _sensitivities(ranking, count, most_fp)

    return of_counts


def _resampled_sensitivity_at_specificity(
    ranking: Ranking, specificity: float = 0.9
) -> FunctionOfCounts:
    def of_counts(count: Counts) -> float:
        n_negative = int(count @ ranking.negatives)
        most_fp = round((1 - specificity) * n_negative)
        # Rounding may be one off; the condition itself decides, as on the whole data.
        while most_fp < n_negative and (n_negative - most_fp - 1) / n_negative >= specificity:
            most_fp += 1
        while most_fp > 0 and (n_negative - most_fp) / n_negative < specificity:
            most_fp -= 1
        return _sensitivities(ranking, count, np.array([most_fp]))[0]

    return of_counts


def _sensitivities(ranking: Ranking, count: Counts, most_fp: Counts) -> NDArray[np.float64]:
    from groupcm.kernels.resample import positives_within

    tp = np.empty(len(most_fp), dtype=np.int64)
    positives_within(*ranking.with_candidates, count, most_fp, tp)
    return tp / (count @ ranking.positives)


def _sensitivity_at_specificity_bounds(
    estimate: float, edges: Edges, t: float, *, specificity: float = 0.9
) -> Bounds:
    low, high = _sensitivity_bounds(estimate, edges, t)
    return max(low, 1.0 - specificity), high  # guessing reaches 1 − specificity


def _resampled_sensitivity(ranking: Ranking, threshold: float) -> FunctionOfCounts:
    found = _alarms_by_cluster(ranking, threshold, ranking.is_positive)
    return lambda count: (count @ found) / (count @ ranking.positives)


def _sensitivity_bounds(estimate: float, edges: Edges, t: float, **_: float) -> Bounds:
    low, high = wilson_by_quantile(estimate, edges.n_positive, t)
    return float(low), float(high)


def _resampled_specificity(ranking: Ranking, threshold: float) -> FunctionOfCounts:
    quiet = ranking.negatives - _alarms_by_cluster(ranking, threshold, ~ranking.is_positive)
    return lambda count: (count @ quiet) / (count @ ranking.negatives)


def _specificity_bounds(estimate: float, edges: Edges, t: float, **_: float) -> Bounds:
    low, high = wilson_by_quantile(estimate, edges.n_negative, t)
    return float(low), float(high)


def _alarms_by_cluster(ranking: Ranking, threshold: float, among: NDArray[np.bool_]) -> Counts:
    alarms = among & is_alarm(ranking.scores, threshold)
    return np.bincount(ranking.cluster[alarms], minlength=len(ranking.positives))


@dataclass(frozen=True)
class _Declaration:
    """A metric, its form on resamples, and its bounds, which take the metric's parameters.

    ``needs_threshold`` keeps a metric that has no value without one out of the names.
    """

    function: Callable[..., float]
    resampled: Callable[..., FunctionOfCounts]
    bounds: Callable[..., Bounds]
    needs_threshold: bool = False


_DECLARED = (
    _Declaration(group_roc_auc, _resampled_auc, _auc_bounds),
    _Declaration(candidate_roc_auc, _resampled_auc, _auc_bounds),
    _Declaration(group_partial_auc, _resampled_partial_auc, _partial_auc_bounds),
    _Declaration(group_average_precision, _resampled_average_precision, _average_precision_bounds),
    _Declaration(
        sensitivity_at_specificity,
        _resampled_sensitivity_at_specificity,
        _sensitivity_at_specificity_bounds,
    ),
    _Declaration(sensitivity_at_threshold, _resampled_sensitivity, _sensitivity_bounds, True),
    _Declaration(specificity_at_threshold, _resampled_specificity, _specificity_bounds, True),
)

#: The metrics by their names, for ``scoring=`` and ``metric=``.
METRICS: dict[str, Metric] = {
    each.function.__name__: each.function for each in _DECLARED if not each.needs_threshold
}
#: The form of each metric on resamples, by its function.
RESAMPLED: dict[Any, Callable[..., FunctionOfCounts]] = {
    each.function: each.resampled for each in _DECLARED
}
_BOUNDS: dict[Any, Callable[..., Bounds]] = {each.function: each.bounds for each in _DECLARED}


def edges_of(function: Any, parameters: dict[str, Any], ranking: Ranking) -> Edges:
    """Return the bounds of a metric at 0 and 1, for groups counted by cluster.

    Examples
    --------
    >>> from groupcm.metrics.roc import rank
    >>> groups = rank(np.array([True, False]), np.array([1.0, 2.0]), np.array([0, 1]), 2)
    >>> edges_of(group_roc_auc, {}, groups).n_positive
    1
    """
    bounds = _BOUNDS.get(function)
    return Edges(
        int(np.count_nonzero(ranking.positives)),
        int(np.count_nonzero(ranking.negatives)),
        float(np.mean(ranking.is_positive)),
        None if bounds is None else partial(bounds, **parameters),
    )


def weighted_value(
    metric: Callable[..., float],
    is_positive: NDArray[np.bool_],
    scores: NDArray[np.float64],
    weight: NDArray[np.float64],
) -> float:
    """Return a metric of weighted groups: a group of weight 2 counts as two.

    The weights are used by the metrics of groups that have a name, such as `group_roc_auc`. Any
    other callable ignores them.

    Parameters
    ----------
    metric : callable(y, scores, groups)
    is_positive, scores, weight : ndarray of shape (n_groups,)

    Examples
    --------
    >>> truth, scores = np.array([True, False, False]), np.array([2.0, 1.0, 3.0])
    >>> weighted_value(group_roc_auc, truth, scores, np.array([1.0, 3.0, 1.0]))
    0.75
    """
    from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

    if metric is group_roc_auc:
        return float(roc_auc_score(is_positive, scores, sample_weight=weight))
    if metric is group_average_precision:
        return float(average_precision_score(is_positive, scores, sample_weight=weight))
    function, given = getattr(metric, "func", metric), getattr(metric, "keywords", {})
    if function is group_partial_auc and given.keys() <= {"max_fpr"}:
        return partial_area(is_positive, scores, given.get("max_fpr", 0.1), weight)
    if function is sensitivity_at_specificity and given.keys() <= {"specificity"}:
        fpr, tpr, _ = roc_curve(is_positive, scores, sample_weight=weight, drop_intermediate=False)
        allowed = 1.0 - fpr >= given.get("specificity", 0.9) - _ROUNDING
        return float(np.max(tpr[allowed]))
    return metric(is_positive, scores, None)


def metric_named(metric: str | Metric) -> Metric:
    """Return the callable(y, scores, groups) of a name; a callable is returned unchanged.

    Examples
    --------
    >>> metric_named("group_roc_auc")([0, 1], [0.1, 0.2], None)
    1.0
    """
    if callable(metric):
        return metric
    if not isinstance(metric, str) or metric not in METRICS:
        names = ", ".join(f'"{name}"' for name in METRICS)
        raise ParameterError(
            f"{metric!r} is not a metric; use {names}",
            PythonNote(", or a callable(y, scores, groups)"),
            ".",
            parameter="scoring",
        )
    return METRICS[metric]


def metric_name(metric: str | Metric) -> str:
    """Return the name of a metric that is given by its name or as a callable.

    Examples
    --------
    >>> from functools import partial
    >>> metric_name(partial(sensitivity_at_specificity, specificity=0.95))
    'sensitivity_at_specificity(specificity=0.95)'
    """
    if isinstance(metric, str):
        return metric
    parameters: dict[str, Any] = getattr(metric, "keywords", {})
    given = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    function = getattr(metric, "func", metric)
    name = getattr(function, "__name__", type(function).__name__)
    return f"{name}({given})" if given else name


def metric_label(metric: str | Metric) -> str:
    """Return what a metric is called in a summary or on an axis.

    Examples
    --------
    >>> metric_label("group_roc_auc"), metric_label("group_average_precision")
    ('group ROC AUC', 'group average precision')
    >>> metric_label(partial(sensitivity_at_threshold, threshold=0.01718133))
    'sensitivity at the threshold 0.01718'
    """
    name, parameters = metric_name(metric), getattr(metric, "keywords", {})
    with_parameters = _LABELS_WITH.get(name.partition("(")[0])
    if parameters and with_parameters is not None:
        try:
            return with_parameters.format(**parameters)
        except KeyError:  # of parameters that are left to their defaults
            name = name.partition("(")[0]
    return _LABELS.get(name, name.replace("_", " "))
