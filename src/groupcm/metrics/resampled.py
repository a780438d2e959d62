"""A metric on the data and on its resamples, for one set of scores or for several at once.

A resample built row by row, for metrics that only know rows: the slow way, for any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.groups import no_groups
from groupcm.metrics.clusters import Clusters, fewest_clusters, read_clusters
from groupcm.metrics.intervals import Edges, edges_of
from groupcm.metrics.resampling import WEIGHTED, OfCounts, Resampling
from groupcm.metrics.results import Interval
from groupcm.metrics.roc import candidate_roc_auc, rank
from groupcm.metrics.scorers import Metric
from groupcm.metrics.truth import Truth, positive_rows, read_truth, rows_and_groups

__all__ = ["Resampled", "on_rebuilt_rows", "resampled_metric"]


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


@dataclass(frozen=True)
class Resampled:
    """A metric of every set of scores.

    Attributes
    ----------
    estimates : list of float
        On the data itself.
    values : ndarray of shape (n_kept, n_scores)
        On the resamples that hold both classes, the same ones for all scores.
    n_clusters : int
        Of the class that lies in fewer clusters.
    edges : Edges
        What is known of the metric where resamples reach 0 or 1.
    scores : list of ndarray
        Those that the metric ranks, of groups or of candidates.
    """

    estimates: list[float]
    values: NDArray[np.float64]
    n_clusters: int
    edges: Edges
    scores: list[NDArray[Any]]

    def interval(self, k: int, resampling: Resampling) -> Interval:
        """Return the interval of one set of scores, widened where resamples reach the edge.

        Scores that are all the same have their metric for certain.
        """
        found = resampling.interval(self.estimates[k], self.values[:, k], self.n_clusters)
        if np.all(self.scores[k] == self.scores[k][0]):
            return found
        return self.edges.widened(found, resampling.level)


def resampled_metric(
    y: ArrayLike,
    several_scores: Sequence[ArrayLike],
    groups: ArrayLike | None,
    *,
    metric: Metric,
    clusters: ArrayLike | None,
    resampling: Resampling,
    pos_label: Any = None,
) -> Resampled:
    """Evaluate a metric on the data, and on resamples of its clusters.

    ``pos_label`` is the positive one of the two labels, by default that of the metric's own
    parameters, or the larger. Where it is given, the metric gets True and False for ``y``.

    Examples
    --------
    >>> from groupcm.metrics.roc import group_roc_auc
    >>> y, scores = [0, 1, 0, 1] * 5, [0.1, 0.4, 0.4, 0.8] * 5
    >>> resampling = Resampling(level=0.95, n_resamples=20, random_state=1)
    >>> found = resampled_metric(y, [scores], None, metric=group_roc_auc, clusters=None,
    ...                          resampling=resampling)
    >>> found.estimates, found.values.min() >= 0.5
    ([0.875], np.True_)
    """
    function, parameters = _function_and_parameters(metric)
    is_weighted = isinstance(function, FunctionType) and function in WEIGHTED
    groups = None if no_groups(groups) else groups
    if is_weighted:
        own = parameters.pop("pos_label", None)
        y = positive_rows(y, own if pos_label is None else pos_label)
        metric = partial(function, **parameters)
    elif pos_label is not None:
        y = positive_rows(y, pos_label)
    of_rows = function is candidate_roc_auc
    truths = [_read(y, scores, groups, of_rows) for scores in several_scores]
    estimates = [float(metric(y, scores, groups)) for scores in several_scores]
    index = truths[0].index
    found = read_clusters(clusters, index, len(np.asarray(y)))
    cluster = found.of_row if of_rows else found.of_group
    rankings = [rank(t.is_positive, t.scores, cluster, found.n_clusters) for t in truths]
    if is_weighted:
        of_counts = [WEIGHTED[function](ranking, **parameters) for ranking in rankings]
    else:
        group_of_row = None if index is None else index.codes
        of_counts = [
            on_rebuilt_rows(metric, y, scores, group_of_row, found) for scores in several_scores
        ]
    positives, negatives = rankings[0].positives, rankings[0].negatives
    values = resampling.values(
        lambda count: [of(count) for of in of_counts],
        positives,
        negatives,
        in_threads=is_weighted,
    )
    edges = edges_of(function if is_weighted else None, parameters, rankings[0])
    n_clusters = fewest_clusters(positives, negatives)
    return Resampled(estimates, values, n_clusters, edges, [t.scores for t in truths])


def _function_and_parameters(metric: Metric) -> tuple[Any, dict[str, Any]]:
    if isinstance(metric, partial) and not metric.args:
        return metric.func, dict(metric.keywords)
    return metric, {}


def _read(y: ArrayLike, scores: ArrayLike, groups: ArrayLike | None, of_rows: bool) -> Truth:
    """One entry a group, or a row for metrics of candidates; the index is of groups either way."""
    if groups is None or not of_rows:
        return read_truth(y, scores, groups)
    is_positive, checked, index = rows_and_groups(y, scores, groups)
    return Truth(is_positive, checked, index)
