"""How a pixel stands among its neighbours: local binary patterns, and differences at a distance.

Maps have the shape (width, height). Beyond the border the outermost pixels go on.
"""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS

N_PATTERNS = 10
_AROUND = np.array([[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1]])
_FORWARD = _AROUND[:4]


@njit(nogil=True, cache=True, fastmath=FLAGS)
def local_patterns(grey, distance, least, codes):
    """``code = Σ_i b_i`` where the ring of bits changes at most twice around, else 9.

    ``b_i`` tells whether the i-th of the eight neighbours at the distance is brighter than the
    pixel by more than ``least``. The code does not change when the picture is turned by 90°.
    """
    width, height = grey.shape
    for x in range(width):
        for y in range(height):
            limit = grey[x, y] + least
            ones, changes = 0, 0
            previous = _brighter(grey, x, y, 7, distance, limit)
            for i in range(8):
                bit = _brighter(grey, x, y, i, distance, limit)
                ones += bit
                changes += bit != previous
                previous = bit
            codes[x, y] = ones if changes <= 2 else 9


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _brighter(grey, x, y, i, distance, limit):
    u = min(max(x + distance * _AROUND[i, 0], 0), grey.shape[0] - 1)
    v = min(max(y + distance * _AROUND[i, 1], 0), grey.shape[1] - 1)
    return grey[u, v] > limit


@njit(nogil=True, cache=True, fastmath=FLAGS)
def neighbour_differences(grey, distance, scale, contrast, homogeneity, levels, codes):
    """Means over the four forward neighbours of ``t²`` and ``1 / (1 + t²)``, t = Δ / scale.

    ``codes`` receives the level of the mean of ``|t|``: how many of ``levels`` it passes.
    """
    width, height = grey.shape
    for x in range(width):
        for y in range(height):
            square, near, size = 0.0, 0.0, 0.0
            for i in range(4):
                u = min(max(x + distance * _FORWARD[i, 0], 0), width - 1)
                v = min(max(y + distance * _FORWARD[i, 1], 0), height - 1)
                t = np.float64(grey[u, v] - grey[x, y]) / scale
                square += t * t
                near += 1.0 / (1.0 + t * t)
                size += abs(t)
            contrast[x, y] = square / 4
            homogeneity[x, y] = near / 4
            code = 0
            while code < len(levels) and size > 4 * levels[code]:
                code += 1
            codes[x, y] = code
