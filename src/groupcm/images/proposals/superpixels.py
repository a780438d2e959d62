"""Superpixels: compact pieces of similar colour that cover the picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groupcm.images.extra import skimage
from groupcm.images.regions import Regions
from groupcm.images.view import View

__all__ = ["Superpixels"]


@dataclass(frozen=True)
class Superpixels:
    """Pieces found by SLIC (Achanta et al. 2012), about ``count`` of them, largest first.

    Parameters
    ----------
    count
        About how many pieces.
    compactness
        Larger makes squarer pieces, smaller lets them follow colours.

    Examples
    --------
    >>> view = View(np.zeros((20, 30, 3), dtype=np.float32))
    >>> len(Superpixels(count=6).propose(view))
    6
    """

    count: int = 100
    compactness: float = 10.0

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"count is {self.count}; it must be 1 or more")
        if self.compactness <= 0:
            raise ValueError(f"compactness is {self.compactness}; it must be positive")

    def propose(self, view: View) -> Regions:
        """Return the pieces, the largest first."""
        labels = skimage("segmentation").slic(
            view.lab,
            n_segments=min(self.count, view.height * view.width),
            compactness=self.compactness,
            convert2lab=False,
            start_label=1,
            channel_axis=2,
        )
        _, labels = np.unique(labels, return_inverse=True)
        pieces = Regions.from_labels(labels.reshape(view.height, view.width) + 1)
        return pieces.take(np.argsort(-pieces.areas, kind="stable"))
