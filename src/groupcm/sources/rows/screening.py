"""One pass that keeps only the rows that can matter near a point.

Around a point ``(w, b)`` let ``w'`` move by at most ``radius`` and ``b'`` by
at most ``shift``. A row that cannot be its term's winner there, or whose
term then costs nothing, is dropped; the problem on the rows that are kept is
the whole problem in that ball, and a lower bound of it everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from groupcm.kernels.screening import screen_terms
from groupcm.objective.sums import Ball
from groupcm.objective.terms import NO_ORDER, Index, Terms
from groupcm.sources.rows.chunk import Chunk, NonFiniteValue, require_finite_rows
from groupcm.sources.rows.space import Space
from groupcm.utils.typing import Raw, Vector

__all__ = ["Ball", "ScreeningJob", "ScreeningResult", "TermRows"]


@dataclass(frozen=True)
class TermRows:
    """Some terms of one sign by row number, in order of their rows.

    Term ``number[k]`` holds rows ``start[k]`` to ``stop[k]``, or positions in ``rows`` where
    that is not empty. Where ``alone`` is true every row is a term of its own and always kept.
    """

    sign: int
    start: Index
    stop: Index
    rows: Index
    number: Index
    alone: bool

    @classmethod
    def of(cls, terms: Terms) -> TermRows:
        """Return all rows of these terms, those of each term sorted."""
        if terms.alone:
            rows = np.sort(terms.rows(np.arange(terms.n_rows)))
            return cls(terms.sign, NO_ORDER, NO_ORDER, rows, NO_ORDER, True)
        number = np.arange(len(terms))
        if len(terms.order) == 0:
            return cls(terms.sign, terms.start, terms.stop, NO_ORDER, number, False)
        size = terms.stop - terms.start
        rows = terms.rows(np.arange(int(size.sum())))
        rows = rows[np.lexsort((rows, np.repeat(number, size)))]
        stop = np.cumsum(size)
        return cls(terms.sign, stop - size, stop, rows, number, False)

    def between(self, lo: int, hi: int) -> TermRows:
        """Return the part in rows ``lo`` to ``hi``; a term may be cut."""
        if self.alone:
            rows = self.rows[slice(*np.searchsorted(self.rows, [lo, hi]))]
            return TermRows(self.sign, NO_ORDER, NO_ORDER, rows, NO_ORDER, True)
        rows = NO_ORDER
        if len(self.rows):
            lo, hi = np.searchsorted(self.rows, [lo, hi])
            rows = self.rows[lo:hi]
        first = np.searchsorted(self.stop, lo, side="right")
        last = np.searchsorted(self.start, hi, side="left")
        part = slice(first, max(first, last))
        start, stop = np.maximum(self.start[part], lo), np.minimum(self.stop[part], hi)
        offset = lo if len(self.rows) else 0
        return TermRows(self.sign, start - offset, stop - offset, rows, self.number[part], False)

    def touches(self, unit_ptr: Index) -> NDArray[np.bool_]:
        """Return which of the units hold some of the rows."""
        if self.alone:
            return np.diff(np.searchsorted(self.rows, unit_ptr)) > 0
        if len(self.rows):
            size = self.stop - self.start
            offset = np.repeat(self.start - (np.cumsum(size) - size), size)
            rows = self.rows[offset + np.arange(len(offset))]
            return np.diff(np.searchsorted(rows, unit_ptr)) > 0
        first = np.searchsorted(self.stop, unit_ptr[:-1], side="right")
        return np.append(self.start, unit_ptr[-1])[first] < unit_ptr[1:]

    def only(self, chosen: NDArray[np.bool_]) -> TermRows:
        """Return the terms whose number is ``chosen``.

        Rows that count alone are left out: once kept, they stay.
        """
        if self.alone:
            return replace(self, rows=NO_ORDER)
        kept = np.flatnonzero(chosen[self.number])
        return TermRows(
            self.sign, self.start[kept], self.stop[kept], self.rows, self.number[kept], self.alone
        )


@dataclass(frozen=True)
class ScreeningResult:
    """What a pass keeps of some terms.

    Attributes
    ----------
    row, term : ndarray
        Row and term number of each row kept; of rows that count alone, the term is the row.
    raw : ndarray
        The rows themselves, as they are stored.
    number : ndarray
        The terms looked at, and for each of them:
    ceiling, far_norm : ndarray
        How high the rows not kept may reach in the ball, and their largest norm.
    best : ndarray
        The largest ``−sign · s`` at the centre.
    """

    row: Index
    term: Index
    raw: Raw
    number: Index
    ceiling: Vector
    far_norm: Vector
    best: Vector


@dataclass(frozen=True)
class ScreeningJob:
    """The job of a pass: for each ball, what is kept of each of its terms.

    A term whose smallest margin stays above ``zero_margin`` costs nothing; this may be one number,
    or for each ball one per part of its terms.
    """

    space: Space
    balls: Sequence[Ball]
    terms: Sequence[Sequence[TermRows]]
    zero_margin: float | Sequence[Sequence[float]]

    def __call__(self, chunk: Chunk) -> list[list[ScreeningResult]]:
        features = chunk.features
        assert features is not None
        parts = [[t.between(chunk.first, chunk.stop) for t in terms] for terms in self.terms]
        used = [k for k, terms in enumerate(parts) if any(len(t.number) for t in terms)]
        score, norm = {}, np.empty(0)
        if used:
            points = np.stack([self.balls[k].theta for k in used])
            scores, norm = self.space.scores_and_norms(features, points)
            score = dict(zip(used, scores, strict=True))
        return [
            [
                _screen(chunk, terms, ball, zero_margin, score.get(k), norm)
                for terms, zero_margin in zip(parts[k], self._zero_margins(k), strict=True)
            ]
            for k, ball in enumerate(self.balls)
        ]

    def _zero_margins(self, ball: int) -> Sequence[float]:
        if isinstance(self.zero_margin, Sequence):
            return self.zero_margin[ball]
        return [self.zero_margin] * len(self.terms[ball])


def _screen(
    chunk: Chunk,
    terms: TermRows,
    ball: Ball,
    zero_margin: float,
    score: Vector | None,
    norm: Vector,
) -> ScreeningResult:
    features = chunk.features
    assert features is not None
    none = np.empty(0)
    if terms.alone:
        raw = require_finite_rows(features.take(terms.rows - chunk.first))
        return ScreeningResult(terms.rows, terms.rows, raw, NO_ORDER, none, none, none)
    if len(terms.number) == 0 or score is None:
        raw = features.take(NO_ORDER)
        return ScreeningResult(NO_ORDER, NO_ORDER, raw, NO_ORDER, none, none, none)
    in_place = len(terms.rows) == 0
    offset = chunk.first if in_place else 0
    local = NO_ORDER if in_place else terms.rows - chunk.first
    kept, kept_term = np.empty((2, int(np.sum(terms.stop - terms.start))), dtype=np.int64)
    ceiling, far_norm, best = np.empty((3, len(terms.number)))
    count = screen_terms(
        score if terms.sign < 0 else -score,
        norm,
        local,
        terms.start - offset,
        terms.stop - offset,
        ball.radius,
        -zero_margin - ball.shift,
        kept,
        kept_term,
        ceiling,
        far_norm,
        best,
    )
    if count < 0:
        raise NonFiniteValue("a feature is not finite")
    kept, kept_term = kept[:count].copy(), kept_term[:count]
    return ScreeningResult(
        kept + chunk.first,
        terms.number[kept_term],
        features.take(kept),
        terms.number,
        ceiling,
        far_norm,
        best,
    )
