"""The convex problems of a fit: posed on the prepared rows, and solved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from groupcm.estimators.training.data import TrainingData
from groupcm.estimators.training.fit_setup import Prepared
from groupcm.objective.grouping import Costs
from groupcm.objective.losses import LOSSES
from groupcm.objective.partial_auc import PartialAuc
from groupcm.objective.penalties import PENALTIES
from groupcm.objective.problem import Problem
from groupcm.objective.terms import Terms
from groupcm.solvers import lbfgs, partial_auc, streamed, streamed_partial_auc, working_set
from groupcm.solvers.checkpoint import Checkpoint
from groupcm.solvers.objective import whole_objective
from groupcm.solvers.solution import Budget, Solution, Task
from groupcm.solvers.streamed_alone import solve_alone
from groupcm.sources.rows.chunk import NonFiniteValue
from groupcm.sources.rows.sample import Sample
from groupcm.sources.rows.solver_rows import ArrayRows, StreamedRows, rows_in_space
from groupcm.utils.parallel import one_blas_thread

__all__ = ["as_returned", "make_task", "solve_tasks", "solving"]

# The share of the memory allowed that the rows kept of a pass may take, of one task and of many
# together. With less than so many bytes in all, a stream is read over and over.
_KEPT_MEMORY = 0.25
_ALL_KEPT_MEMORY = 0.5
_LEAST_KEPT = 8e6
# A change of the objective by less than this share is not worth a look at the rows.
_VISIBLE = 1e-12


def make_task(prepared: Prepared, terms: list[Terms], lam: float, seed: int) -> Task:
    """Return the problem of one class, or one λ, on the prepared rows."""
    options, data, space = prepared.hyperparameters, prepared.data, prepared.space
    parts = (
        LOSSES.made_for(options.loss, options),
        PENALTIES.made_for(options.penalty, options),
        Costs(lam, options.C).rho(space.n_features),
        prepared.scaling.units,
    )
    problem = Problem(*parts)
    if options.objective == "partial_auc":
        problem = PartialAuc(*parts, max_fpr=options.max_fpr, cost=2.0 * lam)
    if data.stream is not None:
        rows = StreamedRows(data.stream, space)
    elif isinstance(data.X, np.ndarray):
        rows = rows_in_space(space, data.X)
    else:
        rows = ArrayRows(data.X, space.mean, space.scale)
    n_rows = sum(part.n_rows for part in terms)
    budget = Budget.for_passes(options.max_passes, n_rows, prepared.deadline)
    task = Task(problem, terms, rows, options.tol, options.max_passes, seed, budget)
    return partial_auc.prepare(task) if isinstance(problem, PartialAuc) else task


def solve_tasks(
    prepared: Prepared,
    tasks: Sequence[Task],
    *,
    related: bool,
    near: NDArray[np.float64] | None = None,
) -> list[Solution]:
    """Solve each task; the certificates are those of the weights that the user is given.

    Parameters
    ----------
    prepared : Prepared
    tasks : sequence of Task
    related : bool
        Whether the solution of each task is a good start for the next.
    near : ndarray, optional
        Where to start the first.
    """
    path = prepared.hyperparameters.checkpoint
    checkpoint = None if path is None else Checkpoint(path, tasks, prepared.space)
    with solving(prepared.data):
        found = _solve_in_space(prepared, tasks, checkpoint, near, related=related)
        solutions = [
            as_returned(prepared, task, solution)
            for task, solution in zip(tasks, found, strict=True)
        ]
    if checkpoint is not None and not any(solution.interrupted for solution in solutions):
        checkpoint.remove()
    return solutions


def _solve_in_space(
    prepared: Prepared,
    tasks: Sequence[Task],
    checkpoint: Checkpoint | None,
    near: NDArray[np.float64] | None,
    *,
    related: bool,
) -> list[Solution]:
    """Solve each task in the space of the prepared rows."""
    data = prepared.data
    if data.stream is None or all(terms.alone for task in tasks for terms in task.terms):
        return _solve_one_by_one(prepared, tasks, checkpoint, near, related=related)
    pairs = any(isinstance(task.problem, PartialAuc) for task in tasks)
    solve = streamed_partial_auc.solve if pairs else streamed.solve
    return solve(
        tasks,
        data.stream,
        prepared.space,
        Sample(data.stream),
        kept_bytes=_kept_bytes(data.memory, len(tasks)),
        related=related,
        checkpoint=checkpoint,
    )


def _solve_one_by_one(
    prepared: Prepared,
    tasks: Sequence[Task],
    checkpoint: Checkpoint | None,
    near: NDArray[np.float64] | None,
    *,
    related: bool,
) -> list[Solution]:
    left = checkpoint.read() if checkpoint is not None else {}
    solutions: list[Solution] = []
    for k, task in enumerate(tasks):
        near = solutions[-1].point if related and solutions else near
        if related and k and task.warm.state is None:
            task.warm.state = tasks[k - 1].warm.state
        try:
            solution = _solve_task(prepared, task, left.get(k, near))
            solutions.append(solution)
            if solution.interrupted and k + 1 < len(tasks):
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            if checkpoint is not None and solutions:
                checkpoint.write([solved.point for solved in solutions])
            raise
        if solution.interrupted and checkpoint is not None:
            checkpoint.write([solved.point for solved in solutions])
    return solutions


def _solve_task(prepared: Prepared, task: Task, near: NDArray[np.float64] | None) -> Solution:
    stream = prepared.data.stream
    if stream is not None:
        return solve_alone(
            task,
            stream,
            prepared.space,
            Sample(stream),
            kept_bytes=_kept_bytes(prepared.data.memory, 1),
            left=near,
        )
    if isinstance(task.problem, PartialAuc):
        return partial_auc.solve(task, near)
    if prepared.hyperparameters.solver == "lbfgs":
        return lbfgs.solve(task, near)
    return working_set.solve(task, near)


def as_returned(prepared: Prepared, task: Task, solution: Solution) -> Solution:
    """Return the solution with the objective of the weights that the user is given.

    Where a mean is many deviations from zero, the intercept that undoes it is a large number and
    loses digits: its rounding error shifts every score. The objective is then computed again, by
    one more pass. An objective without intercept stays what it is.
    """
    if isinstance(task.problem, PartialAuc):
        return solution
    scaling = prepared.scaling
    coef, intercept = scaling.in_units(solution.weights[None, :], np.array([solution.intercept]))
    theta = scaling.from_units(coef[0], float(intercept[0]))
    steepest = task.total_weight * task.problem.loss.steepest
    shift = steepest * abs(float(theta[-1]) - solution.intercept)
    if shift <= _VISIBLE * solution.objective:
        return solution
    if prepared.data.stream is not None:
        objective = streamed.objective_at(task, prepared.data.stream, prepared.space, theta)
    else:
        alone = [part for part in task.terms if part.alone]
        blocks = [block for part in alone for block in task.rows.blocks(part)]
        objective = whole_objective(task, blocks, theta).value
    found = replace(solution, objective=objective)
    converged = task.stop_rule.is_met(found.objective, found.lower_bound)
    stop = "rounding" if solution.converged and not converged else solution.stop
    return replace(found, converged=converged, stop=stop)


@contextmanager
def solving(data: TrainingData) -> Iterator[None]:
    """Within the block, a value that is not finite is named by its place.

    Matrices are multiplied by one thread of BLAS, and several of them by threads of our own:
    BLAS rounds differently with another number of threads.
    """
    try:
        with one_blas_thread():
            yield
    except NonFiniteValue:
        data.require_finite()
        raise


def _kept_bytes(memory: float, n_tasks: int) -> float:
    """What the rows kept of each task may take."""
    return max(min(_KEPT_MEMORY, _ALL_KEPT_MEMORY / n_tasks) * memory, _LEAST_KEPT / n_tasks)
