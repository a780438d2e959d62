"""Local binary patterns: which neighbours of a pixel are brighter than it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features.bands import smoothed
from groupcm.images.features.surroundings import InAndAround, Surroundings
from groupcm.kernels.features_neighbours import N_PATTERNS, local_patterns

__all__ = ["PATTERNS", "pattern_shares"]

PATTERNS = (*(f"brighter{i}" for i in range(N_PATTERNS - 1)), "mixed")
# In units of the picture's spread: less is no difference.
_LEAST_STEP = np.float32(0.02)


def pattern_shares(
    grey: NDArray[np.float32], distance: int, surroundings: Surroundings
) -> InAndAround:
    """Return the square root of the share of every one of `PATTERNS`, shape (patterns, n).

    Parameters
    ----------
    grey
        Map of lightness in units of the picture's spread.
    distance
        Of the eight neighbours, in pixels. Beyond one, the map is smoothed first.
    surroundings
        The candidates.
    """
    codes = np.empty(grey.shape, dtype=np.uint8)
    seen = grey if distance == 1 else smoothed(grey, distance / 2)
    local_patterns(seen, distance, _LEAST_STEP, codes)
    shares = surroundings.shares(codes, N_PATTERNS)
    return InAndAround(np.sqrt(shares.inside), np.sqrt(shares.ring))
