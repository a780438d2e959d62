"""Sums of maps over many regions of a picture, ``S[c, k] = Σ_{p ∈ region k} map_c(p)``.

A region is made of strips, runs of pixels within one column, and a map is given column by column:
shape (width, height). A column is cumulated once, in double precision, and every strip in it is
then one difference. The cost grows with the picture and with the number of strips, not with the
regions' pixels.

In all kernels the strips of column x are ``column_ptr[x]`` to ``column_ptr[x + 1]``.

Along the outline of regions: its length, and differences of maps across it.

The strips of region k are ``ptr[k]`` to ``ptr[k + 1]``, from left to right and downwards within
a column; strips of one column do not touch.
"""

from __future__ import annotations

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


@njit(nogil=True, cache=True, fastmath=FLAGS)
def outline_lengths(ptr, column, top, bottom, width, height, length, inner):
    """Count the sides of pixels between a region and the rest: all, and those not at the border."""
    for k in range(len(ptr) - 1):
        total, at_border = 0, 0
        p = q = ptr[k]
        end = ptr[k + 1]
        for x in range(column[q], column[end - 1] + 2):
            r = _end_of_column(column, q, end, x)
            upright = _covered(top, bottom, p, r) - 2 * _shared(top, bottom, p, q, r)
            total += upright + 2 * (r - q)
            if x == 0 or x == width:
                at_border += upright
            for strip in range(q, r):
                at_border += (top[strip] == 0) + (bottom[strip] == height)
            p, q = q, r
        length[k] = total
        inner[k] = total - at_border


@njit(nogil=True, cache=True, fastmath=FLAGS)
def outline_differences(ptr, column, top, bottom, maps, signed, size):
    """Sum ``outside − inside`` and ``|outside − inside|`` over the pairs of pixels at the outline.

    ``maps`` have the shape (maps, width, height), ``signed`` and ``size`` (maps, regions). Inside
    the region the differences between neighbours cancel, so ``signed`` is what flows out of it.
    """
    n_maps, width, height = maps.shape
    before = np.zeros((width + 1, height + 1, 2))
    for c in range(n_maps):
        for x in range(1, width):
            for y in range(height):
                step = np.float64(maps[c, x, y]) - maps[c, x - 1, y]
                before[x, y + 1, 0] = before[x, y, 0] + step
                before[x, y + 1, 1] = before[x, y, 1] + abs(step)
        for k in range(len(ptr) - 1):
            flow, strength = 0.0, 0.0
            p = q = ptr[k]
            end = ptr[k + 1]
            for x in range(column[q], column[end - 1] + 2):
                r = _end_of_column(column, q, end, x)
                for strip in range(p, q):
                    flow += before[x, bottom[strip], 0] - before[x, top[strip], 0]
                for strip in range(q, r):
                    flow -= before[x, bottom[strip], 0] - before[x, top[strip], 0]
                strength += _steps_beside(before, x, top, bottom, p, q, r)
                for strip in range(q, r):
                    t, b = top[strip], bottom[strip]
                    if t > 0:
                        step = np.float64(maps[c, x, t - 1]) - maps[c, x, t]
                        flow += step
                        strength += abs(step)
                    if b < height:
                        step = np.float64(maps[c, x, b]) - maps[c, x, b - 1]
                        flow += step
                        strength += abs(step)
                p, q = q, r
            signed[c, k] = flow
            size[c, k] = strength


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _end_of_column(column, first, end, x):
    while first < end and column[first] == x:
        first += 1
    return first


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _covered(top, bottom, first, last):
    total = 0
    for strip in range(first, last):
        total += bottom[strip] - top[strip]
    return total


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _shared(top, bottom, p, q, r):
    """Count the rows that the strips p..q and the strips q..r have in common."""
    total, i, j = 0, p, q
    while i < q and j < r:
        total += max(min(bottom[i], bottom[j]) - max(top[i], top[j]), 0)
        if bottom[i] <= bottom[j]:
            i += 1
        else:
            j += 1
    return total


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _steps_beside(before, x, top, bottom, p, q, r):
    """Sum the sizes of steps into column x over rows in just one of the strips p..q and q..r."""
    total = 0.0
    for strip in range(p, r):
        total += before[x, bottom[strip], 1] - before[x, top[strip], 1]
    i, j = p, q
    while i < q and j < r:
        upper, lower = max(top[i], top[j]), min(bottom[i], bottom[j])
        if upper < lower:
            total -= 2.0 * (before[x, lower, 1] - before[x, upper, 1])
        if bottom[i] <= bottom[j]:
            i += 1
        else:
            j += 1
    return total
