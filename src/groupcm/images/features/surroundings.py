"""A candidate and the ring around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features.areas import Areas, Strips, pixel_edges
from groupcm.images.regions import Regions

__all__ = ["InAndAround", "Surroundings"]

_Doubles = NDArray[np.float64]
_LEAST_MARGIN = 2


@dataclass(frozen=True, eq=False)
class InAndAround:
    """One kind of number of every map (rows) and candidate (columns), inside and in the ring."""

    inside: _Doubles
    ring: _Doubles

    @property
    def difference(self) -> _Doubles:
        """Inside minus ring."""
        return self.inside - self.ring


class Surroundings:
    """Every candidate with its ring: its box enlarged on each side, without the candidate itself.

    A side moves by ``margin · √(width · height)`` of the box, two pixels at least, and stops at
    the picture's border. A candidate that fills its enlarged box has no ring; the numbers of its
    ring are then those of its inside, so that there is no contrast.

    Examples
    --------
    >>> regions = Regions.from_boxes([[1, 1, 2, 2], [0, 0, 4, 3]], height=3, width=4)
    >>> surroundings = Surroundings(regions, margin=0.25)
    >>> means = surroundings.means(np.array([[[0, 0, 0], [0, 8, 0], [0, 0, 0], [3, 0, 8]]],
    ...                                     dtype=np.float32))
    >>> means.inside.round(2), means.ring.round(2)
    (array([[8.  , 1.58]]), array([[1.  , 1.58]]))
    """

    def __init__(self, regions: Regions, margin: float) -> None:
        self._n = len(regions)
        edges = pixel_edges(regions)
        sides = edges[:, 2:] - edges[:, :2]
        step = np.ceil(margin * np.sqrt(sides.prod(axis=1, keepdims=True))).astype(np.int64)
        step = np.maximum(step, _LEAST_MARGIN)
        first = np.maximum(edges[:, :2] - step, 0)
        last = np.minimum(edges[:, 2:] + step, [regions.width, regions.height])
        self.strips = Strips.of(regions)
        outer = Strips.of_boxes(np.hstack([first, last]), regions.width)
        self._areas = Areas(self.strips.followed_by(outer))
        self.pixels = self._areas.pixels[: self._n]
        self._ring_pixels = self._areas.pixels[self._n :] - self.pixels

    def means(self, maps: NDArray[np.float32]) -> InAndAround:
        """Take means of maps of shape (maps, width, height)."""
        return self._shares(self._areas.sums(maps))

    def moments(self, maps: NDArray[np.float32]) -> tuple[InAndAround, InAndAround]:
        """Take means and standard deviations of maps."""
        sums, squares = self._areas.moments(maps)
        mean, square = self._shares(sums), self._shares(squares)
        deviation = InAndAround(
            np.sqrt(np.maximum(square.inside - mean.inside**2, 0)),
            np.sqrt(np.maximum(square.ring - mean.ring**2, 0)),
        )
        return mean, deviation

    def shares(self, codes: NDArray[np.uint8], n_codes: int) -> InAndAround:
        """Take the share of every code, shape (n_codes, n); the shares of an area add up to 1."""
        return self._shares(self._areas.counts(codes, n_codes))

    def _shares(self, sums: _Doubles) -> InAndAround:
        own = sums[:, : self._n]
        inside = own / self.pixels
        around = (sums[:, self._n :] - own) / np.maximum(self._ring_pixels, 1)
        return InAndAround(inside, np.where(self._ring_pixels > 0, around, inside))
