"""Free-response metrics: AFROC, wAFROC and FROC against slow twins, hit rules, missed objects."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcm.metrics import (
    afroc_auc,
    afroc_curve,
    afroc_interval,
    afroc_test,
    froc_curve,
    froc_sensitivity,
    group_roc_auc,
    wafroc_auc,
    wafroc_curve,
)
from groupcm.metrics.free_response import read_free_response


def study(seed, n_groups=30, patients=10):
    """Make candidates of groups of which a third shows one to three objects."""
    rng = np.random.default_rng(seed)
    y, scores, groups, objects, patient = [], [], [], [], []
    for group in range(n_groups):
        for k in range(rng.integers(1, 4) if group % 3 == 0 else 0):
            for _ in range(rng.integers(1, 3)):
                y.append(1)
                scores.append(rng.integers(0, 12))
                objects.append(10 * group + k)
        n_false = rng.integers(1, 5)
        y += [0] * n_false
        scores += rng.integers(0, 9, n_false).tolist()
        objects += [-1] * n_false
        n_new = len(y) - len(groups)
        groups += [group] * n_new
        patient += [group % patients] * n_new
    return tuple(map(np.array, (y, scores, groups, objects, patient)))


def slow_area(y, scores, groups, objects, weighted, everywhere):
    """Average over all pairs of an object and a group, as the definition says."""
    lesions = {}
    for label, score, group, name in zip(y, scores, groups, objects, strict=True):
        if label:
            lesions[group, name] = max(score, lesions.get((group, name), -np.inf))
    positive = {group for group, _ in lesions}
    false = {
        group: max(
            [s for s, g, label in zip(scores, groups, y, strict=True) if g == group and not label],
            default=-np.inf,
        )
        for group in np.unique(groups)
        if everywhere or group not in positive
    }
    total = weights = 0.0
    for (group, _), score in lesions.items():
        weight = 1.0 / sum(g == group for g, _ in lesions) if weighted else 1.0
        weights += weight
        total += weight * np.mean([(score > f) + 0.5 * (score == f) for f in false.values()])
    return total / weights


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), weighted=st.booleans(), everywhere=st.booleans())
def test_the_afroc_area_is_the_mean_over_pairs_and_the_area_under_its_curve(
    seed, weighted, everywhere
):
    y, scores, groups, objects, _ = study(seed)
    where = "all" if everywhere else "negative"
    options = {"weighted": weighted, "false_alarms_in": where}
    area = afroc_auc(y, scores, groups, objects, **options)
    assert area == pytest.approx(slow_area(y, scores, groups, objects, weighted, everywhere))
    curve = afroc_curve(y, scores, groups, objects, **options)
    assert np.all(np.diff(curve.false_positive_fraction) >= 0)
    assert np.trapezoid(curve.sensitivity, curve.false_positive_fraction) == pytest.approx(area)


def test_groups_of_one_candidate_have_the_area_of_the_roc_curve():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 4 == 0
    scores = y + rng.standard_normal(80)
    groups = np.arange(80)
    assert afroc_auc(y, scores, groups) == pytest.approx(group_roc_auc(y, scores, groups))
    assert wafroc_auc(y, scores, groups) == pytest.approx(group_roc_auc(y, scores, groups))


def test_weights_give_every_group_the_same_say():
    y, groups, objects = [1, 1, 1, 0, 0], [0, 0, 1, 2, 3], [1, 2, 3, 0, 0]
    scores = [9.0, 1.0, 9.0, 5.0, 5.0]
    assert afroc_auc(y, scores, groups, objects) == pytest.approx(2 / 3)
    assert wafroc_auc(y, scores, groups, objects) == pytest.approx(3 / 4)
    assert wafroc_curve(y, scores, groups, objects).sensitivity[1] == pytest.approx(3 / 4)


def test_a_missed_object_equals_a_row_of_minus_infinity():
    y, scores, groups, objects, patient = study(3)
    rows = {
        "y": 1,
        "scores": -np.inf,
        "groups": 1,
        "objects": 999,
        "patient": patient[groups == 1][0],
    }
    longer = [
        np.append(column.astype(float) if name == "scores" else column, rows[name])
        for name, column in zip(rows, (y, scores, groups, objects, patient), strict=True)
    ]
    for area in (afroc_auc, wafroc_auc):
        listed = area(y, scores, groups, objects, missed=[1])
        assert listed == pytest.approx(area(*longer[:4]))
        assert listed < area(y, scores, groups, objects)
    listed = froc_curve(y, scores, groups, objects, missed=[1])
    np.testing.assert_array_equal(listed.sensitivity, froc_curve(*longer[:4]).sensitivity)
    unseen = froc_curve(y, scores, groups, objects, missed=["nowhere"])
    assert unseen.false_alarms[-1] == pytest.approx(
        np.count_nonzero(y == 0) / (len(np.unique(groups)) + 1)
    )
    with pytest.raises(ValueError, match="its cluster is unknown"):
        froc_sensitivity(y, scores, groups, objects, missed=["nowhere"], clusters=patient)


def test_the_hit_rule_decides_which_candidate_scores_an_object():
    y, scores, groups = [1, 1, 0, 0], [0.9, 0.2, 0.5, 0.1], ["a", "a", "a", "b"]
    overlap = [0.3, 0.8, 0.0, 0.0]
    assert froc_curve(y, scores, groups).thresholds[1] == 0.9
    best = read_free_response(y, scores, groups, overlap=overlap, hit="best_overlap")
    assert best.object_score.tolist() == [0.2]
    assert best.false_score.tolist() == [0.5, 0.1]
    with pytest.raises(ValueError, match="needs overlap"):
        froc_curve(y, scores, groups, hit="best_overlap")
    with pytest.raises(ValueError, match="is not known"):
        froc_curve(y, scores, groups, hit="nearest")


def slow_sensitivity(y, scores, groups, objects, rate):
    best = 0.0
    names = np.unique(objects[y == 1])
    for t in np.unique(scores):
        if np.count_nonzero((scores >= t) & (y == 0)) <= rate * len(np.unique(groups)):
            found = [np.any((scores >= t) & (objects == name) & (y == 1)) for name in names]
            best = max(best, np.mean(found))
    return best


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_sensitivities_at_false_alarm_rates_are_those_of_the_curve(seed):
    y, scores, groups, objects, patient = study(seed)
    found = froc_sensitivity(
        y, scores, groups, objects, clusters=patient, n_resamples=50, level=0.9
    )
    slow = [slow_sensitivity(y, scores, groups, objects, rate) for rate in found.false_alarms]
    np.testing.assert_allclose(found.estimate, slow)
    assert found.mean.estimate == pytest.approx(np.mean(slow))
    assert np.all(np.diff(found.estimate) >= 0)
    assert np.all(found.low <= found.high)


def test_the_band_covers_the_sensitivity_of_many_groups():
    def draw(rng, n):
        y = np.tile([1, 0, 0, 0, 0, 0, 0, 0], n)
        groups = np.repeat(np.arange(2 * n), 4)
        return y, 1.5 * y + rng.standard_normal(8 * n), groups

    truth = froc_sensitivity(*draw(np.random.default_rng(0), 50_000), n_resamples=2).estimate
    rng, inside = np.random.default_rng(1), []
    for _ in range(100):
        found = froc_sensitivity(*draw(rng, 60), n_resamples=200)
        inside.append((found.low <= truth) & (truth <= found.high))
    assert np.mean(inside) > 0.9


def test_an_object_in_two_clusters_is_refused():
    with pytest.raises(ValueError, match="two clusters"):
        froc_sensitivity([1, 1, 0], [1.0, 2.0, 0.0], ["a", "b", "c"], [7, 7, 0])


def test_intervals_and_tests_of_areas_respect_clusters():
    y, scores, groups, objects, patient = study(5, n_groups=120, patients=40)
    scores = scores + 0.01 * np.random.default_rng(0).standard_normal(len(scores))
    alone = afroc_interval(y, scores, groups, objects, weighted=True)
    assert alone.low < alone.estimate < alone.high
    assert alone.estimate == wafroc_auc(y, scores, groups, objects)
    copies = 4
    copied = afroc_interval(
        np.tile(y, copies),
        np.tile(scores, copies),
        np.concatenate([groups + 1000 * c for c in range(copies)]),
        np.concatenate([objects + 10_000 * c for c in range(copies)]),
        weighted=True,
        clusters=np.tile(groups, copies),
    )
    assert copied == pytest.approx(alone, rel=1e-6)
    noise = np.random.default_rng(1).standard_normal(len(y)) * 9
    found = afroc_test(y, scores, noise, groups, objects, clusters=patient)
    assert found.p_value < 0.01
    assert found.metric == "afroc_auc"
