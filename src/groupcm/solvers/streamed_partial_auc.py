"""The partial AUC on a streamed source: about one pass over rows that are expensive to read.

As in `groupcm.solvers.streamed`, the problem is solved on a sample, one pass keeps the rows that
can matter in a ball around that solution, and the problem on them is solved to the tolerance. Here
a negative group matters only among the largest scores: of the groups that stay below a *floor* in
the ball no row is kept. Where, at the solution, every row that was dropped stays below its group's
winner or below the scores that count, the objective is the true one; otherwise these groups are
read again, in a ball around the solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from groupcm.objective.partial_auc import PartialAuc, top_share
from groupcm.objective.terms import Terms
from groupcm.solvers import partial_auc, working_set
from groupcm.solvers.checkpoint import Checkpoint
from groupcm.solvers.partial_auc import WholePairs, operating_intercept
from groupcm.solvers.screened import ScreenedTask
from groupcm.solvers.solution import Solution, Task, Trace
from groupcm.solvers.streamed_passes import Points, StreamedFit, first_ball, screen
from groupcm.sources.rows.reader import SourceReader
from groupcm.sources.rows.sample import Sample
from groupcm.sources.rows.screening import Ball, ScreeningJob
from groupcm.sources.rows.space import Space
from groupcm.utils.typing import Vector

__all__ = ["solve"]

# A ball is halved until the rows kept fit the memory, not more often than this.
_HALVINGS = 40
# Above the floor there are so many times the groups of a sample that count, and so many more.
_MORE = 1.3
_MORE_GROUPS = 5
# Groups whose winners show how far scores move in a ball.
_SOME_GROUPS = 200


@dataclass
class _Fit(StreamedFit):
    """A `StreamedFit`, with the score ``floor`` below which groups do not matter in the ball."""

    problem: PartialAuc = field(kw_only=True)
    floor: float = -np.inf
    whole: WholePairs | None = None

    @property
    def zero_margins(self) -> list[float]:
        """What `ScreeningJob` takes for each part of the terms."""
        return [np.inf if part.sign > 0 else -self.floor for part in self.pending]

    def solution(self) -> Solution:
        """Return the solution with its intercept, by the rows kept."""
        found = self.trace.solution()
        if self.whole is None:
            return found
        margins = self.whole.margins_at(found.point)
        return replace(
            found, intercept=operating_intercept(margins, self.problem, self.whole.weights)
        )


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
    """Minimise each task to its tolerance; see `groupcm.solvers.streamed.solve`."""
    points = Points(checkpoint, len(tasks))
    fits: list[_Fit] = []
    for k, task in enumerate(tasks):
        before = fits[-1] if related and fits else None
        fits.append(_begin(task, reader, space, sample, kept_bytes, before, points.left.get(k)))
        points.latest[k] = fits[k].trace.latest
    try:
        while any(not fit.done for fit in fits):
            points.store()
            going = [fit for fit in fits if not fit.done]
            _pass(going, reader, space)
            for fit in going:
                _solve_on_kept(fit, space, sample, kept_bytes)
            points.latest[:] = [fit.trace.latest for fit in fits]
    except KeyboardInterrupt:
        for fit in fits:
            fit.trace.interrupted = not fit.done
        points.store()
        if not all(np.isfinite(fit.trace.upper) for fit in fits):
            raise
    return [fit.solution() for fit in fits]


def _begin(
    task: Task,
    reader: SourceReader,
    space: Space,
    sample: Sample,
    kept_bytes: float,
    before: _Fit | None,
    left: Vector | None,
) -> _Fit:
    """Return a fit before its first pass; a point ``left`` by an earlier fit is its centre."""
    assert isinstance(task.problem, PartialAuc)
    problem = replace(task.problem, known=task.problem.weights_of(task.terms))
    on_sample = working_set.on_sample(task, space, sample)
    if before is None:
        ball = first_ball(
            task,
            on_sample,
            _n_terms,
            solve=partial_auc.solve,
            bracket=partial_auc.bracket,
            ball_around=_ball,
        )
    else:
        trace = Trace(on_sample, before.start, silent=True)
        partial_auc.bracket(trace, warm=True)
        ball = replace(before.ball.scaled(1.0), theta=trace.latest)
    if left is not None:
        ball = replace(ball, theta=_without_intercept(left))
    screened = ScreenedTask.of(task, space, sample.n_raw, reader.source.dtype)
    pending = [part.rows for part in screened.parts]
    fit = _Fit(Trace(task, ball.theta), screened, ball.theta, ball, pending, problem=problem)
    _size_ball(fit, on_sample, space, sample, kept_bytes)
    return fit


def _n_terms(terms: Sequence[Terms]) -> int:
    return sum(len(part) for part in terms)


def _ball(theta: Vector, move: Vector) -> Ball:
    """Return a ball for moves of about this size; the intercept stays 0."""
    return replace(working_set.ball_around(_without_intercept(theta), move), shift=0.0)


def _without_intercept(theta: Vector) -> Vector:
    return np.append(theta[:-1], 0.0)


def _size_ball(fit: _Fit, on_sample: Task, space: Space, sample: Sample, kept_bytes: float) -> None:
    """Set the floor of the ball, which is made smaller where the rows kept would not fit."""
    row_bytes = sample.rows.itemsize * sample.n_raw + 2 * 8

    def n_kept(chunk: Any) -> int:
        job = ScreeningJob(space, [fit.ball], [fit.pending], [fit.zero_margins])
        return sum(len(kept.row) for of_ball in job(chunk) for kept in of_ball)

    for _ in range(_HALVINGS):
        fit.floor = _floor(on_sample, fit)
        if sample.n_kept(n_kept) * row_bytes <= kept_bytes:
            return
        fit.ball = fit.ball.scaled(0.5)
    fit.floor = _floor(on_sample, fit)


def _floor(on_sample: Task, fit: _Fit) -> float:
    """Return a score above which the groups that count should stay, in the ball."""
    known = fit.problem.known
    assert known is not None
    theta, scores, weights, rows, alone = fit.ball.theta, [], [], [], []
    for terms in on_sample.terms:
        if terms.sign > 0:
            if terms.alone:
                alone += [block.load() @ theta for block in on_sample.rows.blocks(terms)]
            continue
        found = on_sample.rows.worst(terms, theta)
        scores.append(-found.margin)
        rows.append(found.row)
        weights.append(np.broadcast_to(terms.weight, len(terms)).astype(np.float64))
    score, weight, row = (np.concatenate(each) for each in (scores, weights, rows))
    u = weight / np.sum(weight)
    share = min(1.0, _MORE * known.share + _MORE_GROUPS * float(np.max(u)))
    chosen, _ = top_share(-score, u, share)
    some = on_sample.rows.take(np.sort(row[chosen[-_SOME_GROUPS:]]))[:, :-1]
    norms = np.sqrt(np.asarray((some * some).sum(axis=1)).ravel())
    moved = fit.ball.radius * float(np.mean(norms))
    floor = float(score[chosen[-1]]) - moved if share < 1.0 else -np.inf
    if alone:  # where a group costs nothing against any positive one
        lowest = min(float(np.min(each)) for each in alone)
        floor = max(floor, lowest - fit.problem.loss.zero_margin - 2.0 * moved)
    return floor


def _pass(fits: Sequence[_Fit], reader: SourceReader, space: Space) -> None:
    """Screen the pending terms of each fit, together."""
    balls = [fit.ball for fit in fits]
    zero_margins = [fit.zero_margins for fit in fits]

    def job(first: int, stop: int) -> ScreeningJob:
        pending = [[t.between(first, stop) for t in fit.pending] for fit in fits]
        return ScreeningJob(space, balls, pending, zero_margins)

    found = screen(reader, (rows for fit in fits for rows in fit.pending), job)
    for k, fit in enumerate(fits):
        fit.screened.update(fit.ball, [chunk[k] for chunk in found])


def _solve_on_kept(fit: _Fit, space: Space, sample: Sample, kept_bytes: float) -> None:
    trace = fit.trace
    reduced, _ = fit.screened.reduced()
    reduced = replace(reduced, problem=fit.problem)
    fit.whole = WholePairs(reduced)
    inner = Trace(reduced, fit.start, silent=True)
    partial_auc.bracket(inner, warm=True, zeros=True, whole=fit.whole)
    if inner.first is not None and not _n_open(_open_terms(fit, reduced, fit.start)):
        trace.offer(fit.start, inner.first[1])
    trace.raise_lower(inner.lower)
    trace.latest = inner.best
    open_terms = _open_terms(fit, reduced, inner.best)
    if not _n_open(open_terms):
        trace.offer(inner.best, inner.upper)
    trace.announce(fit.screened.n_kept)
    fit.done = trace.closed or trace.exhausted or not _n_open(open_terms)
    if fit.done:
        return
    fit.move_on(inner.best, open_terms, _ball)
    _size_ball(fit, working_set.on_sample(trace.task, space, sample), space, sample, kept_bytes)


def _open_terms(fit: _Fit, reduced: Task, theta: Vector) -> list[Any]:
    """Return which terms the rows kept do not settle at a point."""
    whole = fit.whole
    assert whole is not None
    margins, _ = whole.look(theta)
    u = margins.u / whole.weights.negative
    chosen, q = top_share(margins.y, u, whole.weights.share)
    # Where the groups kept weigh enough, those below the last of them that counts do not matter.
    floor = -np.inf
    if float(np.sum(q)) >= whole.weights.share * (1.0 - 1e-9):
        floor = -float(margins.y[chosen[-1]])
    floor = max(floor, float(np.min(margins.x)) - fit.problem.loss.zero_margin)
    for part in fit.screened.parts:
        part.floor = floor if part.terms.sign < 0 else -np.inf
    return fit.screened.unresolved(theta, reduced)


def _n_open(open_terms: Sequence[Any]) -> int:
    return sum(int(np.count_nonzero(mask)) for mask in open_terms)
