"""Regions that are brighter or darker than all that surrounds them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groupcm.images.extra import skimage
from groupcm.images.regions import Regions
from groupcm.images.view import View

__all__ = ["ExtremalRegions"]


@dataclass(frozen=True)
class ExtremalRegions:
    """Connected parts above or below levels of lightness and colour."""

    levels: int = 8
    smallest: int = 8

    def propose(self, view: View) -> Regions:
        """Return the parts, the largest first."""
        label = skimage("measure").label
        found = []
        for channel in range(3):
            plane = view.lab[:, :, channel]
            for level in np.unique(np.quantile(plane, np.linspace(0, 1, self.levels + 2)[1:-1])):
                found += [
                    Regions.from_labels(label(part)) for part in (plane > level, plane < level)
                ]
        joined = Regions.joined(found)
        joined = joined.take(joined.areas >= self.smallest)
        return joined.take(np.argsort(-joined.areas, kind="stable"))
