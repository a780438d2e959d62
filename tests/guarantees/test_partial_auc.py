"""`objective="partial_auc"`: the optimum is certified, and means what the documentation states."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from pair_oracle import PairProblem
from problems import BACKGROUNDS, GROUPINGS, KINDS, LOSSES, PENALTIES, Case, make_problem
from sklearn.utils.estimator_checks import parametrize_with_checks

import groupcm
from groupcm import GroupClassifier, GroupClassifierCV, sources
from groupcm.errors import ParameterError, UnusedParameterWarning
from groupcm.features import Polynomial
from groupcm.metrics import operating_point
from groupcm.simulate import capsule

TOL = 1e-6
RATES = (1.0, 0.5, 0.3, 0.1)
# Six problems of every loss, penalty and grouping; all but eighteen of them are slow tests.
CASES = [
    pytest.param(
        Case(*cell, BACKGROUNDS[seed % 2], KINDS[seed % 3], seed),
        marks=[] if seed % 12 == 6 else [pytest.mark.slow],
    )
    for k, cell in enumerate(itertools.product(LOSSES, PENALTIES, GROUPINGS))
    for seed in range(6 * k, 6 * k + 6)
]


def fit(problem_args, **settings):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "[0-9]+ of [0-9]+ (positive groups|features)")
        return GroupClassifier(objective="partial_auc", tol=TOL, **settings).fit(*problem_args)


@pytest.fixture(scope="module")
def data():
    return capsule(120, n_positive=30, group_size=8)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_certificate_holds_against_an_independent_solver(case):
    problem, max_fpr = make_problem(case), RATES[(case.seed // 6 + case.seed) % 4]
    args = problem.fit_args
    settings = problem.settings | {"max_fpr": max_fpr}
    oracle = PairProblem(*args, positive_label=problem.positive_label, **settings)
    optimum = oracle.solve()
    model = fit(args, **settings)
    assert model.gap_ <= TOL
    scale = max(1.0, optimum)
    assert model.lower_bound_ <= optimum + 1e-8 * scale
    assert model.objective_ >= optimum - 1e-7 * scale
    here = oracle.objective(oracle.to_standardised(model.coef_, model.intercept_)[0])
    assert model.objective_ == pytest.approx(here, rel=1e-6)


def test_weighted_groups_are_certified(data):
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.3, 3.0, data.groups.max() + 1)[data.groups]
    args = data.X, data.y, data.groups, data.overlap
    settings = {"lam": 0.8, "max_fpr": 0.2}
    oracle = PairProblem(*args, positive_label=1, sample_weight=weight, **settings)
    model = GroupClassifier(objective="partial_auc", tol=TOL, **settings)
    model.fit(*args, sample_weight=weight)
    assert model.lower_bound_ <= oracle.solve() * (1 + 1e-8) <= model.objective_ * (1 + 1e-7)


def test_whole_area_is_the_mean_over_all_pairs(data):
    model = fit((data.X, data.y, data.groups, data.overlap), lam=0.7)
    scores = model.decision_function(data.X)
    best, largest = [], []
    for group in np.unique(data.groups):
        rows = data.groups == group
        if data.y[rows].any():
            fit_best = np.argmax(np.where(data.y[rows] == 1, data.overlap[rows], -1.0))
            best.append(scores[rows][fit_best])
        else:
            largest.append(scores[rows].max())
    pairs = np.subtract.outer(best, largest)
    loss = np.where(pairs >= 1, 0, np.where(pairs >= 0, (1 - pairs) ** 2 / 2, 0.5 - pairs))
    w = model.solution_.weights
    size = np.abs(w)
    penalty = np.where(size <= 1.0, size**2 / 2, size - 0.5).sum()
    expected = 0.3 / len(w) * penalty + 2 * 0.7 * loss.mean()
    assert model.objective_ == pytest.approx(expected, rel=1e-9)


def test_groups_of_one_are_rows_alone(data):
    X, y = data.X[:400], data.y[:400]
    each = fit((X, y, np.arange(400)), lam=0.5, max_fpr=0.1)
    alone = fit((X, y, "none"), lam=0.5, max_fpr=0.1, grouping="none")
    assert each.objective_ == pytest.approx(alone.objective_, rel=2 * TOL)


def test_single_precision_is_double_precision(data):
    single = data.X.astype(np.float32)
    rest = data.y, data.groups, data.overlap
    models = [fit((X, *rest), max_fpr=0.2) for X in (single, single.astype(np.float64))]
    assert models[0].objective_ == pytest.approx(models[1].objective_, rel=2 * TOL)


def test_same_fit_gives_the_same_bits(data, monkeypatch):
    args = data.X, data.y, data.groups, data.overlap
    first = fit(args, max_fpr=0.1)
    monkeypatch.setenv("GROUPCM_NUM_THREADS", "1")
    again = fit(args, max_fpr=0.1)
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert first.lower_bound_ == again.lower_bound_


@pytest.mark.parametrize("max_fpr", [1.0, 0.1, 0.02])
def test_zero_is_an_operating_point_within_the_rate(data, max_fpr):
    model = fit((data.X, data.y, data.groups, data.overlap), lam=0.9, max_fpr=max_fpr)
    scores = model.decision_function(data.X)
    alarms = model.predict_groups(data.X, data.groups)
    negative = ~np.array([data.y[data.groups == g].any() for g in np.unique(data.groups)])
    assert np.mean(alarms[negative]) <= max_fpr
    assert np.any(alarms)
    if max_fpr == 1.0:
        best = operating_point(data.y, scores, data.groups)
        assert np.min(np.abs(scores)) > 1e-6  # halfway between two scores
        assert best.specificity >= 0.5


def test_feature_maps_and_unannotated_groups_take_part(data):
    args = data.X[:, :3], data.y, data.groups, data.overlap
    mapped = fit(args, max_fpr=0.2, feature_map=Polynomial(2))
    assert mapped.gap_ <= TOL
    assert mapped.coef_.shape == (1, 9)
    annotated = ~np.isin(data.groups, np.unique(data.groups[data.y == 1])[::3])
    model = GroupClassifier(objective="partial_auc", max_fpr=0.2)
    model.fit(*args, annotated=annotated)
    assert len(model.witnesses_) == 10
    assert model.outcome_ == "settled"
    assert model.gap_ <= 1e-4


def test_model_file_keeps_the_model(data, tmp_path):
    model = fit((data.X, data.y, data.groups, data.overlap), max_fpr=0.2)
    groupcm.save(model, tmp_path / "model.json")
    loaded = groupcm.load(tmp_path / "model.json")
    assert (loaded.objective, loaded.max_fpr) == ("partial_auc", 0.2)
    np.testing.assert_array_equal(loaded.coef_, model.coef_)


def test_path_of_lambda_is_the_single_fits(data):
    args = data.X, data.y, data.groups, data.overlap
    search = GroupClassifierCV(
        lams=[0.1, 0.5], cv=3, objective="partial_auc", max_fpr=0.3, tol=TOL
    ).fit(*args)
    single = fit(args, lam=search.lam_, max_fpr=0.3)
    assert search.objective_ == pytest.approx(single.objective_, rel=2 * TOL)


def test_parameters_that_do_not_fit_are_refused_or_reported(data):
    args = data.X, data.y, data.groups, data.overlap
    with pytest.raises(ParameterError, match='objective="partial_auc" needs C=None'):
        GroupClassifier(objective="partial_auc", C=1.0).fit(*args)
    with pytest.raises(ParameterError, match="max_fpr must be a share above 0, at most 1; got 0"):
        GroupClassifier(objective="partial_auc", max_fpr=0).fit(*args)
    with pytest.warns(UnusedParameterWarning, match="max_fpr has no effect without objective"):
        GroupClassifier(max_fpr=0.1).fit(*args)


@pytest.mark.parametrize("max_fpr", [1.0, 0.2])
@pytest.mark.parametrize("settings", [{}, {"loss": "hinge", "penalty": "l1"}], ids=str)
def test_stream_is_rows_in_memory(data, tmp_path, max_fpr, settings):
    np.save(tmp_path / "X.npy", data.X)
    columns = {"group": data.groups, "label": data.y, "overlap": data.overlap}
    source = sources.from_npy(tmp_path / "X.npy", **columns, batch_rows=100)
    parameters = {"objective": "partial_auc", "max_fpr": max_fpr, "tol": 1e-5} | settings
    streamed = GroupClassifier(memory=1000, **parameters).fit(source)
    whole = GroupClassifier(**parameters)
    whole.fit(data.X, data.y, data.groups, data.overlap)
    assert streamed.gap_ <= 1e-5
    assert streamed.objective_ == pytest.approx(whole.objective_, rel=2e-5)
    # The bound of either holds for the other: they are of the same problem.
    assert streamed.lower_bound_ <= whole.objective_
    assert whole.lower_bound_ <= streamed.objective_
    alarms = streamed.predict_groups(data.X, data.groups)
    negative = ~np.array([data.y[data.groups == g].any() for g in np.unique(data.groups)])
    assert np.mean(alarms[negative]) <= max_fpr


def test_stream_of_rows_alone(data, tmp_path):
    np.save(tmp_path / "X.npy", data.X)
    columns = {"group": data.groups, "label": data.y, "overlap": data.overlap}
    source = sources.from_npy(tmp_path / "X.npy", **columns, batch_rows=100)
    parameters = {"objective": "partial_auc", "max_fpr": 0.1, "grouping": "none"}
    streamed = GroupClassifier(memory=1000, **parameters).fit(source)
    whole = GroupClassifier(**parameters)
    whole.fit(data.X, data.y, data.groups, data.overlap)
    assert streamed.objective_ == pytest.approx(whole.objective_, rel=2e-4)


def test_folds_choose_the_rate(data):
    parameters = {"lams": [0.1, 0.5], "cv": 3, "scoring": "group_partial_auc"}
    args = data.X, data.y, data.groups, data.overlap
    search = GroupClassifierCV(objective="partial_auc", max_fpr=[0.5, 0.1], **parameters)
    search.fit(*args)
    single = [
        GroupClassifierCV(objective="partial_auc", max_fpr=rate, **parameters).fit(*args)
        for rate in (0.1, 0.5)
    ]
    best = [model.best_score_ for model in single]
    np.testing.assert_allclose(search.max_fpr_scores_, best)
    chosen = single[int(np.argmax(best))]
    assert search.max_fpr_ == chosen.max_fpr_
    np.testing.assert_array_equal(search.coef_, chosen.coef_)
    with pytest.raises(ParameterError, match="max_fpr must be a share above 0, at most 1; got 2"):
        GroupClassifierCV(objective="partial_auc", max_fpr=[0.5, 2]).fit(*args)
    with pytest.raises(ParameterError, match="max_fpr must be a share"):
        GroupClassifier(objective="partial_auc", max_fpr=[0.5, 0.2]).fit(*args)


@parametrize_with_checks([GroupClassifier(objective="partial_auc", max_fpr=0.5)])
def test_scikit_learns_checks(estimator, check):
    if "sample_weight_equivalence" in str(check):
        # To seven digits of the scores, which is more than the gap asks of the weights: see below.
        return
    check(estimator)


def test_weights_that_are_whole_numbers_are_repetitions(data):
    weight = np.random.default_rng(0).integers(0, 4, data.groups.max() + 1)[data.groups]
    often = np.repeat(np.arange(len(data.y)), weight)
    # The copies of a group are groups of their own.
    copy = np.concatenate([np.arange(times) for times in weight])
    parameters = {"objective": "partial_auc", "max_fpr": 0.3, "tol": 1e-6, "standardize": False}
    weighted, repeated = GroupClassifier(**parameters), GroupClassifier(**parameters)
    args = data.X, data.y, data.groups, data.overlap
    weighted.fit(*args, sample_weight=weight)
    X, y, groups, overlap = (each[often] for each in args)
    repeated.fit(X, y, groups * 10 + copy, overlap)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=2e-6)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)


def test_class_weight_moves_the_intercept_alone(data):
    args = data.X, data.y, data.groups, data.overlap
    plain = fit(args, max_fpr=0.5)
    careful = fit(args, max_fpr=0.5, class_weight={0: 10.0, 1: 1.0})
    np.testing.assert_allclose(careful.coef_, plain.coef_, rtol=1e-4, atol=1e-6)
    assert careful.intercept_[0] < plain.intercept_[0]
