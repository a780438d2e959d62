"""Maps without their fine or without their coarse structure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, uniform_filter1d

__all__ = ["details", "smoothed"]

_Floats = NDArray[np.float32]
_WIDE = 4.0


def smoothed(plane: _Floats, width: float) -> _Floats:
    """Smooth the first two axes by a Gaussian of a width in pixels.

    Wide ones are made of three running means, whose cost does not grow with the width.

    Examples
    --------
    >>> float(smoothed(np.eye(9, dtype=np.float32), 8.0).std()) < 0.01
    True
    """
    if width < _WIDE:
        widths = (width, width, 0.0)[: plane.ndim]
        fine = gaussian_filter(plane, widths, mode="nearest", truncate=3.0)
        return np.asarray(fine, dtype=np.float32)
    size = max(1, round(np.sqrt(4 * width**2 + 1)))
    for _ in range(3):
        for axis in (0, 1):
            mean = uniform_filter1d(plane, size, axis=axis, mode="nearest")
            plane = np.asarray(mean, dtype=np.float32)
    return plane


def details(plane: _Floats, fine: float, coarse: float) -> _Floats:
    """Smooth by ``fine``, and take away what smoothing by ``coarse`` leaves."""
    return smoothed(plane, fine) - smoothed(plane, coarse)
