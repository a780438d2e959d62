"""Shape of a candidate, whatever its size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features.areas import Strips
from groupcm.images.features.strip_moments import StripMoments
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.features_hull import hull_areas
from groupcm.kernels.features_outline import outline_lengths

__all__ = ["Shape"]


@dataclass(frozen=True)
class Shape:
    """Numbers that do not change with the candidate's size.

    Of its box: ``aspect``, the log of width over height, and ``aspect_size``; ``extent``, the
    share of the box that it fills. Of its outline: ``solidity``, the share of its convex hull that
    it fills; ``compactness``, 4 √area / outline, 1 for a square. Of its moments, which compare
    it with an ellipse: ``elongation``, the log of the longer over the shorter axis; ``upright``
    and ``slanted``, its direction by cosine and sine of twice the angle, both 0 if it has none;
    ``fullness``, its area over that of the ellipse; ``lopsided``, its skewness along the longer
    axis; ``strips``, how often a column of pixels meets it.

    Examples
    --------
    >>> view = View(np.zeros((9, 9, 3), dtype=np.float32))
    >>> regions = Regions.from_boxes([[0, 0, 8, 2]], height=9, width=9)
    >>> for name, value in zip(Shape().names, Shape().measure(view, regions)[0], strict=True):
    ...     print(f"{name} {value:.2f}")
    shape_aspect 1.39
    shape_aspect_size 1.39
    shape_extent 1.00
    shape_solidity 1.00
    shape_compactness 0.80
    shape_elongation 1.39
    shape_upright -0.88
    shape_slanted 0.00
    shape_fullness 0.95
    shape_lopsided 0.00
    shape_strips 0.00
    """

    names = tuple(
        f"shape_{what}"
        for what in (
            "aspect",
            "aspect_size",
            "extent",
            "solidity",
            "compactness",
            "elongation",
            "upright",
            "slanted",
            "fullness",
            "lopsided",
            "strips",
        )
    )

    def measure(self, view: View, regions: Regions) -> NDArray[np.float32]:
        """Measure every region; shape (n, number of names)."""
        strips = Strips.of(regions)
        moments = StripMoments.of(strips)
        hull, length, inner = np.empty((3, len(regions)))
        hull_areas(*strips.by_area, hull)
        outline_lengths(*strips.by_area, view.width, view.height, length, inner)
        wide, high = moments.box_sides
        aspect = np.log(wide / high)
        parts = [
            aspect,
            np.abs(aspect),
            moments.area / (wide * high),
            moments.area / hull,
            4 * np.sqrt(moments.area) / length,
            np.log(moments.longer / moments.shorter) / 2,
            moments.upright,
            moments.slanted,
            moments.area / (4 * np.pi * np.sqrt(moments.longer * moments.shorter)),
            moments.skewness,
            np.log(np.diff(strips.ptr) / wide),
        ]
        return np.stack(parts, axis=1).astype(np.float32)
