"""Texture of a candidate: local binary patterns, pairs of pixels (GLCM), and band-pass energies."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from groupcm.images.features._areas import InAndAround, Surroundings, surroundings_of
from groupcm.images.features._maps import (
    LEAST_SPREAD,
    PictureScale,
    column_by_column,
    log_ratio,
    quantiles,
)
from groupcm.images.filters import gaussian
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.images.pixels import N_PATTERNS, local_patterns, neighbour_differences
from groupcm.utils.typing import Float32, Matrix

__all__ = ["Texture", "smoothed"]


BANDS = ("fine", "middle", "coarse")
_WIDTHS = (1.0, 2.0, 4.0)
BAND_NUMBERS = ("picture", "ring", "peaks", "polarity", "polarity_size", "bright", "dark")
_LEAST_ENERGY = 1e-4
_RARE = 0.01
_LEAST_SHARE = 0.002
PAIR_NUMBERS = ("contrast", "homogeneity", "correlation", "entropy")
# Differences are in units of this part of the picture's spread; their sizes are binned by octaves.
_UNIT = 0.2
_LEVELS = 2.0 ** np.arange(-3, 4)
_LEAST_SQUARE = 0.01
_LEAST_VARIANCE = 1e-4
PATTERNS = (*(f"brighter{i}" for i in range(N_PATTERNS - 1)), "mixed")
# In units of the picture's spread: smaller differences count as none.
_LEAST_STEP = np.float32(0.02)
_DISTANCES = (1, 2)
_INSIDE = (
    *(f"pattern{d}_{what}" for d in _DISTANCES for what in PATTERNS),
    *(f"pairs{d}_{what}" for d in _DISTANCES for what in PAIR_NUMBERS),
)


@dataclass(frozen=True)
class Texture:
    """Texture of the lightness inside, and inside minus ring (names that end in ``_ring``).

    Parameters
    ----------
    margin
        Width of the ring; see `Surroundings`.
    """

    margin: float = 0.25

    names = (
        *(f"texture_{name}" for name in _INSIDE),
        *(f"texture_{name}_ring" for name in _INSIDE),
        *(f"texture_{band}_{what}" for what in BAND_NUMBERS for band in BANDS),
    )

    def measure(self, view: View, regions: Regions) -> Float32:
        """Return the features of each region, shape (n, d)."""
        grey = column_by_column(view.grey)
        grey = grey / np.float32(PictureScale.of(grey[None], LEAST_SPREAD).spread[0, 0])
        around = surroundings_of(regions, self.margin)
        parts = [
            *(pattern_shares(grey, distance, around) for distance in _DISTANCES),
            *(pair_numbers(grey, distance, around) for distance in _DISTANCES),
        ]
        values = [
            *(part.inside for part in parts),
            *(part.difference for part in parts),
            band_numbers(grey, around),
        ]
        return np.concatenate(values).T.astype(np.float32)


def smoothed(grey: Float32, width: float) -> Float32:
    """Smooth a map by a Gaussian of a width in pixels, with the border pixels repeated."""
    return gaussian(grey, width)


def band_maps(grey: Float32) -> Float32:
    """Return one band-pass map per band: differences of smoothing by 0, 1, 2 and 4 pixels.

    A bright spot of the size of the band is positive in its map, a dark one negative.

    Examples
    --------
    >>> bands = band_maps(np.ones((5, 4), dtype=np.float32))
    >>> bands.shape, float(np.abs(bands).max()) < 1e-6
    ((3, 5, 4), True)
    """
    levels = [grey, *(smoothed(grey, width) for width in _WIDTHS)]
    return np.stack([finer - coarser for finer, coarser in pairwise(levels)])


def band_numbers(grey: Float32, surroundings: Surroundings) -> Matrix:
    """Return `BAND_NUMBERS`, each of all bands.

    ``picture`` and ``ring`` compare the energy inside with that of the picture and of the ring;
    ``peaks`` measures its concentration in few pixels; ``polarity`` is 1 where the energy is in
    bright details and -1 where it is in dark ones; ``bright`` and ``dark`` are the density of
    pixels beyond the 99th and below the 1st percentile of the picture. For ``grey`` see
    `pattern_shares`.
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


def pair_numbers(grey: Float32, distance: int, surroundings: Surroundings) -> InAndAround:
    """Return `PAIR_NUMBERS` over all pairs at a distance, in four directions; shape (4, n).

    With t the difference of a pair: the log of the mean of t²; the mean of 1 / (1 + t²); the
    correlation 1 − t² / 2 variance; the entropy of the binned |t|, from 0 to 1. For ``grey`` see
    `pattern_shares`.
    """
    maps = np.empty((2, *grey.shape), dtype=np.float32)
    codes = np.empty(grey.shape, dtype=np.uint8)
    neighbour_differences(grey, distance, _UNIT, maps[0], maps[1], _LEVELS, codes)
    means = surroundings.means(maps)
    deviation = surroundings.moments(grey[None])[1]
    shares = surroundings.shares(codes, len(_LEVELS) + 1)
    return InAndAround(
        _numbers(means.inside, deviation.inside[0], shares.inside),
        _numbers(means.ring, deviation.ring[0], shares.ring),
    )


def _numbers(means: Matrix, deviation: Matrix, shares: Matrix) -> Matrix:
    square, homogeneity = means
    in_spreads = square * _UNIT**2
    correlation = 1 - in_spreads / (2 * deviation**2 + in_spreads + _LEAST_VARIANCE)
    entropy = -np.sum(shares * np.log(np.maximum(shares, 1e-12)), axis=0) / np.log(len(shares))
    return np.stack([np.log(square + _LEAST_SQUARE), homogeneity, correlation, entropy])


def pattern_shares(grey: Float32, distance: int, surroundings: Surroundings) -> InAndAround:
    """Return the square root of the share of each of `PATTERNS`, shape (patterns, n).

    Parameters
    ----------
    grey
        Map of lightness in units of the picture's spread.
    distance
        Distance of the eight neighbours in pixels. Beyond one, the map is smoothed first.
    surroundings
        The candidates.
    """
    codes = np.empty(grey.shape, dtype=np.uint8)
    seen = grey if distance == 1 else smoothed(grey, distance / 2)
    local_patterns(seen, distance, _LEAST_STEP, codes)
    shares = surroundings.shares(codes, N_PATTERNS)
    return InAndAround(np.sqrt(shares.inside), np.sqrt(shares.ring))
