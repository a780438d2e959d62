"""Provides `ScreenedTask`: the problem on the rows kept, and where it is the whole problem.

Everywhere it is a lower bound. At a point it is the whole problem if, for
every term, the rows that were dropped stay below the term's winner or cost
nothing: a row reaches at most

::

    ceiling + max(0, ‖w − w_c‖ − radius) · far_norm − sign · (b − b_c)

where ``(w_c, b_c)`` is the centre of the ball that its term was screened in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from groupcm.objective.terms import NO_ORDER, Index, Terms
from groupcm.solvers.solution import Task
from groupcm.sources.rows.screening import Ball, ScreeningResult, TermRows
from groupcm.sources.rows.solver_rows import rows_in_space
from groupcm.sources.rows.space import Space
from groupcm.utils.typing import Raw, Vector

__all__ = ["ScreenedTask", "ScreenedTerms"]


class ScreenedTerms:
    """Terms of one sign: the rows kept of them, and how high the others reach.

    A term whose smallest margin is above ``zero_margin`` costs nothing: its winner is below
    ``floor``, which may be set to another score below which terms do not matter.
    """

    def __init__(self, terms: Terms, n_features: int, dtype: np.dtype, zero_margin: float) -> None:
        self.terms = terms
        self.floor = -zero_margin
        self.rows = TermRows.of(terms)
        self.row: Index = NO_ORDER
        self.term: Index = NO_ORDER
        self.raw: Raw = np.empty((0, n_features), dtype)
        n_terms = 0 if terms.alone else len(terms)
        self.ceiling = np.full(n_terms, np.inf)
        self.far_norm = np.zeros(n_terms)
        self.ball = np.zeros(n_terms, dtype=np.int64)

    def update(self, parts: Sequence[ScreeningResult], ball: int) -> None:
        """Add the rows that a pass has kept; replace how high the others of its terms reach."""
        row = np.concatenate([part.row for part in parts])
        term = np.concatenate([part.term for part in parts])
        raw = np.concatenate([part.raw for part in parts])
        if self.rows.alone:
            if len(row):
                self.row, self.term, self.raw = row, term, raw
            return
        number = np.concatenate([part.number for part in parts])
        seen = np.zeros(len(self.ceiling), dtype=bool)
        seen[number] = True
        self.ceiling[seen], self.far_norm[seen], self.ball[seen] = -np.inf, 0.0, ball
        np.maximum.at(self.ceiling, number, np.concatenate([part.ceiling for part in parts]))
        np.maximum.at(self.far_norm, number, np.concatenate([part.far_norm for part in parts]))
        if len(self.row):
            # Rows kept before stay: without them a small ball could send the solution back to
            # where it came from, for ever.
            row, term = np.concatenate([self.row, row]), np.concatenate([self.term, term])
            raw = np.concatenate([self.raw, raw])
            by_term = np.lexsort((row, term))
            by_term = by_term[np.diff(row[by_term], prepend=-1) != 0]
            row, term, raw = row[by_term], term[by_term], raw[by_term]
        self.row, self.term, self.raw = row, term, raw

    def adopt(self, other: ScreenedTerms) -> None:
        """Take over what is known of the same rows."""
        self.row, self.term, self.raw = other.row, other.term, other.raw
        self.ceiling, self.far_norm = other.ceiling.copy(), other.far_norm.copy()
        self.ball = other.ball.copy()

    def local(self, offset: int) -> tuple[Terms, Index]:
        """Return these terms on the rows kept, from ``offset`` on, and their numbers."""
        if self.rows.alone:
            rows = self.terms.rows(np.arange(self.terms.n_rows))
            where = np.searchsorted(self.row, rows) + offset
            return Terms.of_rows(self.terms.sign, where, self.terms.weight), NO_ORDER
        first = np.flatnonzero(np.diff(self.term, prepend=-1))
        stop = np.append(first[1:], len(self.term))
        number = self.term[first]
        weight = self.terms.weight_of(number)
        local = replace(
            self.terms,
            start=first + offset,
            stop=stop[: len(first)] + offset,
            order=NO_ORDER,
            weight=weight,
        )
        return local, number

    def unresolved(
        self, balls: Sequence[Ball], theta: Vector, number: Index, best: Vector
    ) -> NDArray[np.bool_]:
        """Of which terms a dropped row might win and cost; ``best`` of the terms ``number``."""
        if self.rows.alone:
            return np.zeros(0, dtype=bool)
        winner = np.full(len(self.ceiling), self.floor)
        winner[number] = np.maximum(best, self.floor)
        reach = self.ceiling.copy()
        for k, ball in enumerate(balls):
            of_ball = self.ball == k
            moved = float(np.linalg.norm(theta[:-1] - ball.theta[:-1]))
            beyond = max(0.0, moved * (1.0 + 1e-9) - ball.radius)
            reach[of_ball] += beyond * self.far_norm[of_ball]
            reach[of_ball] -= self.terms.sign * (theta[-1] - ball.theta[-1])
        return reach > winner


@dataclass
class ScreenedTask:
    """A task whose rows are screened, ball after ball."""

    task: Task
    space: Space
    parts: list[ScreenedTerms]
    balls: list[Ball]

    @classmethod
    def of(cls, task: Task, space: Space, n_raw: int, dtype: np.dtype) -> ScreenedTask:
        """Nothing kept yet."""
        zero_margin = task.problem.loss.zero_margin
        parts = [ScreenedTerms(terms, n_raw, dtype, zero_margin) for terms in task.terms]
        return cls(task, space, parts, [])

    @property
    def n_kept(self) -> int:
        return sum(len(part.row) for part in self.parts)

    def update(self, ball: Ball, found: Sequence[Sequence[ScreeningResult]]) -> None:
        """Take in a pass around a ball: for each chunk, what it keeps of each of the terms."""
        self.balls.append(ball)
        for part, kept in zip(self.parts, zip(*found, strict=True), strict=True):
            part.update(kept, len(self.balls) - 1)

    def adopt(self, other: ScreenedTask) -> None:
        """Take over the passes of a task on the same rows; the rows kept are shared."""
        self.balls = list(other.balls)
        for part, theirs in zip(self.parts, other.parts, strict=True):
            part.adopt(theirs)

    def reduced(self) -> tuple[Task, list[Index]]:
        """Return the task on the rows kept, and the numbers of its terms."""
        raw = np.concatenate([part.raw for part in self.parts])
        offsets = np.cumsum([0] + [len(part.row) for part in self.parts])
        local = [part.local(int(at)) for part, at in zip(self.parts, offsets[:-1], strict=True)]
        kept = [(terms, number) for terms, number in local if len(terms)]
        task = replace(
            self.task,
            terms=[terms for terms, _ in kept],
            rows=rows_in_space(self.space, raw),
            max_passes=np.inf,
            constant=self.task.best_constant(),
        )
        return task, [number for _, number in local]

    def unresolved(self, theta: Vector, reduced: Task) -> list[NDArray[np.bool_]]:
        """For each of the terms, which of them the rows kept do not settle at this point."""
        answers = []
        grouped = iter([terms for terms in reduced.terms if not terms.alone])
        for part in self.parts:
            number, best = NO_ORDER, np.empty(0)
            if not part.rows.alone and len(part.row):
                best = -reduced.rows.worst(next(grouped), theta).margin
                number = part.local(0)[1]
            answers.append(part.unresolved(self.balls, theta, number, best))
        return answers
