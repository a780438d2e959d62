"""Parts of a picture over which maps are summed: the candidates, and boxes in and about them.

A candidate and the ring around it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.regions import Regions
from groupcm.kernels.images.regions import region_counts, region_moments, region_sums
from groupcm.utils.typing import Float32, Index, Matrix

__all__ = ["Areas", "InAndAround", "Strips", "Surroundings", "pixel_edges"]


@dataclass(frozen=True, eq=False)
class Strips:
    """Runs of pixels within a column, area by area and from left to right.

    Attributes
    ----------
    width
        Of the picture.
    ptr
        Where the strips of every area begin, shape (n + 1,).
    column, top, bottom
        The strips; ``bottom`` is one past the last row.

    Examples
    --------
    >>> strips = Strips.of(Regions.from_boxes([[0.2, 0.4, 2.1, 1.1]], height=4, width=4))
    >>> strips.column, strips.top, strips.bottom
    (array([0, 1]), array([0, 0]), array([1, 1]))
    """

    width: int
    ptr: Index
    column: Index
    top: Index
    bottom: Index

    @classmethod
    def of(cls, regions: Regions) -> Strips:
        """Take the regions themselves; a box becomes the pixels nearest to it, at least one."""
        boxes = np.flatnonzero(regions.is_box)
        of_boxes = cls.of_boxes(pixel_edges(regions)[boxes], regions.width)
        owner = np.concatenate(
            [
                np.repeat(np.arange(len(regions)), np.diff(regions.strip_ptr)),
                np.repeat(boxes, np.diff(of_boxes.ptr)),
            ]
        )
        order = np.argsort(owner, kind="stable")
        counts = np.bincount(owner, minlength=len(regions))
        return cls(
            regions.width,
            _pointer(counts),
            np.concatenate([regions.column, of_boxes.column])[order],
            np.concatenate([regions.top, of_boxes.top])[order],
            np.concatenate([regions.bottom, of_boxes.bottom])[order],
        )

    @classmethod
    def of_boxes(cls, edges: Index, width: int) -> Strips:
        """Take boxes, rows of left, top, right and bottom within the picture."""
        left, top, right, bottom = edges.T
        wide = right - left
        ptr = _pointer(wide)
        column = np.arange(ptr[-1]) + np.repeat(left - ptr[:-1], wide)
        return cls(width, ptr, column, np.repeat(top, wide), np.repeat(bottom, wide))

    @property
    def by_area(self) -> tuple[Index, Index, Index, Index]:
        """Pointer, column, top and bottom, as kernels take them."""
        return self.ptr, self.column, self.top, self.bottom

    def followed_by(self, others: Strips) -> Strips:
        """Put the areas of others after these."""
        return Strips(
            self.width,
            np.concatenate([self.ptr, self.ptr[-1] + others.ptr[1:]]),
            np.concatenate([self.column, others.column]),
            np.concatenate([self.top, others.top]),
            np.concatenate([self.bottom, others.bottom]),
        )


class Areas:
    """Areas ready for sums: their strips, column after column.

    Maps are given column by column too, shape (width, height), and sums have a row a map and a
    column an area.

    Attributes
    ----------
    pixels
        Number of pixels of every area, shape (n,).

    Examples
    --------
    >>> areas = Areas(Strips.of(Regions.from_labels([[1, 1, 2], [0, 2, 2]])))
    >>> areas.pixels
    array([2., 3.])
    >>> areas.sums(np.array([[[1, 2], [3, 4], [5, 6]]], dtype=np.float32))
    array([[ 4., 15.]])
    """

    def __init__(self, strips: Strips) -> None:
        n = len(strips.ptr) - 1
        owner = np.repeat(np.arange(n), np.diff(strips.ptr))
        # NumPy sorts small whole numbers in one sweep.
        small = strips.column.astype(np.uint16) if strips.width < 2**16 else strips.column
        order = np.argsort(small, kind="stable")
        self.pixels = np.bincount(owner, strips.bottom - strips.top, minlength=n)
        column_ptr = _pointer(np.bincount(strips.column, minlength=strips.width))
        self._strips = column_ptr, owner[order], strips.top[order], strips.bottom[order]

    def __len__(self) -> int:
        return len(self.pixels)

    def sums(self, maps: Float32) -> Matrix:
        """Sum maps of shape (maps, width, height) over every area."""
        sums = np.zeros((len(maps), len(self)))
        region_sums(maps, *self._strips, sums)
        return sums

    def moments(self, maps: Float32) -> tuple[Matrix, Matrix]:
        """Sum maps, and their squares, over every area."""
        sums, squares = np.zeros((2, len(maps), len(self)))
        region_moments(maps, *self._strips, sums, squares)
        return sums, squares

    def counts(self, codes: NDArray[np.uint8], n_codes: int) -> Matrix:
        """Count the pixels of every code from 0 to ``n_codes - 1``; shape (n_codes, n)."""
        counts = np.zeros((n_codes, len(self)))
        region_counts(codes, *self._strips, counts)
        return counts


def pixel_edges(regions: Regions) -> Index:
    """Round left, top, right and bottom of every region to pixels, a pixel apart or more.

    Examples
    --------
    >>> pixel_edges(Regions.from_boxes([[0.6, 1.2, 3.4, 1.3]], height=4, width=4))
    array([[1, 1, 3, 2]])
    """
    size = np.array([regions.width, regions.height])
    first = np.clip(np.floor(regions.edges[:, :2] + 0.5), 0, size - 1)
    last = np.clip(np.floor(regions.edges[:, 2:] + 0.5), first + 1, size)
    return np.hstack([first, last]).astype(np.int64)


def _pointer(counts: Index) -> Index:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


_LEAST_MARGIN = 2


@dataclass(frozen=True, eq=False)
class InAndAround:
    """One kind of number of every map (rows) and candidate (columns), inside and in the ring."""

    inside: Matrix
    ring: Matrix

    @property
    def difference(self) -> Matrix:
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

    def means(self, maps: Float32) -> InAndAround:
        """Take means of maps of shape (maps, width, height)."""
        return self._shares(self._areas.sums(maps))

    def moments(self, maps: Float32) -> tuple[InAndAround, InAndAround]:
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

    def _shares(self, sums: Matrix) -> InAndAround:
        own = sums[:, : self._n]
        inside = own / self.pixels
        around = (sums[:, self._n :] - own) / np.maximum(self._ring_pixels, 1)
        return InAndAround(inside, np.where(self._ring_pixels > 0, around, inside))
