"""Sums of maps over many regions, ``S[c, k] = Σ_{p ∈ region k} map_c(p)``.

A region consists of strips, runs of pixels within one column, and a map has the shape
(width, height). A column of eight maps at a time is cumulated, in double precision, and each strip
in it is then one difference of eight numbers. The cost depends on the picture and on the number of
strips, not on the pixels of the regions.

Strips are sorted by column: column x has the strips ``column_ptr[x]`` to ``column_ptr[x + 1]``.
The kernels of one family of features compute their maps column by column, since writing maps of a
large picture to memory takes longer than computing them. They add to ``sums``, shape (regions, 8),
and the sums over the picture to ``whole``, shape (8,).

All of these store and sum in one loop, and so they have no fastmath flags.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_LANES = 8
_MOST_CODES = 16
# p of `_directions`, from the highest power on: interpolation at the Chebyshev nodes of [0, 1].
_ARC = (
    *(-0.000663395350178083, 0.00473248316363121, -0.0158283191315907, 0.0338262123047268),
    *(-0.0539566732841195, 0.0722827784240204, -0.089741717367436, 0.11091922902427),
    *(-0.142838132456719, 0.199999011012901, -0.333333312908578, 0.999999999929301),
)
_N_ARC = len(_ARC)


@njit(nogil=True, cache=True)
def box_strips(boxes, ptr, column, top, bottom):
    """Fill in the strips of boxes, rows of left, top, right and bottom.

    ``ptr[k]`` is where the strips of box k begin; they are as many as it has columns.
    """
    for k in range(len(boxes)):
        at = ptr[k]
        for x in range(boxes[k, 0], boxes[k, 2]):
            column[at], top[at], bottom[at] = x, boxes[k, 1], boxes[k, 3]
            at += 1


@njit(nogil=True, cache=True)
def strips_by_column(ptr, column, top, bottom, width):
    """Sort strips by column, and within a column by region.

    Returns ``column_ptr``, the region, top and bottom of each strip, and the pixels of each region.
    """
    n = len(column)
    column_ptr = np.zeros(width + 1, np.int64)
    for strip in range(n):
        column_ptr[column[strip] + 1] += 1
    for x in range(width):
        column_ptr[x + 1] += column_ptr[x]
    free = column_ptr[:width].copy()
    owner, first, last = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    pixels = np.zeros(len(ptr) - 1)
    for k in range(len(ptr) - 1):
        for strip in range(ptr[k], ptr[k + 1]):
            x = column[strip]
            at = free[x]
            free[x] = at + 1
            owner[at], first[at], last[at] = k, top[strip], bottom[strip]
            pixels[k] += bottom[strip] - top[strip]
    return column_ptr, owner, first, last, pixels


@njit(nogil=True, cache=True)
def _add_column(before, x, column_ptr, owner, top, bottom, sums, whole):
    """Add a column, whose values are in ``before[1:]``, to the sums of the strips in it.

    ``before[0]`` is 0. ``sums`` has the shape (regions, 8); ``whole`` is the sum of the picture.
    """
    # The compiler vectorises a loop over all rows, and a loop whose length it does not know.
    flat = before.reshape(-1)
    for place in range(flat.size - _LANES):
        flat[place + _LANES] += flat[place]
    lanes = sums.shape[1]
    for strip in range(column_ptr[x], column_ptr[x + 1]):
        k, lower, upper = np.uint64(owner[strip]), np.uint64(bottom[strip]), np.uint64(top[strip])
        for lane in range(lanes):
            sums[k, lane] += before[lower, lane] - before[upper, lane]
    for lane in range(_LANES):
        whole[lane] += before[-1, lane]


@njit(nogil=True, cache=True)
def region_sums(maps, column_ptr, owner, top, bottom, sums):
    """Add ``S[c, k]`` to ``sums``, shape (maps, regions)."""
    n_maps, width, height = maps.shape
    before, whole = np.zeros((height + 1, _LANES)), np.zeros(_LANES)
    for start in range(0, n_maps, _LANES):
        lanes = min(_LANES, n_maps - start)
        found = np.zeros((sums.shape[1], _LANES))
        for x in range(width):
            for lane in range(lanes):
                values = maps[start + lane, x]
                for y in range(height):
                    before[y + 1, lane] = values[y]
            _add_column(before, x, column_ptr, owner, top, bottom, found, whole)
        for k in range(len(found)):
            for lane in range(lanes):
                sums[start + lane, k] += found[k, lane]


@njit(nogil=True, cache=True)
def region_moments(maps, column_ptr, owner, top, bottom, sums, squares):
    """Add `region_sums` to ``sums``, and those of the squared maps to ``squares``."""
    n_maps, width, height = maps.shape
    half = _LANES // 2
    before, whole = np.zeros((height + 1, _LANES)), np.zeros(_LANES)
    for start in range(0, n_maps, half):
        lanes = min(half, n_maps - start)
        found = np.zeros((sums.shape[1], _LANES))
        for x in range(width):
            for lane in range(lanes):
                values = maps[start + lane, x]
                for y in range(height):
                    value = np.float64(values[y])
                    before[y + 1, lane] = value
                    before[y + 1, half + lane] = value * value
            _add_column(before, x, column_ptr, owner, top, bottom, found, whole)
        for k in range(len(found)):
            for lane in range(lanes):
                sums[start + lane, k] += found[k, lane]
                squares[start + lane, k] += found[k, half + lane]


@njit(nogil=True, cache=True)
def region_counts(codes, column_ptr, owner, top, bottom, counts):
    """Add the number of pixels of each code to ``counts``, shape (codes, regions), codes ≤ 16."""
    width, height = codes.shape
    before = np.zeros((height + 1, _MOST_CODES), np.int32)
    flat = before.reshape(-1)
    found = np.zeros((counts.shape[1], _MOST_CODES), np.int32)
    lanes = found.shape[1]
    for x in range(width):
        values = codes[x]
        flat[:] = 0
        for y in range(height):
            before[y + 1, values[y]] = 1
        for place in range(flat.size - _MOST_CODES):
            flat[place + _MOST_CODES] += flat[place]
        for strip in range(column_ptr[x], column_ptr[x + 1]):
            k, lower, upper = (
                np.uint64(owner[strip]),
                np.uint64(bottom[strip]),
                np.uint64(top[strip]),
            )
            for code in range(lanes):
                found[k, code] += before[lower, code] - before[upper, code]
    for k in range(len(found)):
        for code in range(len(counts)):
            counts[code, k] += found[k, code]


@njit(nogil=True, cache=True)
def band_sums(finer, coarser, low, high, column_ptr, owner, top, bottom, sums, whole):
    """Sum ``d²``, ``d⁴``, ``d²`` where d > 0, and the indicators of ``d > high`` and ``d < low``.

    d is the band ``finer − coarser``.
    """
    width, height = finer.shape
    before = np.zeros((height + 1, _LANES))
    for x in range(width):
        one, two = finer[x], coarser[x]
        for y in range(height):
            band = one[y] - two[y]
            square = band * band
            row = before[y + 1]
            row[0] = square
            row[1] = square * square
            row[2] = square if band > 0 else np.float32(0)
            row[3] = band > high
            row[4] = band < low
        _add_column(before, x, column_ptr, owner, top, bottom, sums, whole)


@njit(nogil=True, cache=True)
def line_sums(larger, smaller, column_ptr, owner, top, bottom, sums, whole):
    """Sum max(a, 0), max(b, 0), max(−b, 0) and max(−a, 0) for each of two widths.

    a ≥ b are the principal curvatures, shape (2, width, height).
    """
    _, width, height = larger.shape
    before = np.zeros((height + 1, _LANES))
    for x in range(width):
        for size in range(2):
            above, below = larger[size, x], smaller[size, x]
            start = 4 * size
            for y in range(height):
                a, b = above[y], below[y]
                row = before[y + 1]
                row[start] = max(a, np.float32(0))
                row[start + 1] = max(b, np.float32(0))
                row[start + 2] = max(-b, np.float32(0))
                row[start + 3] = max(-a, np.float32(0))
        _add_column(before, x, column_ptr, owner, top, bottom, sums, whole)


@njit(nogil=True, cache=True)
def slope_sums(down, right, column_ptr, owner, top, bottom, sums, whole):
    """Sum right², down², right · down, right, down, right · u + down · v, u and v.

    (u, v) is the position of the gradient (right, down) relative to the centre of the picture.
    """
    width, height = down.shape
    before = np.zeros((height + 1, _LANES))
    middle_x, middle_y = np.float32((width - 1) / 2), np.float32((height - 1) / 2)
    for x in range(width):
        below, beside = down[x], right[x]
        u = np.float32(x) - middle_x
        for y in range(height):
            v = np.float32(y) - middle_y
            gy, gx = below[y], beside[y]
            row = before[y + 1]
            row[0] = gx * gx
            row[1] = gy * gy
            row[2] = gx * gy
            row[3] = gx
            row[4] = gy
            row[5] = gx * u + gy * v
            row[6] = u
            row[7] = v
        _add_column(before, x, column_ptr, owner, top, bottom, sums, whole)


@njit(nogil=True, cache=True)
def oriented_sums(down, right, n, start, column_ptr, owner, top, bottom, sums, whole):
    """Sum the strength of the gradients in the directions ``start`` to ``start + 7`` of n.

    ``√(down² + right²)`` of each pixel is distributed over the two nearest directions. They are
    unsigned: direction i is that of gradients at the angle ``i π / n``, clockwise from the right.
    """
    width, height = down.shape
    before = np.zeros((height + 1, _LANES))
    place, strength = np.empty(height), np.empty(height)
    for x in range(width):
        _directions(down[x], right[x], n, place, strength)
        before[:] = 0.0
        for y in range(height):
            i = int(place[y])
            part = place[y] - i
            i %= n
            lane, following = i - start, (i + 1) % n - start
            if 0 <= lane < _LANES:
                before[y + 1, lane] += np.float32(strength[y] * (1.0 - part))
            if 0 <= following < _LANES:
                before[y + 1, following] += np.float32(strength[y] * part)
        _add_column(before, x, column_ptr, owner, top, bottom, sums, whole)


@njit(nogil=True, cache=True)
def _directions(down, right, n, place, strength):
    """Compute ``√(down² + right²)`` and the angle modulo π, in units of π / n, of each gradient.

    ``atan t = t p(t²)`` for 0 ≤ t ≤ 1, with a polynomial p that is exact to 1e-10. Unlike the
    library's function, this loop is vectorised.
    """
    for y in range(len(down)):
        gy, gx = np.float64(down[y]), np.float64(right[y])
        strength[y] = np.sqrt(gy * gy + gx * gx)
        high, wide = abs(gy), abs(gx)
        t = min(high, wide) / max(max(high, wide), 1e-300)
        u = t * t
        angle = _ARC[0]
        for power in range(1, _N_ARC):
            angle = angle * u + _ARC[power]
        angle *= t
        angle = np.pi / 2 - angle if high > wide else angle
        angle = np.pi - angle if gx * gy < 0 or (gy == 0.0 and gx < 0) else angle
        place[y] = angle * (n / np.pi)


@njit(nogil=True, cache=True)
def step_sums(maps, column_ptr, owner, top, bottom, sums, whole):
    """Sum ``(|right| + |down|) / 2`` of the steps to the next pixels, for each of up to eight maps.

    A step beyond the border is 0.
    """
    n_maps, width, height = maps.shape
    before = np.zeros((height + 1, _LANES))
    for x in range(width):
        for lane in range(n_maps):
            here, beside = maps[lane, x], maps[lane, min(x + 1, width - 1)]
            for y in range(height):
                step = abs(beside[y] - here[y]) + abs(here[min(y + 1, height - 1)] - here[y])
                before[y + 1, lane] = step / np.float32(2)
        _add_column(before, x, column_ptr, owner, top, bottom, sums, whole)
