"""Specular highlights, which are filled in from their surroundings before a picture is measured.

A wet or polished surface mirrors the lamp in small white spots. They move with the camera and have
sharper edges than any object, so that a model can learn the lamp of one hospital.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from groupcm.utils.typing import Flags, Float32

__all__ = ["HIGHLIGHTS", "fill_highlights", "find_highlights"]

#: What a recipe can do with highlights.
HIGHLIGHTS = ("keep", "fill")
_LEAST_WHITE = 0.8  # of the darkest colour of a pixel
_LEAST_CONTRAST = 0.12  # to the mean of the surroundings
_LARGEST = 0.02  # share of the picture: a larger white area is a thing of its own
_MARGIN = 2  # pixels of glow around a highlight
_WINDOWS = (7, 21, 63, 189)


def find_highlights(rgb: Float32) -> Flags:
    """Return the pixels of highlights: small, almost white, and brighter than what is around them.

    Parameters
    ----------
    rgb
        Red, green and blue from 0 to 1, shape (height, width, 3).

    Examples
    --------
    >>> rgb = np.full((60, 60, 3), 0.4, dtype=np.float32)
    >>> rgb[30:33, 30:33] = 1.0
    >>> found = find_highlights(rgb)
    >>> int(found.sum()), bool(found[31, 31])
    (49, True)
    """
    darkest = rgb.min(axis=2)
    around = ndimage.uniform_filter(darkest, max(9, min(rgb.shape[:2]) // 8))
    white = (darkest >= _LEAST_WHITE) & (darkest - around >= _LEAST_CONTRAST)
    if not white.any():
        return white
    labelled: Any = ndimage.label(white)
    spots = labelled[0]
    sizes = np.bincount(spots.ravel())
    is_small = sizes <= _LARGEST * white.size
    is_small[0] = False
    size = 2 * _MARGIN + 1
    return np.asarray(ndimage.maximum_filter(is_small[spots], size=size), dtype=bool)


def fill_highlights(rgb: Float32) -> Float32:
    """Return a picture whose highlights have the mean colour of the pixels around them.

    The mean is over the smallest of a few windows that has a pixel outside the highlights. A
    picture without highlights is returned as it is.

    Examples
    --------
    >>> rgb = np.full((60, 60, 3), 0.4, dtype=np.float32)
    >>> rgb[30:33, 30:33] = 1.0
    >>> bool(np.allclose(fill_highlights(rgb), 0.4))
    True
    """
    missing = find_highlights(rgb)
    if not missing.any():
        return rgb
    filled, known = rgb.copy(), (~missing).astype(np.float32)
    kept = rgb * known[:, :, None]
    for window in _WINDOWS:
        weight = ndimage.uniform_filter(known, window)
        has = missing & (weight > 0.5 / window**2)
        for colour in range(3):
            mean = ndimage.uniform_filter(kept[:, :, colour], window)
            filled[has, colour] = mean[has] / weight[has]
        missing = missing & ~has
        if not missing.any():
            break
    return filled
