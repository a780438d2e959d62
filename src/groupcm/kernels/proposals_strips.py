"""Strips of many regions of a tree: runs of pixels within one column."""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def branch_strips(number, first, last, edges):
    """Columns, tops and bottoms of regions ``first ≤ number < last``, and where each begins.

    Parameters
    ----------
    number
        A number a pixel, of the picture turned on its side: shape (width, height).
    first, last
        Which numbers each region holds.
    edges
        Left, top, right and bottom of each region's box; nothing outside is looked at.

    Returns
    -------
    ptr
        Where the strips of each region begin.
    strips
        Column, top and bottom of each strip, shape (3, n).
    """
    n = first.size
    ptr = np.zeros(n + 1, dtype=np.int64)
    for region in range(n):
        ptr[region + 1] = ptr[region] + _count(number, first[region], last[region], edges[region])
    strips = np.empty((3, ptr[n]), dtype=np.int64)
    for region in range(n):
        low, high, at = first[region], last[region], ptr[region]
        for column in range(edges[region, 0], edges[region, 2]):
            inside = False
            for row in range(edges[region, 1], edges[region, 3]):
                now = low <= number[column, row] < high
                if now and not inside:
                    strips[0, at], strips[1, at] = column, row
                elif inside and not now:
                    strips[2, at] = row
                    at += 1
                inside = now
            if inside:
                strips[2, at] = edges[region, 3]
                at += 1
    return ptr, strips


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _count(number, low, high, edges):
    count = 0
    for column in range(edges[0], edges[2]):
        inside = False
        for row in range(edges[1], edges[3]):
            now = low <= number[column, row] < high
            count += now and not inside
            inside = now
    return count
