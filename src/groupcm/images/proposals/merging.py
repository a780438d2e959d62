"""Pieces of similar colour, at several scales."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groupcm.images.extra import skimage
from groupcm.images.regions import Regions
from groupcm.images.view import View

__all__ = ["Merging"]


@dataclass(frozen=True)
class Merging:
    """Graph-based pieces (Felzenszwalb and Huttenlocher 2004) at several scales."""

    scales: tuple[float, ...] = (50, 150, 400)
    smallest: int = 20

    def propose(self, view: View) -> Regions:
        """Return the pieces."""
        parts = []
        for scale in self.scales:
            labels = skimage("segmentation").felzenszwalb(
                view.rgb, scale=scale, sigma=0.8, min_size=self.smallest
            )
            _, labels = np.unique(labels, return_inverse=True)
            parts.append(Regions.from_labels(labels.reshape(view.height, view.width) + 1))
        return Regions.joined(parts)
