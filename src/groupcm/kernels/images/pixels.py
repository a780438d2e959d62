"""Per-pixel maps of a picture, their statistics, and crops.

Colour channels, local binary patterns, differences at a distance, counts in
bins, and crops of boxes. Maps have the shape (width, height); beyond the border the outermost
pixels are repeated.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS

N_PATTERNS = 10
_AROUND = np.array([[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1]])
_FORWARD = _AROUND[:4]
_TILE = 32


@njit(nogil=True, cache=True, fastmath=FLAGS)
def fill_channels(rgb, lab, dark, maps):
    """Fill ten maps of shape (width, height) from pictures of shape (height, width, 3).

    Lab / 100; saturation ``(max − min) / (max + dark)``; saturation times cosine and sine of the
    hue; the shares of red and green in ``red + green + blue``, with ``2 dark / 3`` added to each
    colour; red − green; (red + green) / 2 − blue.
    """
    height, width = rgb.shape[:2]
    # Tiles, since pictures are stored row by row and maps column by column.
    for left in range(0, width, _TILE):
        for upper in range(0, height, _TILE):
            for y in range(upper, min(upper + _TILE, height)):
                for x in range(left, min(left + _TILE, width)):
                    _fill_pixel(rgb, lab, dark, maps, x, y)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _fill_pixel(rgb, lab, dark, maps, x, y):
    third = 2 * dark / 3
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
def local_patterns(grey, distance, least, codes):
    """``code = Σ_i b_i`` where the ring of bits changes at most twice around, else 9.

    ``b_i`` is 1 where the i-th of the eight neighbours at the distance is brighter than the pixel
    by more than ``least``. The code is invariant to rotation of the picture by 90°.
    """
    width, height = grey.shape
    bits = np.empty((8, height), np.uint8)
    changes = np.empty(height, np.uint8)
    for x in range(width):
        for i in range(8):
            beside = grey[min(max(x + distance * _AROUND[i, 0], 0), width - 1)]
            _brighter(beside, grey[x], distance * _AROUND[i, 1], least, bits[i])
        ones = codes[x]
        ones[:] = 0
        changes[:] = 0
        for i in range(8):
            one, previous = bits[i], bits[i - 1]
            for y in range(height):
                ones[y] += one[y]
                changes[y] += one[y] ^ previous[y]
        for y in range(height):
            ones[y] = ones[y] if changes[y] <= 2 else 9


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _brighter(beside, here, step, least, bits):
    """Compare a column with another one, ``step`` pixels further down."""
    height = len(here)
    first, last = min(max(-step, 0), height), max(min(height - step, height), 0)
    for y in range(first):
        bits[y] = beside[0] > here[y] + least
    for y in range(first, last):
        bits[y] = beside[y + step] > here[y] + least
    for y in range(max(first, last), height):
        bits[y] = beside[height - 1] > here[y] + least


@njit(nogil=True, cache=True, fastmath=FLAGS)
def neighbour_differences(grey, distance, scale, contrast, homogeneity, levels, codes):
    """Means over the four forward neighbours of ``t²`` and ``1 / (1 + t²)``, t = Δ / scale.

    ``codes`` receives the number of ``levels`` that the mean of ``|t|`` exceeds.
    """
    width, height = grey.shape
    near, size = np.empty(height), np.empty(height)
    square = np.empty(height)
    inner = max(height - distance, 0)
    for x in range(width):
        here = grey[x]
        square[:], near[:], size[:] = 0.0, 0.0, 0.0
        for i in range(4):
            beside = grey[min(max(x + distance * _FORWARD[i, 0], 0), width - 1)]
            step = distance * _FORWARD[i, 1]
            for y in range(height if step == 0 else inner):
                t = np.float64(beside[y + step] - here[y]) / scale
                square[y] += t * t
                near[y] += 1.0 / (1.0 + t * t)
                size[y] += abs(t)
            for y in range(height if step == 0 else inner, height):
                t = np.float64(beside[height - 1] - here[y]) / scale
                square[y] += t * t
                near[y] += 1.0 / (1.0 + t * t)
                size[y] += abs(t)
        for y in range(height):
            contrast[x, y] = square[y] / 4
            homogeneity[x, y] = near[y] / 4
        code = codes[x]
        code[:] = 0
        for level in levels:
            limit = 4 * level
            for y in range(height):
                code[y] += size[y] > limit


@njit(nogil=True, cache=True, fastmath=FLAGS)
def value_counts(values, low, factor, counts):
    """Add the number of values with ``⌊(v − low) · factor⌋ = i`` to ``counts[i]``.

    Values outside of the range count in the first or last bin.
    """
    last = len(counts) - 1
    for v in values:
        counts[min(max(int((np.float64(v) - low) * factor), 0), last)] += 1


@njit(nogil=True, cache=True, fastmath=FLAGS)
def fill_from_bins(values, low, factor, table, result):
    """``result = table[⌊(v − low) · factor⌋]``, with the first or last entry beyond the range."""
    last = len(table) - 1
    for place in range(len(values)):
        result[place] = table[min(max(int((values[place] - low) * factor), 0), last)]


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
    """Return first pixel, number of pixels and weights of each row (or column) of a crop."""
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
    """Write the crop ``D P A'`` of each box (left, top, right, bottom) and colour P to ``crops``.

    ``D[i, r] ∝ max(0, 1 − |r − r_i| / max(1, s))`` with r_i the centre of row i of the crop and s
    the distance of two such rows; A does for columns what D does for rows. ``rgb`` has the shape
    (height, width, 3) and ``crops`` (n, 3, size, size). Boxes may extend beyond the picture, where
    weights go to the nearest pixel within it.
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
