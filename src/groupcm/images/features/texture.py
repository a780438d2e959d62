"""Texture of a candidate: local binary patterns, pairs of pixels (GLCM), and band-pass energies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from groupcm.images.features._areas import InAndAround, Surroundings, surroundings_of
from groupcm.images.features._maps import lightness, log_ratio, quantiles, smooth_lightness
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.images.pixels import N_PATTERNS, local_patterns, neighbour_differences
from groupcm.kernels.images.sums import band_sums
from groupcm.utils.typing import Float32, Matrix

__all__ = ["Texture"]

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
        grey = lightness(view)
        around = surroundings_of(regions, self.margin)
        levels = [grey, *(smooth_lightness(view, width) for width in _WIDTHS)]
        # Beyond a distance of one pixel, patterns are those of the smoothed map.
        seen = [grey, *(smooth_lightness(view, distance / 2) for distance in _DISTANCES[1:])]
        parts = [
            *(pattern_shares(*each, around) for each in zip(seen, _DISTANCES, strict=True)),
            *pair_numbers(grey, around),
        ]
        values = [
            *(part.inside for part in parts),
            *(part.difference for part in parts),
            band_numbers(levels, around),
        ]
        return np.concatenate(values).T.astype(np.float32)


def band_numbers(levels: Sequence[Float32], surroundings: Surroundings) -> Matrix:
    """Return `BAND_NUMBERS`, each of all bands.

    A band is the difference of two successive ``levels``, which are more and more smoothed. A
    bright spot of the size of the band is positive in it, a dark one negative.

    ``picture`` and ``ring`` compare the energy inside with that of the picture and of the ring;
    ``peaks`` measures its concentration in few pixels; ``polarity`` is 1 where the energy is in
    bright details and -1 where it is in dark ones; ``bright`` and ``dark`` are the density of
    pixels beyond the 99th and below the 1st percentile of the picture. For the first level see
    `pattern_shares`.
    """
    found = []
    for finer, coarser in pairwise(levels):
        low, high = quantiles(finer - coarser, (_RARE, 1 - _RARE))
        means, whole = surroundings.means_by(band_sums, finer, coarser, low, high)
        usual = np.full(means.inside.shape[1], whole[0] / finer.size)
        found.append([*means.inside[:5], means.ring[0], usual])
    energy, fourth, bright_energy, bright, dark, ring, usual = np.array(found).transpose(1, 0, 2)
    polarity = (2 * bright_energy - energy) / (energy + _LEAST_ENERGY)
    rare = np.full_like(bright, _RARE)
    return np.concatenate(
        [
            log_ratio(energy, usual, _LEAST_ENERGY),
            log_ratio(energy, ring, _LEAST_ENERGY),
            log_ratio(np.sqrt(fourth), energy, _LEAST_ENERGY),
            polarity,
            np.abs(polarity),
            log_ratio(bright, rare, _LEAST_SHARE),
            log_ratio(dark, rare, _LEAST_SHARE),
        ]
    )


def pair_numbers(grey: Float32, surroundings: Surroundings) -> list[InAndAround]:
    """Return `PAIR_NUMBERS` of all pairs at each distance, in four directions; each (4, n).

    With t the difference of a pair: the log of the mean of t²; the mean of 1 / (1 + t²); the
    correlation 1 − t² / 2 variance; the entropy of the binned |t|, from 0 to 1. For ``grey`` see
    `pattern_shares`.
    """
    maps = np.empty((len(_DISTANCES), 2, *grey.shape), dtype=np.float32)
    codes = np.empty(grey.shape, dtype=np.uint8)
    shares = []
    for distance, (square, near) in zip(_DISTANCES, maps, strict=True):
        neighbour_differences(grey, distance, _UNIT, square, near, _LEVELS, codes)
        shares.append(surroundings.shares(codes, len(_LEVELS) + 1))
    means = surroundings.means(maps.reshape(-1, *grey.shape))
    deviation = surroundings.moments(grey[None])[1]
    return [
        InAndAround(
            _numbers(means.inside[2 * i : 2 * i + 2], deviation.inside[0], share.inside),
            _numbers(means.ring[2 * i : 2 * i + 2], deviation.ring[0], share.ring),
        )
        for i, share in enumerate(shares)
    ]


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
        Distance of the eight neighbours in pixels.
    surroundings
        The candidates.
    """
    codes = np.empty(grey.shape, dtype=np.uint8)
    local_patterns(grey, distance, _LEAST_STEP, codes)
    shares = surroundings.shares(codes, N_PATTERNS)
    return InAndAround(np.sqrt(shares.inside), np.sqrt(shares.ring))
