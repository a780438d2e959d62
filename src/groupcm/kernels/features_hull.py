"""The smallest convex shape about a region."""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def hull_areas(ptr, column, top, bottom, area):
    """Area of the convex hull of every region's pixels, as squares.

    The strips of region k are ``ptr[k]`` to ``ptr[k + 1]``, from left to right.
    """
    for k in range(len(ptr) - 1):
        start, end = ptr[k], ptr[k + 1]
        left, right = column[start], column[end - 1] + 1
        n = right - left + 1
        # A column's pixels reach both of its sides.
        highest, lowest = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
        for strip in range(start, end):
            for place in (column[strip] - left, column[strip] - left + 1):
                if highest[place] < 0 or top[strip] < highest[place]:
                    highest[place] = top[strip]
                if bottom[strip] > lowest[place]:
                    lowest[place] = bottom[strip]
        area[k] = _area_under(lowest, 1) - _area_under(highest, -1)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _area_under(y, side):
    """Area under the hull of the points (i, y_i), y ≥ 0, on its side of large y (1) or small (-1).

    Points before which the hull would bend inwards are dropped as one walks along.
    """
    kept = np.empty(len(y), np.int64)
    n = 0
    for i in range(len(y)):
        if y[i] < 0:
            continue
        while n > 1:
            a, b = kept[n - 2], kept[n - 1]
            if side * ((b - a) * (y[i] - y[a]) - (y[b] - y[a]) * (i - a)) < 0:
                break
            n -= 1
        kept[n] = i
        n += 1
    total = 0.0
    for i in range(1, n):
        total += 0.5 * (kept[i] - kept[i - 1]) * (y[kept[i]] + y[kept[i - 1]])
    return total
