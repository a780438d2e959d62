"""Thin lines and small blobs inside a candidate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groupcm.images.features._areas import surroundings_of
from groupcm.images.features._maps import LEAST_SPREAD, PictureScale, column_by_column, log_ratio
from groupcm.images.features.texture import smoothed
from groupcm.images.filters import curvatures
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.utils.typing import Float32

__all__ = ["Lines", "line_maps"]

_WIDTHS = (1.5, 3.0)
_KINDS = ("dark_line", "dark_blob", "bright_line", "bright_blob")
_MAPS = tuple(f"{kind}_{size}" for size in ("thin", "thick") for kind in _KINDS)
_LEAST = 0.1


def line_maps(grey: Float32, width: float) -> Float32:
    """max(e₁, 0), max(e₂, 0), max(−e₂, 0), max(−e₁, 0): curvatures of the picture, e₁ ≥ e₂.

    They are the eigenvalues of the Hessian of ``grey`` smoothed by ``width`` pixels, times the
    square of the width. The first is large on dark lines and blobs, the second on dark blobs only,
    the third on bright lines and blobs, the last on bright blobs only.

    Examples
    --------
    >>> grey = np.zeros((9, 9), dtype=np.float32)
    >>> grey[4] = -1
    >>> [round(float(each[4, 4]), 2) for each in line_maps(grey, 1.5)]
    [0.18, 0.0, 0.0, 0.0]
    """
    smooth = smoothed(grey, width) * np.float32(width**2)
    largest, smallest = curvatures(smooth)
    maps = np.stack([largest, smallest, -smallest, -largest])
    return np.maximum(maps, 0, out=maps)


@dataclass(frozen=True)
class Lines:
    """Strength of dark and bright lines and blobs of two widths.

    ``picture`` compares their mean strength inside with that in the picture, ``ring`` with that in
    the ring, both as the logarithm of the ratio.

    Parameters
    ----------
    margin
        Width of the ring; see `Surroundings`.
    """

    margin: float = 0.25

    names = tuple(f"lines_{each}_{what}" for what in ("picture", "ring") for each in _MAPS)

    def measure(self, view: View, regions: Regions) -> Float32:
        """Return the features of each region, shape (n, d)."""
        grey = column_by_column(view.grey)
        grey = grey / np.float32(PictureScale.of(grey[None], LEAST_SPREAD).spread[0, 0])
        maps = np.concatenate([line_maps(grey, width) for width in _WIDTHS])
        usual = maps.mean(axis=(1, 2), dtype=np.float64)[:, None]
        means = surroundings_of(regions, self.margin).means(maps)
        least = _LEAST * usual + 1e-4
        parts = [
            log_ratio(means.inside / least, np.broadcast_to(usual / least, means.inside.shape), 1),
            log_ratio(means.inside / least, means.ring / least, 1),
        ]
        return np.concatenate(parts).T.astype(np.float32)
