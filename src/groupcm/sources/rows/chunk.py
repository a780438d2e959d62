"""Provides `Chunk`, consecutive decoded rows of a source, and the check that they are finite."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groupcm.kernels.dot import pack_affine, require_widths, stored_rows
from groupcm.kernels.rows import (
    column_scores,
    column_scores_and_norms,
    gather_columns,
    interleave_columns,
    row_norms,
    row_scores,
)
from groupcm.objective.terms import Index
from groupcm.sources.rows.index import Keys
from groupcm.utils.typing import Vector

__all__ = [
    "Chunk",
    "ColumnMajorFeatures",
    "Features",
    "NonFiniteValue",
    "RowMajorFeatures",
    "require_finite_rows",
]


_ROWS_IN_CACHE = 4096


@dataclass(frozen=True)
class RowMajorFeatures:
    """Features row after row: a C-ordered matrix."""

    X: NDArray[np.floating]

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: Index) -> NDArray[np.floating]:
        """Return some rows, as a matrix."""
        return self.X[rows]

    def matrix(self) -> NDArray[np.floating]:
        """Return all rows, as a C-ordered matrix."""
        return self.X

    def fill(self, out: NDArray[np.floating]) -> None:
        """Copy all rows."""
        out[:] = self.X

    def scores(self, mean: Vector, weights: Vector, constant: Vector) -> Vector:
        """``constant_l + Σ_j (x_ij − mean_j) weights_lj``, one row per set of weights."""
        require_widths(self.X.shape[1], weights, mean)
        score = np.empty((len(weights), len(self)))
        for out, w, c in zip(score, weights, constant, strict=True):
            row_scores(stored_rows(self.X), pack_affine(mean, w), c, out)
        return score

    def scores_and_norms(
        self, mean: Vector, scale: Vector, weights: Vector, constant: Vector
    ) -> tuple[Vector, Vector]:
        """`scores`, and ``‖(x_i − mean) / scale‖``, while some rows are in the cache."""
        require_widths(self.X.shape[1], weights, mean, scale)
        score, norm = np.empty((len(weights), len(self))), np.empty(len(self))
        packed = [pack_affine(mean, w) for w in weights]
        for lo in range(0, len(self), _ROWS_IN_CACHE):
            block = slice(lo, lo + _ROWS_IN_CACHE)
            rows = self.X[block]
            for out, w, c in zip(score, packed, constant, strict=True):
                row_scores(stored_rows(rows), w, c, out[block])
            row_norms(rows, mean, scale, norm[block])
        return score, norm


@dataclass(frozen=True)
class ColumnMajorFeatures:
    """Features column after column, all of one type, each contiguous."""

    columns: tuple[NDArray[np.floating], ...]

    def __len__(self) -> int:
        return len(self.columns[0])

    @cached_property
    def _addresses(self) -> Index:
        first = self.columns[0]
        for column in self.columns:
            if column.shape != first.shape or column.dtype != first.dtype or column.ndim != 1:
                raise ValueError("columns of one chunk must have one length and one type")
            if not column.flags.c_contiguous:
                raise ValueError("columns must be contiguous")
        return np.array([column.ctypes.data for column in self.columns], dtype=np.int64)

    def _require_columns(self, weights: Vector, constant: Vector, *vectors: Vector) -> None:
        """Refuse weights that do not fit the columns: the kernels read as many as there are."""
        require_widths(len(self.columns), weights, *vectors)
        require_widths(len(weights), constant)

    @property
    def _like(self) -> NDArray[np.floating]:
        return self.columns[0][:0]

    def take(self, rows: Index) -> NDArray[np.floating]:
        """Return some rows, as a matrix."""
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(self):
            raise IndexError(f"rows {rows.min()} to {rows.max()} of a chunk of {len(self)}")
        out = np.empty((len(rows), len(self.columns)), self._like.dtype)
        gather_columns(self._addresses, self._like, len(self), rows, out)
        return out

    def matrix(self) -> NDArray[np.floating]:
        """Return all rows, as a C-ordered matrix."""
        out = np.empty((len(self), len(self.columns)), self._like.dtype)
        self.fill(out)
        return out

    def fill(self, out: NDArray[np.floating]) -> None:
        """Copy all rows into a matrix."""
        if out.shape != (len(self), len(self.columns)):
            raise ValueError(f"{len(self)} rows do not fit a matrix of shape {out.shape}")
        interleave_columns(self._addresses, self._like, out)

    def scores(self, mean: Vector, weights: Vector, constant: Vector) -> Vector:
        """``constant_l + Σ_j (x_ij − mean_j) weights_lj``, one row per set of weights."""
        self._require_columns(weights, constant, mean)
        score = np.empty((len(weights), len(self)))
        column_scores(self._addresses, self._like, mean, weights, constant, score)
        return score

    def scores_and_norms(
        self, mean: Vector, scale: Vector, weights: Vector, constant: Vector
    ) -> tuple[Vector, Vector]:
        """`scores`, and ``‖(x_i − mean) / scale‖``, in one pass over the columns."""
        self._require_columns(weights, constant, mean, scale)
        score, norm = np.empty((len(weights), len(self))), np.empty(len(self))
        column_scores_and_norms(
            self._addresses, self._like, mean, scale, weights, constant, score, norm
        )
        return score, norm


Features = RowMajorFeatures | ColumnMajorFeatures


@dataclass(frozen=True)
class Chunk:
    """Rows ``first`` to ``first + n_rows`` of a source; what was not requested is None."""

    first: int
    n_rows: int
    features: Features | None = None
    keys: Keys | None = None

    @property
    def stop(self) -> int:
        """The row after its last."""
        return self.first + self.n_rows


class NonFiniteValue(ValueError):
    """A feature is not finite, or a score is not because of one."""


def require_finite_rows(rows: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the rows themselves, or raise `NonFiniteValue`; the caller knows where they are."""
    with np.errstate(invalid="ignore", over="ignore"):
        suspect = not np.isfinite(rows.sum())
    if suspect and not np.all(np.isfinite(rows)):
        raise NonFiniteValue("a feature is not finite")
    return rows
