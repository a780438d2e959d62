"""Models compared on the same folds: who sees what, what is chosen, and what is reported."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from groupcm import GroupClassifier, simulate
from groupcm.evaluation.comparison.candidate_models import CandidateModel
from groupcm.evaluation.comparison.compare_models import compare_models
from groupcm.evaluation.comparison.contender import Contender
from groupcm.evaluation.comparison.contenders import contender_names, contenders
from groupcm.evaluation.comparison.crossfit import crossfit
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.evaluation.comparison.document import comparison_document
from groupcm.evaluation.comparison.learning_curve import fold_percentiles, learning_curve
from groupcm.evaluation.comparison.results import Pair
from groupcm.metrics import (
    Comparison,
    FewClustersWarning,
    Interval,
    candidate_roc_auc,
    compare,
    group_roc_auc,
)
from groupcm.report.comparison import pair_sentence


@pytest.fixture(scope="module")
def made():
    return simulate.capsule(90, n_positive=24, n_polyps=18, n_patients=45, group_size=15, seed=3)


@pytest.fixture(scope="module")
def data(made):
    return LabelledCandidates.check(made.X, made.y, made.groups, made.overlap, made.patient)


# The candidate model


def rows_by_hand(made, with_overlap: bool) -> np.ndarray:
    """Group by group: who is trained on."""
    rows = []
    for group in np.unique(made.groups):
        members = np.flatnonzero(made.groups == group)
        positive = members[made.y[members] == 1]
        if len(positive) == 0:
            rows += members.tolist()
        elif with_overlap:
            rows.append(int(positive[np.argmax(made.overlap[positive])]))
        else:
            rows += positive.tolist()
    return np.sort(rows)


@pytest.mark.parametrize("with_overlap", [True, False])
def test_candidate_model_is_scikit_learn_on_the_same_rows(made, with_overlap):
    rows = rows_by_hand(made, with_overlap)
    overlap = made.overlap if with_overlap else None
    model = CandidateModel(LogisticRegression(C=0.3))
    model.fit(made.X, made.y, groups=made.groups, overlap=overlap)
    np.testing.assert_array_equal(model.rows_, rows)
    scaler = StandardScaler().fit(made.X[rows])
    same = LogisticRegression(C=0.3).fit(scaler.transform(made.X[rows]), made.y[rows])
    scores = same.decision_function(scaler.transform(made.X))
    np.testing.assert_allclose(model.decision_function(made.X), scores, rtol=1e-6, atol=1e-6)
    found = model.group_scores(made.X, made.groups)
    for group, score, winner in zip(found.group, found.score, found.winner, strict=True):
        members = np.flatnonzero(made.groups == group)
        assert winner == members[np.argmax(model.decision_function(made.X)[members])]
        assert score == model.decision_function(made.X)[winner]
    np.testing.assert_array_equal(model.predict_groups(made.X, made.groups), found.score > 0)


def test_candidate_model_draws_negatives(made):
    def rows(seed):
        model = CandidateModel(LogisticRegression(), max_negatives=200, random_state=seed)
        return model.fit(made.X, made.y, groups=made.groups, overlap=made.overlap).rows_

    assert np.all(np.isin(rows(0), rows_by_hand(made, with_overlap=True)))
    assert np.sum(made.y[rows(0)] == 0) == 200
    assert np.sum(made.y[rows(0)] == 1) == 24
    np.testing.assert_array_equal(rows(0), rows(0))
    assert np.any(rows(0) != rows(1))


def test_candidate_model_without_decision_function_scores_by_log_odds(made):
    model = CandidateModel(GaussianNB(), standardize=False).fit(made.X, made.y, made.groups)
    p = model.estimator_.predict_proba(made.X)
    moderate = (p.min(axis=1) > 1e-9) & (p.max(axis=1) < 1 - 1e-9)
    odds = np.log(p[moderate, 1] / p[moderate, 0])
    np.testing.assert_allclose(model.decision_function(made.X)[moderate], odds, rtol=1e-5)
    sure = CandidateModel(DecisionTreeClassifier(random_state=0)).fit(made.X, made.y, made.groups)
    assert np.all(np.isfinite(sure.decision_function(made.X)))


def test_candidate_model_keeps_scikit_learns_rules():
    check_estimator(CandidateModel(LogisticRegression()), on_skip=None)


# The contenders


def test_every_contender_has_the_same_number_of_settings():
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    for n_settings in (1, 7):
        found = contenders(contender_names(), n_settings)
        assert {len(contender.settings) for contender in found} == {n_settings}
        for contender in found:
            words = {contender.describe(setting) for setting in contender.settings}
            assert len(words) == n_settings


@pytest.mark.parametrize("name", contender_names())
def test_every_contender_tells_groups_apart(name, data):
    if name in ("trees", "lightgbm", "lightgbm-ranker"):
        pytest.importorskip("lightgbm")
    if name == "xgboost":
        pytest.importorskip("xgboost")
    (contender,) = contenders([name], 1)
    model = contender.fit(contender.settings[0], data)
    assert group_roc_auc(data.y, model.decision_function(data.X), data.groups) > 0.8


def test_settings_that_share_work_are_the_same_models(data):
    (contender,) = contenders(["gcm"], 3)
    for setting, model in zip(contender.settings, contender.fit_every(data), strict=True):
        alone = contender.fit(setting, data)
        assert model.lam == setting["lam"]
        assert model.objective_ == pytest.approx(alone.objective_, rel=3e-4)


def test_names_that_are_unknown_missing_or_twice():
    with pytest.raises(
        ValueError, match=r"no model 'forest'.* svm, logistic, .*gcm-none, gcm, trees\."
    ):
        contenders(["forest"])
    with pytest.raises(ValueError, match="no model is named"):
        contenders([])
    with pytest.raises(ValueError, match="'gcm' is named twice"):
        contenders(["gcm", "svm", "GCM"])
    with pytest.raises(ValueError, match="n_settings must be at least 1"):
        contenders(["gcm"], 0)
    with pytest.raises(ValueError, match="max_negatives must be at least 1"):
        contenders(["svm"], max_negatives=0)


def test_ctrl_c_in_a_fit_ends_the_comparison(data):
    class Interrupted(BaseEstimator):
        def fit(self, X, y, groups=None, overlap=None):
            self.solution_ = SimpleNamespace(interrupted=True)
            return self

    with pytest.raises(KeyboardInterrupt):
        crossfit(data, [Contender("stopped", "", [{}], Interrupted)], cv=2)


# One scale for several folds


def scored_folds(n_negative, seed=0):
    """Random scores of groups of one; fold f has n_negative[f] negatives and f + 2 positives."""
    rng = np.random.default_rng(seed)
    y, fold = [], []
    for number, n in enumerate(n_negative):
        y += [0] * n + [1] * (number + 2)
        fold += [number] * (n + number + 2)
    y, fold = np.array(y), np.array(fold)
    return y, rng.normal(size=len(y)) + 0.7 * y, fold


def mean_of_folds(y, scores, fold):
    """Weighted by positive groups."""
    numbers = np.unique(fold)
    weights = [y[fold == f].sum() for f in numbers]
    return np.average(
        [group_roc_auc(y[fold == f], scores[fold == f]) for f in numbers], weights=weights
    )


def test_pooled_area_is_the_mean_of_the_folds():
    y, scores, fold = scored_folds([9, 9, 9])
    pooled = fold_percentiles(y, scores, None, fold)
    assert group_roc_auc(y, pooled) == pytest.approx(mean_of_folds(y, scores, fold), abs=1e-12)
    for f in range(3):
        at = fold == f
        assert group_roc_auc(y[at], pooled[at]) == group_roc_auc(y[at], scores[at])


@pytest.mark.parametrize("seed", range(5))
def test_pooled_area_of_unequal_folds_is_near_that_mean(seed):
    y, scores, fold = scored_folds([7, 11, 20], seed)
    pooled = group_roc_auc(y, fold_percentiles(y, scores, None, fold))
    assert abs(pooled - mean_of_folds(y, scores, fold)) <= 1 / (2 * 7)


def test_units_of_a_fold_do_not_matter(data):
    rng = np.random.default_rng(0)
    scores, fold = rng.normal(size=len(data.y)), (data.groups % 3).astype(int)
    pooled = fold_percentiles(data.y, scores, data.groups, fold)
    other = np.where(fold == 1, 100.0 * scores + 7.0, scores)
    np.testing.assert_array_equal(fold_percentiles(data.y, other, data.groups, fold), pooled)
    assert group_roc_auc(data.y, other, data.groups) != group_roc_auc(data.y, scores, data.groups)


def test_a_fold_of_one_class_has_no_scale():
    with pytest.raises(ValueError, match="fold 1 has only negative groups"):
        fold_percentiles([0, 1, 0, 0], [1.0, 2.0, 3.0, 4.0], None, [0, 0, 1, 1])


# Nested folds


class RowSpy(BaseEstimator):
    """Remembers which rows it was fitted on and asked about; the first feature is the row."""

    log: list = []  # noqa: RUF012

    def __init__(self, sign: float = 1.0) -> None:
        self.sign = sign

    def fit(self, X, y, groups=None, overlap=None):
        self.rows_ = X[:, 0].astype(int)
        return self

    def decision_function(self, X):
        RowSpy.log.append((self.rows_, X[:, 0].astype(int)))
        return self.sign * X[:, 1]


@pytest.fixture
def spied(made, monkeypatch):
    monkeypatch.setattr(RowSpy, "log", [])
    X = np.column_stack([np.arange(len(made.y)), made.y + 0.1 * made.overlap])
    return LabelledCandidates.check(X, made.y, made.groups, made.overlap, made.patient)


@pytest.mark.parametrize("by_patient", [True, False])
def test_no_model_scores_a_group_or_patient_it_saw(spied, made, by_patient):
    data = spied if by_patient else replace(spied, patients=None)
    spy = Contender("spy", "", [{"sign": -1.0}, {"sign": 1.0}], RowSpy)
    found = crossfit(data, [spy], cv=4, n_inner=3)
    assert len(RowSpy.log) == 4 * (3 * 2 + 1)
    for seen, scored in RowSpy.log:
        assert not set(made.groups[seen]) & set(made.groups[scored])
        if by_patient:
            assert not set(made.patient[seen]) & set(made.patient[scored])
    for (train, test), calls in zip(found.folds, np.split(np.arange(28), 4), strict=True):
        for call in calls[:-1]:  # the inner folds know nothing of what the outer one left out
            seen, scored = RowSpy.log[call]
            assert not np.isin(np.concatenate([seen, scored]), test).any()
        np.testing.assert_array_equal(RowSpy.log[calls[-1]][0], train)
        np.testing.assert_array_equal(RowSpy.log[calls[-1]][1], test)
    assert found.results[0].chosen == [1, 1, 1, 1]
    np.testing.assert_array_equal(found.results[0].scores, data.X[:, 1])


def test_a_setting_is_chosen_by_the_metric_asked_for(spied):
    spy = Contender("spy", "", [{"sign": -1.0}, {"sign": 1.0}], RowSpy)
    upside_down = crossfit(
        spied, [spy], cv=2, scoring=lambda y, s, groups: -group_roc_auc(y, s, groups)
    )
    assert upside_down.results[0].chosen == [0, 0]


def test_cross_fitting_is_deterministic(data):
    models = contenders(["svm", "gcm"], 2, max_negatives=500)
    one, two = (crossfit(data, models, cv=3, random_state=1) for _ in range(2))
    for a, b in zip(one.results, two.results, strict=True):
        np.testing.assert_allclose(a.scores, b.scores, rtol=1e-9, atol=1e-12)
        assert a.chosen == b.chosen
    other = crossfit(data, models, cv=3, random_state=2)
    assert np.any(other.fold != one.fold)


def test_progress_names_contender_and_fold(data):
    told = []
    crossfit(data, contenders(["gcm"], 1), cv=2, progress=told.append)
    assert told == ["GCM: fold 1 of 2", "GCM: fold 2 of 2"]


def test_a_fixed_split_scores_its_test_part_only(data):
    halves = np.flatnonzero(data.patients % 2 == 0), np.flatnonzero(data.patients % 2 == 1)
    found = crossfit(data, contenders(["gcm"], 1), cv=[halves])
    scores = found.results[0].scores
    assert np.all(np.isnan(scores[halves[0]]))
    np.testing.assert_array_equal(found.left_out, halves[1])
    (gcm,) = contenders(["gcm"], 1)
    by_hand = gcm.fit(gcm.settings[0], data.take(halves[0])).decision_function(data.X[halves[1]])
    np.testing.assert_allclose(scores[halves[1]], by_hand, rtol=1e-9, atol=1e-12)


# Mistakes


def test_folds_that_cannot_be(data):
    gcm = contenders(["gcm"], 2)
    even, odd = np.flatnonzero(data.patients % 2 == 0), np.flatnonzero(data.patients % 2 == 1)
    with pytest.raises(ValueError, match="row 0 is tested in fold 0 and in fold 1"):
        crossfit(data, gcm, cv=[(odd, even), (odd, even)])
    positive_groups = np.unique(data.groups[data.y == 1])
    negative = odd[~np.isin(data.groups[odd], positive_groups)]
    with pytest.raises(ValueError, match="test part of fold 0 has only negative groups"):
        crossfit(data, gcm, cv=[(even, negative)])
    one = np.isin(data.groups, positive_groups[1:])
    few = replace(data, patients=None).take(np.flatnonzero(~one))
    with pytest.raises(ValueError, match="there is 1 positive group, fewer than the 2 folds"):
        crossfit(few, gcm, cv=2)
    two = np.isin(data.groups, positive_groups[2:])
    few = replace(data, patients=None).take(np.flatnonzero(~two))
    with pytest.raises(ValueError, match="training part of fold 0 has only one positive group"):
        crossfit(few, gcm, cv=2)
    assert crossfit(few, contenders(["gcm"], 1), cv=2).results[0].chosen == [0, 0]


def test_data_that_cannot_be_compared(made):
    def check(**changes):
        given = {"X": made.X, "y": made.y, "groups": made.groups, "patients": made.patient}
        compare_models(**{**given, **changes}, models=["gcm"])

    with pytest.raises(ValueError, match=r"y holds 3 labels \(0, 1, 2\)"):
        check(y=np.arange(len(made.y)) % 3)
    with pytest.raises(ValueError, match="positive and negative groups are needed"):
        check(y=np.zeros(len(made.y)))
    with pytest.raises(ValueError, match="every group holds a candidate of the positive class"):
        check(groups=np.zeros(len(made.y)), patients=None)
    with pytest.raises(ValueError, match="group 0 belongs to two patients"):
        check(patients=np.arange(len(made.y)))
    with pytest.raises(ValueError, match=r"groups come from 2 patients, fewer than the 5 folds"):
        check(patients=made.groups % 2)


# Learning curves


def test_learning_curve_trains_on_all_positives_and_more_and_more_negatives(spied, made):
    spy = Contender("spy", "", [{}], RowSpy)
    fits = crossfit(spied, [spy], cv=2)
    RowSpy.log.clear()
    curve = learning_curve(spied, fits, sizes=[5, 20], n_resamples=50)
    assert list(curve.sizes) == [5, 20]
    assert curve.unit == "negative groups"
    positive_groups = set(made.groups[made.y == 1])
    for fold in range(2):
        small, large = (set(made.groups[RowSpy.log[call][0]]) for call in (fold, 2 + fold))
        in_training = set(made.groups[fits.folds[fold][0]])
        assert small < large <= in_training
        assert len(small - positive_groups) == 5
        assert len(large - positive_groups) == 20
        assert positive_groups & in_training == positive_groups & small


def test_learning_curve_ends_with_all_groups(data):
    fits = crossfit(data, contenders(["gcm"], 1), cv=2)
    curve = learning_curve(data, fits, n_resamples=50)
    fewest = min(
        len(np.unique(data.groups[train])) - len(np.unique(data.groups[train][data.y[train] == 1]))
        for train, _ in fits.folds
    )
    assert curve.sizes[-1] == fewest
    (line,) = curve.lines
    whole = fold_percentiles(data.y, fits.results[0].scores, data.groups, fits.fold)
    last = line.auc[-1]
    assert last is not None
    assert last.estimate == pytest.approx(group_roc_auc(data.y, whole, data.groups), abs=0.02)
    assert last.low <= last.estimate <= last.high
    with pytest.raises(ValueError, match=f"sizes must lie between 1 and {fewest}"):
        learning_curve(data, fits, sizes=[fewest + 1])


# The whole comparison


def test_comparison_says_what_the_scores_say(made):
    own = Contender("overlap itself", "Not fair.", [{}], RowSpy)
    X = np.column_stack([np.arange(len(made.y)), made.overlap, made.X])
    found = compare_models(
        X,
        made.y,
        made.groups,
        made.overlap,
        made.patient,
        models=["svm", own, "gcm"],
        cv=3,
        n_settings=2,
        learning=False,
        n_resamples=200,
    )
    assert [model.name for model in found.models] == ["SVM", "overlap itself", "GCM"]
    assert [(pair.a, pair.b) for pair in found.pairs] == [("GCM", "SVM"), ("GCM", "overlap itself")]
    assert found.models[1].group_roc.auc.estimate == 1.0
    assert found.data.n_positive_groups == 24
    assert found.data.n_negative_groups == 90
    assert found.data.n_patients == len(np.unique(made.patient))
    assert (found.n_folds, found.n_settings, found.folds_by) == (3, 2, "patient")
    assert all(len(model.chosen) == 3 for model in found.models)

    data = LabelledCandidates.check(X, made.y, made.groups, made.overlap, made.patient)
    fits = crossfit(data, contenders(["svm", "gcm"], 2), cv=3)
    svm, gcm = (fold_percentiles(made.y, f.scores, made.groups, fits.fold) for f in fits.results)
    pair = compare(made.y, gcm, svm, made.groups, clusters=made.patient, n_resamples=200)
    # Not to the last bit: a pair of groups may change its order.
    for name in ("a", "b", "difference"):
        said = getattr(found.pairs[0].group, name)
        np.testing.assert_allclose(said, getattr(pair, name), atol=2e-3)
    auc = found.models[2].group_roc.auc.estimate
    assert auc == pytest.approx(group_roc_auc(made.y, gcm, made.groups), abs=2e-3)
    candidates = fold_percentiles(made.y, fits.results[1].scores, None, fits.fold)
    of_candidates = found.models[2].candidate_roc
    assert of_candidates is not None
    auc = candidate_roc_auc(made.y, candidates)
    assert of_candidates.auc.estimate == pytest.approx(auc, abs=2e-3)


def test_labels_of_groups_give_no_curve_of_candidates(made):
    holds = np.isin(made.groups, made.groups[made.y == 1])
    found = compare_models(
        made.X, holds, made.groups, models=["misvm"], cv=2, n_settings=1, learning=False
    )
    assert found.models[0].candidate_roc is None
    assert found.pairs == []
    assert found.folds_by == "group"


@pytest.mark.filterwarnings("ignore:.*features are constant")
def test_features_that_tell_nothing_score_one_half(made):
    found = compare_models(
        np.ones((len(made.y), 2)),
        made.y,
        made.groups,
        made.overlap,
        models=["svm", "misvm", "gcm-none", "gcm"],
        cv=2,
        n_settings=2,
        n_resamples=50,
    )
    for model in found.models:
        assert model.group_roc.auc.estimate == 0.5
    for pair in found.pairs:
        assert pair.group.difference.estimate == 0.0


def test_rows_that_no_fold_tests_are_not_counted(made):
    even, odd = np.flatnonzero(made.patient % 2 == 0), np.flatnonzero(made.patient % 2 == 1)
    with pytest.warns(FewClustersWarning):
        found = compare_models(
            made.X,
            made.y,
            made.groups,
            patients=made.patient,
            models=["gcm"],
            cv=[(even, odd)],
            n_settings=1,
            learning=False,
            n_resamples=50,
        )
    groups = np.unique(made.groups[odd])
    positive = np.isin(groups, made.groups[made.y == 1])
    assert found.data.n_candidates == len(odd)
    assert found.data.n_positive_groups == positive.sum()
    assert found.data.n_negative_groups == (~positive).sum()
    assert found.data.n_patients == len(np.unique(made.patient[odd]))


def test_settings_of_any_kind_are_told():
    contender = Contender("spy", "", [{}], RowSpy)
    setting = {"lam": 0.12345, "kernel": "rbf", "depth": None, "fair": True, "n": np.int64(12)}
    words = "λ = 0.123, kernel = rbf, depth = None, fair = True, n = 12"
    assert contender.describe(setting) == words


def test_learning_curve_trains_each_fold_with_its_own_setting(spied):
    spy = Contender("spy", "", [{"sign": -1.0}, {"sign": 1.0}], RowSpy)
    fits = crossfit(spied, [spy], cv=2)
    mixed = replace(fits, results=[replace(fits.results[0], chosen=[0, 1])])
    (point,) = learning_curve(spied, mixed, sizes=[20], n_resamples=50).lines[0].auc
    signs = np.where(fits.fold == 0, -1.0, 1.0)
    scores = fold_percentiles(spied.y, signs * spied.X[:, 1], spied.groups, fits.fold)
    assert point is not None
    assert point.estimate == pytest.approx(group_roc_auc(spied.y, scores, spied.groups))
    assert point.estimate < 0.9


def test_patients_that_are_missing_are_named(made):
    whose = made.patient.astype(object)
    whose[3] = None
    with pytest.raises(ValueError, match=r"^patients has no id at row 3; every candidate needs"):
        compare_models(made.X, made.y, made.groups, patients=whose, models=["gcm"])


def test_a_p_value_that_is_not_known_is_said_to_be_so():
    unknown = Interval(0.1, np.nan, np.nan)
    result = Comparison(unknown, unknown, unknown, np.nan, 0, "group_roc_auc")
    sentence = pair_sentence(Pair("GCM", "SVM", result))
    assert sentence.endswith("GCM is ahead of SVM by 0.100 (interval not known), p not known.")


def test_a_value_chosen_at_the_end_is_remarked_on(made, monkeypatch):
    """The models of a comparison are offered the same number of values, which are not extended."""
    grids = {"inside": [0.001, 0.1, 0.99], "end": [0.97, 0.98, 0.99]}
    models = [
        Contender(name, "", [{"lam": lam} for lam in lams], GroupClassifier, has_path=True)
        for name, lams in grids.items()
    ]
    fits = []

    def tuned(*args, **options):
        found = crossfit(*args, **options)
        tuning = {"inside": [0.8, 0.9, 0.7], "end": [0.9, 0.8, 0.7]}
        results = [
            replace(fit, tuning=np.tile(tuning[fit.contender.name], (3, 1)), chosen=[best] * 3)
            for fit, best in zip(found.results, (1, 0), strict=True)
        ]
        fits.append(replace(found, results=results))
        return fits[-1]

    monkeypatch.setattr("groupcm.evaluation.comparison.compare_models.crossfit", tuned)
    found = compare_models(
        made.X, made.y, made.groups, models=models, cv=3, learning=False, n_resamples=20
    )
    (note,) = found.notes
    assert note.startswith("end chose the smallest value tried, λ = 0.97, in 3 of 3 folds")
    tie = replace(fits[0].results[1], tuning=np.full((3, 3), 0.9))
    assert tie.n_at_ends == (0, 0)


def test_models_are_compared_at_every_level(made):
    videos = made.groups // 2
    levels = {"video": videos, "patient": made.patient}
    if len({(v, p) for v, p in zip(videos, made.patient, strict=True)}) > len(np.unique(videos)):
        levels = {"patient": made.patient}
    options = {"models": ["svm", "gcm"], "cv": 2, "n_settings": 1, "learning": False}
    found = compare_models(
        made.X, made.y, made.groups, made.overlap, levels=levels, n_resamples=60, **options
    )
    assert found.folds_by == "patient"
    assert [each.name for each in found.levels] == list(levels)
    data = LabelledCandidates.check(made.X, made.y, made.groups, made.overlap, made.patient)
    fits = crossfit(data, contenders(["svm", "gcm"], 1), cv=2)
    positive = np.array([made.y[made.patient == p].any() for p in np.unique(made.patient)])
    patients = found.levels[-1]
    assert patients.note is None
    assert (patients.n_positive, patients.n_negative) == (positive.sum(), (~positive).sum())
    scores = {}
    for name, fit in zip(("SVM", "GCM"), fits.results, strict=True):
        scores[name] = fold_percentiles(made.y, fit.scores, made.patient, fits.fold)
        auc = group_roc_auc(made.y, scores[name], made.patient)
        assert patients.rocs[name].auc.estimate == pytest.approx(auc, abs=5e-3)
    (pair,) = patients.pairs
    assert (pair.a, pair.b) == ("GCM", "SVM")
    alone = compare(made.y, scores["GCM"], scores["SVM"], made.patient, n_resamples=60)
    assert pair.group.difference.estimate == pytest.approx(alone.difference.estimate, abs=1e-2)
    document = comparison_document(found)
    assert document["levels"][-1]["rocs"]["GCM"]["auc"]["value"] == (
        patients.rocs["GCM"].auc.estimate
    )


@pytest.mark.filterwarnings("ignore::groupcm.metrics.FewClustersWarning")
def test_units_of_one_class_in_a_fold_are_not_compared(made):
    with pytest.warns(UserWarning, match=r"the hospitals of \d of 2 folds are all of one class"):
        found = compare_models(
            made.X,
            made.y,
            made.groups,
            made.overlap,
            levels={"hospital": made.patient % 4},
            models=["svm", "gcm"],
            cv=2,
            n_settings=1,
            learning=False,
            n_resamples=20,
        )
    (hospitals,) = found.levels
    assert (hospitals.rocs, hospitals.pairs) == ({}, ())
    assert hospitals.n_positive + hospitals.n_negative == 4
    assert hospitals.note is not None


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({"video": lambda made: made.patient // 2, "patient": lambda made: made.patient}, "nested"),
        ({"group": lambda made: made.patient}, "give it another name"),
        ({"patient": lambda made: made.patient[1:]}, "level patient"),
    ],
)
def test_levels_that_cannot_be_compared(made, levels, message):
    given = {name: of(made) for name, of in levels.items()}
    with pytest.raises(ValueError, match=message):
        compare_models(made.X, made.y, made.groups, levels=given, models=["svm", "gcm"])
