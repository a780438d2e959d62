"""The parts of the solvers, and that no shortcut (samples, streams, threads) moves the answer."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from solver_tasks import TOL, make_task

from groupcm import GroupClassifier
from groupcm.objective.grouping import Costs, binary_terms
from groupcm.objective.losses import SmoothedHinge, make_loss
from groupcm.objective.penalties import Huber, Norm1, SquaredNorm
from groupcm.objective.problem import Problem
from groupcm.objective.smoothed import Block
from groupcm.objective.terms import NO_ORDER, Terms
from groupcm.solvers import kept_rows, lbfgs, newton, newton_system, objective, working_set
from groupcm.solvers.kept_rows import KeptRows
from groupcm.solvers.solution import Solution, mean_difference
from groupcm.solvers.stop_rule import StopRule
from groupcm.sources.rows import solver_rows
from groupcm.sources.rows.solver_rows import ArrayRows


def check_same(one: Solution, two: Solution) -> None:
    """Each is proved by its own bound; neither may pass the other's."""
    for solution in (one, two):
        assert solution.converged
        assert solution.gap <= TOL
    assert one.objective == pytest.approx(two.objective, rel=2 * TOL)
    assert one.lower_bound <= two.objective * (1 + 1e-12)
    assert two.lower_bound <= one.objective * (1 + 1e-12)
    np.testing.assert_allclose(one.weights, two.weights, atol=0.02)


# ---- the source -----------------------------------------------------------------------------


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("d", [3, 8, 13])
def test_worst_rows_are_those_of_the_rows_taken(d, kind, threads, monkeypatch):
    monkeypatch.setenv("GROUPCM_NUM_THREADS", threads)
    monkeypatch.setattr(solver_rows, "_ROWS_PER_THREAD", 20)
    task = make_task(d=d, kind=kind, grouping="both", shuffled=True)
    theta = np.random.default_rng(1).normal(size=d + 1)
    for terms in task.terms:
        found = task.rows.worst(terms, theta)
        for k, (lo, hi) in enumerate(zip(terms.start, terms.stop, strict=True)):
            rows = terms.order[lo:hi]
            margin = terms.sign * (task.rows.take(rows) @ theta)
            best = np.sort(margin)
            np.testing.assert_allclose(found.margin[k], best[0], atol=1e-12)
            assert found.row[k] == rows[np.argmin(margin)]
            assert found.lead[k] == pytest.approx(best[1] - best[0], abs=1e-12)
    assert task.rows.rows_read == task.n_rows


def test_rows_are_taken_alike_by_slice_by_number_and_by_threads(monkeypatch):
    source = make_task().rows
    expected = np.column_stack([(source.X - source.mean) / source.scale, np.ones(600)])
    monkeypatch.setattr(solver_rows, "_ROWS_PER_THREAD", 7)
    np.testing.assert_allclose(source.take(slice(100, 300)), expected[100:300], rtol=1e-15)
    rows = np.random.default_rng(0).permutation(600)
    np.testing.assert_allclose(source.take(rows), expected[rows], rtol=1e-15)


@pytest.mark.parametrize("resident", [True, False])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_blocks_hold_every_row_that_counts_alone(kind, resident, monkeypatch):
    monkeypatch.setattr(solver_rows, "_BLOCK_ROWS", 16)
    monkeypatch.setattr(solver_rows, "_BLOCK_VALUES", 1)
    monkeypatch.setattr(solver_rows, "_RESIDENT_VALUES", 1 << 24 if resident else 0)
    task = make_task(grouping="none", kind=kind)
    for terms in task.terms:
        blocks = list(task.rows.blocks(terms))
        assert len(blocks) > 1
        found = [b.load() for b in blocks]
        found = np.vstack([rows.toarray() if sp.issparse(rows) else rows for rows in found])
        expected = task.rows.take(terms.rows(np.arange(terms.n_rows)))
        expected = expected.toarray() if sp.issparse(expected) else expected
        np.testing.assert_array_equal(found, expected)
        before = task.rows.rows_read
        for block in blocks:
            block.load()
        streamed = kind == "dense" and not resident
        assert task.rows.rows_read - before == (terms.n_rows if streamed else 0)


