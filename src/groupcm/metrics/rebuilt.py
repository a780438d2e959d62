"""A resample built row by row, for metrics that only know rows: the slow way, for any of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.metrics.clusters import Clusters
from groupcm.metrics.named import Metric
from groupcm.metrics.weighted import OfCounts

__all__ = ["on_rebuilt_rows"]


def on_rebuilt_rows(
    metric: Metric,
    y: ArrayLike,
    scores: ArrayLike,
    group_of_row: NDArray[np.intp] | None,
    clusters: Clusters,
) -> OfCounts:
    """The metric of the rows that were drawn; a group drawn twice is two groups.

    Examples
    --------
    >>> from groupcm.metrics.clusters import read_clusters
    >>> of = on_rebuilt_rows(lambda y, s, g: float(sum(s)), [0, 1], [1.0, 5.0], None,
    ...                      read_clusters(None, None, 2))
    >>> of(np.array([2, 0]))
    2.0
    """
    y, scores = np.asarray(y), np.asarray(scores)

    def of(count: NDArray[np.int64]) -> float:
        copies = count[clusters.of_row]
        rows = np.repeat(np.arange(len(y)), copies)
        if group_of_row is None:
            return metric(y[rows], scores[rows], None)
        first_copy = np.repeat(np.cumsum(copies) - copies, copies)
        which_copy = np.arange(len(rows)) - first_copy
        n_groups = len(clusters.of_group)
        return metric(y[rows], scores[rows], which_copy * n_groups + group_of_row[rows])

    return of
