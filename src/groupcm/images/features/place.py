"""Where a candidate is in its picture, and how large a part of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features.areas import Strips
from groupcm.images.features.strip_moments import StripMoments
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.features_outline import outline_lengths

__all__ = ["Place"]


@dataclass(frozen=True)
class Place:
    """Position and size relative to the picture.

    ``x`` and ``y`` of its middle go from -1 (left, top) to 1, ``away`` is their distance from
    the middle of the picture; ``area``, ``width`` and ``height`` are logs of the share of the
    picture; ``border`` is the share of its outline at the picture's border.

    These tell the size of the picture where that of objects is known, so they are not among
    the default families: a size may give away what should be seen.

    Examples
    --------
    >>> view = View(np.zeros((10, 20, 3), dtype=np.float32))
    >>> regions = Regions.from_boxes([[0, 0, 10, 5]], height=10, width=20)
    >>> for name, value in zip(Place().names, Place().measure(view, regions)[0], strict=True):
    ...     print(f"{name} {value:.2f}")
    place_x -0.50
    place_y -0.50
    place_x_size 0.50
    place_y_size 0.50
    place_away 0.71
    place_area -1.39
    place_width -0.69
    place_height -0.69
    place_border 0.50
    """

    names = tuple(
        f"place_{what}"
        for what in (
            *("x", "y", "x_size", "y_size", "away"),
            *("area", "width", "height", "border"),
        )
    )

    def measure(self, view: View, regions: Regions) -> NDArray[np.float32]:
        """Measure every region; shape (n, number of names)."""
        strips = Strips.of(regions)
        moments = StripMoments.of(strips)
        length, inner = np.empty((2, len(regions)))
        outline_lengths(*strips.by_area, view.width, view.height, length, inner)
        x = 2 * moments.middle[0] / view.width - 1
        y = 2 * moments.middle[1] / view.height - 1
        wide, high = moments.box_sides
        parts = [
            x,
            y,
            np.abs(x),
            np.abs(y),
            np.hypot(x, y),
            np.log(moments.area / (view.width * view.height)),
            np.log(wide / view.width),
            np.log(high / view.height),
            1 - inner / length,
        ]
        return np.stack(parts, axis=1).astype(np.float32)
