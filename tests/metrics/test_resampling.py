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
    group_average_precision,
    group_roc_auc,
    sensitivity_at_specificity,
    sensitivity_at_threshold,
    specificity_at_threshold,
)
from groupcm.metrics.bootstrap import on_rebuilt_rows
from groupcm.metrics.clusters import read_clusters
from groupcm.metrics.registry import RESAMPLED, sensitivities_at
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
