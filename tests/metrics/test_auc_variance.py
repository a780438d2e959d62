"""Analytic variances of areas: a slow twin, known values, equivalences, coverage."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from groupcm.metrics import (
    bootstrap_interval,
    delong_interval,
    delong_test,
    group_roc_auc,
    obuchowski_interval,
    obuchowski_test,
)
from groupcm.metrics.auc_variance import paired_area
from groupcm.metrics.clusters import FewClustersWarning


def pair(s, t):
    return 1.0 if s > t else 0.5 if s == t else 0.0


def slow_variance(positives, negatives, c, k, n_clusters):
    """Compute Obuchowski's variance by its sums over all pairs."""
    m, n = len(positives), len(negatives)
    theta = sum(pair(s, t) for s in positives for t in negatives) / (m * n)
    x = [sum(pair(s, t) for t in negatives) / n for s in positives]
    z = [sum(pair(s, t) for s in positives) / m for t in negatives]
    i10, i01 = len(set(c)), len(set(k))
    s10 = s01 = s11 = 0.0
    for cluster in range(n_clusters):
        ours = sum(v - theta for v, at in zip(x, c, strict=True) if at == cluster)
        theirs = sum(v - theta for v, at in zip(z, k, strict=True) if at == cluster)
        s10 += i10 / ((i10 - 1) * m) * ours**2
        s01 += i01 / ((i01 - 1) * n) * theirs**2
        s11 += n_clusters / (n_clusters - 1) * ours * theirs
    return theta, s10 / m + s01 / n + 2 * s11 / (m * n)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), m=st.integers(2, 12), n=st.integers(2, 12))
def test_the_variance_is_that_of_all_pairs(seed, m, n):
    rng = np.random.default_rng(seed)
    positives, negatives = rng.integers(0, 6, m), rng.integers(0, 6, n)
    c = np.concatenate([[0, 1], rng.integers(0, 5, m - 2)])
    k = np.concatenate([[2, 1], rng.integers(0, 5, n - 2)])
    area = paired_area(positives, negatives, c, k, 5)
    theta, variance = slow_variance(positives, negatives, c.tolist(), k.tolist(), 5)
    assert area.area == pytest.approx(theta, abs=1e-14)
    assert area.covariance(area) == pytest.approx(variance, abs=1e-14)


def test_delong_is_the_textbook_variance():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 3 == 0
    scores = y + rng.standard_normal(60)
    p, n = scores[y], scores[~y]
    v = np.array([np.mean(s > n) for s in p])
    w = np.array([np.mean(p > t) for t in n])
    variance = v.var(ddof=1) / len(p) + w.var(ddof=1) / len(n)
    area = paired_area(p, n, np.arange(20), 20 + np.arange(40), 60)
    assert area.covariance(area) == pytest.approx(variance, rel=1e-12)
    assert delong_interval(y, scores).estimate == pytest.approx(group_roc_auc(y, scores))


def test_duplicated_patients_narrow_the_interval_by_the_root_of_two():
    rng = np.random.default_rng(2)
    y = rng.random(600) < 0.4
    patients = np.arange(600) // 4
    scores = y + rng.standard_normal(600)
    once = paired_area(scores[y], scores[~y], patients[y], patients[~y], 150)
    twice = paired_area(
        np.tile(scores[y], 2),
        np.tile(scores[~y], 2),
        np.concatenate([patients[y], 150 + patients[y]]),
        np.concatenate([patients[~y], 150 + patients[~y]]),
        300,
    )
    ratio = math.sqrt(once.covariance(once) / twice.covariance(twice))
    assert ratio == pytest.approx(math.sqrt(2), rel=0.01)


def test_clusters_of_one_equal_delong_and_copies_of_a_frame_do_not_add_certainty():
    rng = np.random.default_rng(3)
    y = np.arange(100) % 2 == 0
    scores = y + rng.standard_normal(100)
    alone = delong_interval(y, scores)
    assert obuchowski_interval(y, scores, clusters=np.arange(100)) == alone
    copied = obuchowski_interval(
        np.repeat(y, 5), np.repeat(scores, 5), clusters=np.repeat(np.arange(100), 5)
    )
    assert copied == pytest.approx(alone, rel=1e-9)


def test_the_interval_agrees_with_the_bootstrap():
    rng = np.random.default_rng(4)
    patients = np.arange(1500) // 5
    y = rng.random(1500) < 0.3
    scores = 1.2 * y + rng.standard_normal(300)[patients] + rng.standard_normal(1500)
    exact = obuchowski_interval(y, scores, clusters=patients)
    drawn = bootstrap_interval(y, scores, clusters=patients, n_resamples=1000)
    width = exact.high - exact.low
    assert width == pytest.approx(drawn.high - drawn.low, rel=0.1)
    assert abs(exact.low - drawn.low) < 0.1 * width


def test_the_interval_covers_the_truth_for_clusters():
    rng, truth, n_studies, covered = np.random.default_rng(5), norm.cdf(1.5 / 2), 400, 0
    patients = np.repeat(np.arange(40), 5)
    for _ in range(n_studies):
        y = rng.random(200) < 0.3
        scores = 1.5 * y + rng.standard_normal(40)[patients] + rng.standard_normal(200)
        found = obuchowski_interval(y, scores, clusters=patients)
        covered += found.low <= truth <= found.high
    # 400 studies at 95 % lie between 0.92 and 0.98 but for one time in a hundred.
    assert 0.92 <= covered / n_studies <= 0.98


def test_the_paired_test_holds_its_level_and_finds_a_difference():
    rng, rejected = np.random.default_rng(6), 0
    patients = np.repeat(np.arange(40), 5)
    for _ in range(300):
        y = rng.random(200) < 0.3
        shared = y + rng.standard_normal(40)[patients]
        a, b = (shared + rng.standard_normal(200) for _ in range(2))
        rejected += obuchowski_test(y, a, b, clusters=patients).p_value < 0.05
    assert rejected <= 26  # of 15 expected; 1 in 200 runs has more than 25
    better = obuchowski_test(y, y + 0.3 * a, a, clusters=patients)
    assert better.p_value < 0.01
    assert better.difference.low > 0
    assert better.n_resamples == 0
    assert delong_test(y, a, a).p_value == 1.0


def test_a_perfect_area_keeps_an_interval_of_some_width():
    found = delong_interval(np.repeat([0, 1], 20), np.arange(40))
    assert found.estimate == found.high == 1.0
    assert 0.8 < found.low < 1.0


def test_one_cluster_gives_no_interval():
    with pytest.warns(FewClustersWarning, match="one cluster"):
        found = obuchowski_interval([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], clusters=[1, 1, 1, 1])
    assert math.isnan(found.low)
    with pytest.raises(ValueError, match="level"):
        delong_interval([0, 1] * 20, np.arange(40), level=95)
