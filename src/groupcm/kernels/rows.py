"""Scores, norms and moments of rows, ``s_i = Σ_j (x_ij − mean_j) w_j``.

Rows are a C-ordered matrix, a CSR matrix, or columns. A decoded table is a list of columns at
unrelated addresses, so the kernels of columns take the addresses. They work on tiles of rows that
stay in the nearest cache of a core, whatever the number of columns. The moments are the sums for
the mean and the deviation of every feature.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import carray, njit, types  # pyright: ignore[reportPrivateImportUsage]
from numba.extending import intrinsic, overload

from groupcm.kernels import FLAGS
from groupcm.kernels.dot import row_dot

# Rows of a tile of columns.
_TILE = 512


@njit(nogil=True, cache=True, fastmath=FLAGS)
def row_scores(rows, weights, constant, score):
    """``score_i = constant + s_i`` for all rows; for ``rows`` and ``weights`` see `row_dot`."""
    for i in range(len(score)):
        score[i] = constant + row_dot(rows, i, weights)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def row_norms(X, mean, scale, norm):
    """``norm_i = ‖(x_i − mean) / scale‖`` for all rows."""
    factor = 1.0 / scale
    for i in range(len(norm)):
        total = 0.0
        for j in range(X.shape[1]):
            z = (X[i, j] - mean[j]) * factor[j]
            total += z * z
        norm[i] = np.sqrt(total)


@intrinsic
def _pointer(typingctx, address):
    """The address as a pointer."""

    def codegen(context, builder, signature, args):
        return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.intp), codegen


def _column(addresses, j, n_rows, like):
    """Column ``j``."""
    raise NotImplementedError("only compiled code calls this")


@overload(_column, inline="always")
def _compiled_column(addresses, j, n_rows, like):
    def column(addresses, j, n_rows, like):
        return carray(_pointer(addresses[j]), n_rows, like.dtype)  # pyright: ignore[reportCallIssue]

    return column


@njit(nogil=True, cache=True, fastmath=FLAGS)
def column_scores(addresses, like, mean, weights, constant, score):
    """``score[l, i] = constant[l] + Σ_j (x_ij − mean_j) weights[l, j]`` for all rows ``i``.

    ``like`` is any array of the columns' type.
    """
    n_rows = score.shape[1]
    total = np.empty(_TILE)
    for lo in range(0, n_rows, _TILE):
        _score_tile(addresses, like, mean, weights, constant, lo, total, score)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def column_scores_and_norms(addresses, like, mean, scale, weights, constant, score, norm):
    """`column_scores`, and ``norm_i = ‖(x_i − mean) / scale‖``, while a tile is in the cache."""
    n_rows = len(norm)
    total = np.empty(_TILE)
    for lo in range(0, n_rows, _TILE):
        _score_tile(addresses, like, mean, weights, constant, lo, total, score)
        _norm_tile(addresses, like, mean, scale, lo, total, norm)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _score_tile(addresses, like, mean, weights, constant, lo, total, score):
    n_sets, n_rows = score.shape
    n_columns = len(addresses)
    size = min(_TILE, n_rows - lo)
    for k in range(n_sets):
        for i in range(size):
            total[i] = constant[k]
        j = 0
        # Four columns at a time: the sums are loaded and stored a quarter as often.
        while j + 3 < n_columns:
            a = _column(addresses, j, n_rows, like)[lo : lo + size]
            b = _column(addresses, j + 1, n_rows, like)[lo : lo + size]
            c = _column(addresses, j + 2, n_rows, like)[lo : lo + size]
            d = _column(addresses, j + 3, n_rows, like)[lo : lo + size]
            m0, m1, m2, m3 = mean[j], mean[j + 1], mean[j + 2], mean[j + 3]
            w0, w1 = weights[k, j], weights[k, j + 1]
            w2, w3 = weights[k, j + 2], weights[k, j + 3]
            for i in range(size):
                total[i] += (
                    (a[i] - m0) * w0 + (b[i] - m1) * w1 + (c[i] - m2) * w2 + (d[i] - m3) * w3
                )
            j += 4
        while j < n_columns:
            a = _column(addresses, j, n_rows, like)[lo : lo + size]
            m0, w0 = mean[j], weights[k, j]
            for i in range(size):
                total[i] += (a[i] - m0) * w0
            j += 1
        for i in range(size):
            score[k, lo + i] = total[i]


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _norm_tile(addresses, like, mean, scale, lo, total, norm):
    n_rows, n_columns = len(norm), len(addresses)
    size = min(_TILE, n_rows - lo)
    for i in range(size):
        total[i] = 0.0
    j = 0
    while j + 1 < n_columns:
        a = _column(addresses, j, n_rows, like)[lo : lo + size]
        b = _column(addresses, j + 1, n_rows, like)[lo : lo + size]
        m0, m1 = mean[j], mean[j + 1]
        f0, f1 = 1.0 / scale[j], 1.0 / scale[j + 1]
        for i in range(size):
            y = (a[i] - m0) * f0
            z = (b[i] - m1) * f1
            total[i] += y * y + z * z
        j += 2
    if j < n_columns:
        a = _column(addresses, j, n_rows, like)[lo : lo + size]
        m0, f0 = mean[j], 1.0 / scale[j]
        for i in range(size):
            y = (a[i] - m0) * f0
            total[i] += y * y
    for i in range(size):
        norm[lo + i] = np.sqrt(total[i])


@njit(nogil=True, cache=True, fastmath=FLAGS)
def gather_columns(addresses, like, n_rows, rows, out):
    """``out[r, j] = x[rows[r], j]``."""
    for j in range(len(addresses)):
        column = _column(addresses, j, n_rows, like)
        for r in range(len(rows)):
            out[r, j] = column[rows[r]]


@njit(nogil=True, cache=True, fastmath=FLAGS)
def interleave_columns(addresses, like, out):
    """``out[i, j] = x[i, j]`` for all rows, a tile at a time."""
    n_rows = len(out)
    for lo in range(0, n_rows, _TILE):
        hi = min(lo + _TILE, n_rows)
        for j in range(len(addresses)):
            column = _column(addresses, j, n_rows, like)
            for i in range(lo, hi):
                out[i, j] = column[i]


@njit(nogil=True, cache=True, fastmath=FLAGS)
def column_moments(X, rows, shift, total, square):
    """Add ``Σ (x − shift)`` and ``Σ (x − shift)²`` of the given rows to ``total`` and ``square``.

    A shift near the mean keeps the sums exact enough; a constant column has
    a ``square`` of exactly zero when the shift is one of its values.
    """
    for row in rows:
        for j in range(X.shape[1]):
            z = X[row, j] - shift[j]
            total[j] += z
            square[j] += z * z


@njit(nogil=True, cache=True, fastmath=FLAGS)
def stored_moments(data, indices, shift, total, square, count):
    """Add the sums of `column_moments` over the stored values of a CSR matrix, and count them."""
    for at in range(len(data)):
        j = indices[at]
        z = data[at] - shift[j]
        total[j] += z
        square[j] += z * z
        count[j] += 1


@njit(nogil=True, cache=True, fastmath=FLAGS)
def weighted_column_moments(X, rows, weight, shift, total, square):
    """Add ``Σ ω (x − shift)`` and ``Σ ω (x − shift)²`` of the given rows, ``ω = weight[row]``."""
    for row in rows:
        for j in range(X.shape[1]):
            z = X[row, j] - shift[j]
            total[j] += weight[row] * z
            square[j] += weight[row] * z * z


@njit(nogil=True, cache=True, fastmath=FLAGS)
def weighted_stored_moments(data, indices, indptr, weight, shift, total, square, mass):
    """Add the sums of `weighted_column_moments` over the stored values of a CSR matrix.

    ``mass`` gets the weights of the rows in which a column is stored.
    """
    for row in range(len(indptr) - 1):
        for at in range(indptr[row], indptr[row + 1]):
            j = indices[at]
            z = data[at] - shift[j]
            total[j] += weight[row] * z
            square[j] += weight[row] * z * z
            mass[j] += weight[row]
