"""The soft choice of the largest values, up to a total weight.

::

    q_l = u_l σ((v_l − ν) / T),   Σ_l q_l = mass,   σ(z) = 1 / (1 + exp(−z))
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Beyond it the share of a value is 0 or 1 to the last digit.
_FAR = 40.0
_STEPS = 200
_ENOUGH = 1e-14


# Without FLAGS, as `groupcm.kernels.maxima.soft_minima`: it stores and sums in one loop.
@njit(nogil=True, cache=True)
def soft_top(value, weight, mass, temperature, start, share):
    """Fill ``share`` with ``q``, and return ``ν``; ``mass`` is below the sum of the weights.

    Newton's method from ``start``, with bisection where it leaves the bracket.
    """
    low, high = np.min(value) - _FAR * temperature, np.max(value) + _FAR * temperature
    nu = min(max(start, low), high)
    for _ in range(_STEPS):
        total = slope = 0.0
        for i in range(len(value)):
            z = (value[i] - nu) / temperature
            if z > _FAR:
                share[i] = weight[i]
            elif z < -_FAR:
                share[i] = 0.0
            else:
                part = 1.0 / (1.0 + np.exp(-z))
                share[i] = weight[i] * part
                slope += share[i] * (1.0 - part)
            total += share[i]
        excess = total - mass
        if abs(excess) <= _ENOUGH * mass:
            break
        if excess > 0.0:
            low = nu
        else:
            high = nu
        step = nu + excess * temperature / slope if slope > 0.0 else low
        if not low < step < high:
            step = 0.5 * (low + high)
        if step == nu:
            break
        nu = step
    return nu
