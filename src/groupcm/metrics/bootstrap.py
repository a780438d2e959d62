"""Confidence intervals by the bootstrap over clusters, such as patients.

Clusters are drawn with replacement, as many as there are, each with all its groups. Groups of one
patient resemble each other, so that drawing them one by one would make an interval too narrow.
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
from groupcm.metrics.clusters import Clusters, clusters_by_score, fewest_clusters
from groupcm.metrics.intervals import Edges
from groupcm.metrics.registry import (
    RESAMPLED,
    Metric,
    edges_of,
    metric_named,
)
from groupcm.metrics.resampling import FunctionOfCounts, Resampling
from groupcm.metrics.results import Interval
from groupcm.metrics.roc import Ranking, candidate_roc_auc, rank
from groupcm.metrics.truth import Truth, positive_rows, read_truth, rows_and_groups

__all__ = [
    "CountedMetric",
    "Resampled",
    "bootstrap_interval",
    "counted_metric",
    "on_rebuilt_rows",
    "resampled_metric",
]


def bootstrap_interval(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    metric: str | Metric = "group_roc_auc",
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.Generator | None = 0,
    pos_label: Any = None,
) -> Interval:
    """Compute a metric with the expanded percentile interval of its resamples.

        from the quantile Φ(−k t_{C−1}) to Φ(k t_{C−1}),    k = √(C / (C − 1))

    where t is Student's quantile of ``level`` and C counts the clusters of the class that lies
    in fewer. With many clusters this is the percentile interval; with few it is wider, because
    resamples of few clusters spread less than other clusters would.

    Where the resamples reach 0 or 1, such as those of groups that are separated without an
    error, the interval is widened to bounds that do not collapse: see `groupcm.metrics.intervals`.

    Parameters
    ----------
    y, scores, groups
        As for `group_roc_auc`.
    metric : str or callable(y, scores, groups)
        ``"group_roc_auc"``, ``"candidate_roc_auc"``, ``"group_average_precision"`` or
        ``"sensitivity_at_specificity"``; or a function. These, `sensitivity_at_threshold` and
        `specificity_at_threshold`, also with parameters set by ``functools.partial``, take
        one pass over presorted scores per resample, in threads. Any other function is called
        on the rows of every resample, one after another, which is slow.
    clusters : array-like of shape (n,), optional
        The cluster of every candidate, such as its patient. Without it, every group is a cluster.
    level : float
        The confidence level: how often such intervals contain the true value. With many clusters
        it is also the share of the resamples between the bounds.
    n_resamples : int
        The number of resamples.
    random_state : int, Generator or None
        The seed. The same seed gives the same interval, whatever the number of threads.
    pos_label : label, optional
        The positive one of the two labels; None is the larger. Where it is given, a custom
        function as ``metric`` receives True and False for ``y``.

    Returns
    -------
    Interval
        The estimate is the metric of the data itself. The bounds are NaN where they are not
        known: see below, and where they would exclude nothing, or where all resamples of a
        custom metric are the same.

    Warns
    -----
    FewClustersWarning
        Where all positive (or all negative) groups lie in one cluster: their variation is unknown,
        and the bounds are NaN. Also where they lie in fewer than ten clusters: with five, a 95 %
        interval contains the true value in about 93 % of all studies, with three in about 80 %.
        Also where more than a tenth of the resamples lack one class; they are left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(200) % 4 == 0
    >>> patients = np.arange(200) // 5
    >>> found = bootstrap_interval(y, y + rng.standard_normal(200), clusters=patients)
    >>> found.low < found.estimate < found.high
    True

    >>> from functools import partial
    >>> from groupcm.metrics import sensitivity_at_specificity
    >>> at_95 = partial(sensitivity_at_specificity, specificity=0.95)
    >>> bootstrap_interval(y, y + rng.standard_normal(200), metric=at_95).low >= 0
    True
    """
    resampling = Resampling(level=level, n_resamples=n_resamples, random_state=random_state)
    found = resampled_metric(
        y,
        [scores],
        groups,
        metric=metric_named(metric),
        clusters=clusters,
        resampling=resampling,
        pos_label=pos_label,
    )
    return found.interval(0, resampling)


@dataclass(frozen=True)
class Resampled:
    """A metric of every set of scores, on the data and on its resamples.

    Attributes
    ----------
    estimates : list of float
        The metric on the data itself.
    values : ndarray of shape (n_kept, n_scores)
        The metric on the resamples that hold both classes, the same ones for all scores.
    n_clusters : int
        The number of clusters of the class that lies in fewer.
    edges : Edges
        The bounds of the metric where resamples reach 0 or 1.
    scores : list of ndarray
        The scores that the metric ranks, of groups or of candidates.
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
    """Evaluate a metric of one or several sets of scores on the data, and on shared resamples.

    ``pos_label`` is the positive one of the two labels, by default that of the metric's own
    parameters, or the larger. Where it is given, the metric receives True and False for ``y``.

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
    found = counted_metric(y, several_scores, groups, metric, clusters, pos_label)
    of_counts, ranking = found.of_counts, found.ranking
    values = resampling.values(
        lambda count: [of(count) for of in of_counts],
        ranking.positives,
        ranking.negatives,
        counted="candidate" if found.of_rows else "group",
        in_threads=found.is_declared,
    )
    return found.resampled(values, fewest_clusters(ranking.positives, ranking.negatives))


@dataclass(frozen=True)
class CountedMetric:
    """A metric of every set of scores, as a function of how often each cluster counts.

    Attributes
    ----------
    estimates : list of float
        The metric on the data itself.
    of_counts : list of callable
    ranking : Ranking
        Of the first scores: how many groups, or candidates, of each class lie in each cluster.
    edges : Edges
    scores : list of ndarray
        The scores that the metric ranks, of groups or of candidates.
    of_rows : bool
        Whether the metric is about candidates.
    is_declared : bool
        Whether it has a form of its own, which can run in threads.
    """

    estimates: list[float]
    of_counts: list[FunctionOfCounts]
    ranking: Ranking
    edges: Edges
    scores: list[NDArray[Any]]
    of_rows: bool
    is_declared: bool

    def resampled(self, values: NDArray[np.float64], n_clusters: int) -> Resampled:
        """Return the metric with its values on resamples, one column for each set of scores."""
        return Resampled(self.estimates, values, n_clusters, self.edges, self.scores)


def counted_metric(
    y: ArrayLike,
    several_scores: Sequence[ArrayLike],
    groups: ArrayLike | None,
    metric: Metric,
    clusters: ArrayLike | None,
    pos_label: Any = None,
) -> CountedMetric:
    """Return a metric of one or several sets of scores as a function of counts of clusters.

    Examples
    --------
    >>> from groupcm.metrics.roc import group_roc_auc
    >>> found = counted_metric([0, 1, 0], [[0.1, 0.8, 0.9]], None, group_roc_auc, None)
    >>> found.estimates, found.of_counts[0](np.array([3, 1, 1]))
    ([0.5], 0.75)
    """
    function, parameters = _function_and_parameters(metric)
    is_declared = isinstance(function, FunctionType) and function in RESAMPLED
    groups = None if no_groups(groups) else groups
    if is_declared:
        own = parameters.pop("pos_label", None)
        y = positive_rows(y, own if pos_label is None else pos_label)
        metric = partial(function, **parameters)
    elif pos_label is not None:
        y = positive_rows(y, pos_label)
    of_rows = function is candidate_roc_auc
    truths = [_read(y, scores, groups, of_rows) for scores in several_scores]
    estimates = [float(metric(y, scores, groups)) for scores in several_scores]
    index = truths[0].index
    found = clusters_by_score(clusters, index, several_scores[0], len(np.asarray(y)))
    cluster = found.of_row if of_rows else found.of_group
    rankings = [rank(t.is_positive, t.scores, cluster, found.n_clusters) for t in truths]
    if is_declared:
        of_counts = [RESAMPLED[function](ranking, **parameters) for ranking in rankings]
    else:
        group_of_row = None if index is None else index.codes
        of_counts = [
            on_rebuilt_rows(metric, y, scores, group_of_row, found) for scores in several_scores
        ]
    edges = edges_of(function if is_declared else None, parameters, rankings[0])
    scores = [truth.scores for truth in truths]
    return CountedMetric(estimates, of_counts, rankings[0], edges, scores, of_rows, is_declared)


def on_rebuilt_rows(
    metric: Metric,
    y: ArrayLike,
    scores: ArrayLike,
    group_of_row: NDArray[np.intp] | None,
    clusters: Clusters,
) -> FunctionOfCounts:
    """Return the metric as a function of counts, on rows that are built for each resample.

    A group that is drawn twice is two groups.

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


def _function_and_parameters(metric: Metric) -> tuple[Any, dict[str, Any]]:
    if isinstance(metric, partial) and not metric.args:
        return metric.func, dict(metric.keywords)
    return metric, {}


def _read(y: ArrayLike, scores: ArrayLike, groups: ArrayLike | None, of_rows: bool) -> Truth:
    """Return one entry per group, or per row for metrics of candidates, and the index of groups."""
    if groups is None or not of_rows:
        return read_truth(y, scores, groups)
    is_positive, checked, index = rows_and_groups(y, scores, groups)
    return Truth(is_positive, checked, index)