def test_scattered_rows_do_not_make_many_blocks():
    positive = np.arange(0, 2_000, 2)
    terms = binary_terms(2_000, positive, None, costs=Costs(0.5))
    source = ArrayRows(np.ones((2_000, 3)), np.zeros(3), np.ones(3))
    assert sum(len(list(source.blocks(part))) for part in terms) <= 4


# ---- kept rows ------------------------------------------------------------------------------


@pytest.mark.parametrize("zero_margin", [1.0, np.inf])
@pytest.mark.parametrize("many", [True, False])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_kept_rows_are_new_winners_and_runners_up(kind, many, zero_margin, monkeypatch):
    """All runners-up while terms are few, only those close behind where they are many."""
    monkeypatch.setattr(kept_rows, "_MANY_TERMS", 0 if many else 1_000)
    behind = kept_rows._CLOSE_BEHIND if many else np.inf
    monkeypatch.setattr(solver_rows, "_BLOCK_ROWS", 8)
    monkeypatch.setattr(solver_rows, "_BLOCK_VALUES", 1)
    rng = np.random.default_rng(2)
    task = make_task(kind=kind, shuffled=True)
    (terms,) = [part for part in task.terms if not part.alone]
    terms = Terms(-1, terms.start, terms.stop, terms.order, rng.random(len(terms)), alone=False)
    kept, expected = KeptRows(terms, task.rows, zero_margin), set()
    assert (len(kept), kept.blocks()) == (0, [])
    new_in_all = 0
    for _ in range(12):
        found = task.rows.worst(terms, rng.normal(scale=0.5, size=6))
        new = 0
        for k in np.flatnonzero(found.margin < zero_margin + kept_rows._NEAR_MARGIN):
            new += (k, found.row[k]) not in expected
            if found.lead[k] < behind:
                expected.add((k, found.runner_up[k]))
            expected.add((k, found.row[k]))
        assert kept.keep(found) == new
        new_in_all += new
        assert kept.keep(found) == 0
        pairs = list(zip(kept._term.tolist(), kept._row.tolist(), strict=True))
        assert len(kept) == len(pairs) == len(set(pairs))
        assert set(pairs) == expected
        assert kept._term.tolist() == sorted(kept._term.tolist())
        check_blocks(kept, task.rows)
    # Some winners were runners-up before, or the test would not tell new rows from new winners.
    assert 0 < new_in_all < len(kept)


def check_blocks(kept: KeptRows, source: ArrayRows) -> None:
    """Whole terms, in order, every kept row once, each with the weight of its term."""
    blocks = kept.blocks()
    assert len(blocks) > 1
    rows = [block.load() for block in blocks]
    rows = np.vstack([part.toarray() if sp.issparse(part) else part for part in rows])
    expected = source.take(kept._row)
    np.testing.assert_array_equal(rows, expected.toarray() if sp.issparse(expected) else expected)
    sizes = np.concatenate([np.diff(block.ptr) for block in blocks])
    terms, counts = np.unique(kept._term, return_counts=True)
    assert sizes.tolist() == counts.tolist()
    weight = np.concatenate([block.weight for block in blocks])
    np.testing.assert_array_equal(weight, kept.terms.weight[terms])
    assert {block.sign for block in blocks} == {kept.terms.sign}


def test_all_rows_can_be_kept():
    task = make_task(shuffled=True)
    (terms,) = [part for part in task.terms if not part.alone]
    kept = KeptRows(terms, task.rows, 1.0)
    kept.keep_all()
    assert kept._row.tolist() == terms.rows(np.arange(terms.n_rows)).tolist()
    assert kept.keep(task.rows.worst(terms, np.zeros(6))) == 0
    (block,) = kept.blocks()
    assert np.diff(block.ptr).tolist() == (terms.stop - terms.start).tolist()


