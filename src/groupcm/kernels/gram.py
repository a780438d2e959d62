"""The weighted Gram matrix of few columns, ``Σ_i a_i x_i x_iᵀ``."""

from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def weighted_gram(rows, weight, out):
    """Add ``Σ_i weight_i x_i x_iᵀ`` to ``out``; rows of weight zero cost nothing."""
    d = rows.shape[1]
    for i in range(rows.shape[0]):
        if weight[i] == 0.0:
            continue
        for a in range(d):
            scaled = weight[i] * rows[i, a]
            for b in range(d):
                out[a, b] += scaled * rows[i, b]
