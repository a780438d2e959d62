"""Thresholds with a guarantee: exactness, validity by simulation, too few cases."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

from groupcm.metrics import TooFewCasesWarning, operating_point, required_cases
from groupcm.metrics.guarantees import (
    binomial_p_value,
    guaranteed_threshold,
    hoeffding_bentkus_p_value,
)


def both_classes(positives, negatives):
    y = np.repeat([1, 0], [len(positives), len(negatives)])
    return y, np.concatenate([positives, negatives])


def violations(target, draw, n_runs, seed):
    """Count the runs whose threshold does not keep 0.9 on the population that `draw` returns."""
    rng, broken = np.random.default_rng(seed), 0
    for _ in range(n_runs):
        scores, clusters, share_kept = draw(rng)
        threshold, _ = guaranteed_threshold(
            scores, clusters, target=target, target_level=0.9, confidence_level=0.9
        )
        broken += share_kept(threshold) < 0.9
    return broken


@pytest.mark.parametrize("target", ["sensitivity", "specificity"])
def test_independent_groups_break_the_guarantee_as_often_as_allowed_and_hardly_less(target):
    sign = 1 if target == "sensitivity" else -1

    def draw(rng):
        return rng.standard_normal(200), np.arange(200), lambda t: norm.sf(sign * t)

    n_runs = 2000
    broken = violations(target, draw, n_runs, seed=0)
    # One run in a thousand has more than 3 standard deviations above the allowed tenth.
    assert broken <= 0.1 * n_runs + 3 * math.sqrt(n_runs * 0.09)
    assert broken >= 0.04 * n_runs


def test_groups_of_patients_break_the_guarantee_no_more_often_than_allowed():
    grid = np.linspace(-8, 8, 400)
    kept = norm.sf(grid / math.sqrt(2))

    def draw(rng):
        sizes = rng.integers(1, 12, 60)
        patients = np.repeat(np.arange(60), sizes)
        scores = rng.standard_normal(60)[patients] + rng.standard_normal(len(patients))
        return scores, patients, lambda t: np.interp(t, grid, kept)

    assert violations("sensitivity", draw, 1000, seed=1) <= 0.1 * 1000


def test_ignoring_the_patients_would_break_it():
    """The clustered bound is needed: frames taken as independent break the guarantee."""
    rng, broken = np.random.default_rng(2), 0
    patients = np.repeat(np.arange(40), 20)
    for _ in range(200):
        scores = 3 * rng.standard_normal(40)[patients] + rng.standard_normal(800)
        threshold, _ = guaranteed_threshold(
            scores, np.arange(800), target="sensitivity", target_level=0.9, confidence_level=0.9
        )
        broken += norm.sf(threshold / math.sqrt(10)) < 0.9
    assert broken > 0.2 * 200


@settings(max_examples=50, deadline=None)
@given(n=st.integers(1, 400), risk=st.floats(0.01, 0.5), errors=st.floats(0, 1))
def test_the_bound_for_shares_is_never_smaller_than_the_exact_one(n, risk, errors):
    count = math.floor(n * errors)
    exact = binomial_p_value(count / n, n, risk)
    assert exact == pytest.approx(binom.cdf(count, n, risk))
    assert hoeffding_bentkus_p_value(count / n, n, risk) >= exact * (1 - 1e-9)


def test_the_exact_threshold_is_the_tolerance_bound_of_order_statistics():
    scores = np.random.default_rng(3).permutation(300) / 7.0
    threshold, guarantee = guaranteed_threshold(
        scores, np.arange(300), target="sensitivity", target_level=0.95, confidence_level=0.9
    )
    k = max(j for j in range(1, 30) if binom.sf(j - 1, 300, 0.05) >= 0.9)
    assert threshold == np.sort(scores)[k - 1]
    assert guarantee.exact
    assert guarantee.n_clusters == 300


def test_required_cases_is_where_a_guarantee_begins():
    needed = required_cases(0.95, 0.9)
    y, scores = both_classes(np.arange(1.0, needed + 1), np.zeros(50))
    assert operating_point(y, scores, sensitivity=0.95, confidence=0.9).threshold == 1.0
    y, scores = both_classes(np.arange(1.0, needed), np.zeros(50))
    with pytest.warns(TooFewCasesWarning, match=f"at least {needed} are needed"):
        point = operating_point(y, scores, sensitivity=0.95, confidence=0.9)
    assert math.isnan(point.threshold)
    assert math.isnan(point.sensitivity)


def test_a_specificity_that_cannot_be_guaranteed_raises_no_alarm():
    y, scores = both_classes(np.ones(50), np.zeros(10))
    with pytest.warns(TooFewCasesWarning, match="10 clusters with negative groups"):
        point = operating_point(y, scores, specificity=0.9, confidence=0.9)
    assert point.threshold == math.inf
    assert point.specificity == 1.0


def test_a_guarantee_is_stricter_than_the_validation_data():
    rng = np.random.default_rng(4)
    y, scores = both_classes(2 + rng.standard_normal(300), rng.standard_normal(300))
    plain = operating_point(y, scores, sensitivity=0.9)
    sure = operating_point(y, scores, sensitivity=0.9, confidence=0.95)
    clustered = operating_point(
        y, scores, sensitivity=0.9, confidence=0.95, clusters=np.arange(600) // 2
    )
    assert clustered.threshold < sure.threshold < plain.threshold
    assert sure.guarantee.confidence_level == 0.95
    assert plain.guarantee is None
    assert not clustered.guarantee.exact


def test_missing_candidates_count_as_missed():
    y, scores = both_classes(np.full(100, -np.inf), np.zeros(10))
    scores[:50] = 1.0
    with pytest.warns(TooFewCasesWarning, match="wrong side"):
        assert math.isnan(operating_point(y, scores, sensitivity=0.9, confidence=0.9).threshold)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"confidence": 0.9}, "needs a sensitivity or a specificity"),
        ({"threshold": 0.5, "confidence": 0.9}, "needs a sensitivity or a specificity"),
        ({"sensitivity": 1.0, "confidence": 0.9}, "cannot be guaranteed"),
        ({"sensitivity": 0.9, "confidence": 90}, "cannot be guaranteed"),
    ],
)
def test_what_cannot_be_guaranteed_is_one_sentence(wanted, message):
    with pytest.raises(ValueError, match=message):
        operating_point([0, 1] * 30, np.arange(60), **wanted)
