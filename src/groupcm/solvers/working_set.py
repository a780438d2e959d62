"""A working set of rows that brackets the optimum (the default solver).

Of each group only the rows that have been its winner near the margin are
kept. The problem on them is a lower bound of the whole; the whole objective
at its solution, found by one pass over all rows, is an upper bound. The pass
also finds the new winners. Repeat until the bounds meet.

Large data start on a small sample of the groups, then on ten times as many,
so that the first pass over everything is nearly the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from groupcm.objective.smoothed import Block
from groupcm.objective.sums import Ball
from groupcm.objective.terms import Index
from groupcm.solvers import multipliers, newton
from groupcm.solvers.kept_rows import KeptRows
from groupcm.solvers.objective import round_to_zero, whole_objective
from groupcm.solvers.solution import Solution, Task, Trace, mean_difference
from groupcm.sources.rows.sample import Sample
from groupcm.sources.rows.solver_rows import rows_in_space
from groupcm.sources.rows.space import Space
from groupcm.utils.typing import Vector

__all__ = ["ball_around", "bracket", "on_sample", "sample_of", "solve"]

# Up to this many rows all are kept from the start.
_FEW_ROWS = 2_000
# The smallest sample of rows to start on, and how much larger the next one is.
_SMALLEST_SAMPLE = 50_000
_GROWTH = 10
# How exactly a sample is solved: a small one is far from the whole anyway.
_SAMPLE_TOL = 1e-3
_SMALL_SAMPLE_TOL = 1e-1
_SMALL_SAMPLE = 500_000
_SAMPLE_EFFORT = 100
# A sample never has fewer terms of one kind than this (or all of them).
_FEW_TERMS = 1_000
# How much of the gap so far the solution on the kept rows may have, while it is wide.
_EARLY_SHARE = 0.6
# How much of the tolerance the solution on the kept rows may use up.
INNER_SHARE = 0.3
# On a streamed source the first solution is on this share of the sample's terms, the second on
# all of them.
FIRST_SHARE = 0.1
FIRST_TOL = 1e-3
_STREAMED_SAMPLE_TOL = 2e-4
# A ball around a solution is never smaller than this share of the weights.
_LEAST_MOVE = 1e-3


def solve(
    task: Task,
    start: Vector | None = None,
    *,
    temperature: float = newton.WARM,
    kept: Sequence[KeptRows] | None = None,
    silent: bool = False,
    close: Callable[..., None] | None = None,
) -> Solution:
    """Minimise to the task's tolerance, or until its passes are used up.

    Parameters
    ----------
    task : Task
    start : ndarray, optional
        A point near the optimum; without one the solver finds its own on samples. Where the
        solve of a task on the same rows has left the rows that it kept, the first pass is made
        after the problem on them is solved.
    temperature : float
        Where to begin from ``start``: the lower, the nearer it must be.
    kept : sequence of KeptRows, optional
        Of the grouped terms, with what an earlier solve kept; more is kept in them.
    silent : bool
        Whether to announce nothing.
    close : callable, optional
        What closes the bracket of a trace, with the parameters of `bracket`, which is the default.
    """
    close = bracket if close is None else close
    read_before = task.rows.rows_read
    begin = mean_difference(task) if start is None else start
    trace = Trace(task, begin, silent=silent, read_before=read_before)
    is_known = False
    try:
        warm = start is not None
        if close is bracket and multipliers.applies(task):
            left = multipliers.start(task) if kept is None else None
            if left is None and start is None and kept is None:
                for sample in _samples(task):
                    if not multipliers.is_large_enough(sample):
                        continue
                    on_sample = Trace(sample, trace.latest, silent=True)
                    found = multipliers.start(sample, on_sample=True)
                    multipliers.bracket(on_sample, found[1] if found else _nothing_kept(sample))
                    trace.latest = on_sample.best
                left = multipliers.start(task, on_sample=True)
            if left is not None:
                trace.latest = trace.best = left[0]
                kept = left[1]
            kept = kept or _nothing_kept(task)
            multipliers.begin_in_row_space(trace, kept)
            multipliers.bracket(trace, kept)
            if trace.closed or trace.exhausted:
                return trace.solution()
            warm, start = True, trace.best
            trace.latest = trace.best
        elif close is bracket:
            left = None if start is None or kept is not None else _left_for(task)
            kept = left or kept or _nothing_kept(task)
            is_known = left is not None
            task.warm.state = kept
        for sample in _samples(task) if start is None else ():
            on_sample = Trace(sample, trace.latest, silent=True)
            close(on_sample, warm=warm, rounds=1 if warm else 8, effort=_SAMPLE_EFFORT)
            trace.latest, warm = on_sample.latest, True
        options = {"on_kept_first": True} if is_known else {}
        close(trace, warm=warm, zeros=True, warm_temperature=temperature, kept=kept, **options)
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
    on_kept_first: bool = False,
) -> None:
    """Close the bracket around the optimum of the trace's task, in at most so many rounds.

    ``warm`` is whether the latest point is near the optimum; ``effort`` is how often the kept
    rows may be looked at in a round. With ``zeros``, weights that a
    penalty wants at zero are put there. A warm start begins at ``warm_temperature``, and before any
    pass where the rows to begin ``on_kept_first`` are those of a similar task.
    """
    task = trace.task
    alone = [block for terms in task.terms if terms.alone for block in task.rows.blocks(terms)]
    kept = _nothing_kept(task) if kept is None else kept
    if task.n_rows <= _FEW_ROWS:
        for rows in kept:
            rows.keep_all()
    idle, is_exact = 0, False
    while rounds > 0 and idle < 2:
        is_settled = False
        if kept and not on_kept_first:
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
        rule = replace(task.stop_rule, share=INNER_SHARE * 0.1**idle)
        enough = 0.0
        is_exact = not kept or is_settled or warm
        if not is_exact:
            # While the kept rows are not the right ones yet, no need for all the digits; and a
            # solution that fits these rows too well is far from that of all.
            enough = _EARLY_SHARE * (trace.latest_upper - trace.lower)
        on_kept_first = False
        temperature = warm_temperature if warm else newton.COLD
        try:
            inner.minimise(rule, temperature, trace.latest_upper - trace.lower, enough)
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
        round_to_zero(trace, lambda theta: whole_objective(task, alone, theta).value)
    trace.announce(sum(len(rows) for rows in kept))


def sample_of(task: Task, share: float, rng: np.random.Generator, tol: float) -> Task:
    """Return the task on a random share of its terms, and more where they are few."""
    chosen = [
        terms.subset(_choose(rng, len(terms), max(_FEW_TERMS, round(share * len(terms)))))
        for terms in task.terms
    ]
    return replace(task, terms=chosen, tol=max(task.tol, tol))


def on_sample(task: Task, space: Space, sample: Sample) -> Task:
    """Return the task on the rows of a streamed source that are in memory."""
    return replace(
        task,
        terms=[sample.restrict(terms) for terms in task.terms],
        rows=rows_in_space(space, sample.rows),
        tol=max(task.tol, _STREAMED_SAMPLE_TOL),
        max_passes=np.inf,
    )


def ball_around(theta: Vector, move: Vector) -> Ball:
    """Return a ball for moves of about this size; one number alone may be small by chance."""
    radius = max(float(np.linalg.norm(move[:-1])), _LEAST_MOVE * float(np.linalg.norm(theta)))
    radius += _LEAST_MOVE**2
    return Ball(theta, radius, max(radius, abs(float(move[-1]))))


def _left_for(task: Task) -> list[KeptRows] | None:
    """Return the rows that the solve of a task on the same rows kept, if any."""
    state = task.warm.state
    grouped = [terms for terms in task.terms if not terms.alone]
    if not isinstance(state, list) or len(state) != len(grouped):
        return None
    kept = [rows.on(terms) for rows, terms in zip(state, grouped, strict=True)]
    return kept if any(len(rows) for rows in kept) else None


def _nothing_kept(task: Task) -> list[KeptRows]:
    """Return a working set without rows."""
    zero_margin = task.problem.loss.zero_margin
    return [KeptRows(terms, task.rows, zero_margin) for terms in task.terms if not terms.alone]


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
