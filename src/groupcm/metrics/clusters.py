"""Clusters, such as a patient with all their groups, and the corrections for few of them.

    t = t_{C−1}(level),    k = √(C / (C − 1))

The spread of C clusters is estimated from C − 1 differences, so that Student's t replaces the
normal quantile; and resamples of the clusters spread less than new clusters would, by 1/k. With
many clusters t is the normal quantile and k is 1.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from groupcm.data.groups import GroupIndex, index_groups, owner_of_groups, require_present
from groupcm.errors import MessageWarning

__all__ = [
    "Clusters",
    "FewClustersWarning",
    "clusters_by_score",
    "expanded_tail",
    "fewest_clusters",
    "numbered_by_highest",
    "read_clusters",
    "student_quantile",
    "two_sided_p_value",
    "warn_of_few",
]


_FEW = 10
# The counts of so many clusters fit the cache of a core, which reads them in any order.
_MOST_CACHED = 2**15


@dataclass(frozen=True)
class Clusters:
    """The number of the cluster of every row and of every group, in order of first appearance."""

    of_row: NDArray[np.intp]
    of_group: NDArray[np.intp]
    n_clusters: int


def read_clusters(clusters: ArrayLike | None, index: GroupIndex | None, n_rows: int) -> Clusters:
    """Number the clusters; without any, every group is one. Raise where a group lies in two.

    Examples
    --------
    >>> read_clusters(["p", "p", "q"], index_groups([1, 1, 2]), 3).of_group.tolist()
    [0, 1]
    """
    if clusters is None:
        of_row = np.arange(n_rows) if index is None else index.codes
        n_groups = n_rows if index is None else index.n_groups
        return Clusters(of_row, np.arange(n_groups), n_groups)
    ids = np.asarray(clusters)
    if ids.shape != (n_rows,):
        raise ValueError(
            f"clusters must hold one id per candidate, shape ({n_rows},) to match y; "
            f"got shape {ids.shape}."
        )
    require_present(ids, "clusters has no id at row {}; every candidate needs a cluster.")
    numbered = index_groups(ids)
    of_row = numbered.codes
    of_group = of_row if index is None else owner_of_groups(index, numbered, "clusters")
    return Clusters(of_row, of_group, numbered.n_groups)


def clusters_by_score(
    clusters: ArrayLike | None, index: GroupIndex | None, scores: ArrayLike, n_rows: int
) -> Clusters:
    """Number the clusters as `read_clusters` does, very many of them by their highest scores.

    A pass over the groups in falling order of their scores then reads the counts of the clusters
    nearly in the order in which they are stored, instead of one per line of the cache. All clusters
    are drawn with the same probability, so that their numbers do not change what a resample is.

    Examples
    --------
    >>> clusters_by_score(["p", "p", "q"], None, [1.0, 2.0, 3.0], 3).of_row.tolist()
    [0, 0, 1]
    """
    found = read_clusters(clusters, index, n_rows)
    return (
        found
        if found.n_clusters <= _MOST_CACHED
        else numbered_by_highest(found, np.asarray(scores))
    )


def numbered_by_highest(clusters: Clusters, scores: NDArray[Any]) -> Clusters:
    """Return the same clusters, numbered from the one of the highest score down.

    Examples
    --------
    >>> found = read_clusters(["p", "p", "q"], None, 3)
    >>> numbered_by_highest(found, np.array([1.0, 2.0, 3.0])).of_row.tolist()
    [1, 1, 0]
    """
    highest = np.full(clusters.n_clusters, -np.inf)
    np.maximum.at(highest, clusters.of_row, scores.astype(np.float64))
    number = np.empty(clusters.n_clusters, dtype=np.intp)
    number[np.argsort(highest)[::-1]] = np.arange(clusters.n_clusters)
    return Clusters(number[clusters.of_row], number[clusters.of_group], clusters.n_clusters)


class FewClustersWarning(MessageWarning):
    """There are too few clusters for an interval, or for a reliable one."""


def fewest_clusters(positives: NDArray[np.int64], negatives: NDArray[np.int64]) -> int:
    """Return the number of clusters of the class that lies in fewer, from groups per cluster.

    Examples
    --------
    >>> fewest_clusters(np.array([1, 0, 0]), np.array([2, 1, 1]))
    1
    """
    return int(min(np.count_nonzero(positives), np.count_nonzero(negatives)))


def student_quantile(level: float, n_clusters: float) -> float:
    """Return Student's quantile of a confidence level; it is infinite for one cluster.

    Examples
    --------
    >>> [round(student_quantile(0.95, n), 2) for n in (1, 2, 10, math.inf)]
    [inf, 12.71, 2.26, 1.96]
    """
    if n_clusters < 2:
        return math.inf
    upper = 0.5 + level / 2
    return float(ndtri(upper) if math.isinf(n_clusters) else stdtrit(n_clusters - 1, upper))


def expanded_tail(level: float, n_clusters: float) -> float:
    """Compute the share of the resamples outside the interval on each side.

        Φ(−k t)

    of the expanded percentile interval of Hesterberg (2015); (1 − level) / 2 with many clusters.

    Examples
    --------
    >>> [round(expanded_tail(0.95, n), 4) for n in (3, 10, 100, math.inf)]
    [0.0, 0.0086, 0.0231, 0.025]
    """
    return float(ndtr(-_spread_lost(n_clusters) * student_quantile(level, n_clusters)))


def two_sided_p_value(difference: float, standard_error: float, n_clusters: float) -> float:
    """Compute the p-value of a difference whose standard error comes from resampled clusters.

        2 T_{C−1}(−|difference| / (k · standard error))

    Examples
    --------
    >>> [round(two_sided_p_value(1.96, 1.0, n), 3) for n in (2, 10, math.inf)]
    [0.398, 0.096, 0.05]
    """
    z = abs(difference) / (_spread_lost(n_clusters) * standard_error)
    return 2 * float(ndtr(-z) if math.isinf(n_clusters) else stdtr(n_clusters - 1, -z))


def warn_of_few(
    positives: NDArray[np.int64], negatives: NDArray[np.int64], *, stacklevel: int = 2
) -> None:
    """Warn where a class lies in so few clusters that the interval may be too narrow.

    Examples
    --------
    >>> warn_of_few(np.ones(10, dtype=int), np.ones(10, dtype=int))
    """
    if fewest_clusters(positives, negatives) < _FEW:
        warning = FewClustersWarning(
            f"{np.count_nonzero(positives)} clusters, such as patients, hold positive groups and "
            f"{np.count_nonzero(negatives)} hold negative ones; with fewer than {_FEW} of either "
            "the interval may be too narrow.",
            alike="narrow",
        )
        warnings.warn(warning, stacklevel=stacklevel + 1)


def _spread_lost(n_clusters: float) -> float:
    return math.sqrt(1 / (1 - 1 / n_clusters)) if n_clusters > 1 else math.inf
