"""The working set on a streamed source: about one pass over rows that are expensive to read.

1. Some units, those with positive groups first, are kept in memory as a
   sample. The problem is solved on a tenth of it, then on all of it: how far
   the solution moved shows how far it will move once more.
2. One pass over all rows keeps those that can matter within a few times that
   distance (`groupcm.sources.rows.screening`).
3. The problem on them is solved to the tolerance. If the solution is where
   the kept rows settle every term, its objective is the true one and its
   lower bound is one of the whole: done. Otherwise the terms not settled are
   screened again around it.

Several tasks share each pass: the classes of one fit, or a path of λ. A task whose rows all count
alone is solved by itself (`groupcm.solvers.streamed_alone`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from groupcm.objective.terms import Terms
from groupcm.solvers import working_set
from groupcm.solvers.checkpoint import Checkpoint
from groupcm.solvers.objective import whole_objective
from groupcm.solvers.screened import ScreenedTask
from groupcm.solvers.solution import Solution, Task, Trace
from groupcm.solvers.streamed_alone import solve_alone
from groupcm.solvers.streamed_passes import Points, StreamedFit, first_ball, screen
from groupcm.sources.rows.reader import SourceReader
from groupcm.sources.rows.sample import Sample
from groupcm.sources.rows.screening import Ball, ScreeningJob
from groupcm.sources.rows.space import Space
from groupcm.utils.typing import Vector

__all__ = ["objective_at", "solve"]

# Of a ball so much is needed in most cases: two that differ by less than the rest become one.
_NEEDED = 0.6
# A ball is halved until the rows kept fit the memory, and enlarged while they are no more than
# this share of all; not more often than this.
_HALVINGS = 40
_ENLARGEMENTS = 20
_CHEAP_SHARE = 0.015


def solve(
    tasks: Sequence[Task],
    reader: SourceReader,
    space: Space,
    sample: Sample,
    *,
    kept_bytes: float,
    related: bool = False,
    checkpoint: Checkpoint | None = None,
) -> list[Solution]:
    """Minimise each task to its tolerance.

    Parameters
    ----------
    tasks : sequence of Task
        Their rows are those of the reader's source; the terms are in order of rows.
    reader : SourceReader
    space : Space
        In which the rows are scored.
    sample : Sample
        The units that the reader keeps in memory.
    kept_bytes : float
        How much the rows kept of one task may take.
    related : bool
        Whether each task is near the one before, as along a path of λ.
    checkpoint : Checkpoint, optional
        Where to store how far the fit is, and where to continue from.
    """
    points = Points(checkpoint, len(tasks))
    alone = [k for k, task in enumerate(tasks) if _n_grouped(task.terms) == 0]
    grouped = [k for k in range(len(tasks)) if k not in alone]
    found: dict[int, Solution] = {}

    fits: list[StreamedFit] = []
    for k in grouped:
        before = fits[-1] if related and fits else None
        fit = _begin(tasks[k], reader, space, sample, before, points.left.get(k))
        if before is None:
            fit.ball = _size_ball(fit, sample, space, kept_bytes)
        elif before.ball.covers(fit.ball.scaled(_NEEDED)):
            fit.ball = before.ball
        fits.append(fit)
        points.latest[k] = fit.trace.latest
    try:
        while any(not fit.done for fit in fits):
            points.store()
            going = [fit for fit in fits if not fit.done]
            _pass(going, reader, space)
            for fit in going:
                _solve_on_kept(fit, sample, space, kept_bytes)
            for k, fit in zip(grouped, fits, strict=True):
                points.latest[k] = fit.trace.latest
        for k in alone:
            found[k] = solve_alone(
                tasks[k], reader, space, sample, kept_bytes=kept_bytes, left=points.left.get(k)
            )
            points.latest[k] = found[k].point
            if found[k].interrupted:
                raise KeyboardInterrupt
            points.store()
    except KeyboardInterrupt:
        for fit in fits:
            fit.trace.interrupted = not fit.done
        points.store()
        if len(found) < len(alone) or not all(np.isfinite(fit.trace.upper) for fit in fits):
            raise
    found |= {k: fit.trace.solution() for k, fit in zip(grouped, fits, strict=True)}
    return [found[k] for k in range(len(tasks))]


def objective_at(task: Task, reader: SourceReader, space: Space, theta: Vector) -> float:
    """Return the whole objective at a point, by one pass: in a ball of no size winners are kept."""
    if _n_grouped(task.terms):
        ball = Ball(theta, 0.0, 0.0)
        screened = ScreenedTask.of(task, space, reader.source.n_features, reader.source.dtype)
        pending = [part.rows for part in screened.parts]
        _pass([StreamedFit(Trace(task, theta), screened, theta, ball, pending)], reader, space)
        task, _ = screened.reduced()
    alone = [block for terms in task.terms if terms.alone for block in task.rows.blocks(terms)]
    return whole_objective(task, alone, theta).value


def _begin(
    task: Task,
    reader: SourceReader,
    space: Space,
    sample: Sample,
    before: StreamedFit | None,
    left: Vector | None,
) -> StreamedFit:
    """Return a fit before its first pass; a point ``left`` by an earlier fit is its centre."""
    on_sample = working_set.on_sample(task, space, sample)
    ball = (
        first_ball(task, on_sample, _n_grouped) if before is None else _next_ball(on_sample, before)
    )
    screened = ScreenedTask.of(task, space, sample.n_raw, reader.source.dtype)
    if left is not None:
        ball = replace(ball, theta=left)
    pending = [part.rows for part in screened.parts]
    return StreamedFit(Trace(task, ball.theta), screened, ball.theta, ball, pending)


def _next_ball(on_sample: Task, before: StreamedFit) -> Ball:
    """The optimum on the sample from the one before; as far from the whole one in proportion."""
    trace = Trace(on_sample, before.start, silent=True)
    working_set.bracket(trace, warm=True)
    size, size_before = (float(np.linalg.norm(t[:-1])) for t in (trace.latest, before.ball.theta))
    ball = before.ball.scaled(max(size / max(size_before, 1e-12), 0.1))
    return replace(ball, theta=trace.latest)


def _n_grouped(terms: Sequence[Terms]) -> int:
    """Terms that are sampled: those that do not count row by row."""
    return sum(len(t) for t in terms if not t.alone)


def _size_ball(fit: StreamedFit, sample: Sample, space: Space, kept_bytes: float) -> Ball:
    """The ball, larger where that costs little, smaller where the rows kept would not fit."""
    ball, task = fit.ball, fit.trace.task
    zero_margin = task.problem.loss.zero_margin
    row_bytes = sample.rows.itemsize * sample.n_raw + 2 * 8
    grouped = [rows for rows in fit.pending if not rows.alone]

    def n_kept(ball: Ball) -> float:
        job = ScreeningJob(space, [ball], [grouped], zero_margin)
        return sample.n_kept(
            lambda chunk: sum(len(kept.row) for of_ball in job(chunk) for kept in of_ball)
        )

    kept = n_kept(ball)
    for _ in range(_HALVINGS):
        if kept * row_bytes <= kept_bytes:
            break
        ball = ball.scaled(0.5)
        kept = n_kept(ball)
    # Of a loss that never becomes zero, every term keeps a row.
    at_least = 0 if np.isfinite(zero_margin) else sum(len(rows.number) for rows in grouped)
    cheap = min(at_least + _CHEAP_SHARE * task.n_rows, kept_bytes / row_bytes)
    for _ in range(_ENLARGEMENTS):
        larger = ball.scaled(1.4)
        if n_kept(larger) > cheap:
            break
        ball = larger
    return ball


def _pass(fits: Sequence[StreamedFit], reader: SourceReader, space: Space) -> None:
    """Screen the pending terms of each fit, together."""
    # Fits in the same ball look at the same rows.
    leaders = list({id(fit.ball): fit for fit in reversed(fits)}.values())
    balls = [fit.ball for fit in leaders]
    zero_margin = max(fit.trace.task.problem.loss.zero_margin for fit in leaders)

    def job(first: int, stop: int) -> ScreeningJob:
        pending = [[t.between(first, stop) for t in fit.pending] for fit in leaders]
        return ScreeningJob(space, balls, pending, zero_margin)

    found = screen(reader, (rows for fit in leaders for rows in fit.pending), job)
    for k, leader in enumerate(leaders):
        leader.screened.update(leader.ball, [chunk[k] for chunk in found])
        for fit in fits:
            if fit.ball is leader.ball and fit is not leader:
                fit.screened.adopt(leader.screened)


def _solve_on_kept(fit: StreamedFit, sample: Sample, space: Space, kept_bytes: float) -> None:
    trace, screened = fit.trace, fit.screened
    reduced, _ = screened.reduced()
    inner = Trace(reduced, fit.start, silent=True)
    working_set.bracket(inner, warm=True, zeros=True)
    # In the ball, and so where it began, the rows kept are the whole problem.
    if inner.first is not None and inner.first[0] is fit.start:
        trace.offer(*inner.first)
    trace.raise_lower(inner.lower)
    trace.latest = inner.best
    open_terms = screened.unresolved(inner.best, reduced)
    n_open = sum(int(np.count_nonzero(mask)) for mask in open_terms)
    if n_open == 0:
        trace.offer(inner.best, inner.upper)
    trace.announce(screened.n_kept)
    fit.done = trace.closed or trace.exhausted or (n_open == 0 and not trace.closed)
    if fit.done:
        return
    fit.move_on(inner.best, open_terms)
    fit.ball = _size_ball(fit, sample, space, kept_bytes)
