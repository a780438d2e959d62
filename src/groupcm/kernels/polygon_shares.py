"""The share of each square that polygons cover, exactly, from the edges of the polygons.

The area of a polygon within the square ``[x, x + s] × [y, y + s]`` is

::

    |Σ_edges ∫ (clamp(v(u), y, y + s) − y) du|    over the part of the edge with x ≤ u ≤ x + s

where the edge is the line ``v(u)``, and an edge that runs to the left counts negative.
"""

import numpy as np
from numba import njit

__all__ = ["covered_areas"]

_LEVEL = 1e-9


@njit(nogil=True, cache=True)
def covered_areas(ring_x, ring_y, ring_ptr, is_hole, x, y, size, area):
    """Add to ``area`` what the rings cover of each square, and subtract their holes.

    Ring ``r`` has the corners ``ring_ptr[r]`` to ``ring_ptr[r + 1]``, the last joined to the
    first. The squares have the upper left corners ``x``, ``y``, with ``x`` ascending.
    """
    inside = np.zeros(len(x))
    for r in range(len(ring_ptr) - 1):
        begin, stop = ring_ptr[r], ring_ptr[r + 1]
        left, right = np.inf, -np.inf
        for k in range(begin, stop):
            left, right = min(left, ring_x[k]), max(right, ring_x[k])
        lo = np.searchsorted(x, left - size, side="left")
        hi = np.searchsorted(x, right, side="right")
        if lo >= hi:
            continue
        inside[lo:hi] = 0.0
        for k in range(begin, stop):
            after = k + 1 if k + 1 < stop else begin
            _add_edge(ring_x[k], ring_y[k], ring_x[after], ring_y[after], x, y, size, inside)
        sign = -1.0 if is_hole[r] else 1.0
        for i in range(lo, hi):
            area[i] += sign * abs(inside[i])


@njit(nogil=True, cache=True)
def _add_edge(ax, ay, bx, by, x, y, size, inside):
    """Add the integral of one edge to every square that it passes above, in, or below."""
    if ax == bx:
        return
    sign = 1.0
    if ax > bx:
        ax, ay, bx, by, sign = bx, by, ax, ay, -1.0
    slope = (by - ay) / (bx - ax)
    lo = np.searchsorted(x, ax - size, side="right")
    hi = np.searchsorted(x, bx, side="left")
    for i in range(lo, hi):
        from_x, to_x = max(ax, x[i]), min(bx, x[i] + size)
        if from_x >= to_x:
            continue
        from_y = ay + slope * (from_x - ax) - y[i]
        to_y = ay + slope * (to_x - ax) - y[i]
        if abs(to_y - from_y) < _LEVEL:
            height = min(max(0.5 * (from_y + to_y), 0.0), size)
        else:
            height = (_integral(to_y, size) - _integral(from_y, size)) / (to_y - from_y)
        inside[i] += sign * height * (to_x - from_x)


@njit(nogil=True, cache=True)
def _integral(v, size):
    """``∫₀ᵛ clamp(t, 0, size) dt``, 0 for negative ``v``."""
    if v <= 0.0:
        return 0.0
    if v <= size:
        return 0.5 * v * v
    return 0.5 * size * size + size * (v - size)
