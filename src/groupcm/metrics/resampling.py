"""Resamples of clusters with replacement, the same for a seed whatever the threads.

Every resample draws as many clusters as there are. Resamples come in blocks, block k from a
generator of its own: child k of the seed. Memory is one vector of counts a thread.

Metrics of a resample from how often each cluster was drawn, without building it.

A resample is a vector ``count`` over clusters; every group of cluster c weighs ``count[c]``.
Each function here takes a ranking and gives a function of ``count``: one pass over the
ranking, or less. ``WEIGHTED`` says which metric each one is.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.metrics.clusters import FewClustersWarning, expanded_tail, warn_of_few
from groupcm.metrics.curves import group_average_precision
from groupcm.metrics.decision import is_alarm
from groupcm.metrics.operating import (
    sensitivity_at_specificity,
    sensitivity_at_threshold,
    specificity_at_threshold,
)
from groupcm.metrics.results import Interval
from groupcm.metrics.roc import Ranking, candidate_roc_auc, group_roc_auc
from groupcm.utils.parallel import thread_map

__all__ = ["WEIGHTED", "OfCounts", "Resampling", "sensitivities_at", "weighted_value"]

# What sums of weights may be wrong by.
_ROUNDING = 1e-12

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
    >>> from groupcm.metrics.roc import rank
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


def weighted_value(
    metric: Callable[..., float],
    is_positive: NDArray[np.bool_],
    scores: NDArray[np.float64],
    weight: NDArray[np.float64],
) -> float:
    """Return a metric of groups that weigh differently: one of weight 2 counts as two.

    The weights are used by the metrics of groups that have a name, such as `group_roc_auc`. Any
    other callable does not know of them, and gets the groups as they are.

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
    if function is sensitivity_at_specificity and given.keys() <= {"specificity"}:
        fpr, tpr, _ = roc_curve(is_positive, scores, sample_weight=weight, drop_intermediate=False)
        allowed = 1.0 - fpr >= given.get("specificity", 0.9) - _ROUNDING
        return float(np.max(tpr[allowed]))
    return metric(is_positive, scores, None)


_RESAMPLES_A_BLOCK = 16
_MOST_LEFT_OUT = 0.1


@dataclass(frozen=True)
class _Block:
    """A few resamples that share a generator."""

    seed: np.random.SeedSequence
    number: int
    n_resamples: int

    def counts(self, n_clusters: int) -> Iterator[NDArray[np.int64]]:
        """How often each cluster is drawn; the same array, filled anew."""
        from groupcm.kernels.resample import count_draws

        child = np.random.SeedSequence(self.seed.entropy, spawn_key=(self.number,))
        generator = np.random.default_rng(child)
        count = np.empty(n_clusters, dtype=np.int64)
        for _ in range(self.n_resamples):
            count_draws(generator.integers(n_clusters, size=n_clusters, dtype=np.int32), count)
            yield count


class Resampling:
    """How to resample: how often, from which seed, and for intervals of which level.

    Examples
    --------
    >>> Resampling(level=0.9, n_resamples=200, random_state=0).n_resamples
    200
    """

    def __init__(
        self, *, level: float, n_resamples: int, random_state: int | np.random.Generator | None
    ) -> None:
        if not 0 < level < 1:
            raise ValueError(f"level={level!r} is no level; it must lie between 0 and 1.")
        if int(n_resamples) != n_resamples or n_resamples < 2:
            raise ValueError(f"n_resamples={n_resamples!r} must be a whole number, at least 2.")
        if isinstance(random_state, np.random.Generator):
            random_state = int(random_state.integers(2**63))
        self.level = level
        self.n_resamples = int(n_resamples)
        self._seed = np.random.SeedSequence(random_state)

    def values(
        self,
        of_counts: OfCounts,
        positives: NDArray[np.int64],
        negatives: NDArray[np.int64],
        *,
        in_threads: bool = True,
    ) -> NDArray[np.float64]:
        """What a function of counts makes of every resample that holds both classes.

        ``positives`` and ``negatives`` count groups by cluster. A single row of NaN, with a
        warning, where one class lies in fewer than two clusters: nothing says how it varies.
        A warning, too, where it lies in few, or many resamples lack a class.
        """
        for name, there in (("positive", positives), ("negative", negatives)):
            if np.count_nonzero(there) < 2:
                _warn(
                    f"all {int(there.sum())} {name} groups lie in one cluster; an interval cannot "
                    "be known from fewer than two, so its bounds are NaN."
                )
                return _unknown(of_counts, len(positives))

        def of_block(block: _Block) -> list[Any]:
            return [
                of_counts(count)
                for count in block.counts(len(positives))
                if (count @ positives) and (count @ negatives)
            ]

        blocks = self._blocks()
        by_block = thread_map(of_block, blocks) if in_threads else map(of_block, blocks)
        found = [value for values in by_block for value in values]
        left_out = self.n_resamples - len(found)
        if left_out <= _MOST_LEFT_OUT * self.n_resamples:
            warn_of_few(positives, negatives, stacklevel=4)
        else:
            _warn(
                f"{left_out} of {self.n_resamples} resamples hold one class only and are left "
                f"out; {np.count_nonzero(positives)} clusters hold positive and "
                f"{np.count_nonzero(negatives)} hold negative groups, so few that the interval may "
                "be too narrow."
            )
        if not found:
            return _unknown(of_counts, len(positives))
        return np.array(found, dtype=np.float64)

    def _blocks(self) -> list[_Block]:
        firsts = range(0, self.n_resamples, _RESAMPLES_A_BLOCK)
        sizes = [min(_RESAMPLES_A_BLOCK, self.n_resamples - first) for first in firsts]
        # Not spawn: a second call of it would give other children.
        return [_Block(self._seed, number, size) for number, size in enumerate(sizes)]

    def bounds(
        self, values: NDArray[np.float64], n_clusters: float = math.inf
    ) -> NDArray[np.float64]:
        """The two quantiles that hold the middle ``level`` of the resamples.

        A larger share of them where ``n_clusters``, those of the class that lies in fewer, are
        few: see `groupcm.metrics.clusters.expanded_tail`.
        """
        tail = expanded_tail(self.level, n_clusters)
        return np.quantile(values, [tail, 1 - tail], axis=0)

    def interval(
        self, estimate: float, values: NDArray[np.float64], n_clusters: float = math.inf
    ) -> Interval:
        """The percentile interval of a number, by `bounds`."""
        low, high = self.bounds(values, n_clusters)
        return Interval(estimate, float(low), float(high))


def _unknown(of_counts: OfCounts, n_clusters: int) -> NDArray[np.float64]:
    """One row of NaN, of the shape of the others."""
    on_the_data = np.array([of_counts(np.ones(n_clusters, dtype=np.int64))], dtype=np.float64)
    return np.full_like(on_the_data, np.nan)


def _warn(message: str) -> None:
    warnings.warn(message, FewClustersWarning, stacklevel=5)
