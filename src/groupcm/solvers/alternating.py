"""Alternation: choose a candidate of each group that has no annotation, solve, choose again.

::

    z_k ← the candidate of group k with the largest score
    w, b ← argmin  ρ Σ_j h(w_j) + c+ Σ_k L(s_z(k)) + the terms that do not depend on z

until no choice changes. Each solve is a convex problem with its certificate, and neither of the
two steps ever raises the objective; the choices are not convex, so the result is a local optimum.

The first choice comes from a problem without choices: in MI-SVM every positive group counts by the
mean of its candidates (`problem_of_means`); with unannotated groups, the annotated groups alone are
solved. Where ``w = 0`` is the solution of that problem all candidates tie, and rounding would
choose; there the first choice comes from the same problem with every negative candidate alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from groupcm.objective.partial_auc import PartialAuc
from groupcm.objective.smoothed import Block, Rows
from groupcm.objective.terms import Index, Terms
from groupcm.solvers import newton, partial_auc, working_set
from groupcm.solvers.kept_rows import KeptRows
from groupcm.solvers.solution import Solution, Task, mean_difference
from groupcm.sources.rows.solver_rows import SolverRows, Winners
from groupcm.utils.typing import Vector

__all__ = ["OUTCOMES", "Alternation", "Choice", "Outcome", "alternate", "problem_of_means"]

Outcome = Literal["settled", "cycled", "exhausted", "interrupted"]
OUTCOMES: tuple[str, ...] = get_args(Outcome)

# How exactly the first choice needs its problem solved.
_ROUGH = 1e-2
_ENOUGH_ROWS = 100_000
_NO_CHOICE = "the fit was interrupted before any candidate was chosen, so there is no model yet."


@dataclass(frozen=True)
class Choice:
    """What is to choose.

    Attributes
    ----------
    task : Task
        Its terms are those that do not depend on what is chosen.
    groups : Terms
        All candidates of each group, with sign −1: the worst of a term is then the candidate of
        largest score.
    weight : float or ndarray of shape (n_groups,)
        Of the chosen candidate of each group.
    """

    task: Task
    groups: Terms
    weight: float | NDArray[np.float64]

    def task_with(self, chosen: Index) -> Task:
        """Return the convex problem in which these rows represent their groups."""
        positive = Terms.of_rows(1, chosen, self.weight)
        return replace(self.task, terms=[positive, *self.task.terms])


@dataclass(frozen=True)
class Alternation:
    """Where the alternation stopped.

    Attributes
    ----------
    solution : Solution
        Of the convex problem with the last choices.
    witnesses : ndarray
        The row chosen for each group in that problem.
    rounds : int
        Problems solved.
    outcome : {"settled", "cycled", "exhausted", "interrupted"}
        No choice changed; choices came back that were there before; too many rounds; Ctrl-C.
    passes : float
        Over the rows, of all rounds.
    """

    solution: Solution
    witnesses: Index
    rounds: int
    outcome: Outcome
    passes: float


def alternate(choice: Choice, first: Task, *, most_rounds: int) -> Alternation:
    """Alternate until no choice changes.

    Parameters
    ----------
    choice : Choice
    first : Task
        The problem whose solution makes the first choice; its grouped terms are those of the
        choice's.
    most_rounds : int
        Problems to solve at most.
    """
    if isinstance(first.problem, PartialAuc):
        first, choice = (
            partial_auc.prepare(first),
            replace(choice, task=partial_auc.prepare(choice.task)),
        )
    source = choice.task.rows
    zero_margin = choice.task.problem.loss.zero_margin
    grouped = [terms for terms in choice.task.terms if not terms.alone]
    kept = [KeptRows(terms, source, zero_margin) for terms in grouped]
    solution = _solve(first, kept=kept)
    if solution.interrupted:
        raise KeyboardInterrupt(_NO_CHOICE)
    point = _every_negative_alone(first) if _is_trivial(first, solution) else solution.point
    chosen = source.worst(choice.groups, point).row
    seen: set[bytes] = set()
    rounds = 1

    def end(outcome: Outcome) -> Alternation:
        n_rows = choice.task.n_rows + choice.groups.n_rows
        return Alternation(solution, chosen, rounds, outcome, source.rows_read / max(1, n_rows))

    while True:
        seen.add(chosen.tobytes())
        task = choice.task_with(chosen)
        solution = _solve(task, solution.point, temperature=newton.TEPID, kept=kept)
        rounds += 1
        if solution.interrupted:
            return end("interrupted")
        best = _better(source, choice.groups, solution.point, chosen)
        if np.array_equal(best, chosen) or _is_trivial(task, solution):
            return end("settled")
        if rounds >= most_rounds:
            return end("exhausted")
        if best.tobytes() in seen:
            return end("cycled")
        chosen = best


def problem_of_means(choice: Choice) -> Task:
    """Return the problem in which each group counts by the mean of its candidates."""
    task = choice.task
    means = _RowsWithMeans(task.rows, _group_means(task.rows, choice.groups))
    return replace(task, terms=[means.terms(choice.weight), *task.terms], rows=means)


def _solve(task: Task, start: Vector | None = None, **options: Any) -> Solution:
    """Solve by the working set of the task's objective."""
    if isinstance(task.problem, PartialAuc):
        return partial_auc.solve(partial_auc.prepare(task), start, **options)
    return working_set.solve(task, start, **options)


