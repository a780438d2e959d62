"""Statistics of pairs of pixels at a distance, as co-occurrence matrices tell them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features.surroundings import InAndAround, Surroundings
from groupcm.kernels.features_neighbours import neighbour_differences

__all__ = ["PAIR_NUMBERS", "pair_numbers"]

_Doubles = NDArray[np.float64]

PAIR_NUMBERS = ("contrast", "homogeneity", "correlation", "entropy")
# Differences are told in this share of the picture's spread, their sizes on a scale of octaves.
_UNIT = 0.2
_LEVELS = 2.0 ** np.arange(-3, 4)
_LEAST_SQUARE = 0.01
_LEAST_VARIANCE = 1e-4


def pair_numbers(
    grey: NDArray[np.float32], distance: int, surroundings: Surroundings
) -> InAndAround:
    """Return `PAIR_NUMBERS` over all pairs at the distance, in four directions; shape (4, n).

    With t the difference of a pair: the log of the mean of t²; the mean of 1 / (1 + t²); the
    correlation 1 − t² / 2 variance; the entropy of sizes of t, from 0 to 1. For ``grey`` see
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


def _numbers(means: _Doubles, deviation: _Doubles, shares: _Doubles) -> _Doubles:
    square, homogeneity = means
    in_spreads = square * _UNIT**2
    correlation = 1 - in_spreads / (2 * deviation**2 + in_spreads + _LEAST_VARIANCE)
    entropy = -np.sum(shares * np.log(np.maximum(shares, 1e-12)), axis=0) / np.log(len(shares))
    return np.stack([np.log(square + _LEAST_SQUARE), homogeneity, correlation, entropy])
