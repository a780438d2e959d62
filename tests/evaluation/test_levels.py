"""Evaluations at levels above the group: results, equivalences, decisions and bad input."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from groupcm import GroupClassifier, metrics
from groupcm.data.groups import index_groups
from groupcm.estimators.calibrators import Isotonic, Sigmoid, fit_sigmoid
from groupcm.evaluation import evaluate
from groupcm.evaluation.levels import level_results, levels_of
from groupcm.evaluation.listed import EmptyGroups
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.metrics.decision import ChosenThreshold, DecisionRule

GIVEN = ChosenThreshold.given(1.0)
quick = partial(level_results, n_resamples=60)


def scored(seed=0, n_patients=30, frames=6, **changes) -> ScoredCandidates:
    """Make frames of two candidates each, three frames a video, two videos a patient."""
    rng = np.random.default_rng(seed)
    frame = np.repeat(np.arange(n_patients * frames), 2)
    patient = frame // frames
    of_frame = (rng.random(n_patients * frames) < 0.5) & (
        np.arange(n_patients * frames) // frames % 2 == 0
    )
    of_frame[0], of_frame[-1] = True, False
    positive = of_frame[frame] & (np.arange(len(frame)) % 2 == 0)
    found = ScoredCandidates(
        index_groups(frame),
        score=positive * 1.5 + rng.normal(size=len(frame)),
        is_positive=positive,
        rows=lambda rows: np.zeros((len(rows), 1)),
        levels={"video": frame // (frames // 2), "patient": patient},
    )
    return replace(found, **changes) if changes else found


def taken(data: ScoredCandidates, rows) -> ScoredCandidates:
    """Return some rows, in an order of their own."""
    assert data.levels is not None
    return ScoredCandidates(
        index_groups(data.index.ids[data.index.codes[rows]]),
        data.score[rows],
        data.is_positive[rows],
        data.rows,
        levels={name: ids[rows] for name, ids in data.levels.items()},
    )


def test_each_level_is_that_of_scikit_learn_on_its_units():
    data = scored(1)
    assert data.levels is not None
    for result in quick(data, GIVEN):
        ids = data.levels[result.name]
        units = np.unique(ids)
        positive = np.array([data.is_positive[ids == u].any() for u in units])
        score = np.array([data.score[ids == u].max() for u in units])
        assert result.roc is not None
        assert result.decision is not None
        assert result.roc.auc.estimate == pytest.approx(roc_auc_score(positive, score))
        assert result.roc.auc.low <= result.roc.auc.estimate <= result.roc.auc.high
        assert (result.n_positive, result.n_negative) == (positive.sum(), (~positive).sum())
        point = result.decision.point
        assert point.true_positives == np.sum(positive & (score >= 1.0))
        assert point.false_positives == np.sum(~positive & (score >= 1.0))


def test_at_least_k_groups_above_the_threshold():
    data = scored(2)
    patients = quick(data, GIVEN, aggregate="kth_largest", k=2)[-1]
    n_alarms = np.bincount(data.group_levels["patient"], data.group_score >= 1.0)
    positive = np.zeros(len(n_alarms), dtype=bool)
    np.logical_or.at(positive, data.group_levels["patient"], data.group_positive)
    assert patients.decision is not None
    assert patients.decision.point.true_positives == np.sum(positive & (n_alarms >= 2))
    assert patients.decision.point.false_positives == np.sum(~positive & (n_alarms >= 2))
    assert "at least 2 groups" in patients.decision.chosen


def test_intervals_draw_the_units_of_the_highest_level():
    data = scored(3)
    assert data.levels is not None
    videos, _ = quick(data, GIVEN)
    units = metrics.level_scores(
        data.is_positive, data.score, {"frame": data.index.codes, **data.levels}
    )["video"]
    drawn = metrics.bootstrap_interval(
        units.is_positive, units.scores, clusters=units.cluster, n_resamples=60
    )
    assert videos.roc is not None
    assert videos.roc.auc == drawn
    # Patients that are given too, above the highest level, are drawn instead.
    wider = replace(data, by_patient=index_groups(data.levels["patient"] // 3))
    pairs = metrics.bootstrap_interval(
        units.is_positive, units.scores, clusters=units.cluster // 3, n_resamples=60
    )
    of_pairs = quick(wider, GIVEN)[0].roc
    assert of_pairs is not None
    assert of_pairs.auc == pairs != drawn


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), rule=st.sampled_from(["max", "kth_largest", "top_mean"]))
def test_a_level_of_single_groups_equals_the_groups(seed, rule):
    data = scored(seed)
    data = replace(data, by_patient=None, levels={"copy": data.index.codes})
    here = ChosenThreshold(
        1.0, DecisionRule(target="specificity", value=0.9, chosen_on="these"), is_chosen_here=True
    )
    (found,) = quick(data, here, aggregate=rule, n_resamples=20)
    positive, score = data.group_positive, data.group_score
    assert found.roc is not None
    assert found.roc.auc == metrics.bootstrap_interval(positive, score, n_resamples=20)
    np.testing.assert_array_equal(found.positive_scores, score[positive])
    if rule != "top_mean":
        assert found.decision is not None
        at = metrics.at_threshold(positive, score, threshold=1.0)
        assert found.decision.point.true_positives == at.true_positives


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(seed):
    data = scored(seed)
    mixed = taken(data, np.random.default_rng(seed).permutation(data.index.n_rows))
    for one, other in zip(quick(data, GIVEN), quick(mixed, GIVEN), strict=True):
        assert one.decision is not None
        assert other.decision is not None
        assert one.roc is not None
        assert other.roc is not None
        assert one.decision.point.true_positives == other.decision.point.true_positives
        assert one.decision.point.false_positives == other.decision.point.false_positives
        assert one.decision.sensitivity == pytest.approx(other.decision.sensitivity)
        assert one.roc.auc.estimate == other.roc.auc.estimate
        np.testing.assert_array_equal(np.sort(one.positive_scores), np.sort(other.positive_scores))


def test_twice_the_patients_narrow_the_intervals_by_the_root_of_two():
    data = scored(5, n_patients=80)
    assert data.levels is not None
    rows = np.tile(np.arange(data.index.n_rows), 2)
    again = np.repeat([0, 1], data.index.n_rows)
    double = ScoredCandidates(
        index_groups(data.index.codes[rows] + again * data.index.n_groups),
        data.score[rows],
        data.is_positive[rows],
        data.rows,
        levels={name: ids[rows] + again * (ids.max() + 1) for name, ids in data.levels.items()},
    )
    few, many = (quick(each, GIVEN, n_resamples=2000)[-1].roc for each in (data, double))
    assert few is not None
    assert many is not None
    ratio = (few.auc.high - few.auc.low) / (many.auc.high - many.auc.low)
    assert ratio == pytest.approx(np.sqrt(2), rel=0.12)


def test_the_mean_of_the_largest_has_a_threshold_of_its_own():
    data, validation = scored(6), scored(7)
    rule = DecisionRule(target="specificity", value=0.8, chosen_on="validation")
    chosen = ChosenThreshold(1.0, rule)
    with pytest.warns(UserWarning, match="cannot be compared with a threshold"):
        results = quick(data, chosen, aggregate="top_mean", k=2)
    assert [each.decision for each in results] == [None, None]
    assert all(each.note and each.roc is not None for each in results)
    results = quick(data, chosen, aggregate="top_mean", k=2, validation=validation)
    for result in results:
        unit = metrics.level_scores(
            validation.group_positive,
            validation.group_score,
            {"frame": np.arange(validation.n_groups), **validation.group_levels},
            aggregate="top_mean",
            k=2,
        )[result.name]
        assert result.decision is not None
        there = metrics.at_threshold(
            unit.is_positive, unit.scores, threshold=result.decision.point.threshold
        )
        assert there.specificity >= 0.8
        assert not result.decision.is_chosen_here


def test_ties_everywhere_are_an_area_of_one_half():
    data = scored(8)
    for result in quick(replace(data, score=np.zeros_like(data.score)), GIVEN):
        assert result.roc is not None
        assert result.roc.auc.estimate == 0.5
        assert result.decision is not None
        assert result.decision.point.true_positives == 0


def test_groups_without_candidates_belong_to_their_units():
    empty = EmptyGroups(
        np.array([900, 901]),
        np.array([True, False]),
        levels={"video": np.array([900, 0]), "patient": np.array([90, 0])},
    )
    data = scored(9)
    videos, patients = quick(replace(data, empty=empty), GIVEN)
    before = quick(data, GIVEN)
    assert videos.n_positive == before[0].n_positive + 1
    assert videos.n_negative == before[0].n_negative
    assert patients.n_positive == before[1].n_positive + 1
    assert np.isneginf(patients.positive_scores).sum() == 1


def test_groups_without_candidates_need_units():
    empty = EmptyGroups(np.array([900]), np.array([True]), levels={"patient": np.array([90])})
    with pytest.raises(ValueError, match="level video are known of the candidates, and not of the"):
        replace(scored(), empty=empty)


def test_a_level_of_one_class_is_told_in_one_sentence():
    data = scored(10)
    assert data.levels is not None
    lots = np.zeros(data.index.n_rows, dtype=int)
    one = replace(data, by_patient=None, levels={**data.levels, "lot": lots})
    few = pytest.warns(metrics.FewClustersWarning)  # one lot is one cluster
    with few, pytest.warns(UserWarning, match="every lot is positive"):
        *_, lot = quick(one, GIVEN)
    assert lot.note == (
        "every lot is positive, so that there is no ROC curve and no decision of lots; they need "
        "both classes."
    )
    assert (lot.roc, lot.decision, dict(lot.metrics)) == (None, None, {})


def test_one_patient_has_no_intervals():
    data = scored(11, n_patients=1, frames=40)
    assert data.levels is not None
    data = replace(data, is_positive=data.is_positive & (data.levels["video"] == 0))
    with pytest.warns(metrics.FewClustersWarning), pytest.warns(UserWarning, match="every patient"):
        videos, patient = quick(data, GIVEN)
    assert patient.roc is None
    assert videos.roc is not None
    assert np.isnan(videos.roc.auc.low)
    assert videos.decision is not None
    assert np.isnan(videos.decision.sensitivity.low)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (
            {"video": [1, 1, 2, 2], "patient": ["p", "p", "q", "p"]},
            "group 1 belongs to two units of level patient, q and p (row 3)",
        ),
        (
            {"patient": ["p", "p", "p", "p"], "video": [1, 1, 2, 2]},
            "patient p belongs to two units of level video, 1 and 2; levels must be nested, from "
            "the lowest to the highest.",
        ),
        ({"video": [1, 1, None, 2]}, "level video has no id at row 2; every candidate needs"),
        ({"video": [1, 1, 2]}, "X has 4 rows but level video has 3"),
        ({"group": [1, 1, 2, 2]}, "a level above the group is called 'group'"),
    ],
)
def test_bad_levels_are_one_sentence(levels, message):
    X, y, groups = np.array([[0.0], [3.0], [1.0], [0.5]]), [0, 1, 0, 0], [0, 0, 1, 1]
    model = GroupClassifier().fit(X, y, groups)
    with pytest.raises(ValueError, match=re.escape(message)) as raised:
        evaluate(model, X, y, groups, levels=levels, n_resamples=10)
    assert "\n" not in str(raised.value)


def test_patients_below_the_highest_level_are_refused():
    data = scored(12)
    assert data.levels is not None
    with pytest.raises(ValueError, match="belongs to two units of level patients"):
        replace(data, by_patient=index_groups(data.index.codes // 2))


def test_two_models_compared_at_the_level_of_patients():
    data, rng = scored(13), np.random.default_rng(0)
    assert data.levels is not None
    y, good = data.is_positive, data.score
    bad = good + 3 * rng.normal(size=len(y))
    levels = {"frame": data.index.codes, "patient": data.levels["patient"]}
    a, b = (metrics.level_scores(y, each, levels)["patient"] for each in (good, bad))
    found = metrics.compare(a.is_positive, a.scores, b.scores, clusters=a.cluster, n_resamples=100)
    assert found.a.estimate == pytest.approx(roc_auc_score(a.is_positive, a.scores))
    assert found.difference.estimate == pytest.approx(
        found.a.estimate - roc_auc_score(b.is_positive, b.scores)
    )


def test_two_models_compared_at_every_level():
    data, rng = scored(13), np.random.default_rng(0)
    assert data.levels is not None
    y, good = data.is_positive, data.score
    bad, options = good + 3 * rng.normal(size=len(y)), {"n_resamples": 60, "level": 0.9}
    levels = {"frame": data.index.codes, **data.levels}
    found = metrics.compare_levels(y, good, bad, levels, aggregate="top_mean", k=2, **options)
    assert list(found) == ["frame", "video", "patient"]
    a, b = (metrics.level_scores(y, s, levels, aggregate="top_mean", k=2) for s in (good, bad))
    for name, each in found.items():
        alone = metrics.compare(
            a[name].is_positive, a[name].scores, b[name].scores, clusters=a[name].cluster, **options
        )
        assert each == alone
        assert each.a.estimate == pytest.approx(roc_auc_score(a[name].is_positive, a[name].scores))
    with pytest.raises(
        ValueError, match="every patient is positive; at least one positive and one negative"
    ):
        metrics.compare_levels(
            y, good, bad, {"frame": levels["frame"], "patient": 0 * levels["frame"]}
        )


def test_probabilities_of_units_are_learnt_on_the_validation_data():
    data, validation = scored(14, n_patients=60), scored(15, n_patients=200)
    curve = Sigmoid(1.0, -1.0)
    own = quick(data, GIVEN, calibrator=curve)
    learnt = quick(data, GIVEN, calibrator=curve, validation=validation)
    unit = levels_of(data)
    others = levels_of(validation)
    for of_group, of_unit in zip(own, learnt, strict=True):
        name = of_group.name
        assert of_group.probability == "that of its group of the highest score"
        expected = np.mean((curve(unit[name].scores) - unit[name].is_positive) ** 2)
        assert of_group.reliability is not None
        assert of_group.reliability.brier == pytest.approx(expected)
        assert of_unit.reliability is not None
        fitted = fit_sigmoid(others[name].scores, others[name].is_positive)
        expected = np.mean((fitted(unit[name].scores) - unit[name].is_positive) ** 2)
        assert of_unit.reliability.brier == pytest.approx(expected)
        assert of_unit.reliability.count.sum() == len(unit[name].scores)
        n_units = len(others[name].scores)
        assert (
            of_unit.probability
            == f"given by a curve fitted to {n_units} {name}s of the validation data"
        )
    here = replace(GIVEN, is_chosen_here=True)  # the validation data are those evaluated
    again = quick(data, here, calibrator=curve, validation=data)
    assert [each.probability for each in again] == [each.probability for each in own]


def test_a_mean_of_scores_has_no_probability_of_its_own():
    data = scored(16)
    assert all(each.reliability is None for each in quick(data, GIVEN))
    found = quick(data, GIVEN, calibrator=Sigmoid(1.0, 0.0), aggregate="kth_largest", k=2)
    assert all(each.reliability is None for each in found)
    isotonic = Isotonic(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    found = quick(
        data, GIVEN, calibrator=isotonic, aggregate="kth_largest", k=2, validation=scored(17)
    )
    assert all(each.reliability is not None for each in found)
