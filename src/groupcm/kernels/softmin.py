"""The soft minimum over each term, ``t_k = −T log Σ_i exp(−m_i / T)``."""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS

# A row this many temperatures above the minimum has a share below 1e-15: none.
_FAR = 35.0


# Without FLAGS: the compiler makes two versions of the loop, one for arrays that may overlap, and
# which of them runs depends on where the arrays lie. If it might reorder the sum, so would the
# last digits.
@njit(nogil=True, cache=True)
def soft_minima(margin, ptr, temperature, soft, hard, share):
    """Soft and hard minimum of ``margin[ptr[k]:ptr[k+1]]``, and each row's share in the soft one.

    ``share_i = exp(−m_i / T) / Σ exp(−m / T)``, the derivative of ``t_k`` by ``m_i``.
    """
    for k in range(len(ptr) - 1):
        lo, hi = ptr[k], ptr[k + 1]
        least = margin[lo]
        for i in range(lo + 1, hi):
            least = min(least, margin[i])
        total = 0.0
        for i in range(lo, hi):
            above = (margin[i] - least) / temperature
            share[i] = np.exp(-above) if above < _FAR else 0.0
            total += share[i]
        for i in range(lo, hi):
            share[i] /= total
        hard[k] = least
        soft[k] = least - temperature * np.log(total)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def share_out(of_term, ptr, share, out):
    """``out_i = of_term_k · share_i`` for the rows ``i`` of each term ``k``."""
    for k in range(len(ptr) - 1):
        for i in range(ptr[k], ptr[k + 1]):
            out[i] = of_term[k] * share[i]
