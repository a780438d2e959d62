"""Colour of a candidate in several spaces.

How a candidate differs from what is around it and from the whole picture.

How a candidate differs from what is left, right, above and below it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groupcm.images.features._areas import Areas, Strips, Surroundings, pixel_edges
from groupcm.images.features._maps import (
    CHANNELS,
    LEAST_SPREAD,
    PictureScale,
    colour_channels,
    column_by_column,
    log_ratio,
    ranks,
    signed_and_size,
)
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.utils.typing import Flags, Float32, Matrix

__all__ = ["Colour", "Contrast", "Sides"]


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

    def measure(self, view: View, regions: Regions) -> Float32:
        """Measure every region; shape (n, number of names)."""
        areas = Areas(Strips.of(regions))
        sums, squares = areas.moments(colour_channels(view))
        mean = sums / areas.pixels
        variance = np.maximum(squares / areas.pixels - mean**2, 0)
        return np.concatenate([mean, np.sqrt(variance)]).T.astype(np.float32)


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

    def measure(self, view: View, regions: Regions) -> Float32:
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


_LAB = CHANNELS[:3]
_LEAST_MARGIN = 2
_NUMBERS = (
    *("least", "second", "third", "most"),
    *("below_all", "above_all", "below_opposite", "above_opposite"),
)


@dataclass(frozen=True)
class Sides:
    """Differences to the four boxes beside the candidate's box, in units of the picture's spread.

    ``least`` to ``most`` are the differences inside minus side in their order, whichever side
    they are of. ``below_all`` tells by how much the candidate lies below (darker, greener, bluer
    than) every side, ``below_opposite`` by how much below two opposite sides, as a line does;
    ``above_…`` the same the other way. A side that the border of the picture cuts off differs by 0.

    Parameters
    ----------
    margin
        Depth of a side in units of the side of a square as large as the candidate's box.

    Examples
    --------
    >>> rgb = np.ones((9, 9, 3), dtype=np.float32)
    >>> rgb[3:6, :] = 0  # a dark line across
    >>> regions = Regions.from_boxes([[0, 3, 9, 6]], height=9, width=9)
    >>> found = dict(zip(Sides().names, Sides().measure(View(rgb), regions)[0], strict=True))
    >>> bool(found["sides_below_opposite_lightness"] > 1), found["sides_below_all_lightness"].item()
    (True, 0.0)
    """

    margin: float = 0.125

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, in their order."""
        return tuple(f"sides_{what}_{channel}" for what in _NUMBERS for channel in _LAB)

    def measure(self, view: View, regions: Regions) -> Float32:
        """Measure every region; shape (n, number of names)."""
        lab = column_by_column(view.lab) / np.float32(100)
        spread = PictureScale.of(lab, LEAST_SPREAD).spread
        inside = Areas(Strips.of(regions))
        mean = inside.sums(lab) / inside.pixels
        left, right, above, below = (
            np.arcsinh((mean - side) / spread) * there
            for side, there in _side_means(lab, regions, self.margin)
        )
        every = np.stack([left, right, above, below])
        parts = [*np.sort(every, axis=0)]
        under, over = np.maximum(-every, 0), np.maximum(every, 0)
        parts += [under.min(axis=0), over.min(axis=0), _opposite(under), _opposite(over)]
        return np.concatenate(parts).T.astype(np.float32)


def _opposite(sides: Matrix) -> Matrix:
    """The larger of what both upright sides have and what both level sides have."""
    return np.maximum(sides[:2].min(axis=0), sides[2:].min(axis=0))


def _side_means(maps: Float32, regions: Regions, margin: float) -> list[tuple[Matrix, Flags]]:
    """Mean of every map left, right, above and below, and where there is such a side."""
    edges = pixel_edges(regions)
    sides = edges[:, 2:] - edges[:, :2]
    step = np.ceil(margin * np.sqrt(sides.prod(axis=1))).astype(np.int64)
    step = np.maximum(step, _LEAST_MARGIN)
    boxes = np.repeat(edges[None], 4, axis=0)
    boxes[0, :, 2], boxes[0, :, 0] = edges[:, 0], np.maximum(edges[:, 0] - step, 0)
    boxes[1, :, 0], boxes[1, :, 2] = edges[:, 2], np.minimum(edges[:, 2] + step, regions.width)
    boxes[2, :, 3], boxes[2, :, 1] = edges[:, 1], np.maximum(edges[:, 1] - step, 0)
    boxes[3, :, 1], boxes[3, :, 3] = edges[:, 3], np.minimum(edges[:, 3] + step, regions.height)
    areas = Areas(Strips.of_boxes(boxes.reshape(-1, 4), regions.width))
    means = (areas.sums(maps) / np.maximum(areas.pixels, 1)).reshape(len(maps), 4, len(regions))
    there = areas.pixels.reshape(4, len(regions)) > 0
    return [(means[:, side], there[side]) for side in range(4)]
