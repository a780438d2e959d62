"""The optimum is the optimum: every setting against an independent solver, gap and all."""

from __future__ import annotations

import itertools
import warnings
from functools import cache

import numpy as np
import pytest
from oracle import GroupProblem, Optimum
from problems import GROUPINGS, KINDS, LOSSES, PENALTIES, Case, Problem, grid, make_problem
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from groupcm import GroupClassifier
from groupcm.objective.penalties import make_penalty

TOL = 1e-6
ROUNDING = 1e-8


@cache
def solved(case: Case, C: float | None = None) -> tuple[Problem, GroupProblem, Optimum]:
    problem = make_problem(case, C=C) if C is not None else make_problem(case)
    oracle = problem.oracle()
    return problem, oracle, oracle.solve()


def fit(problem: Problem, solver: str, **limits) -> tuple[GroupClassifier, bool]:
    """The fitted model, and whether it said that it did not converge."""
    params = problem.settings | {"solver": solver, "tol": TOL, "random_state": 0} | limits
    model = GroupClassifier(**params)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*problem.fit_args)
    messages = [w for w in caught if not issubclass(w.category, ConvergenceWarning)]
    assert len(messages) == (problem.n_left_out > 0), [str(w.message) for w in messages]
    return model, len(messages) < len(caught)


def check_certificate(model: GroupClassifier, oracle: GroupProblem, optimum: Optimum) -> None:
    """What must hold wherever the solver stopped: the bound is a bound, the numbers are true."""
    scale = max(1.0, optimum.value)
    # optimum.value is the objective at a real point, so nothing true can lie above it.
    assert model.lower_bound_ <= optimum.value + ROUNDING * scale
    true_suboptimality = (model.objective_ - optimum.value) / model.objective_
    assert model.gap_ >= true_suboptimality - ROUNDING
    assert model.objective_ >= optimum.value - 1e-7 * scale
    claimed = (model.objective_ - model.lower_bound_) / model.objective_
    np.testing.assert_allclose(model.gap_, claimed, rtol=1e-6, atol=1e-12)
    recomputed = oracle.objective_of(model.coef_, model.intercept_)
    np.testing.assert_allclose(model.objective_, recomputed, rtol=1e-6)


@pytest.mark.parametrize(
    "case",
    [
        # Every setting with one problem, and with two more in the slow tests.
        pytest.param(case, marks=[pytest.mark.slow] if case.seed else [])
        for case in grid(seeds=range(3))
    ],
    ids=str,
)
def test_working_set_reaches_the_optimum(case):
    problem, oracle, optimum = solved(case)
    model, gave_up = fit(problem, "working_set")
    assert not gave_up
    assert model.gap_ <= TOL
    check_certificate(model, oracle, optimum)
    np.testing.assert_allclose(model.objective_, optimum.value, rtol=1e-5)


@pytest.mark.parametrize("case", grid(seeds=range(1)), ids=str)
def test_lbfgs_is_certified_wherever_it_stops(case):
    problem, oracle, optimum = solved(case)
    kinks = case.loss == "hinge" or make_penalty(case.penalty).makes_zeros
    smooth = not kinks and case.grouping == "none"
    # On kinks it crawls: what counts there is that it knows how far it came.
    model, gave_up = fit(problem, "lbfgs", **({} if smooth else {"max_passes": 60}))
    check_certificate(model, oracle, optimum)
    assert gave_up == (model.gap_ > TOL)
    if smooth:
        assert not gave_up
        np.testing.assert_allclose(model.objective_, optimum.value, rtol=1e-5)


@pytest.mark.parametrize("C", [0.02, 1.0, 30.0])
@pytest.mark.parametrize(
    "case",
    [
        Case(loss, penalty, grouping, "ignore", KINDS[i % 3], seed=7)
        for i, (loss, penalty, grouping) in enumerate(
            itertools.product(LOSSES, PENALTIES, GROUPINGS)
        )
    ],
    ids=str,
)
def test_c_form_reaches_the_optimum(case, C):
    problem, oracle, optimum = solved(case, C)
    model, gave_up = fit(problem, "working_set")
    assert not gave_up
    check_certificate(model, oracle, optimum)
    np.testing.assert_allclose(model.objective_, optimum.value, rtol=1e-5)


def svm_settings(C: float) -> dict:
    """Problem 1: w'w + C * sum of hinges."""
    return {
        "loss": "hinge",
        "penalty": "l2",
        "grouping": "none",
        "standardize": False,
        "C": C,
    }


