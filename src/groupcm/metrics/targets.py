"""What a threshold is chosen for, and the errors of each cluster at each threshold.

    target                 error of cluster c, such as a patient, at the threshold t

    sensitivity            share of its positive groups that score below t
    specificity            share of its negative groups that score at least t
    false_alarms           mean over its groups of min( #{i not positive : s_i >= t}, B ) / B
    patient_sensitivity    1 where all its positive groups score below t, else 0

An error is between 0 and 1. Those of the two sensitivities grow with t, the others fall. B is the
most false alarms that are counted in one group: a mean without a bound has no guarantee.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.errors import Argument, ParameterError
from groupcm.metrics.clusters import Clusters
from groupcm.metrics.truth import Truth
from groupcm.utils.parameters import is_whole
from groupcm.utils.typing import Vector

__all__ = [
    "SHARES",
    "Errors",
    "Target",
    "alarms_of_negatives",
    "errors_of",
    "lowest_with_few_alarms",
    "read_target",
]

#: The targets that are shares to keep at least; ``false_alarms`` is a number to keep at most.
SHARES = ("sensitivity", "specificity", "patient_sensitivity")
_NAMES = (*SHARES, "false_alarms")


@dataclass(frozen=True)
class Target:
    """What a threshold is chosen for: one of the names above, and the value to keep."""

    name: str
    value: float

    @property
    def is_missed(self) -> bool:
        """Whether a score below the threshold is the error, so that low thresholds are safe."""
        return self.name in ("sensitivity", "patient_sensitivity")


def read_target(wanted: dict[str, float | None]) -> Target | None:
    """Return the one target that is given; None without any; raise where two are.

    Examples
    --------
    >>> read_target({"sensitivity": 0.9, "specificity": None})
    Target(name='sensitivity', value=0.9)
    """
    given = {name: value for name, value in wanted.items() if value is not None}
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} are both given; an operating point follows one.")
    for name, value in given.items():
        if name not in _NAMES:
            continue
        if name in SHARES and not 0 <= value <= 1:
            raise ValueError(f"{name}={value!r} is not a share; it must lie between 0 and 1.")
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name}={value!r} is not a number of at least 0.")
        return Target(name, float(value))
    return None


@dataclass(frozen=True)
class Errors:
    """The mean error of clusters at every threshold, as scores that have weights.

    Attributes
    ----------
    scores, weight, cluster : ndarray
        What may be wrong, such as the positive groups; the part of the error of its cluster that
        each contributes where it is; and the number of that cluster.
    is_missed : bool
        Whether it is wrong where its score is below the threshold, else where it reaches it.
    n_clusters : int
        The number of clusters that hold any.
    is_exact : bool
        Whether the error of every cluster is 0 or 1, so that the binomial distribution applies.
    most : float
        The largest error in the target's own units: B for false alarms, else 1.
    """

    scores: Vector
    weight: Vector
    cluster: NDArray[np.intp]
    is_missed: bool
    n_clusters: int
    is_exact: bool
    most: float = 1.0

    def at(self, thresholds: Vector) -> Vector:
        """Return the mean error at each threshold.

        Examples
        --------
        >>> found = Errors(np.array([1.0, 3.0]), np.ones(2), np.arange(2), True, 2, True)
        >>> found.at(np.array([0.0, 2.0, 4.0])).tolist()
        [0.0, 0.5, 1.0]
        """
        order = self._from_the_safe_end()
        return self._after(order, self.weight[order] / self.n_clusters, thresholds)

    def bets(self, thresholds: Vector, risk: float, stake: float) -> Vector:
        """Return the logarithm of the product of 1 + stake (risk − error) over all clusters.

        Examples
        --------
        >>> found = Errors(np.array([1.0, 3.0]), np.ones(2), np.arange(2), True, 2, True)
        >>> np.exp(found.bets(np.array([0.0, 2.0]), 0.5, 1.0)).round(2).tolist()
        [2.25, 0.75]
        """
        order = self._from_the_safe_end()
        # The error of its cluster before and after each becomes wrong: a running sum per cluster.
        by_cluster = np.argsort(self.cluster[order], kind="stable")
        weight = self.weight[order][by_cluster]
        first = np.diff(self.cluster[order][by_cluster], prepend=-1) != 0
        total = np.cumsum(weight)
        before = (total - weight) - np.maximum.accumulate(np.where(first, total - weight, 0.0))
        after = np.clip(before + weight, 0.0, 1.0)
        change = np.empty(len(order))
        with np.errstate(divide="ignore"):  # a lost bet, log 0 = −∞
            change[by_cluster] = np.log(np.maximum(1.0 + stake * (risk - after), 0.0)) - np.log1p(
                stake * (risk - np.clip(before, 0.0, 1.0))
            )
        return self.n_clusters * np.log1p(stake * risk) + self._after(order, change, thresholds)

    def _from_the_safe_end(self) -> NDArray[np.intp]:
        """Return the order in which they become wrong, from the threshold without an error on."""
        return np.argsort(self.scores if self.is_missed else -self.scores, kind="stable")

    def _after(self, order: NDArray[np.intp], change: Vector, thresholds: Vector) -> Vector:
        """Return the sum of the changes of what is wrong at each threshold."""
        sums = np.concatenate([[0.0], np.cumsum(change)])
        if self.is_missed:
            return sums[np.searchsorted(self.scores[order], thresholds, side="left")]
        return sums[np.searchsorted(-self.scores[order], -thresholds, side="right")]


def errors_of(
    target: Target,
    truth: Truth,
    clusters: Clusters,
    negatives: tuple[Vector, NDArray[np.intp]] | None = None,
    most_per_group: int | None = None,
) -> Errors:
    """Return the errors of clusters for a target.

    Parameters
    ----------
    target : Target
    truth : Truth
        The class and the score of every group.
    clusters : Clusters
    negatives : pair of ndarray, optional
        The scores of the candidates that are not positive, and the number of the group of each,
        for false alarms.
    most_per_group : int, optional
        B; by default the largest number of such candidates in a group.

    Examples
    --------
    >>> from groupcm.metrics.clusters import read_clusters
    >>> truth = Truth(np.array([True, True, False]), np.array([2.0, 1.0, 0.0]))
    >>> found = errors_of(Target("sensitivity", 0.9), truth, read_clusters(list("ppq"), None, 3))
    >>> found.weight.tolist(), found.n_clusters, found.is_exact
    ([0.5, 0.5], 1, False)
    """
    of_group, scores = clusters.of_group, np.asarray(truth.scores, dtype=np.float64)
    if target.name == "false_alarms":
        assert negatives is not None
        return _of_false_alarms(*negatives, of_group, most_per_group)
    counted = truth.is_positive if target.is_missed else ~truth.is_positive
    scores, of_group = scores[counted], of_group[counted]
    _, cluster, sizes = np.unique(of_group, return_inverse=True, return_counts=True)
    n_clusters = len(sizes)
    if target.name == "patient_sensitivity":
        highest = np.full(n_clusters, -np.inf)
        np.maximum.at(highest, cluster, scores)
        return Errors(highest, np.ones(n_clusters), np.arange(n_clusters), True, n_clusters, True)
    is_exact = bool(np.all(sizes == 1))
    return Errors(scores, 1.0 / sizes[cluster], cluster, target.is_missed, n_clusters, is_exact)


def _of_false_alarms(
    scores: Vector, group: NDArray[np.intp], of_group: NDArray[np.intp], most: int | None
) -> Errors:
    if most is not None and (not is_whole(most) or most < 1):
        raise ParameterError(
            Argument("most_per_group", most),
            " is not valid; it must be a whole number of at least 1.",
        )
    counts = np.bincount(group, minlength=len(of_group))
    n_most = max(1, int(counts.max(initial=0))) if most is None else int(most)
    order = np.lexsort((-scores, group))
    place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = order[place < n_most]
    sizes = np.bincount(of_group)
    n_clusters = int(np.count_nonzero(sizes))
    cluster = of_group[group[kept]]
    is_exact = n_most == 1 and bool(np.all(sizes <= 1))
    return Errors(
        scores[kept],
        1.0 / (sizes[cluster] * n_most),
        cluster,
        False,
        n_clusters,
        is_exact,
        float(n_most),
    )


def alarms_of_negatives(
    is_positive: NDArray[np.bool_], scores: NDArray[Any], groups: NDArray[np.intp] | None
) -> tuple[Vector, NDArray[np.intp]]:
    """Return the scores of the candidates that can be false alarms, and their groups.

    Examples
    --------
    >>> alarms_of_negatives(np.array([True, False]), np.array([2.0, 1.0]), None)
    (array([1.]), array([1]))
    """
    is_candidate = ~is_positive & (scores > -np.inf)
    codes = np.arange(len(scores)) if groups is None else groups
    return np.asarray(scores, dtype=np.float64)[is_candidate], codes[is_candidate]


def lowest_with_few_alarms(negatives: ArrayLike, among: Vector, most: float) -> float:
    """Return the lowest threshold that at most so many scores reach; infinite where none is.

    Examples
    --------
    >>> lowest_with_few_alarms([1.0, 2.0, 3.0], np.array([0.5, 2.0, 2.5]), 1.0)
    2.5
    """
    rising = np.sort(np.asarray(negatives, dtype=np.float64))
    levels = np.unique(among[np.isfinite(among)])
    reached = len(rising) - np.searchsorted(rising, levels, side="left")
    allowed = np.flatnonzero(reached <= most)
    return float(levels[allowed[0]]) if len(allowed) else math.inf
