"""The smoothed objective: its derivatives, its limit, the dual it carries and what that proves."""

from __future__ import annotations

import itertools
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import GroupProblem, Optimum
from problems import Case, make_problem
from scipy.optimize import minimize_scalar

from groupcm.objective import losses, penalties
from groupcm.objective.losses import Loss, SmoothedHinge, make_loss
from groupcm.objective.penalties import Huber, Norm1, SoftNorm1, make_penalty
from groupcm.objective.problem import DualSums, Problem
from groupcm.objective.smoothed import Block, evaluate, slope_along
from groupcm.solvers.objective import evaluate_blocks, slope_of_blocks

LOSSES = tuple(
    dict.fromkeys([SmoothedHinge(0.5), SmoothedHinge(0.1), *map(make_loss, losses.LOSSES)])
)
PENALTIES = tuple(dict.fromkeys([Huber(1.0), Huber(0.05), *map(make_penalty, penalties.PENALTIES)]))
TEMPERATURES = (1.0, 0.1, 0.01)
repeatable = settings(derandomize=True, deadline=None, max_examples=60)


class Shape(NamedTuple):
    """What a block may be like."""

    storage: str
    terms: str
    sign: int
    weights: str

    def __str__(self) -> str:
        return "-".join(str(part) for part in self)


SHAPES = [
    Shape(*shape)
    for shape in itertools.product(
        ("dense", "csr"), ("ragged", "one row each"), (1, -1), ("one", "many")
    )
]


def make_block(shape: Shape, rng, d=4) -> Block:
    """About 40 rows, some of them twice in a term, so that the minimum is mixed when cold too."""
    ptr = np.concatenate([[0], np.cumsum(rng.integers(1, 7, 12))])
    X = rng.normal(size=(ptr[-1], d))
    for lo, hi in pairwise(ptr):
        if hi - lo > 2:
            X[hi - 1] = X[lo] + 1e-3 * rng.normal(size=d)
    rows = np.column_stack([X, np.ones(len(X))])
    if shape.storage == "csr":
        rows = sp.csr_array(
            rows * np.append(rng.random((len(X), d)) < 0.6, np.ones((len(X), 1)), 1)
        )
    if shape.terms == "one row each":
        ptr = None
    n_terms = rows.shape[0] if ptr is None else len(ptr) - 1
    weight = 0.3 if shape.weights == "one" else rng.uniform(0.1, 1.0, n_terms)
    return Block(lambda: rows, ptr, shape.sign, weight)


def derivative(function, theta, step=1e-6):
    """Central differences, one column a variable."""
    units = step * np.eye(len(theta))
    return np.array([(function(theta + e) - function(theta - e)) / (2 * step) for e in units]).T


def slow_value(block: Block, loss, theta) -> float:
    """``Σ_k c_k max_i L(sign · s_i)``, one row at a time."""
    rows = block.load()
    rows = rows.toarray() if sp.issparse(rows) else rows
    ptr = np.arange(len(rows) + 1) if block.ptr is None else block.ptr
    weight = np.broadcast_to(block.weight, len(ptr) - 1)
    return sum(
        c * max(float(loss.value(block.sign * (x @ theta))) for x in rows[lo:hi])
        for c, (lo, hi) in zip(weight, pairwise(ptr), strict=True)
    )


