"""Thin lines and small blobs inside a candidate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groupcm.images.features._areas import surroundings_of
from groupcm.images.features._maps import log_ratio, smooth_lightness
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.images.smoothing import principal_curvatures
from groupcm.kernels.images.sums import line_sums
from groupcm.utils.typing import Float32

__all__ = ["Lines"]

_WIDTHS = (1.5, 3.0)
_KINDS = ("dark_line", "dark_blob", "bright_line", "bright_blob")
_MAPS = tuple(f"{kind}_{size}" for size in ("thin", "thick") for kind in _KINDS)
_LEAST = 0.1


@dataclass(frozen=True)
class Lines:
    """Strength of dark and bright lines and blobs of two widths.

    The maps are max(e₁, 0), max(e₂, 0), max(−e₂, 0) and max(−e₁, 0), with e₁ ≥ e₂ the curvatures of
    the lightness smoothed by the width, times the square of the width. The first is large on dark
    lines and blobs, the second on dark blobs only, the third on bright lines and blobs, the last on
    bright blobs only.

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
        larger, smaller = np.empty((2, len(_WIDTHS), view.width, view.height), dtype=np.float32)
        for place, width in enumerate(_WIDTHS):
            smooth = smooth_lightness(view, width) * np.float32(width**2)
            principal_curvatures(smooth, larger[place], smaller[place])
        around = surroundings_of(regions, self.margin)
        means, whole = around.means_by(line_sums, larger, smaller)
        usual = (whole / (view.width * view.height))[:, None]
        least = _LEAST * usual + 1e-4
        parts = [
            log_ratio(means.inside / least, np.broadcast_to(usual / least, means.inside.shape), 1),
            log_ratio(means.inside / least, means.ring / least, 1),
        ]
        return np.concatenate(parts).T.astype(np.float32)
