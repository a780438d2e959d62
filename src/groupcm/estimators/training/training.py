"""From prepared candidates to the solution of each class against the rest."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from groupcm.estimators.training.data import TrainingData
from groupcm.estimators.training.fit_setup import Options, Prepared
from groupcm.objective.grouping import Costs
from groupcm.objective.losses import make_loss
from groupcm.objective.penalties import make_penalty
from groupcm.objective.problem import Problem
from groupcm.objective.terms import Terms
from groupcm.solvers import lbfgs, streamed, working_set
from groupcm.solvers.alternating import Alternation, Choice, alternate
from groupcm.solvers.checkpoint import Checkpoint
from groupcm.solvers.objective import whole_objective
from groupcm.solvers.solution import Budget, Solution, Task
from groupcm.sources.arrays import ArraySource, NonFiniteValue, source_in
from groupcm.sources.rows.sample import Sample
from groupcm.sources.rows.stream import StreamedRows
from groupcm.utils.parallel import one_blas_thread

__all__ = [
    "as_returned",
    "make_task",
    "saying_what_is_kept",
    "solve_choosing",
    "solve_classes",
    "solve_path",
    "solving",
    "warn_unless_converged",
    "warn_unless_settled",
]

# The share of the memory allowed that the rows kept of a pass may take, of one task and of many
# together. With less than so many bytes in all, a stream is read over and over.
_KEPT_MEMORY = 0.25
_ALL_KEPT_MEMORY = 0.5
_LEAST_KEPT = 8e6
# Features whose deviations are larger than this, or λ, explain why a fit did not converge.
_BAD_SCALE = 1e4
_NEAR_ONE = 0.999
# A change of the objective by less than this share is not worth a look at the rows.
_VISIBLE = 1e-12
# Problems that a choice of candidates may take; most settle within ten.
_MOST_ROUNDS = 50


def solve_classes(options: Options, prepared: Prepared, seed: int) -> list[Solution | None]:
    """Each class against the rest; None for a class that every group holds."""
    tasks = [
        None if terms is None else make_task(options, prepared, terms, options.lam, seed)
        for terms in prepared.terms
    ]
    trained = [task for task in tasks if task is not None]
    for task in trained:
        task.budget.share(len(trained))
    found = iter(_solve(options, prepared, trained, related=False))
    solutions = [None if task is None else next(found) for task in tasks]
    for solution in solutions:
        if solution is not None:
            warn_unless_converged(options, prepared, solution)
    return solutions


def solve_path(
    options: Options,
    prepared: Prepared,
    lams: Sequence[float],
    seed: int,
    terms: list[Terms] | None = None,
    near: NDArray[np.float64] | None = None,
) -> list[Solution]:
    """The one trained class for each λ, each from the one before, the first from ``near``.

    ``terms``, made for ``options.lam``, are by default those of all groups.
    """
    if terms is None:
        (terms,) = prepared.terms
    assert terms is not None
    tasks = [
        make_task(options, prepared, _weighted(terms, lam / options.lam), lam, seed) for lam in lams
    ]
    solutions = _solve(options, prepared, tasks, related=True, near=near)
    for lam, solution in zip(lams, solutions, strict=True):
        warn_unless_converged(options, prepared, solution, lam)
    return solutions


def solve_choosing(options: Options, prepared: Prepared, lam: float) -> Alternation:
    """The one trained class, with a candidate chosen in each positive group nobody annotated.

    The first choice is that of the problem of the annotated groups. Nothing is random.
    """
    (terms,) = prepared.terms
    assert terms is not None
    if options.C is None:
        terms = _weighted(terms, lam / options.lam)
    first = make_task(options, prepared, terms, lam, seed=0)
    positive = [part for part in terms if part.sign > 0]
    negative = [part for part in terms if part.sign < 0]
    rows = np.concatenate([part.rows(np.arange(part.n_rows)) for part in positive])
    n_annotated = len(prepared.data.groups_of(rows))
    costs = Costs(lam, options.C)
    weight = costs.of_each(n_annotated + len(prepared.unannotated))
    fixed = [*_weighted(positive, weight / costs.of_each(n_annotated)), *negative]
    groups = Terms.of_groups(-1, prepared.data.groups, prepared.unannotated)
    with solving(prepared.data):
        choice = Choice(replace(first, terms=fixed), groups, weight)
        found = alternate(choice, first, most_rounds=_MOST_ROUNDS)
        task = choice.task_with(found.witnesses)
        found = replace(found, solution=as_returned(prepared, task, found.solution))
    warn_unless_converged(options, prepared, found.solution)
    warn_unless_settled(found, "the choice in groups nobody annotated", "annotate more of them")
    return found


def _weighted(terms: Sequence[Terms], factor: float) -> list[Terms]:
    return [replace(part, weight=part.weight * factor) for part in terms]


def make_task(
    options: Options, prepared: Prepared, terms: list[Terms], lam: float, seed: int
) -> Task:
    """The problem of one class, or one λ, on the prepared rows."""
    data, space = prepared.data, prepared.space
    problem = Problem(
        make_loss(options.loss, options.delta),
        make_penalty(options.penalty, options.epsilon),
        Costs(lam, options.C).rho(space.n_features),
        prepared.scaling.units,
    )
    if data.stream is not None:
        rows = StreamedRows(data.stream, space)
    elif isinstance(data.X, np.ndarray):
        rows = source_in(space, data.X)
    else:
        rows = ArraySource(data.X, space.mean, space.scale)
    n_rows = sum(part.n_rows for part in terms)
    budget = Budget.for_passes(options.max_passes, n_rows, prepared.deadline)
    return Task(problem, terms, rows, options.tol, options.max_passes, seed, budget)


def _solve(
    options: Options,
    prepared: Prepared,
    tasks: Sequence[Task],
    *,
    related: bool,
    near: NDArray[np.float64] | None = None,
) -> list[Solution]:
    """Solve each task; the certificates are those of the weights that the user is given."""
    checkpoint = None
    if options.checkpoint is not None:
        checkpoint = Checkpoint(options.checkpoint, tasks, prepared.space)
    with solving(prepared.data):
        solutions = [
            as_returned(prepared, task, solution)
            for task, solution in zip(
                tasks,
                _solve_in_space(options, prepared, tasks, checkpoint, near, related=related),
                strict=True,
            )
        ]
    if checkpoint is not None and not any(solution.interrupted for solution in solutions):
        checkpoint.remove()
    return solutions


def as_returned(prepared: Prepared, task: Task, solution: Solution) -> Solution:
    """Return the solution with the objective of the weights that the user is given.

    Where a mean is many deviations from zero, the intercept that undoes it is a large number and
    loses digits: its rounding error shifts every score. The objective is then computed again, by
    one more pass.
    """
    scaling = prepared.scaling
    coef, intercept = scaling.in_units(solution.weights[None, :], np.array([solution.intercept]))
    theta = scaling.from_units(coef[0], float(intercept[0]))
    shift = task.total_weight * abs(float(theta[-1]) - solution.intercept)
    if shift <= _VISIBLE * solution.objective:
        return solution
    if prepared.data.stream is not None:
        objective = streamed.objective_at(task, prepared.data.stream, prepared.space, theta)
    else:
        alone = [part for part in task.terms if part.alone]
        blocks = [block for part in alone for block in task.source.blocks(part)]
        objective = whole_objective(task, blocks, theta).value
    found = replace(solution, objective=objective)
    converged = found.gap <= task.tol
    stop = "rounding" if solution.converged and not converged else solution.stop
    return replace(found, converged=converged, stop=stop)


def _solve_in_space(
    options: Options,
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
        return _solve_one_by_one(options, prepared, tasks, checkpoint, near, related=related)
    return streamed.solve(
        tasks,
        data.stream,
        prepared.space,
        Sample(data.stream),
        kept_bytes=_kept_bytes(data.memory, len(tasks)),
        related=related,
        checkpoint=checkpoint,
    )


@contextmanager
def saying_what_is_kept(checkpoint: str | os.PathLike[str] | None) -> Iterator[None]:
    """Within the block, an interrupt that leaves no model says what a checkpoint keeps."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if interrupt.args:
            raise
        if checkpoint is None:
            kept = "nothing is kept; with a checkpoint file the same fit could go on from there"
        elif os.path.exists(checkpoint):
            kept = f"{checkpoint} keeps where it was, and the same fit goes on from there"
        else:
            kept = f"it had not reached a point that {checkpoint} could keep"
        raise KeyboardInterrupt(f"the fit was interrupted before it had a model: {kept}.") from None


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


