"""Provides `KeptRows`: the rows of a working set."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from groupcm.objective.smoothed import Block, Rows
from groupcm.objective.terms import Index, Terms
from groupcm.sources.rows.solver_rows import SolverRows, Winners
from groupcm.utils.typing import Vector

__all__ = ["KeptRows"]

# Winners are kept up to a margin so far above the one from which they cost nothing.
_NEAR_MARGIN = 0.1
# Of many terms only the runners-up not further behind than this are kept: few others become
# winners when the weights change a little.
_MANY_TERMS = 1_000
_CLOSE_BEHIND = 0.2


class KeptRows:
    """Some rows of some terms, standardised, in memory, sorted by term.

    Of a loss that never becomes zero (``zero_margin`` is infinite), every term has some.
    ``shares`` are those of the rows in the dual, as `groupcm.solvers.multipliers` has them.
    """

    def __init__(self, terms: Terms, source: SolverRows, zero_margin: float) -> None:
        self.terms = terms
        self._kept_below = zero_margin + _NEAR_MARGIN
        self._source = source
        self._row: Index = np.empty(0, dtype=np.int64)
        self._term: Index = np.empty(0, dtype=np.int64)
        self.rows: Rows = source.take(self._row)
        self.shares: Vector = np.empty(0)

    def __len__(self) -> int:
        return len(self._row)

    def on(self, terms: Terms) -> KeptRows:
        """Return what is kept of those of the terms that are among other terms of the same rows."""
        other = KeptRows(terms, self._source, self._kept_below - _NEAR_MARGIN)
        mine = self.terms
        if len(mine) == 0 or not np.array_equal(mine.order, terms.order):
            return other
        is_same = np.array_equal(mine.start, terms.start) and np.array_equal(mine.stop, terms.stop)
        if is_same and self.rows.shape[0] == len(self):  # only the weights differ
            other._row, other._term, other.rows = self._row, self._term, self.rows
            other.shares = self.shares.copy()
            return other
        at = np.minimum(np.searchsorted(mine.start, terms.start), len(mine) - 1)
        same = (mine.start[at] == terms.start) & (mine.stop[at] == terms.stop)
        number = np.full(len(mine), -1)
        number[at[same]] = np.flatnonzero(same)
        kept = np.flatnonzero(number[self._term] >= 0)
        other._row, other._term = self._row[kept], number[self._term[kept]]
        other.rows, other.shares = self._source.take(other._row), self.shares[kept]
        return other

    def moved(self, source: SolverRows) -> KeptRows:
        """Return the same of another source, whose rows have the same numbers."""
        other = KeptRows(self.terms, source, self._kept_below - _NEAR_MARGIN)
        other.adopt(self)
        return other

    def adopt(self, other: KeptRows) -> None:
        """Keep what the same terms keep of another source."""
        self._row, self._term = other._row, other._term
        self.rows, self.shares = self._source.take(self._row), other.shares.copy()

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
        rows, shares = self._source.take(row), np.zeros(len(row))
        if len(self):
            term, row = np.concatenate([self._term, term]), np.concatenate([self._row, row])
            by_term = np.argsort(term, kind="stable")
            term, row = term[by_term], row[by_term]
            rows = _stack(self.rows, rows)[by_term]
            shares = np.concatenate([self.shares, shares])[by_term]
        self._term, self._row, self.rows, self.shares = term, row, rows, shares

    def keep_all(self) -> None:
        """Keep every row of every term."""
        if len(self) == self.terms.n_rows:
            return
        size = self.terms.stop - self.terms.start
        term = np.repeat(np.arange(len(size)), size)
        self._row, self._term, self.shares = self._row[:0], self._term[:0], self.shares[:0]
        self.rows = self._source.take(self._row)
        self._add(term, self.terms.rows(np.arange(len(term))))

    def blocks(self) -> list[Block]:
        """Return the kept rows as blocks of whole terms."""
        if len(self) == 0:
            return []
        ptr = self._ptr()
        starts = ptr[:-1]
        n_blocks = -(-len(self) // self._source.rows_per_block)
        cuts = np.linspace(0, len(starts), n_blocks + 1).astype(np.int64)
        return [self._block(ptr[lo : hi + 1]) for lo, hi in pairwise(cuts) if lo < hi]

    def terms_kept(self) -> tuple[Index, float | Vector]:
        """Return where the rows of each term that has any begin, and the weights of these terms."""
        ptr = self._ptr()
        return ptr, self.terms.weight_of(self.numbers())

    def numbers(self) -> Index:
        """Return the numbers of the terms that have any rows here."""
        return self._term[self._ptr()[:-1]]

    def _ptr(self) -> Index:
        return np.append(np.flatnonzero(np.diff(self._term, prepend=-1)), len(self._term))

    def _block(self, ptr: Index) -> Block:
        rows = self.rows[ptr[0] : ptr[-1]]
        weight = self.terms.weight_of(self._term[ptr[:-1]])
        return Block(lambda: rows, ptr - ptr[0], self.terms.sign, weight)


def _stack(above: Rows, below: Rows) -> Rows:
    if isinstance(above, np.ndarray):
        return np.concatenate([above, below])
    return sp.csr_array(sp.vstack([above, below], format="csr"))
