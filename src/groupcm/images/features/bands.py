"""A picture split by the size of its details, and how strong they are in a candidate."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from groupcm.images.features.picture_scale import quantiles
from groupcm.images.features.squash import log_ratio
from groupcm.images.features.surroundings import Surroundings

__all__ = ["BANDS", "BAND_NUMBERS", "band_maps", "band_numbers", "smoothed"]

_Floats = NDArray[np.float32]
_Doubles = NDArray[np.float64]

BANDS = ("fine", "middle", "coarse")
_WIDTHS = (1.0, 2.0, 4.0)
BAND_NUMBERS = ("picture", "ring", "peaks", "polarity", "polarity_size", "bright", "dark")
_LEAST_ENERGY = 1e-4
_RARE = 0.01
_LEAST_SHARE = 0.002


def smoothed(grey: _Floats, width: float) -> _Floats:
    """Smooth a map by a Gaussian of a width in pixels; beyond the border the last pixels go on."""
    return np.asarray(gaussian_filter(grey, width, mode="nearest", truncate=3.0), dtype=np.float32)


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
    return np.stack([finer - coarser for finer, coarser in pairwise(levels)])


def band_numbers(grey: _Floats, surroundings: Surroundings) -> _Doubles:
    """Return `BAND_NUMBERS` of every band, one number of all bands after another.

    ``picture`` and ``ring`` compare the energy inside with that of the picture and of the ring;
    ``peaks`` tells whether few pixels hold it; ``polarity`` whether bright details hold it (1)
    or dark ones (-1); ``bright`` and ``dark`` how dense those pixels are that are among the
    hundredth most extreme of the picture. For ``grey`` see `pattern_shares`.
    """
    bands = band_maps(grey)
    squares = bands**2
    energy = surroundings.means(squares)
    usual = np.broadcast_to(
        squares.mean(axis=(1, 2), dtype=np.float64)[:, None], energy.inside.shape
    )
    low, high = np.array([quantiles(band, (_RARE, 1 - _RARE)) for band in bands]).T
    parts = [
        squares**2,
        np.where(bands > 0, squares, 0),
        bands > high[:, None, None],
        bands < low[:, None, None],
    ]
    means = surroundings.means(np.concatenate(parts, dtype=np.float32)).inside
    fourth, bright_energy, bright, dark = np.split(means, len(parts))
    polarity = (2 * bright_energy - energy.inside) / (energy.inside + _LEAST_ENERGY)
    rare = np.full_like(bright, _RARE)
    return np.concatenate(
        [
            log_ratio(energy.inside, usual, _LEAST_ENERGY),
            log_ratio(energy.inside, energy.ring, _LEAST_ENERGY),
            log_ratio(np.sqrt(fourth), energy.inside, _LEAST_ENERGY),
            polarity,
            np.abs(polarity),
            log_ratio(bright, rare, _LEAST_SHARE),
            log_ratio(dark, rare, _LEAST_SHARE),
        ]
    )
