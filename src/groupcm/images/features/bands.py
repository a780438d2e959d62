"""A picture split by the size of its details."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

__all__ = ["BANDS", "band_maps", "smoothed"]

_Floats = NDArray[np.float32]

_WIDTHS = (1.0, 2.0, 4.0)
BANDS = ("fine", "middle", "coarse")


def smoothed(grey: _Floats, width: float) -> _Floats:
    """Smooth a map by a Gaussian of a width in pixels; beyond the border the last pixels go on."""
    return gaussian_filter(grey, width, mode="nearest", truncate=3.0)


def band_maps(grey: _Floats) -> _Floats:
    """Return a map for each of `BANDS`: what smoothing by 1, 2 and 4 pixels takes away in turn.

    A bright spot of the band's size is positive in its map, a dark one negative.

    Examples
    --------
    >>> bands = band_maps(np.ones((5, 4), dtype=np.float32))
    >>> bands.shape, float(np.abs(bands).max()) < 1e-6
    ((3, 5, 4), True)
    """
    levels = [grey, *(smoothed(grey, width) for width in _WIDTHS)]
    return np.stack([finer - coarser for finer, coarser in zip(levels, levels[1:], strict=False)])
