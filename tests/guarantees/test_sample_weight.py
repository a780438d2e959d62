"""``class_weight`` and ``sample_weight``: against an independent solver, and equivalences."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from oracle import GroupProblem
from problems import GROUPINGS, KINDS, LOSSES, PENALTIES, Case, make_problem
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from groupcm import (
    CalibratedGroupClassifier,
    GroupBoostingClassifier,
    GroupClassifier,
    GroupClassifierCV,
    MISVMClassifier,
    load,
    save,
    sources,
)
from groupcm.boosting import GroupEvaluation, GroupObjective
from groupcm.estimators.calibrators import fit_isotonic, fit_sigmoid
from groupcm.estimators.path import lambda_path
from groupcm.estimators.training.sample_weight import folds_of_rows
from groupcm.features.scaling import measure_scaling
from groupcm.metrics import (
    group_average_precision,
    group_roc_auc,
    group_roc_auc_scorer,
    sensitivity_at_specificity,
)
from groupcm.metrics.registry import weighted_value
from groupcm.objective.grouping import class_factors
from groupcm.simulate import capsule

TOL = 1e-7
SHARP = {"tol": 1e-10, "random_state": 0}


def draw_weights(rng, problem, *, whole=False):
    """Different weights wherever they may differ, 0.5 to 4; whole numbers where asked for."""
    groups = np.asarray(problem.groups)
    positive = np.asarray(problem.y == problem.positive_label)

    def draw(n):
        return rng.integers(1, 4, n).astype(float) if whole else rng.uniform(0.5, 4.0, n)

    grouping = problem.settings.get("grouping", "negative")
    weight = draw(len(groups))
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        if grouping != "none":
            weight[rows[~positive[rows]]] = draw(1)
        if grouping == "both":
            weight[rows[positive[rows]]] = draw(1)
    return weight


CLASS_WEIGHTS = ("balanced", None, {True: 2.5, False: 0.5})


def as_user_writes(class_weight, problem):
    if not isinstance(class_weight, dict):
        return class_weight
    high = problem.positive_label
    low = next(label for label in problem.y if label != high)
    return {high.item(): class_weight[True], low.item(): class_weight[False]}


@pytest.mark.parametrize(
    "case",
    [
        Case(loss, penalty, grouping, ("ignore", "negative")[i % 2], KINDS[i % 3], seed=20 + i)
        for i, (loss, penalty, grouping) in enumerate(
            itertools.product(LOSSES, PENALTIES, GROUPINGS)
        )
    ],
    ids=str,
)
def test_the_weighted_optimum_is_the_one_of_an_independent_solver(case):
    of_class = case.seed // 2 % 3
    problem = make_problem(case, C=[None, 0.7][case.seed % 2] if of_class else None)
    class_weight = CLASS_WEIGHTS[of_class]
    weight = draw_weights(np.random.default_rng(case.seed), problem)
    oracle = GroupProblem(
        *problem.fit_args,
        positive_label=problem.positive_label,
        sample_weight=weight,
        class_weight=class_weight,
        **problem.settings,
    )
    optimum = oracle.solve()
    written = as_user_writes(class_weight, problem)
    model = GroupClassifier(**problem.settings, class_weight=written, **{**SHARP, "tol": TOL})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*below min_overlap", UserWarning)
        model.fit(*problem.fit_args, sample_weight=weight)
    assert model.gap_ <= TOL
    assert model.lower_bound_ <= optimum.value * (1 + 1e-8) + 1e-8
    assert model.objective_ == pytest.approx(optimum.value, rel=1e-5)
    recomputed = oracle.objective_of(model.coef_, model.intercept_)
    assert model.objective_ == pytest.approx(recomputed, rel=1e-6)


def repeated(weight, groups, *arrays):
    """Every group as often as its candidates weigh, each time under another name."""
    rows, names = [], []
    for time in range(int(weight.max())):
        some = np.flatnonzero(weight > time)
        rows.append(some)
        names += [f"{group} {time}" for group in np.asarray(groups)[some]]
    rows = np.concatenate(rows)
    return np.array(names), [None if array is None else array[rows] for array in arrays]


@pytest.mark.parametrize("class_weight", ["balanced", None])
@pytest.mark.parametrize("kind", ["float64", "csr"])
@pytest.mark.parametrize("background", ["ignore", "negative"])
def test_a_whole_weight_is_a_group_given_as_often(class_weight, kind, background):
    case = Case("smoothed_hinge", "huber", "negative", background, kind, seed=3)
    problem = make_problem(case, standardize=True, min_overlap=0.0)
    rng = np.random.default_rng(1)
    names = np.unique(problem.groups)
    weight = rng.integers(1, 4, len(names))[np.searchsorted(names, problem.groups)]
    groups, (X, y, overlap) = repeated(
        weight, problem.groups, problem.X, problem.y, problem.overlap
    )
    model = GroupClassifier(**problem.settings, class_weight=class_weight, **SHARP)
    weighted = clone(model).fit(*problem.fit_args, sample_weight=weight)
    by_hand = clone(model).fit(X, y, groups, overlap)
    assert weighted.objective_ == pytest.approx(by_hand.objective_, rel=1e-9)
    np.testing.assert_allclose(
        weighted.decision_function(X), by_hand.decision_function(X), atol=1e-4
    )
    np.testing.assert_allclose(weighted.feature_means_, by_hand.feature_means_, atol=1e-12)


@pytest.fixture(scope="module")
def data():
    return capsule(50, n_positive=25, group_size=5, seed=4)


def group_weights(data, *choices, seed=0):
    """One of the choices for each group, for all its candidates."""
    drawn = np.random.default_rng(seed).choice(choices, data.n_groups)
    return drawn[np.unique(data.groups, return_inverse=True)[1]]


LINEAR = [GroupClassifier(0.9), GroupClassifierCV([0.5, 0.9], cv=3), MISVMClassifier(0.9, tol=1e-2)]


def fit(model, data, weight=None, rows=slice(None)):
    known = {"overlap": data.overlap[rows]} if not isinstance(model, MISVMClassifier) else {}
    weight = None if weight is None else weight[rows]
    return clone(model).fit(
        data.X[rows], data.y[rows], data.groups[rows], sample_weight=weight, **known
    )


@pytest.mark.parametrize("class_weight", ["balanced", {1: 3.0}])
@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore::groupcm.errors.LambdaAtEndWarning")
def test_equal_weights_are_none_and_no_weight_is_left_out(data, model, class_weight):
    model = clone(model).set_params(class_weight=class_weight)
    plain = fit(model, data)
    equal = fit(model, data, np.full(len(data.y), 0.3))
    np.testing.assert_array_equal(equal.coef_, plain.coef_)
    weight = group_weights(data, 0.0, 1.0, 2.0)
    zeros, left = fit(model, data, weight), fit(model, data, weight, np.flatnonzero(weight))
    np.testing.assert_array_equal(zeros.coef_, left.coef_)
    assert np.abs(zeros.coef_ - plain.coef_).max() > 1e-3
    if hasattr(zeros, "held_out_scores_"):
        np.testing.assert_array_equal(zeros.held_out_scores_, left.held_out_scores_)


def test_balanced_is_the_default_and_the_objective_of_the_paper(data):
    rows = data.X, data.y, data.groups
    assert GroupClassifier().class_weight == "balanced"
    balanced = GroupClassifier(0.9, **SHARP).fit(*rows)
    # 25 of 75 groups are positive: c± of a dict with these weights are λ/n+ and λ/n−.
    by_hand = GroupClassifier(0.9, class_weight={1: 75 / 50, 0: 75 / 100}, **SHARP).fit(*rows)
    assert by_hand.objective_ == pytest.approx(balanced.objective_, rel=1e-8)
    np.testing.assert_allclose(by_hand.coef_, balanced.coef_, atol=1e-4)


def test_weights_multiply_those_of_classes(data):
    rows = data.X, data.y, data.groups
    positive = np.isin(data.groups, data.groups[data.y == 1])
    raw = {"standardize": False, "C": 2.0, **SHARP}
    of_class = GroupClassifier(class_weight={1: 3.0}, **raw).fit(*rows)
    of_rows = GroupClassifier(**raw).fit(*rows, sample_weight=np.where(positive, 3.0, 1.0))
    np.testing.assert_allclose(of_rows.coef_, of_class.coef_, atol=1e-6)


def test_a_dict_is_the_one_of_linear_svc(data):
    rows = np.flatnonzero(np.arange(len(data.y)) % 5 == 0)
    X, y = StandardScaler().fit_transform(data.X[rows]), data.y[rows]
    rows = np.concatenate([np.flatnonzero(y == 1), np.flatnonzero(y == 0)[:60]])
    X, y = np.append(X[rows], 100 * np.ones((len(rows), 1)), axis=1), y[rows]
    assert 0 < y.sum() < len(y)
    weight = np.random.default_rng(0).uniform(0.5, 3.0, len(y))
    # LinearSVC minimises w'w/2 + C Σ hinge.
    svc = LinearSVC(
        C=2.0, loss="hinge", class_weight={1: 4.0}, tol=1e-10, max_iter=10**7, fit_intercept=False
    ).fit(X, y, sample_weight=weight)
    ours = GroupClassifier(
        C=1.0,
        loss="hinge",
        penalty="l2",
        grouping="none",
        standardize=False,
        class_weight={1: 4.0},
        tol=1e-9,
    ).fit(X, y, sample_weight=weight)
    # The column of 100 is a nearly free intercept.
    scores = svc.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), scores, atol=2e-2)


def test_three_classes_are_weighted_one_against_the_rest():
    assert class_factors("balanced", [0, 1], 1) is None
    assert class_factors(None, [0, 1], 1) == (1.0, 1.0)
    assert class_factors({0: 2.0}, [0, 1], 1) == (1.0, 2.0)
    assert class_factors({0: 2.0, 2: 5.0}, [0, 1, 2], 2) == (5.0, 1.0)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), np.arange(90) % 3
    X += 2.0 * np.eye(3)[y][:, :2]
    settings = {"standardize": False, **SHARP}
    model = GroupClassifier(class_weight={2: 4.0}, **settings).fit(X, y)
    for k in range(3):
        alone = GroupClassifier(class_weight={1: 4.0} if k == 2 else None, **settings)
        alone.fit(X, (y == k).astype(int))
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], atol=1e-6)
    plain = GroupClassifier(class_weight=None, **settings).fit(X, y)
    assert (model.predict(X) == 2).mean() > (plain.predict(X) == 2).mean()
    weight = (1.0 + y) * (y != 1)
    left = GroupClassifier(**settings).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(left.classes_, [0, 2])


def test_path_and_folds_are_weighted_like_single_fits(data):
    weight = group_weights(data, 0.0, 1.0, 2.0)
    rows = data.X, data.y, data.groups, data.overlap
    path = lambda_path(*rows, sample_weight=weight, lams=[0.5, 0.9], class_weight=None, **SHARP)
    for lam, model in zip(path.lams, path.models, strict=True):
        alone = GroupClassifier(lam, class_weight=None, **SHARP).fit(*rows, sample_weight=weight)
        assert model.objective_ == pytest.approx(alone.objective_, rel=1e-8)


def test_folds_given_by_rows_and_patients_leave_out_what_weighs_nothing(data):
    weight = group_weights(data, 0.0, 1.0, 2.0)
    left = np.flatnonzero(weight)
    place = np.cumsum(weight > 0) - 1
    splits = list(GroupKFold(3).split(data.X, data.y, data.groups))
    of_left = [tuple(place[part[weight[part] > 0]] for part in fold) for fold in splits]
    patients = data.groups // 3
    models = [GroupClassifierCV([0.9], cv=cv, tol=1e-6) for cv in (splits, of_left)]
    whole = models[0].fit(data.X, data.y, data.groups, data.overlap, sample_weight=weight)
    part = models[1].fit(
        data.X[left],
        data.y[left],
        data.groups[left],
        data.overlap[left],
        sample_weight=weight[left],
    )
    np.testing.assert_array_equal(whole.scores_, part.scores_)
    numbers, first = np.unique(data.groups[left], return_index=True)
    of_group = weight[left][first]
    for (_, test), found in zip(splits, whole.scores_[:, 0], strict=True):
        inside = np.isin(numbers, data.groups[test])
        truth, scores = whole.held_out_labels_[inside] == 1, whole.held_out_scores_[inside]
        expected = weighted_value(group_roc_auc, truth, scores, of_group[inside])
        assert found == pytest.approx(expected)
    by_patient = GroupClassifierCV([0.9], cv=3)
    whole = clone(by_patient).fit(
        data.X, data.y, data.groups, patients=patients, sample_weight=weight
    )
    part = clone(by_patient).fit(
        data.X[left],
        data.y[left],
        data.groups[left],
        patients=patients[left],
        sample_weight=weight[left],
    )
    np.testing.assert_array_equal(whole.held_out_scores_, part.held_out_scores_)
    with pytest.raises(ValueError, match="patients has"):
        by_patient.fit(data.X, data.y, data.groups, patients=patients[1:], sample_weight=weight)


@pytest.mark.parametrize(
    "metric", [group_roc_auc, group_average_precision, sensitivity_at_specificity]
)
def test_a_weighted_metric_is_that_of_repeated_groups(metric):
    rng = np.random.default_rng(0)
    truth, scores = rng.random(60) < 0.4, rng.normal(size=60).round(1)
    weight = rng.integers(1, 4, 60)
    often = np.repeat(np.arange(60), weight)
    found = weighted_value(metric, truth, scores, weight.astype(float))
    assert found == pytest.approx(metric(truth[often], scores[often], None))
    assert found != pytest.approx(metric(truth, scores, None))


def unannotated_example():
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(30), 5)
    y = (groups % 3 == 0).astype(int)
    shows = (y == 1) & (np.arange(len(y)) % 5 == 2)
    X = rng.normal(size=(len(y), 3)) + 2.0 * shows[:, None]
    annotated = groups % 2 == 0
    y = np.where(annotated & (y == 1), shows.astype(int), y)
    weight = rng.choice([1.0, 2.0], 30)[groups]
    return X, y, groups, annotated, weight


@pytest.mark.parametrize("class_weight", ["balanced", None, {1: 2.0}])
def test_unannotated_groups_are_weighted_like_the_others(class_weight):
    X, y, groups, annotated, weight = unannotated_example()
    model = GroupClassifier(0.8, class_weight=class_weight, **SHARP)
    model.fit(X, y, groups, annotated=annotated, sample_weight=weight)
    witnesses = model.witnesses_
    assert len(witnesses) == 5
    # The last convex problem is the one in which these candidates are annotated.
    y_chosen = np.where(annotated, y, 0)
    y_chosen[witnesses] = 1
    same = clone(model).fit(X, y_chosen, groups, sample_weight=weight)
    assert model.objective_ == pytest.approx(same.objective_, rel=1e-8)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-4)
    # Witnesses are rows of what was given, also where some of these weigh nothing.
    weight[groups == 1] = 0.0
    again = clone(model).fit(X, y, groups, annotated=annotated, sample_weight=weight)
    assert set(groups[again.witnesses_]) == set(groups[witnesses])
    weight[np.flatnonzero(groups == 3)[0]] *= 7.0
    with pytest.raises(ValueError, match="differs among the candidates of group 3"):
        clone(model).fit(X, y, groups, annotated=annotated, sample_weight=weight)


@pytest.mark.parametrize("class_weight", ["balanced", None])
def test_mi_svm_with_whole_weights_is_that_of_repeated_groups(class_weight):
    X, _, groups, _, _ = unannotated_example()
    y = (groups % 3 == 0).astype(int)
    weight = np.random.default_rng(2).integers(1, 4, 30)[groups]
    names, (X_often, y_often) = repeated(weight, groups, X, y)
    model = MISVMClassifier(0.8, class_weight=class_weight, tol=1e-9)
    weighted = clone(model).fit(X, y, groups, sample_weight=weight)
    often = clone(model).fit(X_often, y_often, names)
    assert weighted.objective_ == pytest.approx(often.objective_, rel=1e-7)
    np.testing.assert_allclose(weighted.coef_, often.coef_, atol=1e-4)
    weight[0] *= 2
    with pytest.raises(ValueError, match="differs among the candidates of group 0"):
        clone(model).fit(X, y, groups, sample_weight=weight)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_weighted_moments_are_those_of_repeated_rows(storage):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((50, 4)) < 0.5, 0.0, rng.normal(3.0, 2.0, (50, 4)))
    X[:, 3], X[:, 2] = 7.0, rng.normal(1e5, 1.0, 50)
    weight = rng.integers(1, 5, 50)
    often = X[np.repeat(np.arange(50), weight)]
    found = measure_scaling(storage(X), np.arange(50), all_rows=True, weight=weight.astype(float))
    expected = measure_scaling(storage(often), np.arange(len(often)), all_rows=True)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(found.scale, expected.scale, rtol=1e-9)
    np.testing.assert_allclose(found.feature_means, often.mean(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(found.constant, [False, False, False, True])


# Calibration


@pytest.mark.parametrize("fit_curve", [fit_sigmoid, fit_isotonic])
def test_a_weighted_curve_is_that_of_repeated_groups(fit_curve):
    rng = np.random.default_rng(0)
    scores, positive = rng.normal(size=40), rng.random(40) < 0.4
    weight = rng.integers(1, 4, 40)
    often = np.repeat(np.arange(40), weight)
    at = np.linspace(-2.0, 2.0, 9)
    found = fit_curve(scores, positive, weight.astype(float))(at)
    np.testing.assert_allclose(found, fit_curve(scores[often], positive[often])(at), atol=1e-7)
    assert np.abs(found - fit_curve(scores, positive)(at)).max() > 1e-3


@pytest.mark.parametrize("splits", ["number", "rows"])
def test_calibration_passes_weights_on_and_leaves_out_what_weighs_nothing(data, splits):
    weight = group_weights(data, 0.0, 1.0, 3.0)
    left = np.flatnonzero(weight)
    cv = 3 if splits == "number" else list(GroupKFold(3).split(data.X, data.y, data.groups))
    model = CalibratedGroupClassifier(GroupClassifier(0.9), cv=cv)
    whole = clone(model).fit(data.X, data.y, data.groups, sample_weight=weight)
    if splits == "rows":
        model.set_params(cv=folds_of_rows(cv, left, len(weight)))
    known = {"groups": data.groups[left], "sample_weight": weight[left]}
    part = clone(model).fit(data.X[left], data.y[left], **known)
    np.testing.assert_array_equal(whole.held_out_scores_, part.held_out_scores_)
    assert whole.calibrator_ == part.calibrator_
    of_group = weight[left][np.unique(data.groups[left], return_index=True)[1]]
    positive = whole.held_out_labels_ == 1
    assert whole.calibrator_ == fit_sigmoid(whole.held_out_scores_, positive, of_group)
    alone = GroupClassifier(0.9).fit(data.X[left], data.y[left], **known)
    np.testing.assert_array_equal(whole.estimator_.coef_, alone.coef_)
    plain = clone(model).fit(data.X[left], data.y[left], known["groups"])
    assert plain.calibrator_ != part.calibrator_
    # Any estimator that takes weights gets them.
    foreign = CalibratedGroupClassifier(LogisticRegression(), cv=3)
    foreign.fit(data.X, data.y, data.groups, sample_weight=weight)
    expected = LogisticRegression().fit(data.X[left], data.y[left], sample_weight=weight[left])
    np.testing.assert_allclose(foreign.estimator_.coef_, expected.coef_)
    with pytest.raises(ValueError, match="sample_weight is not used with cv"):
        CalibratedGroupClassifier(alone, cv="prefit").fit(
            data.X, data.y, data.groups, sample_weight=weight
        )


# Trees


def few_trees(**parameters):
    pytest.importorskip("lightgbm")
    settings = {"early_stopping": False, "min_child_samples": 5, "n_jobs": 1, "n_annealed": 5}
    return GroupBoostingClassifier(12, **(settings | parameters))


@pytest.mark.parametrize("class_weight", ["balanced", None, {1: 3.0, 0: 0.5}])
@pytest.mark.parametrize("power", [1.0, 4.0, np.inf])
def test_the_objective_of_trees_is_that_of_repeated_groups(data, class_weight, power):
    pytest.importorskip("lightgbm")
    weight = group_weights(data, 1.0, 2.0, 3.0)
    rows = np.arange(len(weight))
    names, (of_row, y) = repeated(weight, data.groups, rows, data.y)
    settings = {"power": power, "class_weight": class_weight}
    weighted = GroupObjective(data.y, data.groups, sample_weight=weight, **settings)
    often = GroupObjective(y, names, **settings)
    scores = np.random.default_rng(0).normal(size=len(rows))
    found, expected = weighted.derivatives(scores), often.derivatives(scores[of_row])
    assert found.value == pytest.approx(expected.value, rel=1e-6)
    gradient = np.bincount(of_row, expected.gradient)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-5, atol=1e-7)
    plain = GroupObjective(data.y, data.groups, **settings).derivatives(scores)
    assert plain.value != pytest.approx(found.value, rel=1e-3)


def test_the_objective_of_trees_weighs_classes_as_it_says():
    pytest.importorskip("lightgbm")
    y, groups = [1, 0, 0, 0, 0, 0, 0], [0, 1, 1, 2, 3, 4, 4]
    scores = np.zeros(7)  # every loss is log 2, of a group of two √2 log 2 with power 2

    def value(class_weight, sample_weight=None):
        objective = GroupObjective(
            y, groups, power=2.0, class_weight=class_weight, sample_weight=sample_weight
        )
        return objective.derivatives(scores).value / np.log(2.0)

    negative = 2.0 + 2.0 * np.sqrt(2.0)
    assert value("balanced") == pytest.approx(2.5 + 2.5 / 4 * negative)
    assert value(None) == pytest.approx(1.0 + negative)
    assert value({1: 4.0, 0: 0.5}) == pytest.approx(4.0 + 0.5 * negative)
    assert value(None, [3, 1, 1, 1, 1, 2, 2]) == pytest.approx(3 + 2 + 3 * np.sqrt(2.0))
    with pytest.raises(ValueError, match="differs among the candidates of group 4"):
        value(None, [3, 1, 1, 1, 1, 2, 1])
    with pytest.raises(ValueError, match="sample_weight is 0 at row 1"):
        value(None, [3, 0, 1, 1, 1, 2, 2])


def test_trees_weigh_groups(data):
    rows = data.X, data.y, data.groups
    plain = few_trees().fit(*rows)
    weight = group_weights(data, 0.0, 1.0, 5.0)
    left = np.flatnonzero(weight)
    patients = data.groups // 2
    for parameters in ({}, {"early_stopping": True, "validation": 2}):
        model = few_trees(**parameters)
        zeros = clone(model).fit(*rows, patients=patients, sample_weight=weight)
        part = [each[left] for each in rows]
        fewer = clone(model).fit(*part, patients=patients[left], sample_weight=weight[left])
        assert zeros.trees_ == fewer.trees_
        np.testing.assert_array_equal(zeros.validation_curve_, fewer.validation_curve_)
    assert zeros.trees_ != plain.trees_
    for class_weight in (None, {1: 9.0}):
        assert few_trees(class_weight=class_weight).fit(*rows).trees_ != plain.trees_
    with pytest.raises(ValueError, match="class_weight must be"):
        few_trees(class_weight="equal").fit(*rows)
    with pytest.raises(ValueError, match="patients has"):
        few_trees().fit(*rows, patients=patients[left], sample_weight=weight)


def test_trees_weigh_unannotated_groups_and_what_they_validate_with():
    X, y, groups, annotated, weight = unannotated_example()
    model = few_trees(n_warm_up=3)
    plain = clone(model).fit(X, y, groups, annotated=annotated)
    heavy = np.where(annotated, 1.0, 9.0)
    weighted = clone(model).fit(X, y, groups, annotated=annotated, sample_weight=heavy)
    assert weighted.trees_ != plain.trees_
    heavy[groups == 1] = 0.0
    fewer = clone(model).fit(X, y, groups, annotated=annotated, sample_weight=heavy)
    assert set(groups[fewer.witnesses_]) == set(groups[plain.witnesses_])
    watch = GroupEvaluation(y, groups, sample_weight=weight)
    scores = np.random.default_rng(0).normal(size=len(y))
    names, (often, truth) = repeated(weight, groups, scores, y)
    assert watch(scores) == pytest.approx(group_roc_auc(truth, often, names))


# What is refused


def test_weights_that_differ_within_a_negative_group_name_it():
    X = np.arange(6.0)[:, None]
    y, groups = [1, 0, 0, 0, 0, 0], ["a", "a", "b", "b", "c", "c"]
    model = GroupClassifier()
    with pytest.raises(ValueError, match=r"of group b \(1 and 2\)"):
        model.fit(X, y, groups, sample_weight=[1, 1, 1, 2, 1, 1])
    with pytest.raises(ValueError, match="of group c"):  # a is left out, and shifts the numbers
        model.fit(X[::-1], y[::-1], groups[::-1], sample_weight=[1, 2, 0, 0, 1, 1])
    model.fit(X, y, groups, sample_weight=[1, 5, 0, 2, 1, 1])  # the rest of a counts for nothing
    GroupClassifier(grouping="none").fit(X, y, groups, sample_weight=[1, 1, 1, 2, 1, 3])


@pytest.mark.parametrize("model", [GroupClassifier(), CalibratedGroupClassifier(MISVMClassifier())])
def test_no_weight_turns_a_positive_group_into_a_negative_one(data, model):
    group = data.groups[np.argmax(data.y == 1)]
    of_group = data.groups == group
    weight = np.where(of_group & (data.y == 1), 0.0, 1.0)
    with pytest.raises(ValueError, match=f"of the class 1 in group {group} and not for its other"):
        clone(model).fit(data.X, data.y, data.groups, sample_weight=weight)
    weight[of_group] = 0.0
    clone(model).fit(data.X, data.y, data.groups, sample_weight=weight)
    three = np.where(data.y == 1, 1 + data.groups % 2, 0)
    weight = np.where(of_group & (data.y == 0), 0.0, 1.0)
    with pytest.raises(ValueError, match=f"of the class 0 in group {group} and not for its other"):
        GroupClassifier().fit(data.X, three, data.groups, sample_weight=weight)
    GroupClassifier().fit(data.X, data.y, data.groups, sample_weight=weight)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1, 1], "sample_weight has 3"),
        ([1, 1, -1, 1], "at least 0; got -1.0 at row 2"),
        ([1, np.nan, 1, 1], "got nan at row 1"),
        ([[1, 1, 1, 1]], "one number per candidate"),
        (["a"] * 4, "one number per candidate"),
        ([0, 0, 0, 0], "zero for every candidate"),
        ([0, 0, 1, 1], "one class only"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        GroupClassifier().fit(np.arange(4.0)[:, None], [0, 0, 1, 1], sample_weight=weight)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("equal", "None, 'balanced' or a dict"),
        (3, "None, 'balanced' or a dict"),
        ({1: 0}, "above 0 for each label; got 0 for 1"),
        ({1: "2"}, "got '2' for 1"),
        ({"1": 2.0}, "weight for '1', which is not a label of y; the labels are 0, 1"),
    ],
)
def test_bad_class_weights_are_refused(class_weight, message):
    X, y = np.arange(4.0)[:, None], [0, 0, 1, 1]
    for model in (GroupClassifier(), GroupClassifierCV(), MISVMClassifier()):
        with pytest.raises(ValueError, match=message):
            clone(model).set_params(class_weight=class_weight).fit(X, y)


def test_a_class_that_a_fold_lacks_may_have_a_weight():
    X, y = np.arange(8.0)[:, None], [0, 0, 0, 0, 1, 1, 1, 1]
    GroupClassifier(class_weight={0: 1.0, 1: 2.0, 2: 3.0}).fit(X, y)


def test_a_bad_value_is_named_by_its_row_as_given(data):
    X = data.X.copy()
    X[100, 2] = np.inf  # counted from what was given, of which the first group is left out
    weight = np.ones(len(X))
    weight[data.groups == data.groups[0]] = 0.0
    with pytest.raises(ValueError, match="row 100"):
        GroupClassifier().fit(X, data.y, data.groups, sample_weight=weight)


# Sources


def test_a_source_in_memory_takes_weights_and_a_stream_refuses_them(data, tmp_path):
    table = pd.DataFrame(data.X, columns=[f"f{j}" for j in range(data.X.shape[1])])
    table = table.assign(group=data.groups, label=data.y)
    path = tmp_path / "candidates.parquet"
    table.to_parquet(path)
    weight = group_weights(data, 0.0, 1.0, 2.0)
    source = sources.from_parquet(path, group="group", label="label")
    found = GroupClassifier(**SHARP).fit(source, sample_weight=weight)
    expected = GroupClassifier(**SHARP).fit(data.X, data.y, data.groups, sample_weight=weight)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-6)
    with pytest.raises(
        ValueError, match=f"sample_weight needs all {len(data.y)} candidates in memory"
    ):
        GroupClassifier(memory="10kB").fit(source, sample_weight=weight)
    with pytest.raises(ValueError, match="sample_weight needs one value"):
        GroupClassifier().fit(source, sample_weight="weight")
    streamed = GroupClassifier(memory="10kB", class_weight={1: 3.0}, tol=1e-8).fit(source)
    whole = GroupClassifier(class_weight={1: 3.0}, tol=1e-8).fit(data.X, data.y, data.groups)
    assert streamed.objective_ == pytest.approx(whole.objective_, rel=1e-6)


# Routing, files


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_weights_are_routed(data):
    weight = group_weights(data, 1.0, 5.0)
    known = {"groups": data.groups, "sample_weight": weight}
    model = GroupClassifier(standardize=False).set_fit_request(sample_weight=True)
    scale = StandardScaler().set_fit_request(sample_weight=False)
    pipe = make_pipeline(scale, model)
    pipe.fit(data.X, data.y, **known)
    alone = clone(model).fit(pipe[0].transform(data.X), data.y, **known)
    np.testing.assert_array_equal(pipe[-1].coef_, alone.coef_)
    scores = cross_val_score(
        pipe, data.X, data.y, params=known, scoring=group_roc_auc_scorer, cv=GroupKFold(3)
    )
    train, test = next(GroupKFold(3).split(data.X, data.y, data.groups))
    first = clone(pipe).fit(data.X[train], data.y[train], **{k: v[train] for k, v in known.items()})
    scored = first.decision_function(data.X[test])
    assert scores[0] == pytest.approx(group_roc_auc(data.y[test], scored, data.groups[test]))
    search = GridSearchCV(
        pipe,
        {"groupclassifier__class_weight": [None, "balanced"]},
        scoring=group_roc_auc_scorer,
        cv=GroupKFold(3),
    ).fit(data.X, data.y, **known)
    best = clone(search.best_estimator_).fit(data.X, data.y, **known)
    np.testing.assert_array_equal(best[-1].coef_, search.best_estimator_[-1].coef_)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1.0, 1: 2.5}, {"1": 2.0}])
def test_files_keep_class_weights(data, tmp_path, class_weight):
    path = tmp_path / "model.json"
    y = data.y.astype(str) if class_weight == {"1": 2.0} else data.y
    model = GroupClassifier(class_weight=class_weight, pos_label=np.unique(y)[1])
    save(model.fit(data.X, y, data.groups), path)
    back = load(path)
    assert back.class_weight == class_weight
    np.testing.assert_array_equal(back.fit(data.X, y, data.groups).coef_, model.coef_)
