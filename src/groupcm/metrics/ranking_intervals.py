"""Several metrics of one set of scores and the band of its ROC curve, from the same resamples.

Drawing the clusters takes as long as computing a metric of them. Where an evaluation needs several
metrics of a million groups, each resample is therefore drawn once for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.metrics.bootstrap import counted_metric
from groupcm.metrics.clusters import clusters_by_score, fewest_clusters
from groupcm.metrics.intervals import rising_band, widened_band
from groupcm.metrics.registry import Metric, metric_named, sensitivities_at
from groupcm.metrics.resampling import Resampling
from groupcm.metrics.results import Interval, SensitivityBand
from groupcm.metrics.roc import rank
from groupcm.metrics.truth import read_truth

__all__ = ["RankingIntervals", "ranking_intervals", "roc_band"]


class RankingIntervals(NamedTuple):
    """The interval of each metric by its name, and the band of the sensitivity."""

    metrics: dict[str, Interval]
    band: SensitivityBand


def roc_band(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    fpr: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.Generator | None = 0,
    pos_label: Any = None,
) -> SensitivityBand:
    """Compute pointwise bounds of the sensitivity at each false positive rate.

        max { tpr(t) : fpr(t) <= fpr_j }

    of every resample, and its percentiles as in `bootstrap_interval`, widened in the same way
    where they reach 0 or 1. Both bounds rise with the false positive rate, as the curve does. For
    candidates, give their groups as clusters.

    Parameters
    ----------
    y, scores, groups, pos_label
        As for `group_roc_curve`.
    fpr : array-like, optional
        Rising, between 0 and 1; without it 0, 0.01, …, 1.
    clusters, level, n_resamples, random_state
        As for `bootstrap_interval`, whose warnings apply.

    Returns
    -------
    SensitivityBand

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(200) % 4 == 0
    >>> band = roc_band(y, y + rng.standard_normal(200), fpr=[0.1, 0.5, 1.0])
    >>> band.low[0] < band.high[0], band.low[2], band.high[2]
    (np.True_, np.float64(1.0), np.float64(1.0))
    """
    at = np.linspace(0, 1, 101) if fpr is None else np.asarray(fpr, dtype=np.float64)
    if at.ndim != 1 or not np.all((at >= 0) & (at <= 1)) or np.any(np.diff(at) < 0):
        raise ValueError("fpr must hold rising numbers between 0 and 1.")
    resampling = Resampling(level=level, n_resamples=n_resamples, random_state=random_state)
    found = ranking_intervals(
        y,
        scores,
        groups,
        metrics={},
        fpr=at,
        clusters=clusters,
        resampling=resampling,
        pos_label=pos_label,
    )
    return found.band


def ranking_intervals(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    metrics: Mapping[str, str | Metric],
    fpr: NDArray[np.float64],
    clusters: ArrayLike | None,
    resampling: Resampling,
    pos_label: Any = None,
) -> RankingIntervals:
    """Compute several metrics and the band of the sensitivity, from the same resamples.

    The numbers are those of `bootstrap_interval` for each metric, and of `roc_band`.

    Parameters
    ----------
    y, scores, groups, clusters, pos_label
        As for `bootstrap_interval`.
    metrics : mapping of str to metric
        As ``metric`` of `bootstrap_interval`.
    fpr : ndarray
        The rising false positive rates of the band.
    resampling : Resampling

    Examples
    --------
    >>> y = np.arange(200) % 4 == 0
    >>> scores = y + np.random.default_rng(0).standard_normal(200)
    >>> resampling = Resampling(level=0.95, n_resamples=100, random_state=0)
    >>> metrics = {"area": "group_roc_auc", "precision": "group_average_precision"}
    >>> found = ranking_intervals(y, scores, metrics=metrics, fpr=np.array([0.1, 0.5]),
    ...                           clusters=None, resampling=resampling)
    >>> list(found.metrics), len(found.band.low)
    (['area', 'precision'], 2)
    """
    truth = read_truth(y, scores, groups, pos_label=pos_label)
    numbered = clusters_by_score(clusters, truth.index, scores, len(np.asarray(y)))
    ranking = rank(truth.is_positive, truth.scores, numbered.of_group, numbered.n_clusters)
    counted = {
        name: counted_metric(y, [scores], groups, metric_named(metric), clusters, pos_label)
        for name, metric in metrics.items()
    }
    sensitivities = sensitivities_at(ranking, fpr)

    def of_counts(count: NDArray[np.int64]) -> list[float]:
        return [
            *(each.of_counts[0](count) for each in counted.values()),
            *sensitivities(count),
        ]

    values = resampling.values(
        of_counts,
        ranking.positives,
        ranking.negatives,
        in_threads=all(each.is_declared for each in counted.values()),
    )
    n_clusters = fewest_clusters(ranking.positives, ranking.negatives)
    intervals = {
        name: each.resampled(values[:, [k]], n_clusters).interval(0, resampling)
        for k, (name, each) in enumerate(counted.items())
    }
    low, high = resampling.bounds(values[:, len(counted) :], n_clusters)
    estimate = sensitivities(np.ones(numbered.n_clusters, dtype=np.int64))
    holding = (
        int(np.count_nonzero(ranking.positives)),
        int(np.count_nonzero(ranking.negatives)),
    )
    band = rising_band(*widened_band(estimate, low, high, fpr, holding, resampling.level))
    return RankingIntervals(intervals, SensitivityBand(*band))
