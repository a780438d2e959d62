"""Every number of an evaluation, against a direct way to get it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from groupcm import (
    CalibratedGroupClassifier,
    GroupClassifier,
    GroupClassifierCV,
    MISVMClassifier,
    metrics,
    simulate,
)
from groupcm.cli.summaries import evaluation_rows
from groupcm.estimators.calibrators import Sigmoid
from groupcm.estimators.threshold_choice import choose_threshold
from groupcm.evaluation import metric_table, metric_values
from groupcm.evaluation._evaluate import evaluate
from groupcm.evaluation._learning_curve import (
    LearningGroups,
    joined,
    learning_curve,
    learning_sizes,
    untrained,
)
from groupcm.evaluation.curves import roc_of, thinned
from groupcm.evaluation.results import Evaluation
from groupcm.evaluation.scoring import score_candidates
from groupcm.evaluation.training_summary import model_name, training_of
from groupcm.features import Polynomial
from groupcm.metrics import Interval, RocCurve
from groupcm.metrics.clusters import FewClustersWarning
from groupcm.metrics.decision import ChosenThreshold, DecisionRule
from groupcm.metrics.intervals import share_interval, wilson_bounds
from groupcm.metrics.reliability import group_brier_score
from groupcm.report import evaluation_page, save_evaluation
from groupcm.report.evaluation import alarms_sentence
from groupcm.sources import from_parquet

quick = partial(evaluate, n_resamples=40)
THRESHOLD = 0.8


def beside(test) -> dict:
    return {
        "patients": test.patient,
        "objects": test.polyp,
        "threshold": THRESHOLD,
        "title": "T",
    }


@pytest.fixture(scope="module")
def train():
    return simulate.capsule(80, n_positive=25, n_patients=20, group_size=12, seed=0)


@pytest.fixture(scope="module")
def test():
    return simulate.capsule(90, n_positive=30, n_polyps=20, n_patients=60, group_size=12, seed=1)


@pytest.fixture(scope="module")
def model(train):
    return GroupClassifier(0.9).fit(train.X, train.y, train.groups, train.overlap)


@pytest.fixture(scope="module")
def found(model, test) -> Evaluation:
    return quick(model, test.X, test.y, test.groups, **beside(test))


@pytest.fixture(scope="module")
def score(model, test):
    return model.decision_function(test.X)


def test_counts(found, test):
    data = found.data
    assert data.n_candidates == len(test)
    assert (data.n_positive_groups, data.n_negative_groups) == (30, 90)
    assert data.n_patients == len(np.unique(test.patient))
    assert data.n_objects == len(np.unique(test.polyp[test.y == 1]))
    assert found.title == "T"


def test_rocs_are_those_of_the_metrics(found, test, score):
    options = {"clusters": test.patient, "n_resamples": 40}
    assert found.group_roc.auc == metrics.bootstrap_interval(
        test.y, score, test.groups, metric="group_roc_auc", **options
    )
    assert found.candidate_roc is not None
    assert found.candidate_roc.auc == metrics.bootstrap_interval(
        test.y, score, metric="candidate_roc_auc", **options
    )
    curve = metrics.group_roc_curve(test.y, score, test.groups)
    for mine, theirs in zip(found.group_roc.curve, curve, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    low, high = metrics.roc_band(
        test.y, score, test.groups, fpr=found.group_roc.band_fpr, **options
    )
    np.testing.assert_array_equal(found.group_roc.band_low, low)
    np.testing.assert_array_equal(found.group_roc.band_high, high)
    assert found.average_precision == metrics.bootstrap_interval(
        test.y, score, test.groups, metric="group_average_precision", **options
    )
    recall = metrics.group_precision_recall_curve(test.y, score, test.groups).recall
    np.testing.assert_array_equal(found.precision_recall.recall, recall)


def test_candidates_are_drawn_by_group_where_patients_are_not_known(model, test, score):
    found = quick(model, test.X, test.y, test.groups).candidate_roc
    assert found is not None
    same = metrics.bootstrap_interval(test.y, score, clusters=test.groups, n_resamples=40)
    alone = metrics.bootstrap_interval(test.y, score, n_resamples=40)
    assert found.auc == same
    assert same != alone


def test_froc_and_what_is_found_at_the_threshold(found, test, score):
    curve = metrics.froc_curve(test.y, score, test.groups, objects=test.polyp)
    assert found.froc is not None
    np.testing.assert_array_equal(found.froc.curve.sensitivity, curve.sensitivity)
    best = {
        polyp: score[(test.polyp == polyp) & (test.y == 1)].max()
        for polyp in test.polyp
        if polyp >= 0
    }
    assert found.froc.n_objects == len(best)
    point = found.decision.point
    assert point.objects_found == sum(value >= THRESHOLD for value in best.values())
    n_false = np.sum((score >= THRESHOLD) & (test.y == 0))
    assert point.false_alarms == pytest.approx(n_false / test.n_groups)


def test_without_objects_a_positive_group_is_one(model, test, score):
    froc = quick(model, test.X, test.y, test.groups).froc
    assert froc is not None
    assert (froc.n_objects, froc.object_word) == (30, "positive group")
    curve = metrics.froc_curve(test.y, score, test.groups)
    np.testing.assert_array_equal(froc.curve.false_alarms, curve.false_alarms)


def test_decision(found, model, test, score):
    groups = model.group_scores(test.X, test.groups)
    positive = metrics.index_groups(test.groups).maxima(test.y == 1)
    detected = positive & (groups.score >= THRESHOLD)
    decision = found.decision
    truth = (test.y, score, test.groups)
    assert decision.point == metrics.at_threshold(*truth, threshold=THRESHOLD, objects=test.polyp)
    assert decision.point.true_positives == detected.sum()
    assert decision.n_winners_on_object == test.y[groups.winner[detected]].sum()
    assert decision.sensitivity.low < decision.point.sensitivity < decision.sensitivity.high
    assert decision.specificity.low < decision.point.specificity < decision.specificity.high
    assert (decision.chosen, decision.is_chosen_here) == ("given", False)


def test_a_threshold_is_given_chosen_elsewhere_or_chosen_here(model, train, test, score):
    arrays = (model, test.X, test.y, test.groups)
    assert quick(*arrays, threshold=1.5).decision.point.threshold == 1.5
    elsewhere = choose_threshold(
        train.y, model.decision_function(train.X), train.groups, sensitivity=0.9
    )
    assert elsewhere.chosen == "chosen for a sensitivity of 0.9 on 105 validation groups"
    decision = quick(*arrays, threshold=elsewhere).decision
    assert (decision.point.threshold, decision.is_chosen_here) == (elsewhere.value, False)
    here = quick(*arrays, specificity=0.95).decision
    assert here.is_chosen_here
    assert "a specificity of 0.95 on 120 groups evaluated here" in here.chosen
    same = metrics.operating_point(test.y, score, test.groups, specificity=0.95)
    assert same.threshold > here.point.threshold > max(score[score < here.point.threshold])
    assert (here.point.sensitivity, here.point.specificity) == (same.sensitivity, same.specificity)
    with pytest.raises(ValueError, match="threshold and specificity are both given"):
        quick(*arrays, threshold=1.0, specificity=0.9)


def test_cases_are_the_most_wrong(found, model, test):
    groups = model.group_scores(test.X, test.groups)
    positive = metrics.index_groups(test.groups).maxima(test.y == 1)
    highest = np.sort(groups.score[~positive])[::-1][:10]
    np.testing.assert_allclose([case.score for case in found.highest_negatives], highest)
    lowest = np.sort(groups.score[positive])[:10]
    np.testing.assert_allclose([case.score for case in found.lowest_positives], lowest)
    for case in (*found.highest_negatives, *found.lowest_positives):
        at = np.flatnonzero(groups.group.astype(str) == case.group)[0]
        assert case.winner_row == groups.winner[at]
        assert case.patient == str(test.patient[case.winner_row])
        assert case.is_winner_positive == bool(test.y[case.winner_row])


@pytest.mark.parametrize("feature_map", [None, Polynomial(2)])
def test_contributions_are_relative_to_the_training_means(train, test, feature_map, monkeypatch):
    monkeypatch.setattr("groupcm.evaluation._evaluate._N_CONTRIBUTIONS", 1000)
    model = GroupClassifier(0.9, feature_map=feature_map).fit(train.X, train.y, train.groups)
    rows = train.X if feature_map is None else model.feature_map_.transform(train.X)
    base = rows.mean(axis=0, dtype=np.float64) @ model.coef_[0] + model.intercept_[0]
    found = quick(model, test.X, test.y, test.groups)
    assert found.baseline == "the average training candidate"
    for case in found.highest_negatives:
        total = sum(part.contribution for part in case.contributions)
        assert total == pytest.approx(case.score - base, rel=1e-5)
        sizes = [abs(part.contribution) for part in case.contributions]
        assert sizes == sorted(sizes, reverse=True)
    assert len(found.weights) == (13 if feature_map is None else 104)


def test_weights_per_unit_and_per_deviation(found, model, train, test):
    by_name = {weight.feature: weight for weight in found.weights}
    for j in range(13):
        weight = by_name[f"x{j}"]
        assert weight.per_unit == model.coef_[0, j]
        assert weight.per_deviation == pytest.approx(
            model.coef_[0, j] * train.X[:, j].std(dtype=np.float64), rel=1e-4
        )
    sizes = [abs(weight.per_deviation) for weight in found.weights]
    assert sizes == sorted(sizes, reverse=True)
    # Without a scale of its own, a model is shown on that of the rows evaluated.
    raw = GroupClassifier(0.9, standardize=False).fit(train.X, train.y, train.groups)
    weights = {w.feature: w for w in quick(raw, test.X, test.y, test.groups).weights}
    deviation = test.X[:, 3].std(dtype=np.float64)
    assert weights["x3"].per_deviation == pytest.approx(raw.coef_[0, 3] * deviation, rel=1e-4)


def test_training_is_told(found, model):
    training = found.training
    assert (training.model, training.parameters) == ("GCM", {"lam": "0.9"})
    assert (training.objective, training.gap) == (model.objective_, model.gap_)
    assert training.lower_bound == model.lower_bound_


@pytest.mark.parametrize("dtype", ["sparse", "frame"])
def test_other_kinds_of_rows(model, train, test, found, dtype):
    import pandas as pd
    import scipy.sparse as sp

    def of(data):
        if dtype == "sparse":
            return sp.csr_array(data.X)
        return pd.DataFrame(data.X, columns=data.feature_names)

    same = GroupClassifier(0.9).fit(of(train), train.y, train.groups, train.overlap)
    other = quick(same, of(test), test.y, test.groups, patients=test.patient)
    assert other.group_roc.auc.estimate == pytest.approx(found.group_roc.auc.estimate, abs=1e-3)
    assert len(other.highest_negatives[0].contributions) == 4
    if dtype == "frame":
        assert {w.feature for w in other.weights} == set(train.feature_names)


def near(a: Interval, b: Interval) -> bool:
    return np.allclose(a, b, rtol=0, atol=1e-12)


def test_streamed_is_as_in_memory(model, test, found, tmp_path):
    columns = {f"x{j}": test.X[:, j].copy() for j in range(13)}
    columns |= {"frame": test.groups, "label": test.y}
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=100)
    source = from_parquet(path, group="frame", label="label")
    streamed = quick(model, source, **beside(test))
    assert near(streamed.group_roc.auc, found.group_roc.auc)
    assert streamed.candidate_roc is not None
    assert found.candidate_roc is not None
    assert near(streamed.candidate_roc.auc, found.candidate_roc.auc)
    assert streamed.data == found.data
    assert streamed.training == found.training
    assert streamed.weights == found.weights
    assert streamed.decision == found.decision
    np.testing.assert_allclose(streamed.positive_scores, found.positive_scores)
    for mine, theirs in zip(
        (*streamed.highest_negatives, *streamed.lowest_positives),
        (*found.highest_negatives, *found.lowest_positives),
        strict=True,
    ):
        assert replace(mine, score=0, contributions=()) == replace(
            theirs, score=0, contributions=()
        )
        assert mine.score == pytest.approx(theirs.score)
        assert [c.feature for c in mine.contributions] == [c.feature for c in theirs.contributions]
        for one, other in zip(mine.contributions, theirs.contributions, strict=True):
            assert one.contribution == pytest.approx(other.contribution, rel=1e-4)


@pytest.mark.parametrize(
    "kind",
    [
        GroupClassifierCV([0.5, 0.9], cv=3),
        MISVMClassifier(0.9),
        CalibratedGroupClassifier(GroupClassifier(0.9), cv=3),
        CalibratedGroupClassifier(LogisticRegression(), cv=3),
        CalibratedGroupClassifier(DecisionTreeClassifier(max_depth=4), cv=3),
    ],
)
def test_every_kind_of_model(kind, train, test):
    model = kind.fit(train.X, train.y, groups=train.groups)
    found = quick(model, test.X, test.y, test.groups)
    score = model.decision_function(test.X)
    assert found.group_roc.auc.estimate == metrics.group_roc_auc(test.y, score, test.groups)
    is_linear = "GroupClassifier" in repr(getattr(kind, "estimator", kind)) or hasattr(
        model, "coef_"
    )
    assert bool(found.weights) == is_linear
    assert bool(found.highest_negatives[0].contributions) == is_linear
    assert (found.training.gap is not None) == is_linear
    alarms = (model.predict_groups(test.X, test.groups) == 1).sum()
    point = found.decision.point
    assert point.true_positives + point.false_positives == alarms
    if isinstance(kind, CalibratedGroupClassifier):
        probability = model.predict_proba_groups(test.X, test.groups)[:, 1]
        assert found.reliability is not None
        assert found.reliability.brier == pytest.approx(
            group_brier_score(test.y, probability, test.groups)
        )
        assert found.reliability.count.sum() == test.n_groups
        assert "probability passes one half" in found.decision.chosen
    else:
        assert found.reliability is None
    if isinstance(kind, GroupClassifierCV):
        assert found.training.parameters["lam"] == f"{model.lam_:.4g}, chosen by cross-validation"


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (GroupClassifier(), "GCM"),
        (GroupClassifier(grouping="none"), "GCM without grouping"),
        (GroupClassifier(grouping="both"), "GCM, both classes grouped"),
        (GroupClassifierCV(grouping="none"), "GCM without grouping, λ chosen by folds"),
        (CalibratedGroupClassifier(MISVMClassifier()), "MI-SVM, calibrated"),
        (LogisticRegression(), "LogisticRegression"),
    ],
)
def test_models_have_plain_names(model, name):
    assert model_name(model) == name


def test_a_calibrated_model_tells_the_settings_of_the_one_within(train):
    within = GroupClassifierCV([0.5, 0.9], cv=3, penalty="l2")
    model = CalibratedGroupClassifier(within, cv=4).fit(train.X, train.y, train.groups)
    told = training_of(model)
    assert told.model == "GCM, λ chosen by folds, calibrated"
    assert told.parameters == {
        "lams": "[0.5, 0.9]",
        "cv": "3",
        "penalty": "l2",
        "lam": f"{model.estimator_.lam_:.4g}, chosen by cross-validation",
        "probabilities": "sigmoid curve",
    }


def test_the_default_threshold_of_a_level_curve_is_never_reached(train):
    model = CalibratedGroupClassifier(GroupClassifier(0.9), cv=3)
    model.fit(train.X, train.y, train.groups)
    model.calibrator_ = Sigmoid(0.0, -1.0)
    assert model._default_threshold().value == math.inf


@pytest.mark.parametrize(("of_positive", "alarms"), [(-1e-300, 0), (0.0, 2)])
def test_the_default_threshold_decides_as_the_model_does(of_positive, alarms):
    model = GroupClassifier().fit([[-1.0], [1.0], [-0.5], [0.5]], [0, 1, 0, 1])
    model.coef_, model.intercept_ = np.array([[1.0]]), np.array([0.0])
    X, y = np.array([[-1.0], [of_positive], [-2.0], [of_positive]]), [0, 1, 0, 1]
    with pytest.warns(FewClustersWarning):
        found = quick(model, X, y)
    assert found.decision.point.true_positives == alarms
    assert np.sum(model.predict_groups(X, np.arange(4)) == 1) == alarms
    assert dict(evaluation_rows(found))["threshold"].startswith("0 (the default: it was not tuned")
    assert alarms_sentence(found.decision).startswith("At the threshold 0, ")


def test_few_patients_are_told_once(model, test):
    whose = np.where(np.isin(test.groups, test.groups[test.y == 1]), test.groups % 4, test.groups)
    with pytest.warns(FewClustersWarning) as heard:
        quick(model, test.X, test.y, test.groups, patients=whose)
    (words,) = {str(warning.message) for warning in heard}
    assert "4 clusters, such as patients, hold positive groups and " in words
    assert "the interval may be too narrow" in words


def test_patients_that_are_missing_are_named(model, test):
    whose = test.patient.astype(float)
    whose[5] = np.nan
    with pytest.raises(ValueError, match=r"^patients has no id at row 5; every candidate needs"):
        quick(model, test.X, test.y, test.groups, patients=whose)


def test_ties_everywhere(model, test):
    X = np.zeros_like(test.X)
    with pytest.warns(UserWarning, match="every group has the score"):
        found = quick(model, X, test.y, test.groups, patients=test.patient)
    assert found.group_roc.auc == (0.5, 0.5, 0.5)
    assert found.candidate_roc is not None
    assert found.candidate_roc.auc.estimate == 0.5
    assert found.decision.point.sensitivity in (0.0, 1.0)


def test_a_single_positive_group_has_no_interval_and_says_so_once(model, test):
    positive = np.unique(test.groups[test.y == 1])
    keep = ~np.isin(test.groups, positive[1:])
    with pytest.warns(FewClustersWarning) as heard:
        found = quick(model, test.X[keep], test.y[keep], test.groups[keep])
    words = [str(warning.message) for warning in heard]
    assert len(words) == len(set(words))
    assert np.isnan(found.group_roc.auc.low)
    assert 0.0 <= found.group_roc.auc.estimate <= 1.0
    assert np.isnan(found.decision.sensitivity[1:]).all()
    assert 0.0 <= found.decision.specificity.low < found.decision.specificity.high <= 1.0
    assert len(found.lowest_positives) == 1


def test_rows_alone_have_no_candidates_of_their_own(model, test):
    found = quick(model, test.X, test.y)
    assert found.candidate_roc is None
    assert found.froc is None
    assert found.data.n_positive_groups == test.y.sum()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": lambda t: np.zeros(len(t))}, "every group is negative"),
        (
            {"y": lambda t: t.y + 1},
            "the label 2 is not a class of the model; its classes are 0 and 1",
        ),
        ({"patients": lambda t: np.arange(len(t))}, "belongs to two patients"),
        ({"patients": lambda t: t.patient[1:]}, "patients has"),
        ({"objects": lambda t: t.polyp[1:]}, "objects has"),
        ({"groups": lambda t: t.groups[1:]}, "groups has"),
    ],
)
def test_bad_arrays(model, test, change, message):
    given = {"y": test.y, "groups": test.groups}
    given |= {name: make(test) for name, make in change.items()}
    with pytest.raises(ValueError, match=message):
        quick(model, test.X, **given)


def test_more_than_two_classes_are_refused(train):
    y = train.y.astype(int)
    y[train.groups % 3 == 0] *= 2
    model = GroupClassifier().fit(train.X, y, train.groups)
    with pytest.raises(ValueError, match="has 3 classes; an evaluation needs a model of two"):
        evaluate(model, train.X, y, train.groups)


def test_share_interval_is_wilsons_where_all_are_independent():
    hits = np.arange(40) < 29
    found = share_interval(hits, np.arange(40))
    wilson = binomtest(29, 40).proportion_ci(method="wilson")
    assert wilson_bounds(29 / 40, 40) == pytest.approx((wilson.low, wilson.high))
    # The variance between 40 clusters of one is a little above p(1-p)/40, and t above z.
    assert found.estimate == 29 / 40
    assert found.low == pytest.approx(wilson.low, abs=0.01)
    assert found.high == pytest.approx(wilson.high, abs=0.01)
    assert found.low <= wilson.low
    assert found.high >= wilson.high


def test_share_interval_counts_clusters_that_agree_as_one_each():
    hits = np.repeat(np.arange(12) < 9, 50)
    clusters = np.repeat(np.arange(12), 50)
    together = share_interval(hits, clusters)
    assert together == pytest.approx(share_interval(hits[::50], np.arange(12)))
    apart = share_interval(hits, np.arange(600))
    assert together.high - together.low > 4 * (apart.high - apart.low)
    one = share_interval([True, False, True], [7, 7, 7])
    assert one.estimate == 2 / 3
    assert np.isnan(one[1:]).all()  # unknown, rather than 0 to 1
    assert share_interval([True] * 5, [1, 1, 2, 2, 3]) == share_interval([True] * 3, [1, 2, 3])


@pytest.mark.parametrize("n_patients", [2, 3, 5, 25])
def test_share_interval_covers(n_patients):
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        rates = rng.beta(4, 2, size=n_patients)  # a patient's own share
        clusters = np.repeat(np.arange(n_patients), rng.integers(1, 20, n_patients))
        found = share_interval(rng.random(len(clusters)) < rates[clusters], clusters)
        covered += found.low <= 4 / 6 <= found.high
    assert covered / 400 > 0.93


def test_share_interval_does_not_jump_where_clusters_happen_to_agree():
    hits, clusters = np.tile([True, False], 200), np.arange(400) // 200
    agree = share_interval(hits, clusters)
    hits[0] = False
    np.testing.assert_allclose(share_interval(hits, clusters), agree, atol=0.01)
    assert agree.high - agree.low > 0.9  # two patients tell little of others


def test_thinning_keeps_the_ends_and_the_shape():
    steps = np.sort(np.random.default_rng(0).random((2, 20_000)))
    curve = RocCurve(steps[0] ** 2, np.sqrt(steps[1]), np.linspace(1, 0, 20_000))
    fewer = thinned(curve)
    assert len(fewer.fpr) <= 2000
    assert isinstance(fewer, RocCurve)
    assert (fewer.fpr[0], fewer.fpr[-1]) == (curve.fpr[0], curve.fpr[-1])
    again = np.interp(curve.fpr, fewer.fpr, fewer.tpr)
    np.testing.assert_allclose(again, curve.tpr, atol=2e-3)
    assert thinned(fewer) is fewer


def test_roc_of_groups_is_roc_of_their_scores(test, score):
    index = metrics.index_groups(test.groups)
    whole = roc_of(test.y, score, test.groups, n_resamples=20)
    reduced = roc_of(index.maxima(test.y), index.maxima(score), n_resamples=20)
    assert whole.auc == reduced.auc
    np.testing.assert_array_equal(whole.band_low, reduced.band_low)


def fits_of(train, heard):
    index = metrics.index_groups(train.groups)

    def fit(model, chosen):
        heard.append(chosen)
        rows = chosen[index.codes]
        model.fit(train.X[rows], train.y[rows], train.groups[rows])

    return LearningGroups(index.maxima(train.y == 1), fit)


def test_learning_curve(model, train, test):
    heard: list = []
    told: list = []
    scored = score_candidates(model, test.X, test.y, test.groups)
    curve = learning_curve(
        model,
        fits_of(train, heard),
        scored,
        lambda fitted: fitted.group_scores(test.X, test.groups).score,
        sizes=[10, 20, 80],
        on_fit=lambda *step: told.append(step),
        n_resamples=40,
    )
    assert told == [
        (10, 1, 7), (10, 2, 7), (10, 3, 7), (20, 4, 7), (20, 5, 7), (20, 6, 7), (80, 7, 7)
    ]  # fmt: skip
    is_positive = fits_of(train, []).is_positive
    for chosen, (size, _, _) in zip(heard, told, strict=True):
        assert chosen[is_positive].all()
        assert chosen[~is_positive].sum() == size
    assert np.all(heard[0] <= heard[3])  # draws are nested
    assert not np.array_equal(heard[0], heard[1])
    last = curve.lines[0].auc[-1]
    whole = GroupClassifier(0.9).fit(train.X, train.y, train.groups)
    score = whole.decision_function(test.X)
    same = metrics.bootstrap_interval(test.y, score, test.groups, n_resamples=40)
    assert last is not None
    assert near(last, same)
    assert (curve.unit, curve.lines[0].model) == ("negative groups", "GCM")


def test_sizes_of_a_learning_curve():
    assert learning_sizes(6, smallest=10, n_sizes=8) == [6]
    some = LearningGroups(np.arange(120) < 20, lambda model, chosen: None, most_negatives=30)
    assert some.sizes() == [10, 14, 19, 27, 100]
    assert replace(some, most_negatives=None).sizes()[-2:] == [72, 100]
    assert joined([Interval(0.9, np.nan, np.nan)] * 2)[0] == pytest.approx(0.9)
    assert np.isnan(joined([Interval(0.9, np.nan, np.nan)] * 2).low)


def test_untrained_has_the_settings_and_nothing_learnt(train):
    chosen = GroupClassifierCV([0.5, 0.9], cv=3, penalty="l2").fit(train.X, train.y, train.groups)
    model = CalibratedGroupClassifier(chosen, cv="prefit").fit(train.X, train.y, train.groups)
    fresh = untrained(model)
    assert type(fresh) is GroupClassifier
    assert (fresh.lam, fresh.penalty) == (chosen.lam_, "l2")
    assert not hasattr(fresh, "coef_")
    kept = untrained(GroupClassifier(0.3, checkpoint="state", verbose=1))
    assert (kept.lam, kept.checkpoint, kept.verbose) == (0.3, None, 0)


def test_a_chosen_threshold_is_kept_as_it_is(model, test):
    chosen = ChosenThreshold(0.25, DecisionRule(chosen_on="as agreed"), is_chosen_here=True)
    decision = quick(model, test.X, test.y, test.groups, threshold=chosen).decision
    assert (decision.chosen, decision.is_chosen_here) == ("as agreed", True)


def test_a_metric_of_the_report_is_declared_once(test, model, monkeypatch, tmp_path):
    own = metric_table.EvaluationMetric(
        "at_90",
        "ranking",
        label="sensitivity at 90 %",
        function=metrics.sensitivity_at_specificity,
        detail=lambda found: "of specificity",
        tile="Found where 1 in 10 may alarm",
        style="percent",
    )
    monkeypatch.setattr(metric_table, "METRIC_TABLE", (*metric_table.METRIC_TABLE, own))
    found = evaluate(model, test.X, test.y, test.groups, n_resamples=40)
    value = found.metrics["at_90"]
    assert value.estimate == metrics.sensitivity_at_specificity(
        test.y, model.decision_function(test.X), test.groups
    )
    assert dict(evaluation_rows(found))["sensitivity at 90 %"].endswith("; of specificity")
    assert "Found where 1 in 10 may alarm" in evaluation_page(found)
    files = save_evaluation(found, tmp_path / "report.html")
    written = json.loads(next(file for file in files if file.suffix == ".json").read_text())
    written = written["metrics"]
    assert written["at_90"] == dict(zip(("value", "low", "high"), value, strict=True))
    assert list(written)[:1] == ["group_roc_auc"]
    assert written == metric_values(found)


def test_metrics_that_are_unknown_or_absent(test, model):
    found = evaluate(model, test.X, test.y, test.groups, n_resamples=40, threshold=math.inf)
    values = metric_values(found)
    assert values["precision"] == {"value": None}
    assert values["sensitivity"]["value"] == 0.0
    assert not {"brier_score", "localisation", "objects_found", "winners_right"} & set(values)
    names = [each.name for each in metric_table.METRIC_TABLE]
    assert len(set(names)) == len(names)
    assert set(values) < set(names)
