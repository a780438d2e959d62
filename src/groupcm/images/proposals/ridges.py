"""Long thin lines, dark or bright: cracks, scratches, vessels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groupcm.images.extra import skimage
from groupcm.images.regions import Regions
from groupcm.images.view import View

__all__ = ["Ridges"]


@dataclass(frozen=True)
class Ridges:
    """Lines that stand out from their surroundings."""

    width: int = 5
    smallest: int = 8

    def propose(self, view: View) -> Regions:
        """Return the lines, the largest first."""
        morphology, label = skimage("morphology"), skimage("measure").label
        disk = morphology.disk(self.width // 2 + 1)
        found = []
        for top_hat in (morphology.black_tophat, morphology.white_tophat):
            height = top_hat(view.grey, disk)
            for share in (0.8, 0.9, 0.97):
                strong = height > max(float(np.quantile(height, share)), 1e-6)
                found.append(Regions.from_labels(label(strong)))
        joined = Regions.joined(found)
        joined = joined.take(joined.areas >= self.smallest)
        return joined.take(np.argsort(-joined.areas, kind="stable"))
