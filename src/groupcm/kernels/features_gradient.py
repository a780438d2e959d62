"""Gradients by their direction."""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def oriented_strength(down, right, maps):
    """Share the strength ``√(down² + right²)`` of every pixel between the two nearest directions.

    Directions are of lines, not of arrows: map i of ``maps``, shape (directions, width, height),
    stands for gradients at the angle ``i π / directions``, from the right towards down.
    """
    n = len(maps)
    width, height = down.shape
    for x in range(width):
        for y in range(height):
            gy, gx = np.float64(down[x, y]), np.float64(right[x, y])
            strength = np.sqrt(gy * gy + gx * gx)
            if strength == 0.0:
                continue
            place = np.arctan2(gy, gx) * (n / np.pi)
            below = np.floor(place)
            part = place - below
            i = int(below) % n
            maps[i, x, y] += strength * (1.0 - part)
            maps[(i + 1) % n, x, y] += strength * part
