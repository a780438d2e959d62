"""Colours of every pixel in several spaces.

Gradients by their direction.

The smallest convex shape about a region.

How a pixel stands among its neighbours: local binary patterns, and differences at a distance.

Maps have the shape (width, height). Beyond the border the outermost pixels go on.

How a map's values are distributed: counts in equal bins, and their deviation.

Boxes of a picture brought to one size, ``crop = D P A'`` for every box and colour P.

``D[i, r] ∝ max(0, 1 − |r − r_i| / max(1, s))`` with r_i the centre of row i of the crop and s the
distance of two such rows; A does for columns what D does for rows. A pixel beyond the picture is
the nearest one within it, so its weight goes there.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def fill_channels(rgb, lab, dark, maps):
    """Fill ten maps of shape (width, height) from pictures of shape (height, width, 3).

    Lab / 100; saturation ``(max − min) / (max + dark)``; its parts along the cosine and the sine
    of the hue; the shares of red and green in ``red + green + blue``, each colour with a third of
    ``2 dark`` more; red − green; (red + green) / 2 − blue.
    """
    height, width = rgb.shape[:2]
    third = 2 * dark / 3
    for x in range(width):
        for y in range(height):
            red, green, blue = rgb[y, x, 0], rgb[y, x, 1], rgb[y, x, 2]
            for c in range(3):
                maps[c, x, y] = lab[y, x, c] / 100
            largest = max(red, green, blue)
            saturation = (largest - min(red, green, blue)) / (largest + dark)
            along = red - (green + blue) / 2
            across = (green - blue) * 0.8660254037844386
            # Cosine and sine of the hue, without an angle.
            length = max(np.sqrt(along * along + across * across), 1e-6)
            maps[3, x, y] = saturation
            maps[4, x, y] = saturation * along / length
            maps[5, x, y] = saturation * across / length
            total = red + green + blue + 2 * dark
            maps[6, x, y] = (red + third) / total
            maps[7, x, y] = (green + third) / total
            maps[8, x, y] = red - green
            maps[9, x, y] = (red + green) / 2 - blue


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


@njit(nogil=True, cache=True, fastmath=FLAGS)
def value_counts(values, low, factor, counts):
    """Add the number of values with ``⌊(v − low) · factor⌋ = i`` to ``counts[i]``.

    Values beyond the ends count in the first or last bin.
    """
    last = len(counts) - 1
    for v in values:
        counts[min(max(int((np.float64(v) - low) * factor), 0), last)] += 1


@njit(nogil=True, cache=True, fastmath=FLAGS)
def value_deviation(values):
    """``√(Σ (v − mean)² / n)``."""
    total = 0.0
    for v in values:
        total += np.float64(v)
    mean = total / len(values)
    square = 0.0
    for v in values:
        away = np.float64(v) - mean
        square += away * away
    return np.sqrt(square / len(values))


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _taps(low, high, length, size):
    """First pixel, number of pixels and weights of every row (or column) of a crop."""
    step = (high - low) / size
    reach = max(1.0, step)
    most = min(length, int(2 * reach) + 2)
    first = np.empty(size, np.int64)
    count = np.empty(size, np.int64)
    weights = np.zeros((size, most), np.float32)
    for i in range(size):
        centre = low + (i + 0.5) * step - 0.5  # as the pixel 0 has its centre at 0.5
        begin, end = int(np.ceil(centre - reach)), int(np.floor(centre + reach))
        total = 0.0
        for pixel in range(begin, end + 1):
            total += reach - abs(pixel - centre)
        first[i] = min(max(begin, 0), length - 1)
        count[i] = min(max(end, 0), length - 1) - first[i] + 1
        for pixel in range(begin, end + 1):
            inside = min(max(pixel, 0), length - 1) - first[i]
            weights[i, inside] += (reach - abs(pixel - centre)) / total
    return first, count, weights


@njit(nogil=True, cache=True, fastmath=FLAGS)
def resize_boxes(rgb, boxes, crops):
    """Write every box (left, top, right, bottom) of ``rgb`` into ``crops``.

    ``rgb`` has the shape (height, width, 3) and ``crops`` (n, 3, size, size). Boxes may reach
    beyond the picture.
    """
    height, width = rgb.shape[:2]
    size = crops.shape[2]
    flat = rgb.reshape(height, 3 * width)
    row = np.empty(3 * width, np.float32)
    for k in range(len(boxes)):
        top, n_rows, down = _taps(boxes[k, 1], boxes[k, 3], height, size)
        left, n_columns, across = _taps(boxes[k, 0], boxes[k, 2], width, size)
        begin, end = 3 * left[0], 3 * (left[-1] + n_columns[-1])
        for i in range(size):
            row[: end - begin] = 0
            for r in range(n_rows[i]):
                weight = down[i, r]
                pixels = flat[top[i] + r, begin:end]
                for x in range(end - begin):
                    row[x] += weight * pixels[x]
            for j in range(size):
                red = green = blue = np.float32(0)
                for c in range(n_columns[j]):
                    weight = across[j, c]
                    x = 3 * (left[j] + c) - begin
                    red += weight * row[x]
                    green += weight * row[x + 1]
                    blue += weight * row[x + 2]
                crops[k, 0, i, j] = red
                crops[k, 1, i, j] = green
                crops[k, 2, i, j] = blue
