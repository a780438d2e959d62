"""Groups in falling order of their scores, sorted once for any number of resamples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ranking", "rank"]


@dataclass(frozen=True)
class Ranking:
    """Groups, or candidates, in falling order of score.

    Attributes
    ----------
    scores, is_positive : ndarray of shape (n,)
    cluster : ndarray of shape (n,)
        The number of the cluster of each.
    ends_tie : ndarray of shape (n,)
        Whether the next score is smaller.
    positives, negatives : ndarray of shape (n_clusters,)
        How many of each there are in a cluster.
    """

    scores: NDArray[Any]
    is_positive: NDArray[np.bool_]
    cluster: NDArray[np.int32]
    ends_tie: NDArray[np.bool_]
    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]

    @cached_property
    def with_candidates(self) -> tuple[NDArray[Any], NDArray[np.bool_], NDArray[np.bool_]]:
        """Return cluster, class and ends of ties of those that a threshold can reach.

        A score of -inf is that of a group without candidates.
        """
        reached = int(np.count_nonzero(self.scores > -np.inf))
        return self.cluster[:reached], self.is_positive[:reached], self.ends_tie[:reached]


def rank(
    is_positive: NDArray[np.bool_],
    scores: NDArray[Any],
    cluster: NDArray[np.intp],
    n_clusters: int,
) -> Ranking:
    """Sort, and count by cluster.

    Examples
    --------
    >>> groups = rank(np.array([True, False]), np.array([1.0, 2.0]), np.array([0, 1]), 2)
    >>> groups.cluster.tolist(), groups.positives.tolist()
    ([1, 0], [1, 0])
    """
    falling = np.argsort(scores)[::-1]
    scores = scores[falling]
    return Ranking(
        scores,
        is_positive[falling],
        cluster[falling].astype(np.int32),
        np.append(scores[1:] != scores[:-1], True),
        np.bincount(cluster[is_positive], minlength=n_clusters),
        np.bincount(cluster[~is_positive], minlength=n_clusters),
    )
