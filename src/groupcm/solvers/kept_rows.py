"""The rows of a working set, by term."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from groupcm.candidates import Index, Terms
from groupcm.smoothing import Block, Rows
from groupcm.sources.arrays import RowSource, Winners

__all__ = ["KeptRows"]

# Winners with a margin up to this are kept, though only those below 1 cost anything.
_NEAR_MARGIN = 1.1
# Of many terms only the runners-up not further behind than this are kept: few others become
# winners when the weights change a little.
_MANY_TERMS = 10_000
_CLOSE_BEHIND = 0.2


class KeptRows:
    """Some rows of some terms, standardised, in memory, sorted by term."""

    def __init__(self, terms: Terms, source: RowSource) -> None:
        self.terms = terms
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
        near = winners.margin < _NEAR_MARGIN
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
        """Those of the terms whose row ``row_of[term]`` is not kept."""
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
        """The kept rows as blocks of whole terms."""
        if len(self) == 0:
            return []
        starts = np.flatnonzero(np.diff(self._term, prepend=-1))
        ptr = np.append(starts, len(self._term))
        n_blocks = -(-len(self) // self._source.rows_a_block)
        cuts = np.linspace(0, len(starts), n_blocks + 1).astype(np.int64)
        return [self._block(ptr[lo : hi + 1]) for lo, hi in pairwise(cuts) if lo < hi]

    def _block(self, ptr: Index) -> Block:
        rows = self._rows[ptr[0] : ptr[-1]]
        weight = self.terms.weight_of(self._term[ptr[:-1]])
        return Block(lambda: rows, ptr - ptr[0], self.terms.sign, weight)


def _stack(above: Rows, below: Rows) -> Rows:
    if isinstance(above, np.ndarray):
        return np.concatenate([above, below])
    return sp.csr_array(sp.vstack([above, below], format="csr"))
