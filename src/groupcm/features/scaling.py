"""Provides `Scaling`, the mean and deviation of every feature, which puts all on one scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from groupcm.kernels.rows import (
    column_moments,
    stored_moments,
    weighted_column_moments,
    weighted_stored_moments,
)
from groupcm.objective.smoothed import Matrix
from groupcm.objective.terms import Groups, Index
from groupcm.utils.parallel import slices, thread_map
from groupcm.utils.typing import Vector

__all__ = [
    "Scaling",
    "groups_to_measure",
    "measure_scaling",
    "rows_to_measure",
    "store_nearly_full_columns",
]


# Up to this many values all rows are measured, beyond it a sample of groups of about that size.
SAMPLE_VALUES = 4_000_000
_STRETCHES = 32
# Sparse columns whose mean is more deviations from zero than this are centred; and sums around a
# value that is more deviations from the mean are taken again, around the mean.
_MOST_DEVIATIONS = 4.0
# Veltkamp's constant: it splits a float64 into two halves whose products are exact.
_SPLITTER = 2.0**27 + 1.0


@dataclass(frozen=True)
class Scaling:
    """``z = (x − mean) / scale``, the rows that a solver works on.

    Attributes
    ----------
    mean, scale : ndarray of shape (d,)
        The scale of a feature that is set aside is infinite, so that its ``z`` is zero.
    constant : ndarray of bool of shape (d,)
        The features that are set aside because they are constant, up to rounding.
    units : ndarray of shape (d,), or 1.0
        What the penalty multiplies each weight of ``z`` with: 1 where the penalty is that of the
        standardised features, ``1 / scale`` where it is that of the features as they are.
    uncentred_mean : ndarray of shape (d,), optional
        The means of the features where ``mean`` is not: sparse features are not centred.
    """

    mean: Vector
    scale: Vector
    constant: NDArray[np.bool_]
    units: Vector | float = 1.0
    uncentred_mean: Vector | None = None

    @property
    def feature_means(self) -> Vector:
        """The mean of each feature over the rows that were measured."""
        return self.mean if self.uncentred_mean is None else self.uncentred_mean

    def for_raw_penalty(self) -> Scaling:
        """Return the scaling of a problem whose penalty is on the weights of the raw features.

        The problem is the one without standardisation, but the solver sees rows of moderate
        size: centred, and divided by their deviation where that is above 1. No feature is set
        aside.
        """
        scale = np.where(self.constant, 1.0, np.maximum(self.scale, 1.0))
        constant = np.zeros_like(self.constant)
        return Scaling(self.mean, scale, constant, 1.0 / scale, self.uncentred_mean)

    def in_units(self, weights: Vector, intercept: Vector) -> tuple[Vector, Vector]:
        """Return weights and intercepts for the raw features, one row of ``weights`` per model."""
        coef = weights / self.scale
        offsets = [
            math.fsum([b, *(-part for part in _exact_products(w, self.mean))])
            for w, b in zip(coef, intercept, strict=True)
        ]
        return coef, np.array(offsets)

    def from_units(self, coef: Vector, intercept: float) -> Vector:
        """Return ``(w, b)`` for the rows ``z`` of a model for the raw features, exactly rounded."""
        w = np.where(self.constant, 0.0, coef * np.where(self.constant, 1.0, self.scale))
        return np.append(w, math.fsum([intercept, *_exact_products(coef, self.mean)]))


def _exact_products(a: Vector, b: Vector) -> list[float]:
    """Return numbers whose exact sum is ``a · b``: each product and its rounding error (Dekker)."""
    product = a * b
    with np.errstate(over="ignore", invalid="ignore"):
        high_a, high_b = ((_SPLITTER * x) - (_SPLITTER * x - x) for x in (a, b))
        low_a, low_b = a - high_a, b - high_b
        error = low_a * low_b - (((product - high_a * high_b) - low_a * high_b) - high_a * low_b)
    return [*product.tolist(), *np.where(np.isfinite(error), error, 0.0).tolist()]


def measure_scaling(
    X: Matrix, rows: Index, *, all_rows: bool, weight: Vector | None = None
) -> Scaling:
    """Compute the mean and the population deviation over some rows.

    With ``weight``, one number above 0 per row of X, both are weighted: a row of weight 2 counts
    as if it were there twice.

    A feature is constant by the rule of scikit-learn's ``StandardScaler``: its deviation is no
    larger than the rounding of its mean. Where ``all_rows`` are measured it is set aside;
    a sample cannot show that a feature is constant everywhere, so there it gets the scale 1.

    A sparse matrix is always measured whole. Its features that are stored in every row are
    centred. Those with absent entries are not, which would store them: with a free intercept the
    problem is the same, and after `store_nearly_full_columns` their mean is at most a few
    deviations.
    """
    if isinstance(X, np.ndarray) and X.dtype == np.float16:
        X, rows = X[rows].astype(np.float32), np.arange(len(rows))
        weight = None if weight is None else weight[rows]
    with np.errstate(over="ignore", invalid="ignore"):  # the caller looks at what comes out
        if isinstance(X, np.ndarray):
            n_rows = len(rows)
            mean, variance = _dense_moments(X, rows, weight)
            centre = mean
        else:
            n_rows, all_rows = X.shape[0], True
            mean, variance, stored = _sparse_moments(X, weight)
            centre = np.where(stored == n_rows, mean, 0.0)
        rounding = n_rows * np.finfo(np.float64).eps
        constant = variance <= rounding * variance + (rounding * mean) ** 2
    constant &= np.isfinite(variance)
    scale = np.sqrt(np.where(constant, 1.0, variance))
    if all_rows:
        scale = np.where(constant, np.inf, scale)
    uncentred = None if centre is mean else mean
    return Scaling(centre, scale, constant & all_rows, uncentred_mean=uncentred)


def store_nearly_full_columns(X: Matrix) -> Matrix:
    """Return a CSR matrix whose columns are stored in every row, or have a mean near zero.

    A column with a share ``q`` of absent entries has a mean of at most ``1 / √q`` deviations. Where
    that is many, few entries are absent, and they are stored as zeros. The matrix itself is
    returned where there is no such column.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> X = sp.csr_array(np.append(np.full(99, 7.0), 0.0)[:, None])
    >>> X.nnz, store_nearly_full_columns(X).nnz
    (99, 100)
    """
    n_rows = X.shape[0]
    with np.errstate(over="ignore", invalid="ignore"):
        mean, variance, stored = _sparse_moments(X)
        far = (stored < n_rows) & (mean**2 > _MOST_DEVIATIONS**2 * variance)
    if not np.any(far):
        return X
    columns = np.flatnonzero(far)
    pattern = sp.csc_array(X[:, columns])
    absent = [
        np.setdiff1d(np.arange(n_rows), pattern.indices[pattern.indptr[k] : pattern.indptr[k + 1]])
        for k in range(len(columns))
    ]
    rows = np.concatenate([np.repeat(np.arange(n_rows), np.diff(X.indptr)), *absent])
    column = np.concatenate([X.indices, np.repeat(columns, [len(rows) for rows in absent])])
    data = np.concatenate([X.data, np.zeros(len(rows) - X.nnz, dtype=X.dtype)])
    return sp.csr_array(sp.coo_array((data, (rows, column)), shape=X.shape))


def _dense_moments(
    X: NDArray[np.floating], rows: Index, weight: Vector | None = None
) -> tuple[Vector, Vector]:
    """Compute mean and variance around the first row, or around the mean if that is far off."""
    mass = len(rows) if weight is None else float(np.sum(weight[rows]))

    def sums(shift: Vector) -> Vector:
        def of_piece(piece: tuple[int, int]) -> Vector:
            found, inside = np.zeros((2, X.shape[1])), rows[piece[0] : piece[1]]
            if weight is None:
                column_moments(X, inside, shift, found[0], found[1])
            else:
                weighted_column_moments(X, inside, weight, shift, found[0], found[1])
            return found

        return np.sum(thread_map(of_piece, slices(len(rows), 20_000)), axis=0) / mass

    centre = X[rows[0]].astype(np.float64)
    shift, square = sums(centre)
    if np.any(shift**2 > _MOST_DEVIATIONS**2 * (square - shift**2)):
        centre = centre + shift
        shift, square = sums(centre)
    return centre + shift, np.maximum(square - shift**2, 0.0)


def _sparse_moments(X: Matrix, weight: Vector | None = None) -> tuple[Vector, Vector, Index]:
    """Compute the mean, variance and number of stored values of each column of a CSR matrix."""
    n_rows, n_features = X.shape
    whole = n_rows if weight is None else float(np.sum(weight))

    def sums(shift: Vector) -> tuple[Vector, Vector, NDArray[Any]]:
        total, square = np.zeros((2, n_features))
        if weight is None:
            mass = np.zeros(n_features, dtype=np.int64)
            stored_moments(X.data, X.indices, shift, total, square, mass)
        else:
            mass = np.zeros(n_features)
            rows = (X.data, X.indices, X.indptr)
            weighted_stored_moments(*rows, weight, shift, total, square, mass)
        absent = whole - mass
        return (total - absent * shift) / whole, (square + absent * shift**2) / whole, mass

    mean, _, stored = sums(np.zeros(n_features))
    shift, square, _ = sums(mean)
    if weight is not None:
        stored = np.bincount(X.indices, minlength=n_features)
    return mean + shift, np.maximum(square - shift**2, 0.0), stored


def rows_to_measure(n_rows: int, n_features: int, groups: Groups | None) -> Index:
    """Return all rows or, if there are many, evenly spread stretches of whole groups.

    The choice depends on nothing else, so that the same candidates are put on the same scale
    from any source. Stretches, because a file is read by stretches.

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
    if groups is None:
        length = -(-wanted // _STRETCHES)
        starts = np.linspace(0, n_rows - length, _STRETCHES).astype(np.int64)
        return np.unique(starts[:, None] + np.arange(length))
    return groups.rows_of(groups_to_measure(n_rows, n_features, groups))


def groups_to_measure(n_rows: int, n_features: int, groups: Groups) -> Index:
    """Return the groups that the rows of `rows_to_measure` are those of."""
    wanted = max(1_000, SAMPLE_VALUES // n_features)
    if n_rows <= wanted:
        return np.arange(len(groups))
    first = np.linspace(0, len(groups), _STRETCHES, endpoint=False).astype(np.int64)
    stop = np.searchsorted(groups.ptr, groups.ptr[first] + -(-wanted // _STRETCHES))
    stop = np.minimum(stop, np.append(first[1:], len(groups)))
    return np.concatenate([np.arange(lo, hi) for lo, hi in zip(first, stop, strict=True)])
