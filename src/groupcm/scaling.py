"""Mean and deviation of every feature, so that all are on one scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.sparsefuncs import mean_variance_axis

from groupcm.candidates import Groups
from groupcm.kernels.moments import column_moments
from groupcm.parallel import slices, thread_map
from groupcm.smoothing import Matrix

__all__ = ["Scaling", "measure_scaling"]

Vector = NDArray[np.float64]

# Up to this many values all rows are measured, beyond it a sample of groups of that size.
SAMPLE_VALUES = 4_000_000


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


def measure_scaling(X: Matrix, groups: Groups | None, rng: np.random.Generator) -> Scaling:
    """Mean and population deviation, over all rows or a random sample of groups.

    A constant feature has scale 1. A sparse matrix is not centred: its mean is zero here.
    """
    if not isinstance(X, np.ndarray):
        variance = mean_variance_axis(X, axis=0)[1]  # pyright: ignore[reportOptionalSubscript]
        constant = variance <= 0.0
        return Scaling(np.zeros(X.shape[1]), np.sqrt(np.where(constant, 1.0, variance)), constant)
    rows = _sample_rows(X.shape, groups, rng)
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
    return Scaling(shift + total, scale, constant & (len(rows) == len(X)))


def _sample_rows(
    shape: tuple[int, int], groups: Groups | None, rng: np.random.Generator
) -> NDArray[np.int64]:
    n_rows, n_features = shape
    wanted = max(1_000, SAMPLE_VALUES // n_features)
    if n_rows <= wanted:
        return np.arange(n_rows)
    if groups is None:
        return np.sort(rng.choice(n_rows, wanted, replace=False, shuffle=False))
    share = wanted / n_rows
    n_chosen = max(1, round(share * len(groups)))
    chosen = np.sort(rng.choice(len(groups), n_chosen, replace=False, shuffle=False))
    return groups.rows_of(chosen)
