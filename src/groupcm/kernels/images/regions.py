"""Outlines and convex hulls of regions, which consist of strips: runs of pixels within one column.

Region k has the strips ``ptr[k]`` to ``ptr[k + 1]``, from left to right and downwards within a
column; strips of one column do not touch. A map has the shape (width, height).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def outline_lengths(ptr, column, top, bottom, width, height, length, inner):
    """Count the pixel sides along the outline of regions: all, and those inside the picture."""
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

    ``maps`` have the shape (maps, width, height), ``signed`` and ``size`` (maps, regions).
    """
    n_maps, width, height = maps.shape
    n = len(ptr) - 1
    signed[:], size[:] = 0, 0
    # Cumulated steps into column x, and their sizes; 0 beyond the border.
    before = np.zeros((n_maps, height + 1, 2))
    # The strips of region k in column x - 1 are those from previous[k] to current[k].
    previous, current = ptr[:n].copy(), ptr[:n].copy()
    for x in range(width + 1):
        for c in range(n_maps):
            if 0 < x < width:
                _cumulate_steps(maps[c, x - 1], maps[c, x], before[c])
            else:
                before[c] = 0
        for k in range(n):
            p, q = previous[k], current[k]
            r = _end_of_column(column, q, ptr[k + 1], x)
            previous[k], current[k] = q, r
            for c in range(n_maps if p < r else 0):
                flow, strength = 0.0, _steps_beside(before[c], top, bottom, p, q, r)
                for strip in range(p, q):
                    flow += before[c, bottom[strip], 0] - before[c, top[strip], 0]
                for strip in range(q, r):
                    t, b = top[strip], bottom[strip]
                    flow -= before[c, b, 0] - before[c, t, 0]
                    if t > 0:
                        step = np.float64(maps[c, x, t - 1]) - maps[c, x, t]
                        flow += step
                        strength += abs(step)
                    if b < height:
                        step = np.float64(maps[c, x, b]) - maps[c, x, b - 1]
                        flow += step
                        strength += abs(step)
                signed[c, k] += flow
                size[c, k] += strength


@njit(nogil=True, cache=True)
def _cumulate_steps(one, two, before):
    total, strength = 0.0, 0.0
    for y in range(len(one)):
        step = np.float64(two[y]) - one[y]
        total += step
        strength += abs(step)
        before[y + 1, 0], before[y + 1, 1] = total, strength


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
    """Count the rows common to the strips p..q and the strips q..r."""
    total, i, j = 0, p, q
    while i < q and j < r:
        total += max(min(bottom[i], bottom[j]) - max(top[i], top[j]), 0)
        if bottom[i] <= bottom[j]:
            i += 1
        else:
            j += 1
    return total


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _steps_beside(before, top, bottom, p, q, r):
    """Sum |steps| into a column over the rows in exactly one of the strips p..q and q..r."""
    total = 0.0
    for strip in range(p, r):
        total += before[bottom[strip], 1] - before[top[strip], 1]
    i, j = p, q
    while i < q and j < r:
        upper, lower = max(top[i], top[j]), min(bottom[i], bottom[j])
        if upper < lower:
            total -= 2.0 * (before[lower, 1] - before[upper, 1])
        if bottom[i] <= bottom[j]:
            i += 1
        else:
            j += 1
    return total


@njit(nogil=True, cache=True, fastmath=FLAGS)
def hull_areas(ptr, column, top, bottom, area):
    """Compute the area of the convex hull of the pixels of each region, as squares."""
    for k in range(len(ptr) - 1):
        start, end = ptr[k], ptr[k + 1]
        left, right = column[start], column[end - 1] + 1
        n = right - left + 1
        # The pixels of a column extend to both of its sides.
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
    """Return the area under the upper (side 1) or lower (-1) hull of the points (i, y_i), y ≥ 0."""
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
