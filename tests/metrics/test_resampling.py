"""Metrics of a resample by its counts, against slow twins and against the resample itself."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scored import grouped_scores, repeatable
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from groupcm.kernels.resample import (
    count_draws,
    positives_within,
    summed_precision,
    twice_the_pairs_in_order,
)
from groupcm.metrics import (
    METRICS,
    bootstrap_interval,
    delong_interval,
    group_average_precision,
    group_roc_auc,
    index_groups,
    roc_band,
    sensitivity_at_specificity,
    sensitivity_at_threshold,
    specificity_at_threshold,
)
from groupcm.metrics.bootstrap import on_rebuilt_rows
from groupcm.metrics.clusters import numbered_by_highest, read_clusters
from groupcm.metrics.ranking_intervals import ranking_intervals
from groupcm.metrics.registry import RESAMPLED, sensitivities_at
from groupcm.metrics.resampling import Resampling
from groupcm.metrics.roc import rank
from groupcm.metrics.truth import read_truth


@st.composite
def resamples(draw):
    """Groups in clusters of one or more, and how often each cluster was drawn."""
    y, scores, groups, rng = draw(grouped_scores())
    patient = groups if draw(st.booleans()) else groups // 2
    clusters = read_clusters(patient, read_truth(y, scores, groups).index, len(y))
    count = rng.integers(0, 4, clusters.n_clusters)
    count[clusters.of_row[y][0]] = 2
    count[clusters.of_row[groups == 0][0]] = 1
    return y, scores, groups, clusters, count


def ranked(resample):
    y, scores, groups, clusters, count = resample
    truth = read_truth(y, scores, groups)
    ranking = rank(truth.is_positive, truth.scores, clusters.of_group, clusters.n_clusters)
    weight = count[clusters.of_group].astype(np.int64)
    return ranking, truth.is_positive, truth.scores, weight


@repeatable
@given(st.lists(st.integers(0, 5), max_size=20))
def test_draws_are_counted(draws):
    count = np.full(6, 99)
    count_draws(np.array(draws, dtype=np.int32), count)
    assert count.tolist() == np.bincount(draws, minlength=6).tolist()


@repeatable
@given(resamples())
def test_kernels_do_what_their_slow_twins_do(resample):
    ranking, is_positive, scores, weight = ranked(resample)
    given_to = (ranking.cluster, ranking.is_positive, ranking.ends_tie, resample[-1])

    pairs = [
        weight[p] * weight[n] * (2 * (scores[p] > scores[n]) + (scores[p] == scores[n]))
        for p in np.flatnonzero(is_positive)
        for n in np.flatnonzero(~is_positive)
    ]
    assert twice_the_pairs_in_order(*given_to) == sum(pairs)

    def alarms(threshold, among):
        return weight[among & (scores >= threshold)].sum()

    thresholds = sorted(set(scores), reverse=True)
    tp = [alarms(t, is_positive) for t in thresholds]
    fp = [alarms(t, ~is_positive) for t in thresholds]
    precision = sum(
        (now - before) * now / (now + false)
        for before, now, false in zip([0, *tp], tp, fp, strict=False)
        if now > before
    )
    assert summed_precision(*given_to) == pytest.approx(precision)

    most_fp = np.arange(fp[-1] + 1)
    found = np.full(len(most_fp), -1)
    positives_within(*given_to, most_fp, found)
    expected = [
        max([0, *(t for t, f in zip(tp, fp, strict=True) if f <= most)]) for most in most_fp
    ]
    assert found.tolist() == expected


@repeatable
@given(resamples())
def test_counts_weigh_like_sklearns_sample_weight(resample):
    ranking, is_positive, scores, weight = ranked(resample)
    count = resample[-1]
    if not (count @ ranking.positives and count @ ranking.negatives):
        return
    area = roc_auc_score(is_positive, scores, sample_weight=weight)
    assert RESAMPLED[group_roc_auc](ranking)(count) == pytest.approx(area)
    precision = average_precision_score(is_positive, scores, sample_weight=weight)
    assert RESAMPLED[group_average_precision](ranking)(count) == pytest.approx(precision)
    fpr, tpr, _ = roc_curve(is_positive, scores, sample_weight=weight, drop_intermediate=False)
    grid = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    expected = [max(tpr[fpr <= f + 1e-12]) for f in grid]
    assert sensitivities_at(ranking, grid)(count) == pytest.approx(expected)


@repeatable
@given(resamples())
def test_counts_give_what_the_gathered_rows_give(resample):
    y, scores, groups, clusters, count = resample
    group_of_row = read_truth(y, scores, groups).index.codes
    metrics = [
        *METRICS.values(),
        partial(sensitivity_at_specificity, specificity=0.5),
        partial(sensitivity_at_threshold, threshold=1.0),
        partial(specificity_at_threshold, threshold=1.0),
    ]
    ranking, *_ = ranked(resample)
    if not (count @ ranking.positives and count @ ranking.negatives):
        return
    for metric in metrics:
        function, parameters = getattr(metric, "func", metric), getattr(metric, "keywords", {})
        if function is METRICS["candidate_roc_auc"]:
            ranking = rank(y, scores, clusters.of_row, clusters.n_clusters)
        else:
            ranking, *_ = ranked(resample)
        by_counts = RESAMPLED[function](ranking, **parameters)(count)
        by_rows = on_rebuilt_rows(metric, y, scores, group_of_row, clusters)(count)
        assert by_counts == pytest.approx(by_rows, abs=1e-12), metric


@pytest.mark.parametrize("n_negative", [1, 3, 7, 10, 30, 70, 1000])
def test_a_share_that_is_just_reached_counts(n_negative):
    y = np.repeat([False, True], [n_negative, n_negative])
    scores = np.tile(np.arange(n_negative), 2) + np.where(y, 0.5, 0.0)
    alone = np.arange(2 * n_negative)
    ranking = rank(y, scores, alone, len(alone))
    count = np.ones(len(alone), dtype=np.int64)
    for k in range(n_negative + 1):
        reached = (n_negative - k) / n_negative
        by_counts = RESAMPLED[sensitivity_at_specificity](ranking, specificity=reached)(count)
        assert by_counts == sensitivity_at_specificity(y, scores, specificity=reached)
        assert by_counts == min(1, (k + 1) / n_negative)
        assert sensitivities_at(ranking, np.array([k / n_negative]))(count)[0] == by_counts


@repeatable
@given(grouped_scores())
def test_numbering_clusters_by_their_highest_scores_keeps_the_clusters(found):
    y, scores, groups, _ = found
    given_as = read_clusters(groups // 2, index_groups(groups), len(y))
    by_score = numbered_by_highest(given_as, scores)
    same = given_as.of_row[:, None] == given_as.of_row
    assert np.array_equal(same, by_score.of_row[:, None] == by_score.of_row)
    highest = [scores[by_score.of_row == c].max() for c in range(by_score.n_clusters)]
    assert highest == sorted(highest, reverse=True)
    of_group = np.array([by_score.of_row[groups == g][0] for g in index_groups(groups).ids])
    assert np.array_equal(by_score.of_group, of_group)


def _by_rows(metric, y, scores, groups):
    """Hide a metric from the registry, so that the rows of each resample are built."""
    return metric(y, scores, groups)


def test_very_many_clusters_are_resampled_as_their_rows_would_be():
    """The slow twin rebuilds the rows of every resample from the same draws."""
    rng = np.random.default_rng(0)
    y = rng.random(40_000) < 0.1
    scores = np.round(rng.standard_normal(len(y)) + y, 2)
    resampling = {"n_resamples": 3, "random_state": 7}
    for metric in (group_roc_auc, group_average_precision):
        fast = bootstrap_interval(y, scores, metric=metric, **resampling)
        slow = bootstrap_interval(y, scores, metric=partial(_by_rows, metric), **resampling)
        assert fast == pytest.approx(slow, abs=1e-12)
    pairs = rng.permutation(np.arange(len(y)) // 1.1)  # clusters of one group or two
    fast = bootstrap_interval(y, scores, clusters=pairs, **resampling)
    slow = bootstrap_interval(
        y, scores, clusters=pairs, metric=partial(_by_rows, group_roc_auc), **resampling
    )
    assert fast == pytest.approx(slow, abs=1e-12)


def test_very_many_clusters_vary_as_independent_groups_do():
    """The interval of the AUC is that of DeLong, which does not resample."""
    rng = np.random.default_rng(3)
    y = rng.random(40_000) < 0.02
    scores = rng.standard_normal(len(y)) + y
    found = bootstrap_interval(y, scores, n_resamples=300)
    exact = delong_interval(y, scores)
    assert found.high - found.low == pytest.approx(exact.high - exact.low, rel=0.12)


@pytest.mark.parametrize("n", [60, 40_000])
def test_metrics_together_are_what_each_is_alone(n, monkeypatch):
    rng = np.random.default_rng(1)
    y = np.arange(n) % 5 == 0
    scores, patients = rng.standard_normal(n) + y, np.arange(n) // 1.1
    metrics = {"auc": "group_roc_auc", "precision": "group_average_precision"}
    at = np.array([0.05, 0.5])
    resampling = {"level": 0.9, "n_resamples": 40, "random_state": 5}
    together = ranking_intervals(
        y, scores, metrics=metrics, fpr=at, clusters=patients, resampling=Resampling(**resampling)
    )
    options = {**resampling, "clusters": patients}
    for name, metric in metrics.items():
        assert together.metrics[name] == bootstrap_interval(y, scores, metric=metric, **options)
    assert repr(together.band) == repr(roc_band(y, scores, fpr=at, **options))
    monkeypatch.setenv("GROUPCM_NUM_THREADS", "1")
    alone = ranking_intervals(
        y, scores, metrics=metrics, fpr=at, clusters=patients, resampling=Resampling(**resampling)
    )
    assert repr(alone) == repr(together)
