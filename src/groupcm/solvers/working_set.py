"""A working set of rows that brackets the optimum (the default solver).

Of each group only the rows that have been its winner near the margin are
kept. The problem on them is a lower bound of the whole; the whole objective
at its solution, found by one pass over all rows, is an upper bound. The pass
also finds the new winners. Repeat until the bounds meet.

Large data start on a small sample of the groups, then on ten times as many,
so that the first pass over everything is nearly the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from groupcm.objective.smoothed import Block, Rows
from groupcm.objective.terms import Index, Terms
from groupcm.solvers import newton
from groupcm.solvers.objective import round_to_zero, whole_objective
from groupcm.solvers.solution import Solution, Task, Trace, mean_difference
from groupcm.sources.rows.solver_rows import SolverRows, Winners
from groupcm.utils.typing import Vector

__all__ = ["KeptRows", "bracket", "sample_of", "solve"]

# Winners are kept up to a margin so far above the one from which they cost nothing.
_NEAR_MARGIN = 0.1
# Of many terms only the runners-up not further behind than this are kept: few others become
# winners when the weights change a little.
_MANY_TERMS = 10_000
_CLOSE_BEHIND = 0.2
# Up to this many rows all are kept from the start.
_FEW_ROWS = 2_000
# The smallest sample of rows to start on, and how much larger the next one is.
_SMALLEST_SAMPLE = 50_000
_GROWTH = 10
# How exactly a sample is solved: a small one is far from the whole anyway.
_SAMPLE_TOL = 1e-3
_SMALL_SAMPLE_TOL = 1e-2
_SMALL_SAMPLE = 500_000
_SAMPLE_EFFORT = 100
# A sample never has fewer terms of one kind than this (or all of them).
_FEW_TERMS = 1_000
# How much of the gap so far the solution on the kept rows may have, while it is wide.
_EARLY_SHARE = 0.3
# How much of the tolerance the solution on the kept rows may use up.
_INNER_SHARE = 0.3


def solve(
    task: Task,
    start: Vector | None = None,
    *,
    temperature: float = newton.WARM,
    kept: Sequence[KeptRows] | None = None,
    silent: bool = False,
) -> Solution:
    """Minimise to the task's tolerance, or until its passes are used up.

    Parameters
    ----------
    task : Task
    start : ndarray, optional
        A point near the optimum; without one the solver finds its own on samples.
    temperature : float
        Where to begin from ``start``: the lower, the nearer it must be.
    kept : sequence of KeptRows, optional
        Of the grouped terms, with what an earlier solve kept; more is kept in them.
    silent : bool
        Whether to announce nothing.
    """
    read_before = task.rows.rows_read
    begin = mean_difference(task) if start is None else start
    trace = Trace(task, begin, silent=silent, read_before=read_before)
    try:
        warm = start is not None
        for sample in _samples(task) if start is None else ():
            on_sample = Trace(sample, trace.latest, silent=True)
            bracket(on_sample, warm=warm, rounds=1 if warm else 8, effort=_SAMPLE_EFFORT)
            trace.latest, warm = on_sample.latest, True
        bracket(trace, warm=warm, zeros=True, warm_temperature=temperature, kept=kept)
    except KeyboardInterrupt:
        if not np.isfinite(trace.upper):
            raise
        trace.interrupted = True
    return trace.solution()


def bracket(
    trace: Trace,
    *,
    warm: bool,
    rounds: float = np.inf,
    effort: float = np.inf,
    zeros: bool = False,
    warm_temperature: float = newton.WARM,
    kept: Sequence[KeptRows] | None = None,
) -> None:
    """Close the bracket around the optimum of the trace's task, in at most so many rounds.

    ``warm`` is whether the latest point is near the optimum; ``effort`` is how often the kept
    rows may be looked at in a round. With ``zeros``, weights that a
    penalty wants at zero are put there. A warm start begins at ``warm_temperature``.
    """
    task = trace.task
    alone = [block for terms in task.terms if terms.alone for block in task.rows.blocks(terms)]
    if kept is None:
        zero_margin = task.problem.loss.zero_margin
        grouped = [terms for terms in task.terms if not terms.alone]
        kept = [KeptRows(terms, task.rows, zero_margin) for terms in grouped]
    if task.n_rows <= _FEW_ROWS:
        for rows in kept:
            rows.keep_all()
    idle, is_exact = 0, False
    while rounds > 0 and idle < 2:
        is_settled = False
        if kept:
            is_settled = not _pass(trace, kept, alone) and trace.lower > 0.0
            idle = idle + 1 if is_settled and is_exact else 0
            if trace.closed or trace.exhausted:
                break
        blocks = alone + [block for rows in kept for block in rows.blocks()]
        if not kept:  # every look at the rows is a pass
            effort = min(effort, max(1.0, task.max_passes - trace.passes))
        inner = newton.Newton(
            task.problem, blocks, trace.latest, most_evaluations=effort, budget=task.budget
        )
        tol = _INNER_SHARE * task.tol * 0.1**idle
        enough = 0.0
        is_exact = not kept or is_settled or warm
        if not is_exact:
            # While the kept rows are not the right ones yet, no need for all the digits; and a
            # solution that fits these rows too well is far from that of all.
            enough = _EARLY_SHARE * (trace.latest_upper - trace.lower)
        temperature = warm_temperature if warm else newton.COLD
        try:
            inner.minimise(tol, temperature, trace.latest_upper - trace.lower, enough)
        finally:
            trace.latest, warm = inner.best, False
            trace.raise_lower(inner.lower)
            if not kept:
                trace.offer(inner.best, inner.upper)
                trace.out_of_passes = inner.evaluations >= effort
        if trace.closed or not kept:
            break
        rounds -= 1
        trace.announce(sum(len(rows) for rows in kept))
    if zeros and task.problem.penalty.makes_zeros:
        round_to_zero(trace, alone)
    trace.announce(sum(len(rows) for rows in kept))


def sample_of(task: Task, share: float, rng: np.random.Generator, tol: float) -> Task:
    """Return the task on a random share of its terms, and more where they are few."""
    chosen = [
        terms.subset(_choose(rng, len(terms), max(_FEW_TERMS, round(share * len(terms)))))
        for terms in task.terms
    ]
    return replace(task, terms=chosen, tol=max(task.tol, tol))


class KeptRows:
    """Some rows of some terms, standardised, in memory, sorted by term.

    Of a loss that never becomes zero (``zero_margin`` is infinite), every term has some.
    """

    def __init__(self, terms: Terms, source: SolverRows, zero_margin: float) -> None:
        self.terms = terms
        self._kept_below = zero_margin + _NEAR_MARGIN
        self._source = source
        self._row: Index = np.empty(0, dtype=np.int64)
        self._term: Index = np.empty(0, dtype=np.int64)
        self._rows: Rows = source.take(self._row)

    def __len__(self) -> int:
        return len(self._row)

    def keep(self, winners: Winners) -> int:
        """Keep the winners that are near the margin, and the runners-up close behind.

        Returns how many of the winners were not kept before.
        """
        near = winners.margin < self._kept_below
        new_winners = self._not_kept(np.flatnonzero(near), winners.row)
        behind = _CLOSE_BEHIND if len(self.terms) > _MANY_TERMS else np.inf
        close = np.flatnonzero(near & (winners.lead < behind))
        new_runners_up = self._not_kept(close, winners.runner_up)
        self._add(
            np.concatenate([new_winners, new_runners_up]),
            np.concatenate([winners.row[new_winners], winners.runner_up[new_runners_up]]),
        )
        return len(new_winners)

    def _not_kept(self, term: Index, row_of: Index) -> Index:
        """Return those of the terms whose row ``row_of[term]`` is not kept."""
        row = row_of[term]
        place = np.searchsorted(self._term, term)
        kept = np.zeros(len(term), dtype=bool)
        among = np.flatnonzero(place < len(self))
        while len(among):
            at = place[among]
            same_term = self._term[at] == term[among]
            kept[among] |= same_term & (self._row[at] == row[among])
            place[among] += 1
            among = among[same_term & ~kept[among] & (at + 1 < len(self))]
        return term[~kept]

    def _add(self, term: Index, row: Index) -> None:
        if len(row) == 0:
            return
        by_term = np.argsort(term, kind="stable")
        term, row = term[by_term], row[by_term]
        rows = self._source.take(row)
        if len(self):
            term, row = np.concatenate([self._term, term]), np.concatenate([self._row, row])
            by_term = np.argsort(term, kind="stable")
            term, row = term[by_term], row[by_term]
            rows = _stack(self._rows, rows)[by_term]
        self._term, self._row, self._rows = term, row, rows

    def keep_all(self) -> None:
        """Keep every row of every term."""
        if len(self) == self.terms.n_rows:
            return
        size = self.terms.stop - self.terms.start
        term = np.repeat(np.arange(len(size)), size)
        self._row, self._term = self._row[:0], self._term[:0]
        self._rows = self._source.take(self._row)
        self._add(term, self.terms.rows(np.arange(len(term))))

    def blocks(self) -> list[Block]:
        """Return the kept rows as blocks of whole terms."""
        if len(self) == 0:
            return []
        starts = np.flatnonzero(np.diff(self._term, prepend=-1))
        ptr = np.append(starts, len(self._term))
        n_blocks = -(-len(self) // self._source.rows_per_block)
        cuts = np.linspace(0, len(starts), n_blocks + 1).astype(np.int64)
        return [self._block(ptr[lo : hi + 1]) for lo, hi in pairwise(cuts) if lo < hi]

    def _block(self, ptr: Index) -> Block:
        rows = self._rows[ptr[0] : ptr[-1]]
        weight = self.terms.weight_of(self._term[ptr[:-1]])
        return Block(lambda: rows, ptr - ptr[0], self.terms.sign, weight)


def _pass(trace: Trace, kept: Sequence[KeptRows], alone: Sequence[Block]) -> int:
    """Offer the whole objective at the latest point; return how many winners were new."""
    whole = whole_objective(trace.task, alone, trace.latest)
    trace.offer(trace.latest, whole.value)
    if trace.closed:
        return 0
    return sum(rows.keep(found) for rows, found in zip(kept, whole.winners, strict=True))


def _samples(task: Task) -> Iterator[Task]:
    """Yield tasks on ever larger random samples of the terms, all smaller than the whole."""
    rng = np.random.default_rng(task.seed)
    size = task.n_rows
    shares = []
    while size > _GROWTH * _SMALLEST_SAMPLE:
        size /= _GROWTH
        shares.append(size / task.n_rows)
    for share in reversed(shares):
        small = share * task.n_rows < _SMALL_SAMPLE
        tol = _SMALL_SAMPLE_TOL if small else _SAMPLE_TOL
        yield sample_of(task, share, rng, tol)


def _choose(rng: np.random.Generator, n: int, k: int) -> Index:
    """``k`` of ``n``, sorted; all of them where there are no more."""
    return np.arange(n) if k >= n else np.sort(rng.choice(n, k, replace=False, shuffle=False))


def _stack(above: Rows, below: Rows) -> Rows:
    if isinstance(above, np.ndarray):
        return np.concatenate([above, below])
    return sp.csr_array(sp.vstack([above, below], format="csr"))
