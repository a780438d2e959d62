"""Smoothing of maps along both axes: by a Gaussian, and by running means.

Beyond the border the outermost pixels are repeated. Maps have the shape (height, width · channels),
with the channels of a pixel next to each other; sums are in double precision, as those of SciPy,
whose results these are up to rounding.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def weighted_means(plane, weights, channels, result):
    """Convolve rows and columns: ``Σ_j w_|j| p(y + j)``, then the same across.

    Parameters
    ----------
    plane
        Shape (height, width · channels).
    weights
        ``w_0`` to ``w_r``, for distances up to r.
    result
        Receives the smoothed map, of the shape of ``plane``.
    """
    height, length = plane.shape
    reach = len(weights) - 1
    sums = np.empty(length)
    padded = np.empty(length + 2 * reach * channels)
    start = reach * channels
    for y in range(height):
        for x in range(length):
            sums[x] = weights[0] * plane[y, x]
        for j in range(1, reach + 1):
            above, below, weight = plane[max(y - j, 0)], plane[min(y + j, height - 1)], weights[j]
            for x in range(length):
                sums[x] += weight * (np.float64(above[x]) + np.float64(below[x]))
        for x in range(length):
            padded[start + x] = np.float32(sums[x])
        for x in range(start):
            padded[x] = padded[start + x % channels]
            padded[start + length + x] = padded[start + length - channels + x % channels]
        for x in range(length):
            sums[x] = weights[0] * padded[start + x]
        for j in range(1, reach + 1):
            # Parts of the row, because an index that could be negative prevents vectorisation.
            step, weight = j * channels, weights[j]
            left, right = padded[start - step :], padded[start + step :]
            for x in range(length):
                sums[x] += weight * (left[x] + right[x])
        for x in range(length):
            result[y, x] = sums[x]


@njit(nogil=True, cache=True, fastmath=FLAGS)
def running_means(plane, size, channels, result):
    """Replace each pixel by the mean of ``size`` pixels around it, down and then across.

    ``size // 2`` pixels are before the pixel. ``plane`` and ``result`` have the shape
    (height, width · channels).
    """
    height, length = plane.shape
    before = size // 2
    after = size - before - 1
    part = 1.0 / size
    sums = np.zeros(length)
    for y in range(-before, after + 1):
        row = plane[min(max(y, 0), height - 1)]
        for x in range(length):
            sums[x] += row[x]
    across = np.empty(length)
    width = length // channels
    for y in range(height):
        for x in range(length):
            across[x] = np.float32(sums[x] * part)
        coming, going = plane[min(y + after + 1, height - 1)], plane[max(y - before, 0)]
        for x in range(length):
            sums[x] += np.float64(coming[x]) - np.float64(going[x])
        for channel in range(channels):
            total = 0.0
            for x in range(-before, after + 1):
                total += across[min(max(x, 0), width - 1) * channels + channel]
            for x in range(width):
                result[y, x * channels + channel] = total * part
                new, old = min(x + after + 1, width - 1), max(x - before, 0)
                total += across[new * channels + channel] - across[old * channels + channel]


@njit(nogil=True, cache=True, fastmath=FLAGS)
def central_differences(plane, down, right):
    """``(p(y + 1) − p(y − 1)) / 2`` down and to the right; to one side at the border.

    They are 0 along an axis of one pixel.
    """
    height = len(plane)
    for y in range(height):
        low, high = max(y - 1, 0), min(y + 1, height - 1)
        _down(plane[low], plane[high], high - low, down[y])
        _right(plane[y], right[y])


@njit(nogil=True, cache=True, fastmath=FLAGS)
def principal_curvatures(plane, larger, smaller):
    """``(a + c) / 2 ± √(((a − c) / 2)² + b²)`` of the second differences a, b, c of each pixel.

    a is down twice, b down and to the right, c to the right twice; see `central_differences`.
    """
    height, width = plane.shape
    # The differences down of three rows, and those to the right of one.
    down, right = np.empty((3, width), np.float32), np.empty(width, np.float32)
    a, b, c = np.empty((3, width), np.float32)
    _down(plane[0], plane[min(1, height - 1)], 1, down[0])
    for y in range(height):
        low, high = max(y - 1, 0), min(y + 1, height - 1)
        if high > y:
            after = min(y + 2, height - 1)
            _down(plane[y], plane[after], after - y, down[high % 3])
        _down(down[low % 3], down[high % 3], high - low, a)
        _right(plane[y], right)
        _right(down[y % 3], b)
        _right(right, c)
        for x in range(width):
            middle = (a[x] + c[x]) / 2
            apart = (a[x] - c[x]) / 2
            apart = np.sqrt(apart * apart + b[x] * b[x])
            larger[y, x] = middle + apart
            smaller[y, x] = middle - apart


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _down(above, below, distance, result):
    factor = np.float32(0.5) if distance == 2 else np.float32(1)
    for x in range(len(result)):
        result[x] = (below[x] - above[x]) * factor


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _right(row, result):
    last = len(row) - 1
    for x in range(1, last):
        result[x] = (row[x + 1] - row[x - 1]) * np.float32(0.5)
    result[0] = row[min(1, last)] - row[0]
    result[last] = row[last] - row[max(last - 1, 0)]
