"""Few wide rows are solved in the space of the rows, with the certificate of the whole problem."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from solver_tasks import make_task

from groupcm.objective.losses import SmoothedHinge, make_loss
from groupcm.objective.penalties import Huber, Norm1, SquaredNorm
from groupcm.solvers import multipliers, row_space, working_set
from groupcm.solvers.row_space import RowSpace
from groupcm.solvers.solution import WarmStart, mean_difference

SHAPE = {"n_groups": 20, "size": 6, "d": 500}


def few(**shape):
    return make_task(**{**SHAPE, **shape})


def test_coordinates_keep_the_margins_and_the_norm():
    task = few(penalty=SquaredNorm())
    task = replace(task, problem=replace(task.problem, units=np.linspace(0.5, 2.0, 500)))
    space = RowSpace.of(task)
    rng = np.random.default_rng(0)
    inside = rng.normal(size=len(space.R) + 1)
    outside = space.outside(inside)
    np.testing.assert_allclose(space.X @ outside[:-1], space.R @ inside[:-1], atol=1e-6)
    value = task.problem.penalty_value(outside)
    assert value == pytest.approx(space.task(task).problem.penalty_value(inside), rel=1e-6)
    np.testing.assert_allclose(space.inside(outside), inside, atol=1e-6)


@pytest.mark.parametrize(
    ("loss", "penalty"),
    [
        (SmoothedHinge(0.5), Huber(1.0)),
        (SmoothedHinge(0.5), Huber(0.005)),  # some weights are beyond the square
        (SmoothedHinge(0.5), SquaredNorm()),
        (SmoothedHinge(0.0), SquaredNorm()),
    ],
    ids=str,
)
@pytest.mark.parametrize("grouping", ["negative", "both"])
@pytest.mark.parametrize("units", [1.0, np.linspace(0.5, 2.0, 500)], ids=["one", "several"])
def test_it_reaches_the_optimum_of_the_whole_problem(loss, penalty, grouping, units, monkeypatch):
    def make():
        task = few(loss=loss, penalty=penalty, grouping=grouping)
        return replace(task, problem=replace(task.problem, units=units))

    assert row_space.applies(make())
    found = working_set.solve(make())
    monkeypatch.setattr(row_space, "applies", lambda task: False)
    other = working_set.solve(make())
    for solution in (found, other):
        assert solution.converged
    np.testing.assert_allclose(found.objective, other.objective, rtol=2e-6)
    assert found.lower_bound <= other.objective * (1.0 + 1e-12)
    assert other.lower_bound <= found.objective * (1.0 + 1e-12)
    if penalty == Huber(0.005):
        assert np.any(units * np.abs(found.weights) > 0.005)
    else:
        assert found.passes < other.passes


def test_it_begins_from_the_solution_of_a_related_task_and_shares_the_coordinates():
    first = few()
    working_set.solve(first)
    again = replace(few(), rows=first.rows, warm=WarmStart(first.warm.state))
    again = replace(again, problem=replace(again.problem, rho=2.0 * again.problem.rho))
    warm = working_set.solve(again)
    assert again.warm.state.row_space is first.warm.state.row_space
    cold = working_set.solve(replace(again, warm=WarmStart()))
    np.testing.assert_allclose(warm.objective, cold.objective, rtol=2e-6)
    # Other rows have coordinates of their own.
    other = replace(few(), warm=WarmStart(first.warm.state))
    working_set.solve(other)
    assert other.warm.state.row_space is not first.warm.state.row_space


def test_rows_that_are_linearly_dependent_have_coordinates():
    task = few()
    task.rows.X[1] = task.rows.X[0]
    task.rows.X[5] = task.rows.X[0] - task.rows.X[2]
    point = mean_difference(task)
    space = RowSpace.of(task)
    same = space.outside(space.inside(point))
    np.testing.assert_allclose(space.X @ same[:-1], space.X @ point[:-1], atol=1e-4)
    assert working_set.solve(task).converged


def test_it_is_for_few_dense_rows_and_a_penalty_that_is_a_square():
    assert row_space.applies(few())
    assert not row_space.applies(few(d=200))
    assert not row_space.applies(few(kind="csr"))
    assert not row_space.applies(few(penalty=Norm1()))
    assert not multipliers.applies(few(loss=make_loss("logistic")))
