"""Provides `Side`: the terms of one sign with their rows, as the solver of pairs needs them.

A number of each row and a number of each term are vectors over all blocks of the side, so that what
follows from margins alone, such as the loss of all pairs, needs no rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from groupcm.kernels.maxima import share_out, soft_minima
from groupcm.objective.smoothed import Block, Rows
from groupcm.solvers.newton_system import over_blocks
from groupcm.utils.typing import Index, Vector

__all__ = ["Side"]


class Side:
    """The terms of one sign: their rows, in blocks, and where each block's terms begin."""

    def __init__(self, blocks: Sequence[Block], sign: int) -> None:
        self.blocks, self.sign = list(blocks), sign
        n_rows = [block.load().shape[0] for block in self.blocks]
        n_terms = [
            n if block.ptr is None else len(block.ptr) - 1
            for block, n in zip(self.blocks, n_rows, strict=True)
        ]
        self._rows = np.concatenate([[0], np.cumsum(n_rows)]).astype(np.int64)
        self._terms = np.concatenate([[0], np.cumsum(n_terms)]).astype(np.int64)
        self.weight = np.concatenate(
            [np.empty(0)]
            + [
                np.broadcast_to(block.weight, n).astype(np.float64)
                for block, n in zip(self.blocks, n_terms, strict=True)
            ]
        )

    @property
    def n_rows(self) -> int:
        """How many rows a look takes."""
        return int(self._rows[-1])

    @property
    def n_terms(self) -> int:
        return int(self._terms[-1])

    def _numbered(self) -> list[tuple[Block, slice, slice]]:
        """Each block with the places of its rows and of its terms."""
        rows, terms = self._rows.tolist(), self._terms.tolist()
        return [
            (block, slice(rows[i], rows[i + 1]), slice(terms[i], terms[i + 1]))
            for i, block in enumerate(self.blocks)
        ]

    def margins(self, theta: Vector) -> Vector:
        """``sign · w·x`` of every row."""
        found = over_blocks(lambda block: self.sign * (block.load() @ theta), self.blocks)
        return np.concatenate([np.empty(0), *found])

    def minima(self, margin: Vector, temperature: float) -> tuple[Vector, Vector, Vector | None]:
        """Return the soft and the hard minima of the terms, and each row's share in the soft ones.

        There are no shares where every row is a term.
        """
        if all(block.ptr is None for block in self.blocks):
            return margin, margin, None
        soft, hard = np.empty((2, self.n_terms))
        share = np.ones(self.n_rows)
        for block, rows, terms in self._numbered():
            if block.ptr is None:
                soft[terms] = hard[terms] = margin[rows]
            else:
                found = soft[terms], hard[terms], share[rows]
                soft_minima(margin[rows], block.ptr, temperature, *found)
        return soft, hard, share

    def to_rows(self, of_term: Vector, share: Vector | None) -> Vector:
        """Divide the number of each term among its rows."""
        if share is None:
            return of_term
        out = np.empty(self.n_rows)
        for block, rows, terms in self._numbered():
            if block.ptr is None:
                out[rows] = of_term[terms]
            else:
                share_out(of_term[terms], block.ptr, share[rows], out[rows])
        return out

    def to_terms(self, of_row: Vector, share: Vector | None) -> Vector:
        """Return the mean over the rows of each term, weighted by their shares."""
        if share is None:
            return of_row
        out = np.empty(self.n_terms)
        for block, rows, terms in self._numbered():
            if block.ptr is None:
                out[terms] = of_row[rows]
            else:
                out[terms] = np.add.reduceat(share[rows] * of_row[rows], block.ptr[:-1])
        return out

    def total(self, of_row: Vector, width: int) -> Vector:
        """``Σ_i of_row_i (x_i, 1)``, without the sign."""
        found = over_blocks(lambda each: each[0].load().T @ of_row[each[1]], self._numbered())
        return sum(found, np.zeros(width))

    def means(self, share: Vector | None) -> Vector:
        """Return the mean row of each term times the sign, dense, without its last entry."""
        parts = []
        for block, rows, _ in self._numbered():
            loaded = block.load()
            if block.ptr is not None and share is not None:
                n = loaded.shape[0]
                shape = (len(block.ptr) - 1, n)
                loaded = sp.csr_array((share[rows], np.arange(n), block.ptr), shape=shape) @ loaded
            dense = loaded if isinstance(loaded, np.ndarray) else loaded.toarray()
            parts.append(self.sign * dense[:, :-1])
        return np.concatenate(parts)

    def spread(self, of_row: Vector, mixed: Index) -> Vector:
        """``Σ_i of_row_i x_i x_iᵀ`` over the rows of the mixed terms, without the last entry."""
        total = 0.0
        is_mixed = np.zeros(self.n_terms, dtype=bool)
        is_mixed[mixed] = True
        for block, rows, terms in self._numbered():
            if block.ptr is None or not is_mixed[terms].any():
                continue
            chosen = np.flatnonzero(np.repeat(is_mixed[terms], np.diff(block.ptr)))
            x: Rows = block.load()[chosen]
            x = (x if isinstance(x, np.ndarray) else x.toarray())[:, :-1]
            total = total + (x * of_row[rows][chosen, None]).T @ x
        return np.asarray(total)
