"""The method of multipliers: its kernel and its block against slow twins, its optimum certified."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import brentq
from solver_tasks import make_task

from groupcm import GroupClassifier
from groupcm.features import Polynomial
from groupcm.kernels.maxima import proximal_minima
from groupcm.objective.losses import SmoothedHinge, make_loss
from groupcm.objective.penalties import Huber, Norm1, SquaredNorm
from groupcm.objective.problem import Problem
from groupcm.objective.proximal import ProximalBlock
from groupcm.simulate import capsule
from groupcm.solvers import multipliers, working_set
from groupcm.solvers.kept_rows import KeptRows
from groupcm.solvers.solution import Trace, WarmStart, mean_difference

PTR = np.array([0, 1, 4, 10])
LOSSES = (SmoothedHinge(0.5), SmoothedHinge(0.05), SmoothedHinge(0.0))


def slow_minima(loss, margin, shares, T):
    """The new shares of one term, by bisection; at a jump of the slope, those of its place."""
    shifted = margin - T * shares

    def slope(tau):
        return np.sum(np.maximum(tau - shifted, 0.0)) / T + float(loss.slope(np.array(tau)))

    low = shifted.min()
    if slope(low) >= 0.0:
        return np.zeros(len(margin))
    tau = brentq(slope, low, low + 2.0 * T, xtol=1e-14)
    return np.maximum(tau - shifted, 0.0) / T


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("T", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(4))
def test_minima_are_their_twins(loss, T, seed):
    rng = np.random.default_rng(seed)
    margin = np.round(rng.normal(0.5, 1.0, PTR[-1]), 1)
    shares = rng.uniform(0.0, 0.2, PTR[-1]) * (rng.random(PTR[-1]) < 0.5)
    pieces = np.array([(p.end, p.linear, 2.0 * p.square) for p in loss.pieces])
    level, stiffness = np.empty((2, 3))
    found = np.empty(PTR[-1])
    proximal_minima(margin, shares, PTR, T, 1.0, pieces, level, found, stiffness)
    for k in range(3):
        term = slice(PTR[k], PTR[k + 1])
        twin = slow_minima(loss, margin[term], shares[term], T)
        np.testing.assert_allclose(found[term], twin, atol=1e-9 / min(T, 1.0))


def make_block(sparse=False, sign=-1):
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.normal(size=(10, 4)), np.ones(10)])
    shares = rng.uniform(0.0, 0.3, 10) * (rng.random(10) < 0.7)
    rows = sp.csr_array(rows) if sparse else rows
    return ProximalBlock(rows, PTR, sign, np.array([0.5, 1.0, 2.0]), shares, 2.0)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("sign", [-1, 1])
def test_block_has_the_derivatives_of_its_value(sparse, sign):
    block, problem = make_block(sparse, sign), Problem(SmoothedHinge(0.4), Huber(1.0), 0.1)
    rng = np.random.default_rng(2)
    theta, step = 0.3 * rng.normal(size=(2, 5))
    here, h = block.evaluate(problem, theta), 1e-6
    up, down = (block.evaluate(problem, theta + t * step) for t in (h, -h))
    slope = -sign * here.dual.moment @ step
    np.testing.assert_allclose((up.smooth - down.smooth) / (2.0 * h), slope, rtol=1e-6)
    np.testing.assert_allclose(block.slope_along(problem, theta, step)(0.0), slope, rtol=1e-9)
    change = -sign * (up.dual.moment - down.dual.moment) / (2.0 * h)
    curvature = here.curvature()
    np.testing.assert_allclose(curvature.product(step), change, rtol=1e-5, atol=1e-7)
    matrix = curvature.matrix()
    np.testing.assert_allclose(matrix @ step, curvature.product(step), rtol=1e-9)
    factors = sum(part.T @ part for part in curvature.factors())
    np.testing.assert_allclose(
        factors.toarray() if sparse else factors, matrix, rtol=1e-9, atol=1e-12
    )
    assert len(curvature.beta) > 0
    assert curvature.n_factors > 3


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("penalty", [Huber(1.0), Huber(1e-3), SquaredNorm()], ids=str)
@pytest.mark.parametrize("grouping", ["negative", "both"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_it_reaches_the_certified_optimum_of_the_other_solver(
    loss, penalty, grouping, kind, monkeypatch
):
    shape = {"d": 40, "loss": loss, "penalty": penalty, "grouping": grouping, "kind": kind}
    shape |= {"tol": 1e-6}
    other = working_set.solve(make_task(**shape))
    monkeypatch.setattr(multipliers, "_WIDE", 10)
    task = make_task(**shape)
    assert multipliers.applies(task)
    trace = Trace(task, mean_difference(task))
    multipliers.bracket(trace, working_set._nothing_kept(task))
    assert trace.lower <= other.objective * (1.0 + 1e-12)
    assert trace.upper >= other.lower_bound * (1.0 - 1e-12)
    found = working_set.solve(make_task(**shape))
    assert found.converged
    np.testing.assert_allclose(found.objective, other.objective, rtol=2e-6)


def test_wide_rows_take_few_passes_and_keep_few_rows():
    found = working_set.solve(make_task(d=300, n_groups=100, tol=1e-5))
    assert found.converged
    assert found.passes < 15
    assert found.steps[-1].working_rows < 600


def recorded_sizes(monkeypatch):
    """The rows of each task that the method is given from now on."""
    sizes, bracket = [], multipliers.bracket

    def recording(trace, kept):
        sizes.append(trace.task.n_rows)
        bracket(trace, kept)

    monkeypatch.setattr(multipliers, "bracket", recording)
    return sizes


def test_it_begins_on_a_sample_that_has_many_groups_for_its_features(monkeypatch):
    shape = {"d": 12, "n_groups": 300, "tol": 1e-6}
    other = working_set.solve(make_task(**shape))
    monkeypatch.setattr(multipliers, "_WIDE", 10)
    monkeypatch.setattr(working_set, "_SMALLEST_SAMPLE", 20)
    monkeypatch.setattr(working_set, "_FEW_TERMS", 5)
    sizes = recorded_sizes(monkeypatch)
    for groups_per_feature, n_samples in ((1, 1), (100, 0)):
        sizes.clear()
        monkeypatch.setattr(multipliers, "_GROUPS_PER_FEATURE", groups_per_feature)
        found = working_set.solve(make_task(**shape))
        assert len(sizes) == n_samples + 1
        assert sizes == sorted(sizes)
        assert found.converged
        np.testing.assert_allclose(found.objective, other.objective, rtol=2e-6)


def test_a_map_to_many_features_is_solved_as_these_features_are(monkeypatch):
    data = capsule(30, n_positive=15, seed=2)
    given = (data.y, data.groups, data.overlap)
    squares = Polynomial(2)
    stored = GroupClassifier().fit(squares.fit_transform(data.X), *given)
    sizes = recorded_sizes(monkeypatch)
    mapped = GroupClassifier(feature_map=squares).fit(data.X, *given)
    assert len(sizes) == 1
    assert max(mapped.gap_, stored.gap_) <= 1e-4
    assert mapped.lower_bound_ <= stored.objective_ * (1 + 1e-9)
    assert stored.lower_bound_ <= mapped.objective_ * (1 + 1e-9)


def test_it_is_for_wide_rows_losses_of_pieces_and_penalties_without_zeros():
    assert multipliers.applies(make_task(d=200))
    assert not multipliers.applies(make_task(d=20))
    assert not multipliers.applies(make_task(d=200, grouping="none"))
    assert not multipliers.applies(make_task(d=200, penalty=Norm1()))
    assert not multipliers.applies(make_task(d=200, loss=make_loss("logistic")))


def test_a_warm_start_takes_fewer_passes_and_has_the_same_optimum():
    task = make_task(d=200, n_groups=100)
    cold = working_set.solve(task)
    again = replace(make_task(d=200, n_groups=100), warm=task.warm)
    warm = working_set.solve(again)
    assert warm.passes <= 2
    assert warm.objective == pytest.approx(cold.objective, rel=2e-4)
    some = [terms.subset(np.arange(len(terms) - 5)) for terms in task.terms]
    part = replace(task, terms=some, warm=WarmStart())
    alone = working_set.solve(part)
    part.warm.state = task.warm.state
    begun = working_set.solve(replace(part, rows=make_task(d=200, n_groups=100).rows))
    assert begun.converged
    assert begun.passes < alone.passes
    assert begun.lower_bound <= alone.objective * (1.0 + 1e-12)


def test_rows_kept_of_some_terms_are_those_of_these_terms():
    task = make_task(d=20, shuffled=True)
    (terms,) = (terms for terms in task.terms if not terms.alone)
    kept = KeptRows(terms, task.rows, 1.0)
    kept.keep(task.rows.worst(terms, mean_difference(task)))
    kept.shares[:] = np.arange(len(kept)) + 1.0
    chosen = np.arange(3, len(terms), 2)
    some = kept.on(terms.subset(chosen))
    ptr, _ = kept.terms_kept()
    of_all = {
        int(k): kept.shares[a:b] for k, a, b in zip(kept.numbers(), ptr, ptr[1:], strict=False)
    }
    ptr, _ = some.terms_kept()
    for k, a, b in zip(some.numbers(), ptr, ptr[1:], strict=False):
        np.testing.assert_array_equal(some.shares[a:b], of_all[int(chosen[k])])
        taken = [np.flatnonzero(kept.shares == share)[0] for share in some.shares[a:b]]
        np.testing.assert_array_equal(some.rows[a:b], kept.rows[taken])
    assert len(some) > 0
