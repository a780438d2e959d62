"""Scores and norms of rows that stand one after another, ``s_i = Σ_j (x_ij − mean_j) w_j``."""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS
from groupcm.kernels.dot import row_dot


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