def _solve_one_by_one(
    options: Options,
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
        try:
            solution = _solve_task(options, prepared, task, left.get(k, near))
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


def _solve_task(
    options: Options, prepared: Prepared, task: Task, near: NDArray[np.float64] | None
) -> Solution:
    if prepared.data.stream is not None:
        return streamed.solve_alone(task, prepared.space, Sample(prepared.data.stream), near)
    if options.solver == "lbfgs":
        return lbfgs.solve(task, near)
    return working_set.solve(task, near)


def warn_unless_converged(
    options: Options, prepared: Prepared, solution: Solution, lam: float | None = None
) -> None:
    """Warn how far a solution is from the optimum, where that is more than was asked for.

    ``lam`` is the solution's, where that is not the one of the options.
    """
    if solution.converged:
        return
    advice = _advice(options, prepared, solution, options.lam if lam is None else lam)
    warnings.warn(
        f"stopped after {solution.passes:.3g} passes at a relative gap of "
        f"{solution.gap:.2g}, above tol={options.tol:g}; {advice}.",
        ConvergenceWarning,
        stacklevel=4,
    )


def _advice(options: Options, prepared: Prepared, solution: Solution, lam: float) -> str:
    """Return what would help against the cause of a gap that did not close."""
    if solution.interrupted:
        return "it was interrupted"
    limits = {
        "passes": "raise max_passes",
        "time": f"max_time={options.max_time} was used up, so raise it",
    }
    if solution.stop in limits:
        return limits[solution.stop]
    scaling = prepared.scaling
    if solution.stop == "rounding":
        far = int(np.argmax(np.abs(solution.weights * scaling.mean / scaling.scale)))
        name = prepared.feature_names()[far]
        return (
            f"the values of feature {name} lie so far from zero that its weight and the intercept "
            "lose the digits that matter, so subtract a constant from it"
        )
    if not options.standardize and np.max(1.0 / scaling.units) > _BAD_SCALE:
        return "the features are on a large scale, so set standardize=True or rescale them"
    if options.C is None and lam > _NEAR_ONE:
        return f"lam={lam:g} leaves next to no penalty, so lower lam or raise tol"
    if solution.stop == "work":
        return "the work allowed was used up, so raise max_passes or tol"
    return "no more progress was made, so raise tol"


def warn_unless_settled(found: Alternation, what: str, advice: str) -> None:
    """Say that choices of candidates still changed, where they did; ``advice`` is against that."""
    if found.outcome in ("settled", "interrupted"):  # an interrupt needs no warning
        return
    why = {
        "cycled": "the choices of candidates came back to earlier ones, so they cycle; "
        "a smaller tol may end that",
        "exhausted": f"choices of candidates still changed; {advice}",
    }
    warnings.warn(
        f"{what} stopped after {found.rounds} problems: {why[found.outcome]}.",
        ConvergenceWarning,
        stacklevel=4,
    )