def _is_trivial(task: Task, solution: Solution) -> bool:
    """Return whether ``w = 0`` is as good."""
    return task.stop_rule.gains_nothing(solution.objective)


def _every_negative_alone(task: Task) -> NDArray[np.float64]:
    """Return the solution where negative candidates share the weight of their groups.

    Of many candidates some, evenly spread, are enough for a first choice. Where that solution is
    ``w = 0`` as well, the difference of the class means chooses.
    """
    alone = []
    for terms in task.terms:
        if terms.sign < 0:
            weight = terms.total_weight / terms.n_rows
            if isinstance(terms.weight, np.ndarray):
                of_row = terms.row_weights(np.arange(terms.n_rows))
                weight = terms.total_weight * of_row / np.sum(of_row)
            terms = replace(terms, weight=weight, alone=True)
            if terms.n_rows > _ENOUGH_ROWS:
                spread = np.linspace(0, terms.n_rows - 1, _ENOUGH_ROWS).astype(np.int64)
                terms = terms.subset(spread)
        alone.append(terms)
    rough = replace(task, terms=alone, tol=max(task.tol, _ROUGH))
    found = _solve(rough, silent=True)
    if found.interrupted:
        raise KeyboardInterrupt(_NO_CHOICE)
    return found.point if np.any(found.point[:-1]) else mean_difference(rough)


def _better(source: SolverRows, groups: Terms, theta: NDArray[np.float64], chosen: Index) -> Index:
    """Return the candidate of largest score of each group; the chosen one where none is larger."""
    winners = source.worst(groups, theta)
    score = np.asarray(source.take(chosen) @ theta)
    return np.where(-winners.margin > score, winners.row, chosen)


def _group_means(source: SolverRows, groups: Terms) -> Rows:
    """Return the mean of each group's candidates, in the space the weights live in."""
    size = groups.stop - groups.start
    rows = groups.rows(np.arange(groups.n_rows))
    ptr = np.concatenate([[0], np.cumsum(size)])
    parts = []
    for lo, hi in _pieces(ptr, source.rows_per_block):
        shares = np.repeat(1.0 / size[lo:hi], size[lo:hi])
        inside = ptr[hi] - ptr[lo]
        average = sp.csr_array(
            (shares, np.arange(inside), ptr[lo : hi + 1] - ptr[lo]), shape=(hi - lo, inside)
        )
        parts.append(average @ source.take(rows[ptr[lo] : ptr[hi]]))
    return sp.csr_array(sp.vstack(parts)) if sp.issparse(parts[0]) else np.concatenate(parts)


def _pieces(ptr: Index, n_rows: int) -> Iterator[tuple[int, int]]:
    """Runs of whole groups with about so many rows, at least one group each."""
    lo = 0
    while lo < len(ptr) - 1:
        hi = max(lo + 1, int(np.searchsorted(ptr, ptr[lo] + n_rows, side="right")) - 1)
        yield lo, hi
        lo = hi


class _RowsWithMeans:
    """A source with a row more for each positive group: the mean of its candidates."""

    # No source has so many rows of its own.
    _FIRST = 1 << 48

    def __init__(self, source: SolverRows, means: Rows) -> None:
        self._source = source
        self._means = means

    def terms(self, weight: float | NDArray[np.float64]) -> Terms:
        """Return the means, each alone."""
        return Terms.of_rows(1, self._FIRST + np.arange(self._means.shape[0]), weight)

    @property
    def rows_read(self) -> int:
        return self._source.rows_read

    @property
    def rows_per_block(self) -> int:
        return self._source.rows_per_block

    def take(self, rows: Index | slice) -> Rows:
        if isinstance(rows, slice) or len(rows) == 0 or rows[0] < self._FIRST:
            return self._source.take(rows)
        return self._means[rows - self._FIRST]

    def worst(self, terms: Terms, theta: NDArray[np.float64]) -> Winners:
        return self._source.worst(terms, theta)

    def blocks(self, terms: Terms) -> Iterator[Block]:
        if terms.sign < 0:
            yield from self._source.blocks(terms)
            return
        means = self.take(terms.rows(np.arange(terms.n_rows)))
        yield Block(lambda: means, None, terms.sign, terms.weight)
