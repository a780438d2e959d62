"""Colours of every pixel in several spaces."""

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
