"""Texture of a candidate: local patterns, pairs of pixels, and details of several sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features.bands import BAND_NUMBERS, BANDS, band_numbers
from groupcm.images.features.channels import column_by_column
from groupcm.images.features.pairs import PAIR_NUMBERS, pair_numbers
from groupcm.images.features.patterns import PATTERNS, pattern_shares
from groupcm.images.features.picture_scale import LEAST_SPREAD, PictureScale
from groupcm.images.features.surroundings import Surroundings
from groupcm.images.regions import Regions
from groupcm.images.view import View

__all__ = ["Texture"]

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

    def measure(self, view: View, regions: Regions) -> NDArray[np.float32]:
        """Measure every region; shape (n, number of names)."""
        grey = column_by_column(view.grey)
        grey = grey / np.float32(PictureScale.of(grey[None], LEAST_SPREAD).spread[0, 0])
        around = Surroundings(regions, self.margin)
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
