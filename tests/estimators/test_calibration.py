"""Probabilities of groups: as often right as they say, and never falling with the score."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.calibration import calibration_curve
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import groupcm
from groupcm import GroupClassifier
from groupcm.data.folds import group_folds
from groupcm.data.groups import index_groups
from groupcm.errors import InputError
from groupcm.estimators.adapters import fit_with, group_scores_of
from groupcm.estimators.calibration import CalibratedGroupClassifier
from groupcm.estimators.calibrators import Isotonic, Sigmoid, fit_isotonic, fit_sigmoid
from groupcm.metrics.reliability import group_brier_score, reliability_curve
from groupcm.sources import from_parquet

METHODS = ["sigmoid", "isotonic"]


def frames(seed=0, n_negative=120, n_positive=60):
    return groupcm.simulate.capsule(
        n_negative, n_positive=n_positive, group_size=15, n_patients=20, seed=seed
    )


def many_patients(seed):
    return groupcm.simulate.capsule(
        700, n_positive=300, group_size=15, n_patients=300, n_polyps=200, seed=seed
    )


def truth_of_groups(data):
    return np.array([data.y[data.groups == group].any() for group in np.unique(data.groups)])


@pytest.fixture(scope="module")
def data():
    return frames()


@pytest.fixture(scope="module", params=METHODS)
def model(request, data):
    estimator = GroupClassifier(random_state=0)
    model = CalibratedGroupClassifier(estimator, method=request.param)
    return model.fit(data.X, data.y, data.groups, data.overlap, data.patient)


@parametrize_with_checks([CalibratedGroupClassifier(GroupClassifier(), cv=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# The curves


def test_sigmoid_is_at_its_optimum_whatever_the_scale():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=300)
    positive = rng.random(300) < 1 / (1 + np.exp(-(2 * scores - 1)))
    curve = fit_sigmoid(scores, positive)
    n_positive = positive.sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (300 - n_positive + 2))
    residual = curve(scores) - target
    assert abs(residual.sum()) < 1e-6
    assert abs(residual @ scores) < 1e-6
    assert curve.slope == pytest.approx(2, rel=0.3)
    far = fit_sigmoid(1e6 + 1e3 * scores, positive)
    np.testing.assert_allclose(far(1e6 + 1e3 * scores), curve(scores), atol=1e-7)


def test_sigmoid_stays_finite_where_scores_part_the_classes():
    scores = np.r_[np.linspace(-3, -1, 50), np.linspace(1, 3, 50)]
    curve = fit_sigmoid(scores, scores > 0)
    assert 0 < curve.slope < 20
    assert 0 < curve(np.array([-3.0]))[0] < 0.02
    assert 0.98 < curve(np.array([3.0]))[0] < 1


@pytest.mark.parametrize("fit", [fit_sigmoid, fit_isotonic])
def test_scores_that_say_nothing_or_the_opposite_give_the_share(fit):
    positive = np.arange(40) % 4 == 0
    level = fit(np.full(40, 0.3), positive)
    np.testing.assert_allclose(level(np.array([-9.0, 0.3, 9.0])), 0.25, atol=1e-12)
    opposite = fit(-positive.astype(float), positive)
    np.testing.assert_allclose(opposite(np.array([-1.0, 0.0])), 0.25, atol=1e-12)


def test_isotonic_is_scikit_learns():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=200).round(1)
    positive = rng.random(200) < 1 / (1 + np.exp(-scores))
    theirs = IsotonicRegression(out_of_bounds="clip").fit(scores, positive)
    at = np.linspace(-5, 5, 301)
    np.testing.assert_allclose(fit_isotonic(scores, positive)(at), theirs.predict(at), atol=1e-12)


# The estimator


def test_probabilities_of_unseen_frames_are_those_observed():
    known, *unseen = (many_patients(seed) for seed in range(4))
    groups = np.concatenate([10_000 * i + each.groups for i, each in enumerate(unseen)])
    X = np.concatenate([each.X for each in unseen])
    y = np.concatenate([each.y for each in unseen])
    for method in METHODS:
        model = CalibratedGroupClassifier(GroupClassifier(random_state=0), method=method)
        model.fit(known.X, known.y, known.groups, known.overlap, known.patient)
        p = model.predict_proba_groups(X, groups)[:, 1]
        curve = reliability_curve(y, p, groups, n_bins=5)
        assert np.ptp(curve.predicted) > 0.5
        assert np.max(np.abs(curve.predicted - curve.observed)) < 0.1
        # The scores squeezed into (0, 1) without calibration are further off.
        raw = 1 / (1 + np.exp(-model.group_scores(X, groups).score))
        assert group_brier_score(y, p, groups) < 0.8 * group_brier_score(y, raw, groups)


def test_probabilities_never_fall_with_the_score(model):
    unseen = frames(1)
    p = model.predict_proba_groups(unseen.X, unseen.groups)
    scores = model.group_scores(unseen.X, unseen.groups).score
    assert p.shape == (180, 2)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.all(np.diff(p[np.argsort(scores), 1]) >= 0)
    assert np.ptp(p[:, 1]) > 0.3
    expected = model.classes_[(p[:, 1] > 0.5).astype(int)]
    assert np.array_equal(model.predict_groups(unseen.X, unseen.groups), expected)
    right = np.mean(expected == truth_of_groups(unseen))
    assert model.score(unseen.X, unseen.y, unseen.groups) == pytest.approx(right)


def test_scores_are_held_out_and_the_model_is_trained_on_all(model, data):
    expected = np.full(data.n_groups, np.nan)
    for train, test in group_folds(data.y, data.groups, data.patient):
        part = GroupClassifier(random_state=0).fit(
            data.X[train], data.y[train], data.groups[train], data.overlap[train]
        )
        found = part.group_scores(data.X[test], data.groups[test])
        expected[found.group - data.groups[0]] = found.score
    np.testing.assert_allclose(model.held_out_scores_, expected, rtol=1e-9)
    assert np.array_equal(model.held_out_labels_, truth_of_groups(data).astype(int))
    on_all = GroupClassifier(random_state=0).fit(data.X, data.y, data.groups, data.overlap)
    np.testing.assert_allclose(model.estimator_.coef_, on_all.coef_)
    np.testing.assert_allclose(model.decision_function(data.X), on_all.decision_function(data.X))
    assert np.array_equal(model.predict(data.X), on_all.predict(data.X))
    assert model.n_features_in_ == 13


def test_order_of_rows_does_not_matter_to_the_order_of_first_appearance(data):
    model = CalibratedGroupClassifier(GroupClassifier(random_state=0), cv="prefit")
    model.set_params(estimator=GroupClassifier().fit(data.X, data.y, data.groups))
    order = np.random.default_rng(0).permutation(len(data))
    model.fit(data.X[order], data.y[order], data.groups[order])
    _, first = np.unique(data.groups[order], return_index=True)
    by_appearance = data.groups[order][np.sort(first)]
    truth = truth_of_groups(data)[by_appearance - data.groups[0]]
    assert np.array_equal(model.held_out_labels_, truth.astype(int))


def test_the_same_twice_and_the_seed_decides(data):
    def held_out(seed):
        model = CalibratedGroupClassifier(GroupClassifier(random_state=0), random_state=seed)
        return model.fit(data.X, data.y, data.groups).held_out_scores_

    first = held_out(0)
    np.testing.assert_allclose(first, held_out(0), rtol=1e-9)
    assert not np.allclose(first, held_out(1))


def test_labels_of_any_kind(data):
    y = np.array(["normal", "polyp"])[data.y]
    model = CalibratedGroupClassifier(GroupClassifier(pos_label="polyp"), cv=3)
    model.fit(data.X, y, data.groups)
    assert model.classes_.tolist() == ["normal", "polyp"]
    assert set(model.predict_groups(data.X, data.groups)) == {"normal", "polyp"}
    assert set(model.held_out_labels_) == {"normal", "polyp"}


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        RandomForestClassifier(10, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=["decision_function", "predict_proba", "pipeline"],
)
def test_any_classifier_of_scikit_learn(estimator, data):
    model = CalibratedGroupClassifier(estimator, cv=3).fit(data.X, data.y, data.groups)
    unseen = frames(1)
    p = model.predict_proba_groups(unseen.X, unseen.groups)[:, 1]
    share = truth_of_groups(unseen).mean()
    assert group_brier_score(unseen.y, p, unseen.groups) < share * (1 - share)
    scores = model.decision_function(unseen.X)
    found = model.group_scores(unseen.X, unseen.groups)
    assert np.array_equal(scores[found.winner], found.score)
    expected = [scores[unseen.groups == group].max() for group in found.group]
    assert np.array_equal(found.score, expected)


def test_groups_and_overlap_reach_the_step_that_asks_for_them(data):
    pipeline = Pipeline([("scale", StandardScaler()), ("model", GroupClassifier(random_state=0))])
    fitted = fit_with(
        pipeline, data.X, data.y, groups=data.groups, overlap=data.overlap, patients=data.patient
    )
    Z = StandardScaler().fit_transform(data.X)
    alone = GroupClassifier(random_state=0).fit(Z, data.y, data.groups, data.overlap)
    np.testing.assert_allclose(fitted["model"].coef_, alone.coef_)
    np.testing.assert_allclose(
        group_scores_of(fitted, data.X, data.groups).score,
        alone.group_scores(Z, data.groups).score,
        rtol=1e-4,
        atol=1e-5,
    )


def test_routing_brings_groups_overlap_and_patients(data):
    with sklearn.config_context(enable_metadata_routing=True):
        calibrated = CalibratedGroupClassifier(GroupClassifier(random_state=0), cv=3)
        pipeline = Pipeline([("same", StandardScaler(with_mean=False, with_std=False))])
        pipeline.steps.append(("model", calibrated))
        known = {"groups": data.groups, "overlap": data.overlap, "patients": data.patient}
        pipeline.fit(data.X, data.y, **known)
    alone = CalibratedGroupClassifier(GroupClassifier(random_state=0), cv=3)
    alone.fit(data.X, data.y, **known)
    np.testing.assert_allclose(pipeline["model"].held_out_scores_, alone.held_out_scores_)


def test_clone_keeps_the_parameters_of_both():
    model = CalibratedGroupClassifier(GroupClassifier(0.7), method="isotonic", cv=4)
    copy = clone(model).set_params(estimator__lam=0.2)
    assert model.estimator.lam == 0.7
    assert (copy.estimator.lam, copy.method, copy.cv) == (0.2, "isotonic", 4)


def test_sparse_rows_and_data_frames(data):
    dense = CalibratedGroupClassifier(GroupClassifier(random_state=0), cv=3)
    dense.fit(data.X, data.y, data.groups)
    for X in (sp.coo_array(data.X), pd.DataFrame(data.X, columns=data.feature_names)):
        other = clone(dense).fit(X, pd.Series(data.y), pd.Series(data.groups))
        np.testing.assert_allclose(other.held_out_scores_, dense.held_out_scores_, atol=1e-3)
    assert list(other.feature_names_in_) == data.feature_names
    assert not hasattr(other.fit(data.X, data.y, data.groups), "feature_names_in_")


def test_folds_of_the_users_own(data):
    by_patient = CalibratedGroupClassifier(GroupClassifier(), cv=LeaveOneGroupOut())
    by_patient.fit(data.X, data.y, data.groups, patients=data.patient // 5)
    assert np.all(np.isfinite(by_patient.held_out_scores_))
    half = np.flatnonzero(data.groups % 2), np.flatnonzero(data.groups % 2 == 0)
    with pytest.raises(ValueError, match="every row must be in exactly one test part"):
        by_patient.set_params(cv=[half]).fit(data.X, data.y, data.groups)
    by_patient.set_params(cv=[half, half[::-1]]).fit(data.X, data.y, data.groups)


# A fitted estimator


def test_prefit_keeps_the_estimator(data):
    held_out = frames(1)
    fitted = GroupClassifier().fit(data.X, data.y, data.groups)
    model = CalibratedGroupClassifier(fitted, cv="prefit")
    model.fit(held_out.X, held_out.y, held_out.groups)
    assert model.estimator_ is fitted
    scores = fitted.group_scores(held_out.X, held_out.groups).score
    assert np.array_equal(model.held_out_scores_, scores)
    frozen = CalibratedGroupClassifier(FrozenEstimator(fitted), cv=3)
    frozen.fit(held_out.X, held_out.y, held_out.groups)
    np.testing.assert_allclose(frozen.held_out_scores_, scores)


def test_prefit_on_a_source_and_on_a_path(data, tmp_path):
    held_out = frames(1)
    table = pd.DataFrame(held_out.X, columns=held_out.feature_names)
    path = tmp_path / "frames.parquet"
    table.assign(frame=held_out.groups, polyp=held_out.y).to_parquet(path)
    source = from_parquet(path, group="frame", label="polyp")
    X = pd.DataFrame(data.X, columns=data.feature_names)
    fitted = GroupClassifier().fit(X, data.y, data.groups)
    model = CalibratedGroupClassifier(fitted, cv="prefit")
    in_memory = clone(model).set_params(estimator=fitted).fit(table, held_out.y, held_out.groups)
    for arguments in ((source,), (path, "polyp", "frame")):
        model.fit(*arguments)
        np.testing.assert_allclose(model.held_out_scores_, in_memory.held_out_scores_, rtol=1e-6)
        assert np.array_equal(model.held_out_labels_, in_memory.held_out_labels_)
    expected = in_memory.predict_proba_groups(table, held_out.groups)
    np.testing.assert_allclose(model.predict_proba_groups(source), expected, rtol=1e-5)
    with pytest.raises(ValueError, match="y comes with the source"):
        model.fit(source, held_out.y)
    with pytest.raises(ValueError, match=r'folds need the candidates in memory.*cv="prefit"'):
        model.set_params(cv=5).fit(source)


# What is wrong is said


def test_a_patient_with_frames_of_both_classes_is_fine(data):
    patients = data.groups % 6
    model = CalibratedGroupClassifier(GroupClassifier(), cv=3)
    model.fit(data.X, data.y, data.groups, patients=patients)
    assert len(model.held_out_scores_) == data.n_groups


def test_ties_everywhere_give_the_share_of_positives(data):
    X = np.zeros((len(data), 2))
    for method in METHODS:
        model = CalibratedGroupClassifier(LogisticRegression(), method=method, cv="prefit")
        fitted = LogisticRegression().fit(X, data.y)
        model.set_params(estimator=fitted).fit(X, data.y, data.groups)
        p = model.predict_proba_groups(X, data.groups)[:, 1]
        np.testing.assert_allclose(p, truth_of_groups(data).mean(), atol=1e-12)


@pytest.mark.parametrize(
    ("change", "parameters", "message"),
    [
        ({"y": "one positive"}, {}, "there is 1 positive group, fewer than the 5 folds"),
        ({"y": "none"}, {}, "y holds one class only"),
        ({"y": "three"}, {}, "Only binary classification is supported"),
        ({"patients": "rows"}, {}, "belongs to two patients, 0 and 1"),
        ({"patients": "one positive"}, {}, "positive groups come from 1 patient, fewer than"),
        ({"groups": "short"}, {}, "X has 120 rows but groups has 119"),
        ({}, {"cv": 31}, "there are 10 positive groups, fewer than the 31 folds; use cv=10"),
        ({}, {"cv": 1}, "cv must be a whole number of folds"),
        ({}, {"method": "beta"}, "method must be 'sigmoid' or 'isotonic'; got 'beta'"),
    ],
)
def test_bad_input(change, parameters, message):
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(120, 2)), np.repeat(np.arange(30), 4)
    y = ((groups < 10) & (np.arange(120) % 4 == 0)).astype(int)
    patients = None
    if "y" in change:
        y = {"one positive": (groups == 3) * 1, "none": y * 0, "three": groups % 3}[change["y"]]
    if "groups" in change:
        groups = groups[:-1]
    if "patients" in change:
        patients = {"rows": np.arange(120), "one positive": np.maximum(groups, 10)}
        patients = patients[change["patients"]]
    model = CalibratedGroupClassifier(GroupClassifier(), **parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, groups, patients=patients)


def test_bad_input_of_a_fitted_estimator(data):
    unfitted = CalibratedGroupClassifier(GroupClassifier(), cv="prefit")
    with pytest.raises(sklearn.exceptions.NotFittedError):
        unfitted.fit(data.X, data.y, data.groups)
    three = GroupClassifier(tol=0.1).fit(data.X, data.y + 2 * (data.groups % 2), data.groups)
    with pytest.raises(ValueError, match="only one of two classes can be calibrated"):
        CalibratedGroupClassifier(three, cv="prefit").fit(data.X, data.y, data.groups)
    fitted = GroupClassifier().fit(data.X, data.y, data.groups)
    model = CalibratedGroupClassifier(fitted, cv="prefit")
    with pytest.raises(ValueError, match="every group held out is negative"):
        model.fit(data.X, data.y * 0, data.groups)
    with pytest.raises(
        ValueError, match="y holds 2 at row 0, which is not a class of the estimator"
    ):
        model.fit(data.X, data.y + 2, data.groups)
    with pytest.raises(ValueError, match="LinearRegression has no scores"):
        group_scores_of(sklearn.linear_model.LinearRegression(), data.X, data.groups)


def test_scores_that_are_not_finite_are_refused(data):
    class Broken(LogisticRegression):
        def decision_function(self, X):
            return np.full(len(X), np.inf)

    with pytest.raises(ValueError, match=r"score of group 0 .* is not finite"):
        CalibratedGroupClassifier(Broken(), cv=3).fit(data.X, data.y, data.groups)


# A file


def test_a_model_comes_back_from_its_file(model, data, tmp_path):
    groupcm.save(model, tmp_path / "model.json")
    back = groupcm.load(tmp_path / "model.json")
    assert type(back.calibrator_) in (Sigmoid, Isotonic)
    assert back.method == model.method
    unseen = frames(2)
    for method in ("predict_proba_groups", "predict_groups"):
        expected = getattr(model, method)(unseen.X, unseen.groups)
        assert np.array_equal(getattr(back, method)(unseen.X, unseen.groups), expected)
    assert np.array_equal(back.decision_function(unseen.X), model.decision_function(unseen.X))
    stored = json.loads((tmp_path / "model.json").read_text())["model"]["state"]
    assert "held_out_scores_" not in stored


def test_a_model_that_cannot_be_stored_says_so(data, tmp_path):
    model = CalibratedGroupClassifier(LogisticRegression(), cv=3)
    model.fit(data.X, data.y, data.groups)
    with pytest.raises(InputError, match="the parameter estimator is a LogisticRegression"):
        groupcm.save(model, tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


# Brier score and reliability


def made_probabilities(n=400, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.random(n).round(2)
    return (rng.random(n) < p).astype(int), p


def test_brier_score_is_scikit_learns():
    y, p = made_probabilities()
    assert group_brier_score(y, p) == pytest.approx(brier_score_loss(y, p), abs=1e-15)
    # Each group as three candidates, the positive one last, in rows far apart.
    rows = np.concatenate([y * 0, y * 0, y])
    groups = np.tile(np.arange(len(y)), 3)
    assert group_brier_score(rows, p, groups) == group_brier_score(y, p)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("n_bins", [1, 4, 10, 300])
def test_reliability_is_scikit_learns(strategy, n_bins):
    y, p = made_probabilities()
    curve = reliability_curve(y, p, n_bins=n_bins, strategy=strategy)
    observed, predicted = calibration_curve(y, p, n_bins=n_bins, strategy=strategy)
    np.testing.assert_allclose(curve.observed, observed, atol=1e-12)
    np.testing.assert_allclose(curve.predicted, predicted, atol=1e-12)
    assert curve.count.sum() == len(y)
    assert np.all((curve.low <= curve.observed) & (curve.observed <= curve.high))
    assert np.all((curve.low >= 0) & (curve.high <= 1))
    groups = np.tile(np.arange(len(y)), 2)
    of_groups = reliability_curve(
        np.concatenate([y * 0, y]), p, groups, n_bins=n_bins, strategy=strategy
    )
    for ours, theirs in zip(of_groups, curve, strict=True):
        assert np.array_equal(ours, theirs)


def test_interval_is_wilsons():
    # 20 of 100: 0.1334 to 0.2888, and 0 of 10: 0 to 0.2775, at 95 %.
    curve = reliability_curve(np.arange(100) < 20, np.full(100, 0.3), n_bins=1)
    assert (curve.low[0], curve.high[0]) == pytest.approx((0.1334, 0.2888), abs=1e-4)
    y = np.r_[np.zeros(10), np.ones(10)]
    curve = reliability_curve(y, np.where(y == 1, 0.9, 0.1), n_bins=2, strategy="uniform")
    assert (curve.low[0], curve.high[0]) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert curve.count.tolist() == [10, 10]
    wider = reliability_curve(y, y * 0.5, n_bins=1, level=0.99)
    assert wider.high[0] - wider.low[0] > 0.45


@pytest.mark.parametrize(
    ("y", "p", "groups", "options", "message"),
    [
        ([0, 1], [0.1], None, {}, r"one number per candidate, shape \(2,\); got shape \(1,\)"),
        ([0, 1, 0], [0.1, 0.2, 0.3], [1, 1, 2], {}, r"one number per group, shape \(2,\)"),
        ([0, 1], [0.1, 1.2], None, {}, "holds 1.2 for candidate 1; a probability lies between"),
        ([0, 1], [np.nan, 0.2], None, {}, "holds nan for candidate 0"),
        ([0, 1], [0.1, 0.2], [1], {}, "y has 2 rows but groups has 1"),
        ([0, 1], [0.1, 0.2], None, {"n_bins": 0}, "n_bins must be a whole number"),
        ([0, 1], [0.1, 0.2], None, {"strategy": "wide"}, "strategy must be"),
        ([0, 1], [0.1, 0.2], None, {"level": 95}, "level must lie between 0 and 1"),
    ],
)
def test_bad_probabilities(y, p, groups, options, message):
    with pytest.raises(ValueError, match=message):
        reliability_curve(y, p, groups, **options)


def test_score_of_a_source_is_that_of_its_rows(model, tmp_path):
    unseen = frames(1)
    columns = {f"f{j}": column for j, column in enumerate(unseen.X.T)}
    table = pa.table({"frame": unseen.groups, "polyp": unseen.y, **columns})
    path = tmp_path / "unseen.parquet"
    pq.write_table(table, path, row_group_size=50)
    source = from_parquet(path, group="frame", label="polyp", features=list(columns))
    expected = model.score(unseen.X, unseen.y, unseen.groups)
    assert 0.5 < expected < 1.0
    assert model.score(source) == model.score(source, None) == expected
    assert model.score(path, "polyp", "frame") == expected
    with pytest.raises(ValueError, match="y comes with the source; leave it out"):
        model.score(source, unseen.y)


def test_score_weighs_as_the_estimator_does(model):
    unseen = frames(1)
    weight = np.random.default_rng(0).random(len(unseen.y))
    right = model.predict_groups(unseen.X, unseen.groups) == truth_of_groups(unseen)
    index = index_groups(unseen.groups)
    of_group = [weight[index.codes == k].mean() for k in range(index.n_groups)]
    found = model.score(unseen.X, unseen.y, unseen.groups, sample_weight=weight)
    assert found == pytest.approx(np.average(right, weights=of_group))
    of_rows = np.average(model.predict(unseen.X) == unseen.y, weights=weight)
    assert model.score(unseen.X, unseen.y, sample_weight=weight) == pytest.approx(of_rows)
    with pytest.raises(ValueError, match="sample_weight has"):
        model.score(unseen.X, unseen.y, unseen.groups, sample_weight=weight[1:])


def test_score_needs_labels(model):
    unseen = frames(1)
    for scored in (model, model.estimator_):
        for groups in (None, unseen.groups):
            with pytest.raises(ValueError, match=r"^y is needed: the label of each candidate\.$"):
                scored.score(unseen.X, None, groups)
