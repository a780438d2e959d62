"""Colour of a candidate, and its contrast with its surroundings, the picture and each side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groupcm.images.features._areas import (
    Areas,
    Strips,
    areas_of,
    margins,
    pixel_edges,
    surroundings_of,
)
from groupcm.images.features._maps import (
    CHANNELS,
    LEAST_SPREAD,
    PictureScale,
    colour_channels,
    lab_maps,
    lab_scale,
    log_ratio,
    ranks,
    signed_and_size,
)
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.utils.typing import Flags, Float32, Matrix

__all__ = ["Colour", "Contrast", "Sides"]

_STATISTICS = (
    *("least", "second", "third", "most"),
    *("below_all", "above_all", "below_opposite", "above_opposite"),
)


@dataclass(frozen=True)
class Colour:
    """Mean and standard deviation of each channel of `colour_channels` inside the candidate.

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
        """Return the features of each region, shape (n, d)."""
        areas = areas_of(regions)
        sums, squares = areas.moments(colour_channels(view))
        mean = sums / areas.pixels
        variance = np.maximum(squares / areas.pixels - mean**2, 0)
        return np.concatenate([mean, np.sqrt(variance)]).T.astype(np.float32)


@dataclass(frozen=True)
class Contrast:
    """Signed and absolute differences of each channel, in units of its spread in the picture.

    ``ring`` is inside minus ring, ``picture`` inside minus the median of the picture; ``distinct``
    is inside minus ring in units of the spread within both; ``spread`` compares the deviation
    inside with that in the ring. ``rank`` is the lightness as the share of darker pixels in the
    picture.

    Parameters
    ----------
    margin
        Width of the ring, relative to the square root of the area of the candidate's box.
    """

    margin: float = 0.25

    names = tuple(
        f"contrast_{kind}_{channel}"
        for kind in (
            *("ring", "ring_size", "picture", "picture_size"),
            *("distinct", "distinct_size", "spread"),
        )
        for channel in (*CHANNELS, "rank")
    )

    def measure(self, view: View, regions: Regions) -> Float32:
        """Return the features of each region, shape (n, d)."""
        channels = colour_channels(view)
        rank = ranks(channels[:1])
        others = PictureScale.of([*channels[3:], *rank], LEAST_SPREAD)
        scale = lab_scale(view).followed_by(others)
        around = surroundings_of(regions, self.margin)
        (mean, deviation), ranked = around.moments(channels), around.moments(rank)
        mean, deviation = mean.followed_by(ranked[0]), deviation.followed_by(ranked[1])
        within = np.sqrt((deviation.inside**2 + deviation.ring**2) / 2)
        parts = [
            *signed_and_size(mean.difference / scale.spread),
            *signed_and_size((mean.inside - scale.median) / scale.spread),
            *signed_and_size(mean.difference / (within + 0.1 * scale.spread)),
            log_ratio(deviation.inside / scale.spread, deviation.ring / scale.spread, 0.1),
        ]
        return np.concatenate(parts).T.astype(np.float32)


@dataclass(frozen=True)
class Sides:
    """Differences to the four boxes next to the candidate's box, in units of the picture's spread.

    ``least`` to ``most`` are the differences inside minus side, sorted over the four sides.
    ``below_all`` is by how much the candidate is below (darker, greener, bluer than) all sides,
    ``below_opposite`` by how much it is below two opposite sides, as for a line; ``above_…`` are
    the same for above. The difference to a side outside of the picture is 0.

    Parameters
    ----------
    margin
        Depth of a side, relative to the square root of the area of the candidate's box.

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

    names = tuple(
        f"sides_{statistic}_{channel}" for statistic in _STATISTICS for channel in CHANNELS[:3]
    )

    def measure(self, view: View, regions: Regions) -> Float32:
        """Return the features of each region, shape (n, d)."""
        lab, spread = lab_maps(view), lab_scale(view).spread
        inside = areas_of(regions)
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
    """Return the larger of the minimum over left and right and that over above and below."""
    return np.maximum(sides[:2].min(axis=0), sides[2:].min(axis=0))


def _side_means(maps: Float32, regions: Regions, margin: float) -> list[tuple[Matrix, Flags]]:
    """Return the mean of each map left, right, above and below, and whether the side exists."""
    edges = pixel_edges(regions)
    step = margins(edges, margin)
    boxes = np.repeat(edges[None], 4, axis=0)
    boxes[0, :, 2], boxes[0, :, 0] = edges[:, 0], np.maximum(edges[:, 0] - step, 0)
    boxes[1, :, 0], boxes[1, :, 2] = edges[:, 2], np.minimum(edges[:, 2] + step, regions.width)
    boxes[2, :, 3], boxes[2, :, 1] = edges[:, 1], np.maximum(edges[:, 1] - step, 0)
    boxes[3, :, 1], boxes[3, :, 3] = edges[:, 3], np.minimum(edges[:, 3] + step, regions.height)
    areas = Areas(Strips.of_boxes(boxes.reshape(-1, 4), regions.width))
    means = (areas.sums(maps) / np.maximum(areas.pixels, 1)).reshape(len(maps), 4, len(regions))
    there = areas.pixels.reshape(4, len(regions)) > 0
    return [(means[:, side], there[side]) for side in range(4)]
