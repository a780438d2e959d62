"""Means and maxima of the feature maps of a network over candidates and their rings."""

from __future__ import annotations

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def pool_cells(maps, stride, ptr, column, top, bottom, outer, result):
    """Fill mean and maximum inside, then mean and maximum in the ring, of each channel.

    A cell of a map covers stride × stride pixels. The mean weights a cell by the pixels of it that
    belong to the area; the maximum is over the cells at least half as covered as the most covered
    one. A region without a ring has the numbers of its inside there.

    Parameters
    ----------
    maps
        Shape (rows, columns, channels).
    stride
        Pixels per cell.
    ptr, column, top, bottom
        The strips of the regions.
    outer
        Left, top, right and bottom of the enlarged box of each region, in whole pixels.
    result
        Shape (regions, 4, channels).
    """
    n_rows, n_columns = maps.shape[:2]
    inside = np.zeros((n_rows, n_columns))
    ring = np.zeros((n_rows, n_columns))
    for k in range(len(ptr) - 1):
        left, upper, right, lower = outer[k]
        first, last = left // stride, min((right - 1) // stride, n_columns - 1)
        begin, end = upper // stride, min((lower - 1) // stride, n_rows - 1)
        inside[begin : end + 1, first : last + 1] = 0
        for strip in range(ptr[k], ptr[k + 1]):
            x = min(column[strip] // stride, n_columns - 1)
            for y in range(
                top[strip] // stride, min((bottom[strip] - 1) // stride, n_rows - 1) + 1
            ):
                low, high = max(top[strip], y * stride), min(bottom[strip], (y + 1) * stride)
                inside[y, x] += high - low
        for y in range(begin, end + 1):
            high = min(lower, (y + 1) * stride) - max(upper, y * stride)
            for x in range(first, last + 1):
                wide = min(right, (x + 1) * stride) - max(left, x * stride)
                ring[y, x] = high * wide - inside[y, x]
        _pool(maps, inside, begin, end, first, last, result[k, 0], result[k, 1])
        if not _pool(maps, ring, begin, end, first, last, result[k, 2], result[k, 3]):
            result[k, 2:] = result[k, :2]


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _pool(maps, cover, begin, end, first, last, mean, most):
    """Fill mean and maximum over the covered cells; return whether there are any."""
    total, largest = 0.0, 0.0
    for y in range(begin, end + 1):
        for x in range(first, last + 1):
            total += cover[y, x]
            largest = max(largest, cover[y, x])
    if total <= 0:
        return False
    mean[:] = 0
    most[:] = -np.inf
    for y in range(begin, end + 1):
        for x in range(first, last + 1):
            if cover[y, x] <= 0:
                continue
            share = np.float32(cover[y, x] / total)
            counts = cover[y, x] >= largest / 2
            for c in range(maps.shape[2]):
                value = maps[y, x, c]
                mean[c] += share * value
                if counts:
                    most[c] = max(most[c], value)
    return True
