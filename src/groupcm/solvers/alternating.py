"""MI-SVM's alternation: choose each positive group's candidate, solve, choose again.

    z_k ← mean of the candidates of positive group k                     (at first)
    w, b ← argmin  ρ Σ_j h(w_j) + c+ Σ_k L(z_k) + c− Σ_{k negative} max_{i∈G_k} L(−s_i)
    z_k ← the candidate of group k with the largest score                 (from then on)

until no choice changes. Each solve is a convex problem with its certificate; the choices are
not convex, so what is reached is a local optimum.

The means of positive groups often lie among the candidates of negative ones, and then ``w = 0``
is the first solution: all candidates tie, and rounding would choose. There the first choice is
that of the same problem with every negative candidate alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from groupcm.candidates import Index, Terms
from groupcm.smoothing import Block, Rows
from groupcm.solvers import newton, working_set
from groupcm.solvers.kept_rows import KeptRows
from groupcm.solvers.solution import Solution, Task
from groupcm.sources.arrays import RowSource, Winners

__all__ = ["Alternation", "alternate"]

# How exactly the first choice needs its problem solved.
_ROUGH = 1e-2
_ENOUGH_ROWS = 100_000


@dataclass(frozen=True)
class Alternation:
    """Where the alternation stopped.

    Attributes
    ----------
    solution : Solution
        Of the convex problem with the last choices.
    witnesses : ndarray
        The row chosen for each positive group in that problem.
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
    outcome: Literal["settled", "cycled", "exhausted", "interrupted"]
    passes: float


def alternate(task: Task, positive_groups: Terms, *, most_rounds: int) -> Alternation:
    """Alternate until no choice changes.

    Parameters
    ----------
    task : Task
        Its positive terms are replaced by one of each positive group, of the same total weight.
    positive_groups : Terms
        All candidates of each positive group, with sign −1: the worst of a term is then the
        candidate of largest score.
    most_rounds : int
        Problems to solve at most.
    """
    negative = [terms for terms in task.terms if terms.sign < 0]
    total = sum(_total_weight(terms) for terms in task.terms if terms.sign > 0)
    weight = total / len(positive_groups.start)
    means = _WithMeans(task.source, _group_means(task.source, positive_groups))
    first = replace(task, terms=[means.terms(weight), *negative], source=means)
    kept = [KeptRows(terms, task.source) for terms in negative if not terms.alone]
    solution = working_set.solve(first, kept=kept)
    if solution.interrupted:  # before any candidate is chosen
        raise KeyboardInterrupt
    point = _every_negative_alone(first) if _says_nothing(first, solution) else solution.point
    chosen = task.source.worst(positive_groups, point).row
    seen: set[bytes] = set()
    rounds = 1

    def end(outcome: Literal["settled", "cycled", "exhausted", "interrupted"]) -> Alternation:
        passes = task.source.rows_read / max(1, task.n_rows)
        return Alternation(solution, chosen, rounds, outcome, passes)

    while True:
        seen.add(chosen.tobytes())
        positive = Terms.of_rows(1, chosen, weight)
        solution = working_set.solve(
            replace(task, terms=[positive, *negative]),
            solution.point,
            temperature=newton.TEPID,
            kept=kept,
        )
        rounds += 1
        if solution.interrupted:
            return end("interrupted")
        best = _better(task.source, positive_groups, solution.point, chosen)
        if np.array_equal(best, chosen) or _says_nothing(task, solution):
            return end("settled")
        if rounds >= most_rounds:
            return end("exhausted")
        if best.tobytes() in seen:
            return end("cycled")
        chosen = best


def _says_nothing(task: Task, solution: Solution) -> bool:
    """Whether ``w = 0`` is as good, within the tolerance."""
    weight = {
        sign: sum(_total_weight(terms) for terms in task.terms if terms.sign == sign)
        for sign in (1, -1)
    }
    loss = task.problem.loss

    def objective(b: float) -> float:
        margins = loss.value(np.array([b, -b]))
        return float(weight[1] * margins[0] + weight[-1] * margins[1])

    at_zero: Any = minimize_scalar(objective, bounds=(-1.0, 1.0), method="bounded")
    return solution.objective >= (1.0 - task.tol) * min(at_zero.fun, *map(objective, (-1.0, 1.0)))


def _every_negative_alone(task: Task) -> NDArray[np.float64]:
    """The solution where negative candidates share the weight of their groups.

    Of many candidates some, evenly spread, are enough for a first choice.
    """
    alone = []
    for terms in task.terms:
        if terms.sign < 0:
            weight = _total_weight(terms) / terms.n_rows
            terms = replace(terms, weight=weight, alone=True)
            if terms.n_rows > _ENOUGH_ROWS:
                spread = np.linspace(0, terms.n_rows - 1, _ENOUGH_ROWS).astype(np.int64)
                terms = terms.subset(spread)
        alone.append(terms)
    rough = replace(task, terms=alone, tol=max(task.tol, _ROUGH))
    found = working_set.solve(rough, silent=True)
    if found.interrupted:
        raise KeyboardInterrupt
    return found.point


def _total_weight(terms: Terms) -> float:
    return float(np.sum(np.broadcast_to(terms.weight, len(terms))))


def _better(
    source: RowSource, positive_groups: Terms, theta: NDArray[np.float64], chosen: Index
) -> Index:
    """The candidate of largest score of each group; the chosen one where none is larger."""
    winners = source.worst(positive_groups, theta)
    score = np.asarray(source.take(chosen) @ theta)
    return np.where(-winners.margin > score, winners.row, chosen)


def _group_means(source: RowSource, groups: Terms) -> Rows:
    """The mean of each group's candidates, in the space the weights live in."""
    size = groups.stop - groups.start
    rows = groups.rows(np.arange(groups.n_rows))
    ptr = np.concatenate([[0], np.cumsum(size)])
    parts = []
    for lo, hi in _pieces(ptr, source.rows_a_block):
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


class _WithMeans:
    """A source with a row more for each positive group: the mean of its candidates."""

    # No source has so many rows of its own.
    _FIRST = 1 << 48

    def __init__(self, source: RowSource, means: Rows) -> None:
        self._source = source
        self._means = means

    def terms(self, weight: float) -> Terms:
        """The means, each alone."""
        return Terms.of_rows(1, self._FIRST + np.arange(self._means.shape[0]), weight)

    @property
    def rows_read(self) -> int:
        return self._source.rows_read

    @property
    def rows_a_block(self) -> int:
        return self._source.rows_a_block

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