# ---- a block --------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_derivatives_of_a_block_match_finite_differences(shape, loss, temperature):
    rng = np.random.default_rng([SHAPES.index(shape), LOSSES.index(loss)])
    block, problem = make_block(shape, rng), Problem(loss, Huber(), 1.0)
    # One term at the corner, where there is curvature at every temperature.
    theta = np.append(0.5 * rng.normal(size=4), 0.0)
    margin = shape.sign * (block.load() @ theta)
    first_term = slice(0, 1 if block.ptr is None else block.ptr[1])
    theta[-1] = shape.sign * (1.0 - np.min(margin[first_term]))

    def at(theta):
        return evaluate(block, problem, temperature, theta)

    def gradient(theta):
        return -block.sign * at(theta).dual.moment

    np.testing.assert_allclose(
        gradient(theta), derivative(lambda t: at(t).smooth, theta), rtol=1e-6, atol=1e-7
    )
    curvature = at(theta).curvature()
    hessian = derivative(gradient, theta)
    size = np.abs(hessian).max()
    assert size > 0.1
    np.testing.assert_allclose(curvature.matrix(), hessian, rtol=1e-5, atol=1e-5 * size)
    u = rng.normal(size=5)
    np.testing.assert_allclose(curvature.product(u), hessian @ u, rtol=1e-5, atol=2e-5 * size)
    if block.ptr is None:
        diagonal = np.diagonal(hessian)
        np.testing.assert_allclose(curvature.diagonal(), diagonal, rtol=1e-5, atol=1e-5 * size)


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_slope_along_is_the_directional_derivative(shape, temperature):
    rng = np.random.default_rng(SHAPES.index(shape))
    block, problem = make_block(shape, rng), Problem(SmoothedHinge(0.3), Huber(), 1.0)
    theta, step = rng.normal(size=(2, 5))
    slope = slope_along(block, problem, temperature, theta, step)
    for t in (0.0, 0.4, -2.0):
        moment = evaluate(block, problem, temperature, theta + t * step).dual.moment
        np.testing.assert_allclose(slope(t), -block.sign * moment @ step, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_smoothed_value_closes_on_the_exact_one_from_above(shape, loss):
    """``0 ≤ smooth − exact ≤ Σ_k c_k T (log n_k + log 2)``: a soft minimum and a soft corner."""
    rng = np.random.default_rng([7, SHAPES.index(shape)])
    block, problem = make_block(shape, rng), Problem(loss, Huber(), 1.0)
    n_rows = block.load().shape[0]
    size = np.ones(n_rows) if block.ptr is None else np.diff(block.ptr)
    theta = rng.normal(size=5)
    exact = slow_value(block, loss, theta)
    for temperature in (1.0, 0.1, 1e-3, 1e-6, 1e-10):
        found = evaluate(block, problem, temperature, theta)
        assert found.exact == pytest.approx(exact, rel=1e-12)
        most = np.sum(block.weight * temperature * (np.log(size) + np.log(2.0)))
        assert -1e-12 <= found.smooth - found.exact <= most + 1e-12


@pytest.mark.parametrize("temperature", [*TEMPERATURES, 1e-10])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_dual_is_the_formula_and_feasible(sign, loss, temperature):
    """Rows that are unit vectors make ``c_k α_i`` the entries of the moment."""
    rng = np.random.default_rng(5)
    ptr = np.concatenate([[0], np.cumsum(rng.integers(1, 6, 10))])
    n, weight = ptr[-1], rng.uniform(0.1, 1.0, 10)
    rows = np.column_stack([np.eye(n), np.ones(n)])
    theta = rng.normal(scale=2.0, size=n + 1)
    theta[1 : n - 1 : 3] = theta[0 : n - 2 : 3]
    block = Block(lambda: rows, ptr, sign, weight)
    dual = evaluate(block, Problem(loss, Huber(), 1.0), temperature, theta).dual

    alpha = dual.moment[:-1] / np.repeat(weight, np.diff(ptr))
    A = np.add.reduceat(alpha, ptr[:-1])
    assert np.all(alpha >= 0.0)
    assert np.all(A <= 1.0 + 1e-12)
    assert dual.mass == pytest.approx(weight @ A)
    assert dual.linear - dual.square == pytest.approx(-weight @ loss.conjugate(A))
    margin = sign * (theta[:-1] + theta[-1])
    for k, (lo, hi) in enumerate(pairwise(ptr)):
        power = np.exp(-(margin[lo:hi] - margin[lo:hi].min()) / temperature)
        soft = margin[lo:hi].min() - temperature * np.log(power.sum())
        slope = float(loss.smoothed(temperature).slope(soft))
        np.testing.assert_allclose(
            alpha[lo:hi], -slope * power / power.sum(), rtol=1e-9, atol=1e-12
        )
        assert A[k] == pytest.approx(-slope, rel=1e-9, abs=1e-12)


def test_curvature_of_terms_that_are_all_settled_is_that_of_their_winners():
    for storage in ("dense", "csr"):
        rows = np.array([[1.0, 0.0, 1.0], [-9.0, 2.0, 1.0], [0.5, 1.0, 1.0], [-8.0, 5.0, 1.0]])
        stored = sp.csr_array(rows) if storage == "csr" else rows
        block = Block(lambda stored=stored: stored, np.array([0, 2, 4]), -1, 0.5)
        theta = np.array([1.0, 0.0, 0.0])
        problem = Problem(SmoothedHinge(2.0), Huber(), 1.0)
        curvature = evaluate(block, problem, 1e-3, theta).curvature()
        expected = 0.5 * 0.25 * rows[[0, 2]].T @ rows[[0, 2]]
        np.testing.assert_allclose(curvature.matrix(), expected, rtol=1e-12)
        np.testing.assert_allclose(curvature.product(theta), expected @ theta, rtol=1e-12)


def test_cold_curvature_is_the_same_as_a_matrix_and_as_a_product():
    """Two scores 19 temperatures apart: little of one row, but its curvature is divided by T."""
    temperature, rows = 1e-8, np.array([[0.0, 1.0], [1.0, 1.0]])
    block = Block(lambda: rows, np.array([0, 2]), -1, 1.0)
    problem = Problem(SmoothedHinge(0.5), Huber(), 1.0)
    theta = np.array([-19.0 * temperature, -0.5])
    curvature = evaluate(block, problem, temperature, theta).curvature()
    columns = np.array([curvature.product(e) for e in np.eye(2)])
    np.testing.assert_allclose(curvature.matrix(), columns, atol=1e-3)
    assert np.linalg.eigvalsh(curvature.matrix())[0] > 0.0


# ---- blocks and the penalty -----------------------------------------------------------------


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_derivatives_of_the_whole_objective_match_finite_differences(loss, penalty, temperature):
    rng = np.random.default_rng(3)
    problem = Problem(loss, penalty, 0.2)
    blocks = [make_block(shape, rng) for shape in SHAPES]
    theta, step = rng.normal(size=(2, 5))

    def at(theta):
        return evaluate_blocks(problem, blocks, temperature, theta)

    here = at(theta)
    slow = 0.2 * penalty.value(theta[:-1]) + sum(slow_value(b, loss, theta) for b in blocks)
    assert here.exact == pytest.approx(slow, rel=1e-12)
    differences = derivative(lambda t: at(t).smooth, theta)
    np.testing.assert_allclose(here.gradient, differences, rtol=1e-6, atol=1e-6)
    hessian = derivative(lambda t: at(t).gradient, theta)
    size = np.abs(hessian).max()
    matrix = sum(value.curvature().matrix() for value in here.values)
    matrix = matrix + np.diag(here.penalty_curvature)
    np.testing.assert_allclose(matrix, hessian, rtol=1e-5, atol=1e-5 * size)
    slope = slope_of_blocks(problem, blocks, temperature, theta, step)
    there = at(theta + 0.3 * step).gradient @ step
    np.testing.assert_allclose(slope(0.3), there, rtol=1e-10)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_derivatives_of_the_smoothed_loss_match_finite_differences(loss, temperature):
    soft, t, step = loss.smoothed(temperature), np.linspace(-3, 3, 61) + 0.0123, 1e-6
    slope = (soft.value(t + step) - soft.value(t - step)) / (2 * step)
    np.testing.assert_allclose(soft.slope(t), slope, rtol=1e-6, atol=1e-8)
    curvature = (soft.slope(t + step) - soft.slope(t - step)) / (2 * step)
    np.testing.assert_allclose(soft.curvature(t), curvature, rtol=1e-5, atol=1e-6)
    assert np.all((soft.slope(t) <= 0.0) & (soft.slope(t) >= -1.0))
    above = soft.value(t) - loss.value(t)
    assert np.all((above >= -1e-12) & (above <= temperature * np.log(2.0) + 1e-12))


@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_derivatives_of_the_soft_norm_match_finite_differences(temperature):
    soft, w = SoftNorm1(temperature), np.linspace(-2, 2, 21) + 0.0123
    differences = derivative(soft.value, w)
    np.testing.assert_allclose(soft.gradient(w), differences, rtol=1e-6, atol=1e-7)
    hessian = derivative(soft.gradient, w)
    np.testing.assert_allclose(np.diag(soft.curvature(w)), hessian, rtol=1e-5, atol=1e-6)
    assert 0.0 <= soft.value(w) - Norm1().value(w) <= len(w) * temperature


def test_a_huber_narrower_than_the_temperature_is_smoothed_as_the_norm():
    assert Huber(0.05).smoothed(0.1) == SoftNorm1(0.1)
    assert Huber(0.1).smoothed(0.05) == Huber(0.1)


# ---- the certificate ------------------------------------------------------------------------

CASES = [
    Case("smoothed_hinge", "huber", "negative", "negative", "float64", 0),
    Case("smoothed_hinge", "l1", "both", "ignore", "float64", 1),
    Case("smoothed_hinge", "l2", "none", "ignore", "float64", 2),
    Case("hinge", "huber", "both", "negative", "float64", 3),
    Case("hinge", "l1", "negative", "ignore", "csr", 4),
    Case("hinge", "l2", "negative", "negative", "float32", 5),
]


@cache
def solved(case: Case) -> tuple[GroupProblem, Problem, Optimum]:
    oracle = make_problem(case).oracle()
    options = oracle.settings
    problem = Problem(
        make_loss(options["loss"], options["delta"]),
        make_penalty(options["penalty"], options["epsilon"]),
        oracle.rho,
    )
    return oracle, problem, oracle.solve()


def random_alpha(oracle: GroupProblem, rng) -> list[np.ndarray]:
    """For each term ``α_i ≥ 0`` with ``A ≤ 1``: often at a corner, sometimes nearly nothing."""
    total = rng.choice([1.0, 1e-3, rng.random()])
    return [
        total * rng.choice([1.0, rng.random(), 0.0]) * rng.dirichlet(np.ones(len(term.rows)))
        for term in oracle.terms
    ]


def dual_sums(oracle: GroupProblem, loss: Loss, alpha, sign: int) -> DualSums:
    rows = np.column_stack([oracle.Z, np.ones(len(oracle.Z))])
    chosen = [(t, a) for t, a in zip(oracle.terms, alpha, strict=True) if t.sign == sign]
    moment = sum((t.weight * a @ rows[list(t.rows)] for t, a in chosen), np.zeros(rows.shape[1]))
    gain = [(t.weight, loss.dual_gain(a.sum())) for t, a in chosen]
    return DualSums(
        moment, sum(c * float(g.linear) for c, g in gain), sum(c * float(g.square) for c, g in gain)
    )


def slow_dual(oracle: GroupProblem, problem: Problem, alpha) -> float:
    """``D(α)`` by its formula, −∞ where α is not feasible."""
    parts = list(zip(oracle.terms, alpha, strict=True))
    balance = sum(t.sign * t.weight * a.sum() for t, a in parts)
    v = sum(t.sign * t.weight * a @ oracle.Z[list(t.rows)] for t, a in parts)
    if abs(balance) > 1e-12 or max(a.sum() for a in alpha) > 1.0 + 1e-12:
        return -np.inf
    gain = -sum(t.weight * float(problem.loss.conjugate(a.sum())) for t, a in parts)
    return gain - problem.rho * problem.penalty.conjugate((1.0 - 1e-12) * v / problem.rho)


@repeatable
@given(case=st.sampled_from(CASES), seed=st.integers(0, 10**6))
def test_the_lower_bound_is_never_above_the_optimum(case, seed):
    oracle, problem, optimum = solved(case)
    alpha = random_alpha(oracle, np.random.default_rng(seed))
    lower = problem.lower_bound(
        dual_sums(oracle, problem.loss, alpha, 1), dual_sums(oracle, problem.loss, alpha, -1)
    )
    assert 0.0 <= lower <= optimum.value + 1e-8


@repeatable
@given(case=st.sampled_from(CASES), seed=st.integers(0, 10**6))
def test_the_lower_bound_is_the_best_feasible_multiple(case, seed):
    """The heavier side shrinks until the sides balance, then both until D is largest."""
    oracle, problem, _ = solved(case)
    alpha = random_alpha(oracle, np.random.default_rng(seed))
    positive, negative = (
        dual_sums(oracle, problem.loss, alpha, 1),
        dual_sums(oracle, problem.loss, alpha, -1),
    )
    lower = problem.lower_bound(positive, negative)
    mass = {1: positive.mass, -1: negative.mass}
    if min(mass.values()) == 0.0:
        assert lower == 0.0
        return
    shares = {sign: min(mass.values()) / mass[sign] for sign in (1, -1)}
    balanced = [shares[t.sign] * a for t, a in zip(oracle.terms, alpha, strict=True)]
    v = sum(
        t.sign * t.weight * a @ oracle.Z[list(t.rows)]
        for t, a in zip(oracle.terms, balanced, strict=True)
    )
    most = min(1.0, problem.penalty.box * problem.rho / np.abs(v).max())

    def multiple(m):
        return slow_dual(oracle, problem, [m * a for a in balanced])

    found = minimize_scalar(lambda m: -multiple(m), bounds=(0.0, most), method="bounded")
    best = max(-found.fun, multiple(most))
    assert lower == pytest.approx(best, rel=1e-6, abs=1e-12)


def test_no_side_no_bound():
    problem = Problem(SmoothedHinge(), Huber(), 0.5)
    some, none = DualSums(np.array([0.1, 0.2]), 0.2, 0.1), DualSums(np.zeros(2), 0.0, 0.0)
    assert problem.lower_bound(some, none) == 0.0
    assert problem.lower_bound(none, some) == 0.0
    assert problem.lower_bound(some, some) > 0.0
