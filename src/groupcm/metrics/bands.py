"""Confidence bands of ROC and FROC curves by the bootstrap over clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.data.groups import index_groups, owner_of_groups
from groupcm.metrics.clusters import fewest_clusters, read_clusters
from groupcm.metrics.froc import checked_objects
from groupcm.metrics.intervals import widened_band
from groupcm.metrics.registry import sensitivities_at, sensitivities_at_alarms
from groupcm.metrics.resampling import Resampling
from groupcm.metrics.results import SensitivityBand
from groupcm.metrics.roc import rank
from groupcm.metrics.truth import read_truth, rows_and_groups

__all__ = ["froc_band", "roc_band"]


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
    where they reach 0 or 1. For candidates, give their groups as clusters.

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
    truth = read_truth(y, scores, groups, pos_label=pos_label)
    found = read_clusters(clusters, truth.index, len(np.asarray(y)))
    ranking = rank(truth.is_positive, truth.scores, found.of_group, found.n_clusters)
    of_counts = sensitivities_at(ranking, at)
    values = resampling.values(of_counts, ranking.positives, ranking.negatives)
    n_clusters = fewest_clusters(ranking.positives, ranking.negatives)
    low, high = resampling.bounds(values, n_clusters)
    estimate = of_counts(np.ones(found.n_clusters, dtype=np.int64))
    holding = (
        int(np.count_nonzero(ranking.positives)),
        int(np.count_nonzero(ranking.negatives)),
    )
    return SensitivityBand(*widened_band(estimate, low, high, at, holding, level))


def froc_band(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    objects: ArrayLike | None = None,
    *,
    false_alarms: ArrayLike,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.Generator | None = 0,
    pos_label: Any = None,
) -> SensitivityBand:
    """Compute pointwise bounds of the share of objects found at each rate of false alarms.

        max { sensitivity(t) : false_alarms(t) <= false_alarms_j }

    of every resample, and its percentiles, as `roc_band` for the ROC curve.

    Parameters
    ----------
    y, scores, groups, objects, pos_label
        As for `froc_curve`. All candidates on an object must lie in one cluster.
    false_alarms : array-like
        Mean numbers of false alarms per group, rising.
    clusters, level, n_resamples, random_state
        As for `bootstrap_interval`, whose warnings apply.

    Returns
    -------
    SensitivityBand

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, groups = np.arange(400) % 8 == 0, np.arange(400) // 4
    >>> band = froc_band(y, 2 * y + rng.standard_normal(400), groups, false_alarms=[0.1, 1, 4])
    >>> bool(band.low[0] < band.high[0] <= band.high[1])
    True
    """
    at = np.asarray(false_alarms, dtype=np.float64)
    if at.ndim != 1 or np.any(at < 0) or np.any(np.diff(at) < 0):
        raise ValueError("false_alarms must hold rising numbers, none below 0.")
    resampling = Resampling(level=level, n_resamples=n_resamples, random_state=random_state)
    is_positive, scores, index = rows_and_groups(
        y, scores, groups, pos_label=pos_label, finite=True
    )
    found = read_clusters(clusters, index, len(is_positive))
    object_of = index.codes if objects is None else checked_objects(objects, is_positive)
    on_object = index_groups(object_of[is_positive])
    by_cluster = index_groups(found.of_row[is_positive])
    of_object = by_cluster.ids[owner_of_groups(on_object, by_cluster, "clusters")]
    ranking = rank(
        np.repeat([True, False], [on_object.n_groups, int(np.count_nonzero(~is_positive))]),
        np.concatenate([on_object.maxima(scores[is_positive]), scores[~is_positive]]),
        np.concatenate([of_object, found.of_row[~is_positive]]),
        found.n_clusters,
    )
    n_groups = np.bincount(found.of_group, minlength=found.n_clusters)
    of_counts = sensitivities_at_alarms(ranking, at, n_groups)
    values = resampling.values(of_counts, ranking.positives, n_groups)
    low, high = resampling.bounds(values, fewest_clusters(ranking.positives, n_groups))
    estimate = of_counts(np.ones(found.n_clusters, dtype=np.int64))
    holding = int(np.count_nonzero(ranking.positives)), found.n_clusters
    nowhere = np.zeros(len(at))
    return SensitivityBand(*widened_band(estimate, low, high, nowhere, holding, level))
