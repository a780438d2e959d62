"""Thresholds with a guarantee: exactness, validity by simulation, too few cases."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import rel_entr
from scipy.stats import binom, norm

from groupcm.metrics import TooFewCasesWarning, operating_point, required_cases
from groupcm.metrics.clusters import read_clusters
from groupcm.metrics.guarantees import (
    binomial_p_value,
    guaranteed_threshold,
    stake,
)
from groupcm.metrics.targets import Target, errors_of
from groupcm.metrics.truth import Truth, read_truth


def both_classes(positives, negatives):
    y = np.repeat([1, 0], [len(positives), len(negatives)])
    return y, np.concatenate([positives, negatives])


def guaranteed(scores, clusters, name, level, confidence):
    """Return the guaranteed threshold of groups that are all of the class of the target."""
    target = Target(name, level)
    truth = Truth(np.full(len(scores), target.is_missed), np.asarray(scores))
    errors = errors_of(target, truth, read_clusters(clusters, None, len(scores)))
    return guaranteed_threshold(errors, scores, target, confidence)


def violations(target, draw, n_runs, seed):
    """Count the runs whose threshold does not keep 0.9 on the population that `draw` returns."""
    rng, broken = np.random.default_rng(seed), 0
    for _ in range(n_runs):
        scores, clusters, share_kept = draw(rng)
        threshold, _ = guaranteed(scores, clusters, target, 0.9, 0.9)
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
        threshold, _ = guaranteed(scores, np.arange(800), "sensitivity", 0.9, 0.9)
        broken += norm.sf(threshold / math.sqrt(10)) < 0.9
    assert broken > 0.2 * 200


def kl(q, p):
    return float(rel_entr(q, p) + rel_entr(1 - q, 1 - p))


@settings(max_examples=100, deadline=None)
@given(n=st.integers(1, 400), risk=st.floats(0.01, 0.5), level=st.floats(0.01, 0.5), data=st.data())
def test_the_bet_is_won_wherever_hoeffdings_bound_holds(n, risk, level, data):
    mean = data.draw(st.floats(0, risk))
    seed = data.draw(st.integers(0, 9))
    errors = np.clip(np.random.default_rng(seed).random(n) * 2 * mean, 0, 1)
    bet = np.log1p(stake(n, risk, level) * (risk - errors)).sum()
    if n * kl(min(errors.mean(), risk), risk) >= -math.log(level):
        assert bet >= -math.log(level) - 1e-7
    count = math.floor(n * mean)
    assert binomial_p_value(count / n, n, risk) == pytest.approx(binom.cdf(count, n, risk))


def test_the_stake_makes_a_fair_bet_at_the_risk():
    """The expectation of the product is 1 for errors of that mean, whatever their distribution."""
    for n, risk in ((20, 0.1), (200, 0.3)):
        of_one = 1 + stake(n, risk, 0.1) * (risk - np.array([0.0, 1.0]))
        assert (of_one >= 0).all()
        assert of_one @ [1 - risk, risk] == pytest.approx(1)


@pytest.mark.parametrize("target", ["sensitivity", "specificity", "false_alarms"])
def test_errors_and_bets_at_every_threshold_are_those_counted_one_by_one(target):
    rng = np.random.default_rng(11)
    groups = np.repeat(np.arange(40), 3)
    patients = rng.integers(9, size=40)[groups]
    y, scores = rng.random(120) < 0.3, np.round(rng.standard_normal(120), 1)
    truth = read_truth(y, scores, groups)
    found = errors_of(
        Target(target, 0.5),
        truth,
        read_clusters(patients, truth.index, 120),
        (scores[~y], groups[~y]),
        2,
    )
    thresholds = np.unique(scores)
    expected = []
    for t in thresholds:
        of_patient = []
        for p in np.unique(patients):
            mine = [g for g in range(40) if patients[3 * g] == p]
            if target == "false_alarms":
                counts = [min(2, np.sum(~y & (groups == g) & (scores >= t))) / 2 for g in mine]
                of_patient.append(np.mean(counts))
                continue
            mine = [g for g in mine if y[groups == g].any() == (target == "sensitivity")]
            alarms = np.array([scores[groups == g].max() >= t for g in mine])
            wrong = ~alarms if target == "sensitivity" else alarms
            of_patient += [wrong.mean()] if mine else []
        expected.append(of_patient)
    expected = np.array(expected)
    np.testing.assert_allclose(found.at(thresholds), expected.mean(axis=1))
    bets = np.log1p(0.9 * (0.4 - expected)).sum(axis=1)
    np.testing.assert_allclose(found.bets(thresholds, 0.4, 0.9), bets)


def test_the_exact_threshold_is_the_tolerance_bound_of_order_statistics():
    scores = np.random.default_rng(3).permutation(300) / 7.0
    threshold, guarantee = guaranteed(scores, np.arange(300), "sensitivity", 0.95, 0.9)
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
    with pytest.warns(TooFewCasesWarning, match="10 clusters, such as patients, with neg"):
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
    with pytest.warns(TooFewCasesWarning, match="too many of them miss"):
        assert math.isnan(operating_point(y, scores, sensitivity=0.9, confidence=0.9).threshold)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"confidence": 0.9}, "confidence needs a sensitivity"),
        ({"threshold": 0.5, "confidence": 0.9}, "confidence needs a sensitivity"),
        ({"sensitivity": 1.0, "confidence": 0.9}, "cannot be guaranteed"),
        ({"sensitivity": 0.9, "confidence": 90}, "cannot be guaranteed"),
        ({"sensitivity": 1.5, "confidence": 0.9}, "is not a share"),
        ({"sensitivity": 0.9, "specificity": 0.9}, "are both given"),
        ({"patient_sensitivity": 0.9}, "needs clusters"),
        ({"false_alarms": -1.0}, "not a number of at least 0"),
        ({"false_alarms": 2.0, "confidence": 0.9}, "below 1, the most that are counted"),
        ({"false_alarms": 0.5, "confidence": 0.9, "most_per_group": 0}, "most_per_group=0"),
    ],
)
def test_what_cannot_be_guaranteed_is_one_sentence(wanted, message):
    with pytest.raises(ValueError, match=message):
        operating_point([0, 1] * 30, np.arange(60), **wanted)


def test_a_threshold_for_false_alarms_is_the_lowest_that_keeps_them():
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(50), 6)
    y, scores = rng.random(300) < 0.1, np.round(rng.standard_normal(300), 1)
    point = operating_point(y, scores, groups, false_alarms=0.4)
    assert point.false_alarms <= 0.4
    below = scores[scores < point.threshold].max()
    assert np.sum(~y & (scores >= below)) / 50 > 0.4


def test_a_guarantee_of_false_alarms_counts_them_up_to_the_most_of_a_group():
    rng, broken = np.random.default_rng(6), 0
    population = np.sort(np.random.default_rng(7).standard_normal((200_000, 3)), axis=1)
    population += 0.5 * np.random.default_rng(8).standard_normal((200_000, 1))
    grid = np.linspace(-2, 5, 300)
    alarms = np.array([np.minimum((population >= t).sum(axis=1), 2).mean() for t in grid[::10]])
    of_threshold = np.interp(grid, grid[::10], alarms)
    for _ in range(200):
        scores = rng.standard_normal((80, 3)) + 0.5 * rng.standard_normal((80, 1))
        y, groups = np.zeros(240, bool), np.repeat(np.arange(80), 3)
        point = operating_point(
            np.append(y, True),
            np.append(scores.ravel(), 9.0),
            np.append(groups, 80),
            false_alarms=0.5,
            confidence=0.9,
            most_per_group=2,
        )
        assert point.guarantee.most_per_group == 2
        broken += np.interp(point.threshold, grid, of_threshold) > 0.5
    assert broken <= 0.1 * 200
    y = np.arange(8) == 7
    with pytest.warns(TooFewCasesWarning, match="at least 12 are needed"):
        few = operating_point(
            np.append(y, False),
            np.arange(9.0),
            np.append(np.arange(8), 0),
            false_alarms=0.2,
            confidence=0.7,
            most_per_group=2,
        )
    assert few.threshold == math.inf


def test_patients_are_found_by_one_of_their_positive_groups():
    y = np.array([1, 1, 0, 1, 0, 0, 1])
    scores = np.array([0.9, 0.1, 2.0, 0.4, 0.5, 0.2, 0.3])
    patients = list("pppqqrs")
    found = [
        operating_point(y, scores, patient_sensitivity=s, clusters=patients).threshold
        for s in (0.3, 0.34, 0.67, 1.0)
    ]
    assert found == [0.9, 0.4, 0.3, 0.3]


def test_the_guarantee_of_patients_is_the_exact_one_of_their_highest_groups():
    rng = np.random.default_rng(9)
    patients = np.repeat(np.arange(120), 5)
    scores = rng.standard_normal(600)
    y = np.append(np.ones(600), 0)
    point = operating_point(
        y,
        np.append(scores, -9.0),
        patient_sensitivity=0.9,
        confidence=0.9,
        clusters=np.append(patients, 120),
    )
    highest = scores.reshape(120, 5).max(axis=1)
    assert point.threshold == guaranteed(highest, np.arange(120), "sensitivity", 0.9, 0.9)[0]
    assert point.guarantee.exact
    assert point.guarantee.n_clusters == 120
