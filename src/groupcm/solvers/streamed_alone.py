"""Rows that count alone, on a streamed source: a few passes, by the pieces of the loss.

1. The problem is solved on a sample; how far the solution moves from a tenth of the sample to all
   of it shows how far it will move once more, as in `groupcm.solvers.streamed`.
2. One pass over all rows. A margin moves by at most ``radius · ‖x_i‖ + shift`` in the ball around
   that solution: rows that cannot leave their piece of the loss are added up
   (`groupcm.objective.sums`), and those near the end of a piece are kept.
3. The problem on the sums and the rows kept is solved in memory. Inside the ball it is the problem
   itself, so that both bounds are those of the whole. Where the solution is outside, another pass
   is made around it.

A loss that does not consist of such pieces, such as the logistic, and spaces of very many features
are solved by reading all rows at each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from groupcm.objective.losses.base import Piece
from groupcm.objective.smoothed import Block
from groupcm.objective.sums import Ball, PieceSums
from groupcm.objective.terms import NO_ORDER, Index, Terms
from groupcm.solvers import newton, working_set
from groupcm.solvers.objective import AloneBlock, round_to_zero, whole_objective
from groupcm.solvers.solution import Solution, Task, Trace
from groupcm.solvers.streamed_passes import first_ball
from groupcm.sources.rows.chunk import Chunk, NonFiniteValue
from groupcm.sources.rows.reader import SourceReader
from groupcm.sources.rows.sample import Sample
from groupcm.sources.rows.screening import TermRows
from groupcm.sources.rows.solver_rows import rows_in_space
from groupcm.sources.rows.space import Space
from groupcm.utils.typing import Raw, Vector

__all__ = ["solve_alone"]

# The sums of so many features at most are formed: their matrix is that of a Newton step.
_MOST_FEATURES = 1500
# After so many passes that did not close the gap, all rows are read at each step.
_MOST_BALLS = 4
# Steps on the sums and the rows kept, which are in memory.
_MOST_STEPS = 300
# Values of rows that are standardised at once, to be added up.
_BLOCK_VALUES = 1 << 18
# What rounding may add to a margin, as a share.
_ROUNDING = 1e-9
# A ball is halved while the rows near the ends of the pieces do not fit, and enlarged while they
# are no more than this share of all.
_HALVINGS = 12
_ENLARGEMENTS = 4
_CHEAP_SHARE = 0.05


@dataclass(frozen=True)
class PieceRows:
    """What a pass finds of rows that count alone.

    Attributes
    ----------
    raw : ndarray
        The rows near the end of a piece, as they are stored.
    count, total, gram : sequences
        Of each piece, the sums of the rows that stay on it.
    """

    raw: Raw
    count: list[int]
    total: list[Vector]
    gram: list[NDArray[np.float64]]


@dataclass(frozen=True)
class PieceJob:
    """The job of a pass: add up the rows of some terms that stay on their piece, keep the others.

    Attributes
    ----------
    space : Space
    ball : Ball
    terms : TermRows
        Ranges of rows, all of which count alone.
    pieces : sequence of Piece
        Of the loss.
    counts_only : bool
        Whether to leave the sums out, where only the number of rows kept is wanted.
    """

    space: Space
    ball: Ball
    terms: TermRows
    pieces: Sequence[Piece]
    counts_only: bool = False

    def __call__(self, chunk: Chunk) -> PieceRows:
        features = chunk.features
        assert features is not None
        rows = _rows_between(self.terms.between(chunk.first, chunk.stop)) - chunk.first
        width = self.space.n_features + 1
        count = [0] * len(self.pieces)
        total = [np.zeros(width) for _ in self.pieces]
        gram = [np.zeros((width, width)) for _ in self.pieces]
        if len(rows) == 0:
            return PieceRows(features.take(NO_ORDER), count, total, gram)
        scores, norms = self.space.scores_and_norms(features, self.ball.theta[None, :])
        margin, norm = self.terms.sign * scores[0][rows], norms[rows]
        if not np.isfinite(margin.sum()):
            raise NonFiniteValue("a feature is not finite")
        reach = self.ball.radius * norm + self.ball.shift
        reach += _ROUNDING * (1.0 + np.abs(margin))
        ends = np.array([piece.end for piece in self.pieces[:-1]])
        place = np.searchsorted(ends, margin - reach)
        stays = place == np.searchsorted(ends, margin + reach)
        for k, piece in enumerate(self.pieces):
            if piece.constant == piece.linear == piece.square == 0.0 or self.counts_only:
                continue
            on_piece = rows[stays & (place == k)]
            count[k] = len(on_piece)
            size = max(1, _BLOCK_VALUES // width)
            for lo in range(0, len(on_piece), size):
                vectors = self.space.vectors(features.take(on_piece[lo : lo + size]))
                total[k] += vectors.sum(axis=0)
                if piece.square != 0.0:
                    gram[k] += vectors.T @ vectors
        return PieceRows(features.take(rows[~stays]), count, total, gram)


def solve_alone(
    task: Task,
    reader: SourceReader,
    space: Space,
    sample: Sample,
    *,
    kept_bytes: float,
    left: Vector | None = None,
) -> Solution:
    """Minimise a task whose rows all count alone.

    Parameters
    ----------
    task : Task
        Its rows are those of the reader's source.
    reader : SourceReader
    space : Space
        In which the rows are scored.
    sample : Sample
        The units that the reader keeps in memory.
    kept_bytes : float
        How much the rows near the ends of the pieces may take.
    left : ndarray, optional
        The point that an earlier fit ended at.
    """
    ball = first_ball(task, working_set.on_sample(task, space, sample), _n_negative)
    if left is not None:
        ball = Ball(left, ball.radius, ball.shift)
    trace = Trace(task, ball.theta)
    try:
        if _has_sums(task, space):
            for _ in range(_MOST_BALLS):
                ball = _solve_in_ball(trace, ball, reader, space, sample, kept_bytes)
                if trace.closed or trace.exhausted:
                    return trace.solution()
        working_set.bracket(trace, warm=True, zeros=True)
    except KeyboardInterrupt:
        if not np.isfinite(trace.upper):
            raise
        trace.interrupted = True
    return trace.solution()


def _has_sums(task: Task, space: Space) -> bool:
    """Return whether the rows of the task can be added up."""
    summed = _summed(task.terms)
    weights = all(not isinstance(terms.weight, np.ndarray) for terms in summed)
    return bool(
        summed and weights and task.problem.loss.pieces and space.n_features <= _MOST_FEATURES
    )


def _summed(terms: Sequence[Terms]) -> list[Terms]:
    """Return the terms that are ranges of rows; the others, few single rows, are always kept."""
    return [part for part in terms if len(part.order) == 0]


def _n_negative(terms: Sequence[Terms]) -> int:
    return sum(len(part) for part in terms if part.sign < 0)


def _solve_in_ball(
    trace: Trace,
    ball: Ball,
    reader: SourceReader,
    space: Space,
    sample: Sample,
    kept_bytes: float,
) -> Ball:
    """Make one pass around a point, solve on what it found, and return the next ball."""
    task = trace.task
    ball = _sized(ball, task, space, sample, kept_bytes)
    blocks = _blocks(task, ball, reader, space, sample)
    inner = newton.Newton(
        task.problem, blocks, ball.theta, most_evaluations=_MOST_STEPS, budget=task.budget
    )
    rule = replace(task.stop_rule, share=working_set.INNER_SHARE)
    inner.minimise(rule, newton.WARM)
    if np.isfinite(inner.upper):
        trace.offer(inner.best, inner.upper)
        trace.raise_lower(inner.lower)
    if trace.closed and task.problem.penalty.makes_zeros:
        round_to_zero(trace, lambda theta: whole_objective(task, blocks, theta).value)
    trace.latest = inner.best if trace.closed else inner.latest
    trace.announce(sum(len(each.load()) for each in blocks if isinstance(each, Block)))
    return working_set.ball_around(trace.latest, trace.latest - ball.theta)


def _sized(ball: Ball, task: Task, space: Space, sample: Sample, kept_bytes: float) -> Ball:
    """Return the ball, smaller where the rows kept would not fit, larger where they are few."""
    pieces, ranges = task.problem.loss.pieces, [_ranges(part) for part in _summed(task.terms)]

    def n_kept(ball: Ball) -> float:
        jobs = [PieceJob(space, ball, part, pieces, counts_only=True) for part in ranges]
        return sample.n_kept(lambda chunk: sum(len(job(chunk).raw) for job in jobs))

    most = kept_bytes / (8 * (space.n_features + 1) + sample.rows.itemsize * sample.n_raw)
    kept = n_kept(ball)
    for _ in range(_HALVINGS):
        if kept <= most:
            break
        ball = ball.scaled(0.5)
        kept = n_kept(ball)
    for _ in range(_ENLARGEMENTS):
        larger = ball.scaled(1.5)
        if n_kept(larger) > min(most, _CHEAP_SHARE * task.n_rows):
            break
        ball = larger
    return ball


def _blocks(
    task: Task, ball: Ball, reader: SourceReader, space: Space, sample: Sample
) -> list[AloneBlock]:
    """Return the sums and the rows kept in a ball, by one pass, and the terms of single rows."""
    ptr, pieces = reader.source.unit_ptr, task.problem.loss.pieces
    units = [int(unit) for unit in range(len(ptr) - 1)]
    blocks: list[AloneBlock] = []
    summed = _summed(task.terms)
    jobs = [PieceJob(space, ball, _ranges(part), pieces) for part in summed]
    found = reader.run(lambda _: _AllOf(jobs), units, "adding up")
    for k, part in enumerate(summed):
        assert not isinstance(part.weight, np.ndarray)
        results = [of_chunk[k] for of_chunk in found]
        for p, piece in enumerate(pieces):
            count = sum(result.count[p] for result in results)
            if count:
                total = np.sum([result.total[p] for result in results], axis=0)
                gram = np.sum([result.gram[p] for result in results], axis=0)
                blocks.append(PieceSums(piece, part.sign, part.weight, count, total, gram, ball))
        raw = np.concatenate([result.raw for result in results])
        if len(raw):
            kept = Terms.of_rows(part.sign, np.arange(len(raw)), part.weight)
            blocks += rows_in_space(space, raw).blocks(kept)
    single = [part for part in task.terms if len(part.order)]
    for part in single:
        rows = part.rows(np.arange(part.n_rows))
        place = sample.place(rows)
        raw = sample.rows[place] if np.all(place >= 0) else reader.raw(rows)
        local = Terms.of_rows(part.sign, np.arange(len(rows)), part.weight)
        blocks += rows_in_space(space, raw).blocks(local)
    return blocks


@dataclass(frozen=True)
class _AllOf:
    jobs: Sequence[PieceJob]

    def __call__(self, chunk: Chunk) -> list[PieceRows]:
        return [job(chunk) for job in self.jobs]


def _ranges(terms: Terms) -> TermRows:
    """Return the ranges of rows of the terms, in order."""
    in_order = np.argsort(terms.start, kind="stable")
    number = np.arange(len(terms.start))
    start, stop = terms.start[in_order], terms.stop[in_order]
    return TermRows(terms.sign, start, stop, NO_ORDER, number, alone=False)


def _rows_between(terms: TermRows) -> Index:
    """Return the rows of some ranges."""
    size = terms.stop - terms.start
    first = np.repeat(terms.start - (np.cumsum(size) - size), size)
    return first + np.arange(len(first))
