"""Sums of maps over many regions of a picture, ``S[c, k] = Σ_{p ∈ region k} map_c(p)``.

A region is made of strips, runs of pixels within one column, and a map is given column by column:
shape (width, height). A column is cumulated once, in double precision, and every strip in it is
then one difference. The cost grows with the picture and with the number of strips, not with the
regions' pixels.

In all kernels the strips of column x are ``column_ptr[x]`` to ``column_ptr[x + 1]``.
"""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def region_sums(maps, column_ptr, owner, top, bottom, sums):
    """Add ``S[c, k]`` to ``sums``, shape (maps, regions)."""
    n_maps, width, height = maps.shape
    before = np.zeros(height + 1)
    for c in range(n_maps):
        for x in range(width):
            first, last = column_ptr[x], column_ptr[x + 1]
            if first == last:
                continue
            total = 0.0
            for y in range(height):
                total += maps[c, x, y]
                before[y + 1] = total
            for strip in range(first, last):
                sums[c, owner[strip]] += before[bottom[strip]] - before[top[strip]]


@njit(nogil=True, cache=True, fastmath=FLAGS)
def region_moments(maps, column_ptr, owner, top, bottom, sums, squares):
    """`region_sums`, and the same of the maps' squares added to ``squares``."""
    n_maps, width, height = maps.shape
    before = np.zeros((height + 1, 2))
    for c in range(n_maps):
        for x in range(width):
            first, last = column_ptr[x], column_ptr[x + 1]
            if first == last:
                continue
            total, square = 0.0, 0.0
            for y in range(height):
                value = np.float64(maps[c, x, y])
                total += value
                square += value * value
                before[y + 1, 0] = total
                before[y + 1, 1] = square
            for strip in range(first, last):
                k, lower, upper = owner[strip], bottom[strip], top[strip]
                sums[c, k] += before[lower, 0] - before[upper, 0]
                squares[c, k] += before[lower, 1] - before[upper, 1]


@njit(nogil=True, cache=True, fastmath=FLAGS)
def region_counts(codes, column_ptr, owner, top, bottom, counts):
    """Add the number of pixels of every code to ``counts``, shape (codes, regions)."""
    width, height = codes.shape
    n_codes = len(counts)
    before = np.zeros((height + 1, n_codes), np.int32)
    for x in range(width):
        first, last = column_ptr[x], column_ptr[x + 1]
        if first == last:
            continue
        for y in range(height):
            for code in range(n_codes):
                before[y + 1, code] = before[y, code]
            before[y + 1, codes[x, y]] += 1
        for strip in range(first, last):
            k, lower, upper = owner[strip], bottom[strip], top[strip]
            for code in range(n_codes):
                counts[code, k] += before[lower, code] - before[upper, code]