def test_rows_kept_before_are_kept_once():
    task = make_task()
    terms = next(terms for terms in task.terms if not terms.alone)
    kept = KeptRows(terms, task.rows, 1.0)
    kept.keep(task.rows.worst(terms, np.ones(6)))
    assert 0 < len(kept) < terms.n_rows
    for _ in range(2):
        kept.keep_all()
        assert len(kept) == terms.n_rows


@pytest.mark.parametrize("temperature", [newton.COLD, newton.WARM])
def test_newton_finds_the_path_from_a_far_start(temperature):
    # Cooling down before the path is found ends nowhere near it, after 800 evaluations.
    task = make_task(n_groups=92, d=166, loss=make_loss("hinge", 0.5), penalty=SquaredNorm())
    blocks = [block for t in task.terms if t.alone for block in task.rows.blocks(t)]
    for terms in task.terms:
        if not terms.alone:
            kept = KeptRows(terms, task.rows, 1.0)
            kept.keep_all()
            blocks += kept.blocks()
    inner = newton.Newton(task.problem, blocks, 3.0 * np.random.default_rng(1).normal(size=167))
    inner.minimise(StopRule(1e-6), temperature)
    assert inner.upper - inner.lower <= 1e-6 * inner.upper
    assert inner.evaluations < 400


def test_a_term_of_one_row_is_kept_once():
    source = ArrayRows(np.zeros((3, 2)), np.zeros(2), np.ones(2))
    terms = Terms(-1, np.array([0, 1]), np.array([1, 3]), NO_ORDER, 1.0, alone=False)
    kept = KeptRows(terms, source, 1.0)
    assert kept.keep(source.worst(terms, np.zeros(3))) == 2
    assert list(zip(kept._term.tolist(), kept._row.tolist(), strict=True)) == [
        (0, 0),
        (1, 1),
        (1, 2),
    ]


# ---- shortcuts that must not move the answer ------------------------------------------------


@pytest.fixture
def samples(monkeypatch):
    """Constants so small that a few thousand rows count as large."""
    monkeypatch.setattr(working_set, "_SMALLEST_SAMPLE", 40)
    monkeypatch.setattr(working_set, "_FEW_TERMS", 15)
    monkeypatch.setattr(working_set, "_FEW_ROWS", 50)


