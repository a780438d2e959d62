"""Provides the rows that a solver reads, standardised: `SolverRows` and its three kinds.

============  ======================================================================
ArrayRows     a NumPy array or CSR matrix in memory, read in place
MappedRows    an array in memory whose features pass through a feature map
StreamedRows  a source, read through a `SourceReader` whenever rows are needed
============  ======================================================================
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from groupcm.kernels.dot import pack_affine, require_widths, stored_rows
from groupcm.kernels.maxima import scan
from groupcm.objective.smoothed import Block, Matrix, Rows
from groupcm.objective.terms import NO_ORDER, Index, Terms
from groupcm.sources.base import rows_by_unit
from groupcm.sources.rows.chunk import NonFiniteValue
from groupcm.sources.rows.reader import SourceReader
from groupcm.sources.rows.space import LinearSpace, MappedSpace, Space
from groupcm.utils.parallel import slices, thread_map
from groupcm.utils.typing import Vector

__all__ = ["ArrayRows", "MappedRows", "SolverRows", "StreamedRows", "Winners", "rows_in_space"]

# Fewer rows than this do not pay for a second thread.
_ROWS_PER_THREAD = 50_000
# Values of a block that is worked on at once: it should stay in the cache.
_BLOCK_VALUES = 1 << 18
# Of wide rows a block has more, or BLAS has too little to do.
_BLOCK_ROWS = 2048
# CSR matrices of so few columns and values do not pay for the overhead of sparse products.
_FEW_COLUMNS = 256
_SMALL_MATRIX = 1 << 18
# Values that are kept standardised in memory rather than standardised again at each use.
_RESIDENT_VALUES = 1 << 24
# Values of a block of rows that are decoded at each use.
_STREAMED_BLOCK_VALUES = 1 << 22
# Rows that a feature map scores at once.
_MAPPED_ROWS = 16_384
# The mean and the weight of the single column of a vector of scores.
_IDENTITY = np.array([[0.0], [1.0]])


@dataclass(frozen=True)
class Winners:
    """The worst row of each term and the next worst.

    ``margin`` is the smallest ``sign · s``, ``lead`` how much larger the runner-up's is.
    """

    margin: Vector
    row: Index
    runner_up: Index
    lead: Vector


class SolverRows(Protocol):
    """Standardised rows ``((φ(x) − mean) / scale, 1)``, as a solver reads them."""

    @property
    def rows_read(self) -> int: ...
    @property
    def rows_per_block(self) -> int: ...
    def take(self, rows: Index | slice) -> Rows: ...
    def worst(self, terms: Terms, theta: Vector) -> Winners: ...
    def blocks(self, terms: Terms) -> Iterator[Block]: ...


@dataclass
class ArrayRows:
    """Standardised rows ``((x − mean) / scale, 1)`` of an array that is never copied.

    Of a CSR matrix only stored values are centred: ``mean`` is zero for every column that has
    absent entries (`groupcm.features.scaling.measure_scaling`).
    """

    X: Matrix
    mean: Vector
    scale: Vector
    rows_read: int = field(default=0, init=False)
    _counting: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    @property
    def rows_per_block(self) -> int:
        """How many rows are worked on at once."""
        return max(_BLOCK_ROWS, _BLOCK_VALUES // (self.n_features + 1))

    @cached_property
    def _is_small(self) -> bool:
        """Whether rows of a CSR matrix are taken as dense ones, which are quicker to work with."""
        return self.n_features <= _FEW_COLUMNS and self.n_rows * self.n_features <= _SMALL_MATRIX

    def take(self, rows: Index | slice) -> Rows:
        """Return these rows, standardised, in float64, with a last column of ones."""
        if isinstance(self.X, np.ndarray):
            return self._take_dense(self.X, rows)
        taken = self.X[rows]
        if self._is_small:
            return self._take_dense(taken.toarray(), slice(0, taken.shape[0]))
        column = taken.indices
        data = (taken.data - self.mean[column]) / self.scale[column]
        scaled = sp.csr_array((data, taken.indices, taken.indptr), shape=taken.shape)
        return sp.csr_array(sp.hstack([scaled, np.ones((taken.shape[0], 1))], format="csr"))

    def _take_dense(self, X: NDArray[np.floating], rows: Index | slice) -> NDArray[np.float64]:
        n_rows = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
        out = np.empty((n_rows, self.n_features + 1))

        def fill(piece: tuple[int, int]) -> None:
            part = slice(*piece)
            chosen = (
                slice(*(rows.start + at for at in piece)) if isinstance(rows, slice) else rows[part]
            )
            values = out[part, :-1]
            np.subtract(X[chosen], self.mean, out=values)
            values /= self.scale
            out[part, -1] = 1.0

        thread_map(fill, slices(n_rows, _ROWS_PER_THREAD))
        return out

    def worst(self, terms: Terms, theta: Vector) -> Winners:
        """Return the smallest margin of each term, by one pass."""
        require_widths(self.X.shape[1], theta[:-1], self.mean, self.scale)
        weights = -terms.sign * theta[:-1] / self.scale
        n_terms = len(terms.start)
        score, lead = np.empty((2, n_terms))
        winner, runner_up = np.empty((2, n_terms), dtype=np.int64)
        if not isinstance(self.X, np.ndarray):
            weights = np.stack([self.mean, weights])
            rows = (self.X.data, self.X.indices, self.X.indptr)
        else:
            weights = pack_affine(self.mean, weights)
            rows = stored_rows(self.X)

        def scan_terms(piece: tuple[int, int]) -> int:
            where = (rows, terms.order, terms.start, terms.stop, weights)
            return scan(*where, *piece, score, winner, runner_up, lead)

        n_rows = terms.n_rows
        terms_per_thread = _ROWS_PER_THREAD * n_terms // n_rows + 1
        bad = thread_map(scan_terms, slices(n_terms, terms_per_thread))
        self.rows_read += n_rows
        if max(bad) >= 0:
            raise NonFiniteValue("X holds a value that is not finite.")
        return Winners(-(score - terms.sign * theta[-1]), winner, runner_up, lead)

    def blocks(self, terms: Terms) -> Iterator[Block]:
        """Terms of one row each, as blocks; kept in memory where they are few."""
        size = self.rows_per_block
        resident = sp.issparse(self.X) or terms.n_rows * (self.n_features + 1) <= _RESIDENT_VALUES
        for among, rows in terms.row_chunks(size):
            weight = terms.weight_of(among)
            if resident:
                kept = self.take(rows)
                self.rows_read += kept.shape[0]
                yield Block(lambda kept=kept: kept, None, terms.sign, weight)
            else:
                yield Block(lambda rows=rows: self._read(rows), None, terms.sign, weight)

    def _read(self, rows: Index | slice) -> Rows:
        """Return rows and count them as read; any thread may call this."""
        taken = self.take(rows)
        with self._counting:
            self.rows_read += taken.shape[0]
        return taken


@dataclass
class MappedRows(ArrayRows):
    """`ArrayRows` in the space of a map; its output exists for a few rows at a time."""

    space: MappedSpace

    @property
    def n_features(self) -> int:
        return self.space.n_features

    def _take_dense(self, X: NDArray[np.floating], rows: Index | slice) -> Vector:
        return self.space.vectors(np.ascontiguousarray(X[rows]))

    def worst(self, terms: Terms, theta: Vector) -> Winners:
        score, lead = np.empty((2, len(terms.start)))
        winner, runner_up = np.empty((2, len(terms.start)), dtype=np.int64)

        def scan_terms(piece: tuple[int, int]) -> None:
            for lo, hi in _whole_terms(terms, *piece):
                part = slice(lo, hi)
                rows = _rows_of(terms, part)
                s = -terms.sign * self.space.score(np.ascontiguousarray(self.X[rows]), theta)
                size = terms.stop[part] - terms.start[part]
                stop = np.cumsum(size)
                found = (score[part], winner[part], runner_up[part], lead[part])
                ranges = (NO_ORDER, stop - size, stop, _IDENTITY, 0, hi - lo)
                if scan((s[:, None],), *ranges, *found) >= 0:
                    raise NonFiniteValue("X holds a value that is not finite.")
                for chosen in (winner[part], runner_up[part]):
                    chosen[:] = rows.start + chosen if isinstance(rows, slice) else rows[chosen]

        terms_per_thread = _MAPPED_ROWS * len(terms.start) // terms.n_rows + 1
        thread_map(scan_terms, slices(len(terms.start), terms_per_thread))
        self.rows_read += terms.n_rows
        return Winners(-score, winner, runner_up, lead)


@dataclass
class StreamedRows:
    """Standardised rows of a source; rows that count alone come unit by unit.

    Every use decodes the rows again, unless the reader keeps them in memory.
    """

    reader: SourceReader
    space: Space

    @property
    def rows_read(self) -> int:
        return self.reader.rows_read

    @property
    def rows_per_block(self) -> int:
        """How many rows are worked on at once."""
        return max(1, _STREAMED_BLOCK_VALUES // (self.space.n_features + 1))

    def take(self, rows: Index | slice) -> Rows:
        """Return these rows, standardised, in float64, with a last column of ones."""
        chosen = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        return self.space.vectors(self.reader.raw(chosen))

    def worst(self, terms: Terms, theta: NDArray[np.float64]) -> Winners:
        """Not available: `groupcm.solvers.streamed` screens instead."""
        raise NotImplementedError("grouped terms of a streamed source are screened")

    def blocks(self, terms: Terms) -> Iterator[Block]:
        """Terms of one row each, a unit at a time, or a part of one, decoded at each use."""
        rows = terms.rows(np.arange(terms.n_rows))
        in_order = np.argsort(rows, kind="stable")
        rows = rows[in_order]
        done = 0
        for _, part in rows_by_unit(self.reader.source.unit_ptr, rows):
            for lo in range(0, len(part), self.rows_per_block):
                piece = part[lo : lo + self.rows_per_block]
                weight = terms.weight_of(in_order[done : done + len(piece)])
                done += len(piece)
                yield Block(lambda piece=piece: self.take(piece), None, terms.sign, weight)


def rows_in_space(space: Space, X: NDArray[np.floating]) -> ArrayRows:
    """Return rows in memory as the vectors of a space."""
    if isinstance(space, MappedSpace):
        return MappedRows(X, space.mean, space.scale, space)
    assert isinstance(space, LinearSpace)
    return ArrayRows(X, space.mean, space.scale)


def _whole_terms(terms: Terms, lo: int, hi: int) -> list[tuple[int, int]]:
    """Cut terms ``lo`` to ``hi`` into parts of about `_MAPPED_ROWS` rows."""
    ends = np.cumsum(terms.stop[lo:hi] - terms.start[lo:hi])
    steps = np.arange(_MAPPED_ROWS, ends[-1] + _MAPPED_ROWS, _MAPPED_ROWS)
    cuts = np.searchsorted(ends, steps, side="right") + lo
    edges = np.unique(np.clip(np.concatenate([[lo], cuts, [hi]]), lo, hi))
    return [(int(a), int(b)) for a, b in pairwise(edges)]


def _rows_of(terms: Terms, part: slice) -> slice | Index:
    """Return the rows of some terms, one term after another; a slice where they are contiguous."""
    start, stop = terms.start[part], terms.stop[part]
    if len(terms.order) == 0 and np.array_equal(start[1:], stop[:-1]):
        return slice(int(start[0]), int(stop[-1]))
    size = stop - start
    offset = np.repeat(start - (np.cumsum(size) - size), size)
    position = offset + np.arange(len(offset))
    return terms.order[position] if len(terms.order) else position