def exact_linear_svc(C, **settings):
    """LinearSVC to many digits; how many steps that takes depends on the seed of its shuffles."""
    return LinearSVC(
        loss="hinge", C=C / 2, dual=True, tol=1e-9, max_iter=10**9, random_state=0, **settings
    )


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_c_form_is_linear_svc_where_the_intercept_vanishes(C):
    """A cloud and its mirror image: the best intercept is 0, so LinearSVC needs none."""
    rng = np.random.default_rng(3)
    half = rng.normal(size=(40, 3)) + 0.5
    X, y = np.vstack([half, -half]), np.repeat([1, 0], 40)
    svm = exact_linear_svc(C, fit_intercept=False).fit(X, y)
    model = GroupClassifier(**svm_settings(C), tol=1e-9).fit(X, y)
    theirs = GroupProblem(X, y, positive_label=1, **svm_settings(C)).objective_of(svm.coef_, 0.0)
    np.testing.assert_allclose(model.objective_, theirs, rtol=1e-7)
    # P - P* >= |w - w*|^2 here, so the gap also bounds how far the weights can be apart.
    apart = np.linalg.norm(model.coef_ - svm.coef_)
    assert apart <= np.sqrt(max(theirs - model.lower_bound_, 0)) + np.sqrt(
        model.objective_ - model.lower_bound_
    )
    np.testing.assert_allclose(model.coef_, svm.coef_, atol=1e-3)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_c_form_is_linear_svc_with_an_almost_free_intercept(C):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 60)
    X = rng.normal(size=(60, 3)) + 0.7 * y[:, None] + 0.4
    svm = exact_linear_svc(C, intercept_scaling=100.0).fit(X, y)
    model = GroupClassifier(**svm_settings(C), tol=TOL).fit(X, y)
    problem = GroupProblem(X, y, positive_label=1, **svm_settings(C))
    theirs = problem.objective_of(svm.coef_, svm.intercept_)
    assert model.lower_bound_ <= theirs * (1 + ROUNDING)
    np.testing.assert_allclose(model.objective_, theirs, rtol=1e-4)


def ridge_settings(**weights: float) -> dict:
    """w'w + weighted sum of logistic losses, on the features as they are."""
    named = {"loss": "logistic", "penalty": "l2", "grouping": "none", "standardize": False}
    return named | {"tol": 1e-10} | weights


@pytest.mark.parametrize("solver", ["working_set", "lbfgs"])
@pytest.mark.parametrize("seed", range(3))
def test_logistic_loss_is_logistic_regression(seed, solver):
    """Scikit-learn minimises w'w/2 + C Σ L, or "balanced" C Σ n/(2 n±) L: ours, divided by 2ρ."""
    rng = np.random.default_rng(seed)
    n, d, lam = 80, 4, float(rng.choice([0.1, 0.5, 0.9]))
    y = (rng.random(n) < 0.3).astype(int)
    X = rng.normal(size=(n, d)) + 0.8 * y[:, None] - 0.3
    theirs = LogisticRegression(tol=1e-12, max_iter=10_000, solver="newton-cholesky")

    def check(model, **params):
        reference = clone(theirs).set_params(**params).fit(X, y)
        assert model.gap_ <= 1e-10
        np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(model.intercept_, reference.intercept_, rtol=1e-4, atol=1e-5)

    ours = GroupClassifier(**ridge_settings(lam=lam), solver=solver).fit(X, y)
    check(ours, C=lam * d / ((1 - lam) * n), class_weight="balanced")
    ours = GroupClassifier(**ridge_settings(C=3.0), solver=solver).fit(X, y)
    check(ours, C=1.5)


def test_the_balanced_svm_weighs_both_classes_alike():
    """Problem 3: repeating every negative row changes neither the objective nor the model."""
    problem = make_problem(
        Case("hinge", "l2", "none", "ignore", "float64", seed=11), standardize=False
    )
    X, y, _, _ = problem.fit_args
    settings = problem.settings | {"min_overlap": 0.0}
    negative = y != problem.positive_label
    once = GroupClassifier(**settings, tol=1e-8).fit(X, y)
    X3, y3 = np.vstack([X, X[negative], X[negative]]), np.r_[y, y[negative], y[negative]]
    thrice = GroupClassifier(**settings, tol=1e-8).fit(X3, y3)
    np.testing.assert_allclose(once.objective_, thrice.objective_, rtol=1e-7)
    np.testing.assert_allclose(once.coef_, thrice.coef_, atol=1e-3)


@pytest.mark.parametrize("solver", ["working_set", "lbfgs"])
def test_history_and_solution_tell_the_same_story(solver):
    problem = make_problem(Case("smoothed_hinge", "huber", "none", "ignore", "float64", seed=5))
    model, _ = fit(problem, solver)
    assert model.n_passes_ > 0
    assert len(model.history_) > 0
    assert model.solution_ is not None