@pytest.mark.parametrize("grouping", ["negative", "both", "none"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_samples_do_not_move_the_optimum(grouping, kind, request):
    shape = {"n_groups": 400, "size": 15, "grouping": grouping, "kind": kind, "shuffled": True}
    plain = working_set.solve(make_task(**shape))
    request.getfixturevalue("samples")
    assert len(list(working_set._samples(make_task(**shape)))) == 2
    check_same(plain, working_set.solve(make_task(**shape)))


@pytest.mark.usefixtures("samples")
def test_samples_grow_and_weigh_as_much_as_the_whole():
    task = make_task(n_groups=400, size=15)
    sizes = []
    for sample in working_set._samples(task):
        sizes.append(sample.n_rows)
        for part, whole in zip(sample.terms, task.terms, strict=True):
            assert len(part) >= min(15, len(whole))
            rows = part.rows(np.arange(part.n_rows))
            assert len(np.unique(rows)) == len(rows)
            assert np.isin(rows, whole.rows(np.arange(whole.n_rows))).all()
            total = np.sum(np.broadcast_to(part.weight, len(part)))
            assert total == pytest.approx(np.sum(np.broadcast_to(whole.weight, len(whole))))
    assert sizes == sorted(sizes)
    assert sizes[-1] < task.n_rows / 5


@pytest.mark.parametrize("solve", [working_set.solve, lbfgs.solve])
@pytest.mark.parametrize("grouping", ["negative", "none"])
def test_rows_read_again_at_each_use_give_the_same_answer(grouping, solve, monkeypatch):
    monkeypatch.setattr(solver_rows, "_BLOCK_ROWS", 64)
    monkeypatch.setattr(solver_rows, "_BLOCK_VALUES", 1)
    resident = solve(make_task(grouping=grouping, shuffled=True))
    monkeypatch.setattr(solver_rows, "_RESIDENT_VALUES", 0)
    streamed = solve(make_task(grouping=grouping, shuffled=True))
    assert streamed.objective == pytest.approx(resident.objective, rel=1e-12)
    assert streamed.lower_bound == pytest.approx(resident.lower_bound, rel=1e-12)
    np.testing.assert_allclose(streamed.weights, resident.weights, rtol=1e-9)
    assert streamed.passes > resident.passes


FIT_A_STREAM_BY_THREADS = """
import numpy as np
from groupcm import GroupClassifier
from groupcm.sources.rows import solver_rows
solver_rows._RESIDENT_VALUES, solver_rows._ROWS_PER_THREAD = 0, 50
solver_rows._BLOCK_ROWS, solver_rows._BLOCK_VALUES = 200, 1
X = np.random.default_rng(0).normal(size=(3_000, 4))
y = np.arange(3_000) < 300
X[y] += 1.0
print(GroupClassifier(0.8).fit(X, y).gap_ <= 1e-4)
"""


def test_blocks_whose_rows_are_read_by_threads_do_not_wait_for_each_other():
    run = subprocess.run(
        [sys.executable, "-c", FIT_A_STREAM_BY_THREADS],
        env=os.environ | {"GROUPCM_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert run.stdout.strip() == "True"


@pytest.mark.parametrize("grouping", ["negative", "none"])
def test_one_thread_gives_the_same_answer(grouping, monkeypatch):
    monkeypatch.setattr(solver_rows, "_ROWS_PER_THREAD", 30)
    monkeypatch.setattr(solver_rows, "_BLOCK_ROWS", 40)
    monkeypatch.setattr(solver_rows, "_BLOCK_VALUES", 1)
    solutions = []
    for threads in ("1", "3"):
        monkeypatch.setenv("GROUPCM_NUM_THREADS", threads)
        solutions.append(working_set.solve(make_task(grouping=grouping, shuffled=True)))
    one, many = solutions
    check_same(one, many)
    assert one.objective == pytest.approx(many.objective, rel=1e-11)
    np.testing.assert_allclose(one.weights, many.weights, rtol=1e-7)


# ---- Newton ---------------------------------------------------------------------------------


def alone_blocks(X, positive) -> list[Block]:
    rows = np.column_stack([X, np.ones(len(X))])
    parts = [(1, rows[positive]), (-1, rows[~positive])]
    return [Block(lambda p=part: p, None, sign, 0.9 / len(part)) for sign, part in parts]


@pytest.mark.parametrize("penalty", [Huber(1.0), Huber(0.01), SquaredNorm(), Norm1()], ids=str)
@pytest.mark.parametrize("delta", [0.0, 0.5])
def test_newton_needs_few_evaluations_where_rows_are_fewer_than_features(delta, penalty):
    """Separable, so at small ρ the objective is nearly flat: where naive steps run away."""
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(24, 80)), np.arange(24) < 10
    problem = Problem(SmoothedHinge(delta), penalty, 0.1 / 80)
    inner = newton.Newton(problem, alone_blocks(X, positive), np.zeros(81))
    inner.minimise(StopRule(TOL))
    assert inner.upper - inner.lower <= TOL * inner.upper
    assert np.all(np.where(positive, 1, -1) * (X @ inner.best[:-1] + inner.best[-1]) > 0.0)
    assert inner.evaluations <= 200


def test_the_path_is_followed_where_it_bends(monkeypatch):
    """More features than groups, all of them mixed: whoever cools too soon stops half-way."""
    rng = np.random.default_rng(1)
    n_groups, size, d, n_causes = 60, 40, 150, 12
    mix = rng.normal(size=(n_causes, d))
    groups = np.repeat(np.arange(n_groups), size)
    causes, noise = (
        rng.normal(size=(len(groups), n_causes)) ** 3,
        rng.standard_t(3, (len(groups), d)),
    )
    positive = (np.arange(len(groups)) % size == 0) & (groups % 2 == 0)
    X = causes @ mix + 0.5 * noise + 2.0 * positive[:, None] * mix[0]
    evaluations = []
    evaluate = newton.Newton.evaluate
    monkeypatch.setattr(
        newton.Newton, "evaluate", lambda *each: evaluations.append(1) or evaluate(*each)
    )
    model = GroupClassifier(0.97, tol=1e-5, random_state=0).fit(X, positive.astype(int), groups)
    assert model.gap_ <= 1e-5
    assert len(evaluations) < 3000


def test_steps_at_a_temperature_go_on_while_they_pay(monkeypatch):
    X, positive = np.eye(4), np.arange(4) < 2
    problem = Problem(SmoothedHinge(0.5), Huber(0.1), 0.1)
    inner = newton.Newton(problem, alone_blocks(X, positive), np.zeros(5), upper=1.0)
    taken = []

    def step(_self, here, _temperature):
        taken.append(here)
        return replace(here, smooth=here.smooth - (0.1 if len(taken) <= 100 else 0.0))

    start = inner.evaluate(np.zeros(5), 0.1)
    monkeypatch.setattr(newton.Newton, "step", step)
    monkeypatch.setattr(newton.Newton, "_is_on_path", lambda *_: False)
    monkeypatch.setattr(newton.Newton, "_closed", lambda *_: False)
    inner._descend(start, 0.1, StopRule(1e-4))
    assert len(taken) == 4 * newton._STEPS_AT_A_TIME


def test_cooling_is_gentler_where_the_path_bends():
    gentler = newton._next_cooling(newton._COOLING, newton._BENT + 1)
    assert newton._COOLING < gentler < newton._next_cooling(gentler, newton._BENT + 1) < 1.0
    assert newton._next_cooling(gentler, newton._BENT) == gentler
    assert newton._COOLING <= newton._next_cooling(gentler, 1) < gentler
    assert newton._next_cooling(newton._COOLING, 1) == newton._COOLING


WAYS = [newton_system._Direct, newton_system._RowSpace, newton_system._Iterative]


@pytest.mark.parametrize("way", WAYS[1:])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("temperature", [0.1, 1e-3])
def test_every_way_to_solve_newtons_system_gives_one_direction(way, kind, temperature, monkeypatch):
    monkeypatch.setattr(newton_system, "_CG_TOL", 1e-12)
    task = make_task(n_groups=20, d=9, kind=kind)
    kept = [KeptRows(terms, task.rows, 1.0) for terms in task.terms if not terms.alone]
    for rows in kept:
        rows.keep_all()
    alone = [b for terms in task.terms if terms.alone for b in task.rows.blocks(terms)]
    blocks = alone + [block for rows in kept for block in rows.blocks()]
    theta = 0.1 * np.random.default_rng(1).normal(size=10)
    here = objective.evaluate_blocks(task.problem, blocks, temperature, theta)
    curvatures = [value.curvature() for value in here.values]
    direct, other = (
        w(curvatures, here.penalty_curvature).solve(-here.gradient, 1e-3) for w in (WAYS[0], way)
    )
    matrix = WAYS[0](curvatures, here.penalty_curvature).matrix + 1e-3 * np.eye(10)
    np.testing.assert_allclose(matrix @ direct, -here.gradient, atol=1e-9)
    np.testing.assert_allclose(other, direct, atol=1e-6 * np.linalg.norm(direct))


def test_a_direction_is_held_back_to_the_radius():
    rng = np.random.default_rng(1)
    X, positive = rng.normal(size=(60, 12)), np.arange(60) < 20
    problem = Problem(SmoothedHinge(0.5), SquaredNorm(), 0.05)
    theta = 0.1 * rng.normal(size=13)
    here = objective.evaluate_blocks(problem, alone_blocks(X, positive), 0.1, theta)
    whole = here.newton_direction(here.gradient, np.inf)
    short = here.newton_direction(here.gradient, 0.05)
    assert np.linalg.norm(short) < np.linalg.norm(whole)
    assert short @ here.gradient < 0.0


@pytest.mark.parametrize("penalty", [Huber(1.0), SquaredNorm(), Norm1()], ids=str)
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("way", WAYS[1:])
def test_every_way_reaches_the_same_optimum(way, kind, penalty, monkeypatch):
    shape = {"n_groups": 30, "d": 8, "kind": kind, "penalty": penalty}
    direct = working_set.solve(make_task(**shape))
    monkeypatch.setattr(objective, "newton_system", way)
    check_same(direct, working_set.solve(make_task(**shape)))


def test_the_cheapest_way_is_taken():
    class Stored:
        def __init__(self, n_factors):
            self.n_factors = n_factors

    def way(n_variables, n_factors):
        chosen = newton_system.newton_system([Stored(n_factors)], np.ones(n_variables))
        return type(chosen)

    direct, row_space, iterative = WAYS
    assert way(14, 1_000_000) is direct
    assert way(50, 10) is direct
    assert way(1_500, 400) is row_space
    assert way(1_025, 5_000) is direct
    assert way(20_000, 5_000) is iterative


# ---- L-BFGS and the start -------------------------------------------------------------------


@pytest.mark.parametrize("n_pairs", [1, 3, 10, 14])
def test_the_two_loops_are_the_dense_inverse_bfgs_update(n_pairs):
    """``H ← (I − s yᵀ/ys) H (I − y sᵀ/ys) + s sᵀ/ys``, of the last ten pairs."""
    rng = np.random.default_rng(n_pairs)
    d, memory = 6, lbfgs._Memory()
    root = rng.normal(size=(d, d))
    hessian = root @ root.T + np.eye(d)
    pairs = [(step, hessian @ step) for step in rng.normal(size=(n_pairs, d))]
    for step, change in pairs:
        memory.remember(step, np.zeros(d), change)
    step, change = pairs[-1]
    H = np.eye(d) * (step @ change) / (change @ change)
    for step, change in pairs[-lbfgs._MEMORY :]:
        left = np.eye(d) - np.outer(step, change) / (step @ change)
        H = left @ H @ left.T + np.outer(step, step) / (step @ change)
    gradient = rng.normal(size=d)
    np.testing.assert_allclose(memory.direction(gradient), -H @ gradient, rtol=1e-9)


def test_a_step_without_curvature_is_not_remembered():
    memory, step = lbfgs._Memory(), np.array([1.0, 2.0])
    memory.remember(step, step, 0.0 * step)
    memory.remember(step, step, step + np.array([2.0, -1.0]))
    memory.remember(step, step, (1.0 + 1e-15) * step)
    assert memory.is_empty
    np.testing.assert_allclose(memory.direction(np.array([3.0, 4.0])), [-0.6, -0.8])
    np.testing.assert_allclose(memory.direction(np.array([0.3, 0.4])), [-0.3, -0.4])


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_the_start_puts_the_means_at_the_margin(kind):
    task = make_task(kind=kind)
    theta = mean_difference(task)
    for terms in task.terms:
        rows = task.rows.take(terms.rows(np.arange(terms.n_rows)))
        assert np.mean(rows @ theta) == pytest.approx(terms.sign)
