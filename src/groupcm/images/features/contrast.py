"""How a candidate differs from what is around it and from the whole picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features.channels import CHANNELS, colour_channels
from groupcm.images.features.picture_scale import LEAST_SPREAD, PictureScale, ranks
from groupcm.images.features.squash import log_ratio, signed_and_size
from groupcm.images.features.surroundings import Surroundings
from groupcm.images.regions import Regions
from groupcm.images.view import View

__all__ = ["Contrast"]

_MAPS = (*CHANNELS, "rank")


@dataclass(frozen=True)
class Contrast:
    """Differences of every channel, signed and in size, in units of the picture's own spread.

    ``ring`` is inside minus ring, ``picture`` inside minus the picture's median; ``distinct`` is
    inside minus ring in units of the spread within both; ``spread`` compares the deviation inside
    with that in the ring. ``rank`` is the lightness as the share of darker pixels in the picture.

    Parameters
    ----------
    margin
        Width of the ring in units of the side of a square as large as the candidate's box.
    """

    margin: float = 0.25

    names = tuple(
        f"contrast_{kind}_{channel}"
        for kind in (
            "ring",
            "ring_size",
            "picture",
            "picture_size",
            "distinct",
            "distinct_size",
            "spread",
        )
        for channel in _MAPS
    )

    def measure(self, view: View, regions: Regions) -> NDArray[np.float32]:
        """Measure every region; shape (n, number of names)."""
        channels = colour_channels(view)
        maps = np.concatenate([channels, ranks(channels[:1])])
        scale = PictureScale.of(maps, LEAST_SPREAD)
        mean, deviation = Surroundings(regions, self.margin).moments(maps)
        within = np.sqrt((deviation.inside**2 + deviation.ring**2) / 2)
        parts = [
            *signed_and_size(mean.difference / scale.spread),
            *signed_and_size((mean.inside - scale.median) / scale.spread),
            *signed_and_size(mean.difference / (within + 0.1 * scale.spread)),
            log_ratio(deviation.inside / scale.spread, deviation.ring / scale.spread, 0.1),
        ]
        return np.concatenate(parts).T.astype(np.float32)
