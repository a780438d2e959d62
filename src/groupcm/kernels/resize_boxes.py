"""Boxes of a picture brought to one size, ``crop = D P A'`` for every box and colour P.

``D[i, r] ∝ max(0, 1 − |r − r_i| / max(1, s))`` with r_i the centre of row i of the crop and s the
distance of two such rows; A does for columns what D does for rows. A pixel beyond the picture is
the nearest one within it, so its weight goes there.
"""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS


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
