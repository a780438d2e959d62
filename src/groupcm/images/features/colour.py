"""Colour of a candidate in several spaces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features.areas import Areas, Strips
from groupcm.images.features.channels import CHANNELS, colour_channels
from groupcm.images.regions import Regions
from groupcm.images.view import View

__all__ = ["Colour"]


@dataclass(frozen=True)
class Colour:
    """Mean and standard deviation of every channel of `colour_channels` inside the candidate.

    Examples
    --------
    >>> view = View(np.full((4, 4, 3), 0.5, dtype=np.float32))
    >>> regions = Regions.from_boxes([[0, 0, 2, 2]], height=4, width=4)
    >>> values = dict(zip(Colour().names, Colour().measure(view, regions)[0].tolist(), strict=True))
    >>> round(values["colour_lightness"], 3), values["colour_spread_lightness"]
    (0.534, 0.0)
    """

    names = (
        *(f"colour_{channel}" for channel in CHANNELS),
        *(f"colour_spread_{channel}" for channel in CHANNELS),
    )

    def measure(self, view: View, regions: Regions) -> NDArray[np.float32]:
        """Measure every region; shape (n, number of names)."""
        areas = Areas(Strips.of(regions))
        sums, squares = areas.moments(colour_channels(view))
        mean = sums / areas.pixels
        variance = np.maximum(squares / areas.pixels - mean**2, 0)
        return np.concatenate([mean, np.sqrt(variance)]).T.astype(np.float32)
