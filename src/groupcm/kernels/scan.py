"""The largest score of each term and the row that has it: one pass over the rows.

Term ``k`` holds rows ``start[k]`` to ``stop[k]``, looked up in ``order``
unless that is empty. Scores are compared in the precision of ``affine``; the
winner's is computed again in float64 before it leaves. Each function works on
terms ``lo`` to ``hi`` and returns the first of them that holds a NaN or an
infinity, or -1.
"""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS
from groupcm.kernels.dot import affine_dot


@njit(nogil=True, cache=True, fastmath=FLAGS)
def scan_dense(X, order, start, stop, affine, exact, lo, hi, score, winner):
    """``score[k] = max_i Σ_j (x_ij − mean_j) w_j`` over the rows of term ``k``; C-ordered X."""
    in_place = len(order) == 0
    for k in range(lo, hi):
        best_row = start[k] if in_place else order[start[k]]
        best = affine_dot(X, best_row, affine)
        total = best * 0
        for position in range(start[k], stop[k]):
            row = position if in_place else order[position]
            s = affine_dot(X, row, affine)
            total += s
            if s > best:
                best = s
                best_row = row
        if not np.isfinite(total):
            return k
        score[k] = affine_dot(X, best_row, exact)
        winner[k] = best_row
    return -1


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _csr_dot(data, indices, indptr, row, weights):
    total = 0.0
    for at in range(indptr[row], indptr[row + 1]):
        total += data[at] * weights[indices[at]]
    return total


@njit(nogil=True, cache=True, fastmath=FLAGS)
def scan_csr(data, indices, indptr, order, start, stop, weights, lo, hi, score, winner):
    """``score[k] = max_i Σ_j x_ij w_j`` over the rows of term ``k``; CSR rows."""
    in_place = len(order) == 0
    for k in range(lo, hi):
        best_row = start[k] if in_place else order[start[k]]
        best = _csr_dot(data, indices, indptr, best_row, weights)
        total = best * 0
        for position in range(start[k], stop[k]):
            row = position if in_place else order[position]
            s = _csr_dot(data, indices, indptr, row, weights)
            total += s
            if s > best:
                best = s
                best_row = row
        if not np.isfinite(total):
            return k
        score[k] = best
        winner[k] = best_row
    return -1
