"""Rows that are already in memory: a NumPy array or a CSR matrix, read in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from groupcm.candidates import Index, Terms
from groupcm.kernels.dot import pack_affine
from groupcm.kernels.scan import scan_csr, scan_dense
from groupcm.parallel import slices, thread_map
from groupcm.smoothing import Block, Rows

__all__ = ["ArraySource", "Winners"]

Vector = NDArray[np.float64]

# Fewer rows than this are not worth a second thread.
_ROWS_A_THREAD = 20_000
# Values of a block that is worked on at once: it should stay in the cache.
BLOCK_VALUES = 1 << 19
# Values that are kept standardised in memory rather than standardised again at each use.
_RESIDENT_VALUES = 1 << 24


@dataclass(frozen=True)
class Winners:
    """The worst row of each term: the smallest margin ``sign · s`` and where it is."""

    margin: Vector
    row: Index


class NonFiniteValue(ValueError):
    """A score is not finite because a value of X is not."""


@dataclass
class ArraySource:
    """Standardised rows ``((x − mean) / scale, 1)`` of an array that is never copied.

    A CSR matrix is scaled but not centred (that would make it dense): with a
    free intercept the problem is the same.
    """

    X: NDArray[np.floating] | sp.csr_array
    mean: Vector
    scale: Vector
    rows_read: int = field(default=0, init=False)

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    def take(self, rows: Index | slice) -> Rows:
        """These rows, standardised, in float64, with a last column of ones."""
        if isinstance(self.X, np.ndarray):
            out = np.empty((len(self.X[rows]), self.n_features + 1))
            np.subtract(self.X[rows], self.mean, out=out[:, :-1])
            out[:, :-1] /= self.scale
            out[:, -1] = 1.0
            return out
        taken = sp.csr_array(self.X[rows])
        scaled = sp.csr_array(
            (taken.data / self.scale[taken.indices], taken.indices, taken.indptr), taken.shape
        )
        return sp.csr_array(sp.hstack([scaled, np.ones((scaled.shape[0], 1))], format="csr"))

    def worst(self, terms: Terms, theta: Vector, *, exact: bool = True) -> Winners:
        """One pass: the smallest margin of each term.

        With ``exact=False`` float32 rows are compared in float32; the
        winner's margin is float64 in any case.
        """
        weights = -terms.sign * theta[:-1] / self.scale
        score = np.empty(len(terms.start))
        winner = np.empty(len(terms.start), dtype=np.int64)
        if isinstance(self.X, np.ndarray):
            precise = pack_affine(self.mean, weights, np.float64)
            affine = precise if exact else pack_affine(self.mean, weights, self.X.dtype)
            head, scan, tail = (self.X,), scan_dense, (affine, precise)
        else:
            head, scan, tail = (self.X.data, self.X.indices, self.X.indptr), scan_csr, (weights,)

        def scan_terms(piece: tuple[int, int]) -> int:
            return scan(*head, terms.order, terms.start, terms.stop, *tail, *piece, score, winner)

        n_rows = terms.n_rows
        terms_a_thread = _ROWS_A_THREAD * len(score) // n_rows + 1
        bad = thread_map(scan_terms, slices(len(score), terms_a_thread))
        self.rows_read += n_rows
        if max(bad) >= 0:
            raise NonFiniteValue("X holds a value that is not finite.")
        return Winners(-(score - terms.sign * theta[-1]), winner)

    def blocks(self, terms: Terms) -> Iterator[Block]:
        """Terms of one row each, as blocks; kept in memory where they are few."""
        size = max(1, BLOCK_VALUES // (self.n_features + 1))
        sparse = not isinstance(self.X, np.ndarray)
        resident = sparse or terms.n_rows * (self.n_features + 1) <= _RESIDENT_VALUES
        for among, rows in terms.row_chunks(size):
            weight = terms.weight if np.isscalar(terms.weight) else np.asarray(terms.weight)[among]
            if resident:
                kept = self.take(rows)
                yield Block(lambda kept=kept: kept, None, terms.sign, weight)
            else:
                read_again = among.stop - among.start
                yield Block(
                    lambda rows=rows: self.take(rows), None, terms.sign, weight, read_again
                )
