"""Scores and norms of rows whose features stand in columns, ``s_i = Σ_j (x_ij − mean_j) w_j``.

A decoded table is a list of columns at unrelated addresses, so kernels are
given the addresses. They work on tiles of rows that stay in a core's nearest
cache, whatever the number of columns.
"""

import numpy as np
from llvmlite import ir
from numba import carray, njit, types  # pyright: ignore[reportPrivateImportUsage]
from numba.extending import intrinsic, overload

from groupcm.kernels import FLAGS

_TILE = 512


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
