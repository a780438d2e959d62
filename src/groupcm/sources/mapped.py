"""Rows in memory whose features come from a map that is applied when they are looked at."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from groupcm.candidates import NO_ORDER, Index, Terms
from groupcm.kernels.scan import scan
from groupcm.parallel import slices, thread_map
from groupcm.sources.arrays import ArraySource, NonFiniteValue, Winners
from groupcm.sources.space import LinearSpace, MappedSpace, Space

__all__ = ["MappedSource", "source_in"]

Vector = NDArray[np.float64]

# Rows that are scored at once.
_ROWS = 16_384
_AS_IT_IS = np.array([[0.0], [1.0]])


@dataclass
class MappedSource(ArraySource):
    """`ArraySource` in the space of a map; its output exists for a few rows at a time."""

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
                ranges = (NO_ORDER, stop - size, stop, _AS_IT_IS, 0, hi - lo)
                if scan((s[:, None],), *ranges, *found) >= 0:
                    raise NonFiniteValue("X holds a value that is not finite.")
                for chosen in (winner[part], runner_up[part]):
                    chosen[:] = rows.start + chosen if isinstance(rows, slice) else rows[chosen]

        terms_a_thread = _ROWS * len(terms.start) // terms.n_rows + 1
        thread_map(scan_terms, slices(len(terms.start), terms_a_thread))
        self.rows_read += terms.n_rows
        return Winners(-score, winner, runner_up, lead)


def _whole_terms(terms: Terms, lo: int, hi: int) -> list[tuple[int, int]]:
    """Cut terms ``lo`` to ``hi`` into parts of about `_ROWS` rows."""
    ends = np.cumsum(terms.stop[lo:hi] - terms.start[lo:hi])
    cuts = np.searchsorted(ends, np.arange(_ROWS, ends[-1] + _ROWS, _ROWS), side="right") + lo
    edges = np.unique(np.clip(np.concatenate([[lo], cuts, [hi]]), lo, hi))
    return [(int(a), int(b)) for a, b in pairwise(edges)]


def _rows_of(terms: Terms, part: slice) -> slice | Index:
    """The rows of some terms, one term after another; a slice where they stand together."""
    start, stop = terms.start[part], terms.stop[part]
    if len(terms.order) == 0 and np.array_equal(start[1:], stop[:-1]):
        return slice(int(start[0]), int(stop[-1]))
    size = stop - start
    offset = np.repeat(start - (np.cumsum(size) - size), size)
    position = offset + np.arange(len(offset))
    return terms.order[position] if len(terms.order) else position


def source_in(space: Space, X: NDArray[np.floating]) -> ArraySource:
    """Rows in memory, in a space."""
    if isinstance(space, MappedSpace):
        return MappedSource(X, space.mean, space.scale, space)
    assert isinstance(space, LinearSpace)
    return ArraySource(X, space.mean, space.scale)
