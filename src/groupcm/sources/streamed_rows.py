"""The rows of a stream as a solver asks for them, read again whenever they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.candidates import Index, Terms
from groupcm.smoothing import Block, Rows
from groupcm.sources.arrays import Winners
from groupcm.sources.source import rows_by_unit
from groupcm.sources.space import Space
from groupcm.sources.stream import Stream

__all__ = ["StreamedRows"]

_BLOCK_VALUES = 1 << 22


@dataclass
class StreamedRows:
    """Standardised rows of a stream; rows that count alone come unit by unit."""

    stream: Stream
    space: Space

    @property
    def rows_read(self) -> int:
        return self.stream.rows_read

    @property
    def rows_a_block(self) -> int:
        """How many rows are worked on at once."""
        return max(1, _BLOCK_VALUES // (self.space.n_features + 1))

    def take(self, rows: Index | slice) -> Rows:
        """These rows, standardised, in float64, with a last column of ones."""
        chosen = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        return self.space.vectors(self.stream.raw(chosen))

    def worst(self, terms: Terms, theta: NDArray[np.float64]) -> Winners:
        """Not on a stream: `groupcm.solvers.streamed` screens instead."""
        raise NotImplementedError("grouped terms of a stream are screened")

    def blocks(self, terms: Terms) -> Iterator[Block]:
        """Terms of one row each, a unit at a time, or a part of one, decoded at each use."""
        rows = terms.rows(np.arange(terms.n_rows))
        in_order = np.argsort(rows, kind="stable")
        rows = rows[in_order]
        done = 0
        for _, part in rows_by_unit(self.stream.source.unit_ptr, rows):
            for lo in range(0, len(part), self.rows_a_block):
                piece = part[lo : lo + self.rows_a_block]
                weight = terms.weight_of(in_order[done : done + len(piece)])
                done += len(piece)
                yield Block(lambda piece=piece: self.take(piece), None, terms.sign, weight)
