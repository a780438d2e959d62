"""Mean and deviation of every feature, so that all are on one scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.sparsefuncs import mean_variance_axis

from groupcm.candidates import Groups, Index
from groupcm.kernels.moments import column_moments
from groupcm.parallel import slices, thread_map
from groupcm.smoothing import Matrix

__all__ = ["Scaling", "measure_scaling", "rows_to_measure"]

Vector = NDArray[np.float64]

# Up to this many values all rows are measured, beyond it a sample of groups of about that size.
SAMPLE_VALUES = 4_000_000
_STRETCHES = 32


@dataclass(frozen=True)
class Scaling:
    """``(x − mean) / scale``, and which features are known to be constant."""

    mean: Vector
    scale: Vector
    constant: NDArray[np.bool_]

    @classmethod
    def none(cls, n_features: int) -> Scaling:
        """Features as they are."""
        return cls(np.zeros(n_features), np.ones(n_features), np.zeros(n_features, dtype=np.bool_))

    def in_units(self, weights: Vector, intercept: Vector) -> tuple[Vector, Vector]:
        """Weights and intercepts of scaled features, a row a model, for features as they are."""
        coef = weights / self.scale
        # A constant feature is zero once its mean is off: its weight says nothing.
        coef[:, self.constant] = 0.0
        return coef, intercept - coef @ self.mean


def measure_scaling(X: Matrix, rows: Index, *, all_rows: bool) -> Scaling:
    """Mean and population deviation over some rows.

    A constant feature has scale 1; only ``all_rows`` can tell that it is constant everywhere.
    A sparse matrix is measured whole and not centred: its mean is zero here.
    """
    if not isinstance(X, np.ndarray):
        variance = mean_variance_axis(X, axis=0)[1]  # pyright: ignore[reportOptionalSubscript]
        constant = variance <= 0.0
        return Scaling(np.zeros(X.shape[1]), np.sqrt(np.where(constant, 1.0, variance)), constant)
    shift = X[rows[0]].astype(np.float64)

    def moments(piece: tuple[int, int]) -> Vector:
        sums = np.zeros((2, X.shape[1]))
        column_moments(X, rows[piece[0] : piece[1]], shift, sums[0], sums[1])
        return sums

    total, square = np.sum(thread_map(moments, slices(len(rows), 20_000)), axis=0) / len(rows)
    variance = np.maximum(square - total**2, 0.0)
    constant = square == 0.0
    # A variance that is all rounding is none.
    rounding = np.finfo(X.dtype).eps * np.abs(shift + total)
    flat = variance <= rounding**2
    scale = np.sqrt(np.where(flat, 1.0, variance))
    return Scaling(shift + total, scale, constant & all_rows)


def rows_to_measure(n_rows: int, n_features: int, groups: Groups | None) -> Index:
    """All rows, or of many some stretches of whole groups, evenly spread.

    The choice depends on nothing else, so that the same candidates are put on the same scale
    whatever source they come from. Stretches, because a file is read by stretches.

    Examples
    --------
    >>> rows_to_measure(3, 2, None)
    array([0, 1, 2])
    >>> len(rows_to_measure(10**9, 1_000, None))
    4000
    """
    wanted = max(1_000, SAMPLE_VALUES // n_features)
    if n_rows <= wanted:
        return np.arange(n_rows)
    length = -(-wanted // _STRETCHES)
    if groups is None:
        starts = np.linspace(0, n_rows - length, _STRETCHES).astype(np.int64)
        return np.unique(starts[:, None] + np.arange(length))
    first = np.linspace(0, len(groups), _STRETCHES, endpoint=False).astype(np.int64)
    stop = np.searchsorted(groups.ptr, groups.ptr[first] + length)
    stop = np.minimum(stop, np.append(first[1:], len(groups)))
    chosen = [np.arange(lo, hi) for lo, hi in zip(first, stop, strict=True)]
    return groups.rows_of(np.concatenate(chosen))
