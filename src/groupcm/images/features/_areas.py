"""Sums of maps over areas of a picture: candidates, boxes, and the rings around candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from groupcm.images.regions import Regions, pointer
from groupcm.kernels.images.sums import (
    box_strips,
    region_counts,
    region_moments,
    region_sums,
    strips_by_column,
)
from groupcm.utils.typing import Float32, Index, Matrix

__all__ = [
    "Areas",
    "InAndAround",
    "Strips",
    "Surroundings",
    "areas_of",
    "margins",
    "pixel_edges",
    "strips_of",
    "surroundings_of",
]

_Known = WeakKeyDictionary[Regions, dict[str, Any]]
Made = TypeVar("Made")
# Several families need the same of the candidates of a picture.
_known: _Known = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Strips:
    """Areas as runs of pixels within a column, area by area and from left to right.

    Attributes
    ----------
    width
        Width of the picture.
    ptr
        Area k has the strips ``ptr[k]`` to ``ptr[k + 1]``, shape (n + 1,).
    column, top, bottom
        The strips; ``bottom`` is exclusive.

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
        """Return the strips of regions; a box is rounded to pixels, at least one."""
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
            pointer(counts),
            np.concatenate([regions.column, of_boxes.column])[order],
            np.concatenate([regions.top, of_boxes.top])[order],
            np.concatenate([regions.bottom, of_boxes.bottom])[order],
        )

    @classmethod
    def of_boxes(cls, edges: Index, width: int) -> Strips:
        """Return the strips of boxes, rows of left, top, right and bottom in pixels."""
        ptr = pointer(edges[:, 2] - edges[:, 0])
        column, top, bottom = np.empty((3, ptr[-1]), dtype=np.int64)
        box_strips(np.ascontiguousarray(edges), ptr, column, top, bottom)
        return cls(width, ptr, column, top, bottom)

    @property
    def by_area(self) -> tuple[Index, Index, Index, Index]:
        """Pointer, column, top and bottom, the arguments of kernels."""
        return self.ptr, self.column, self.top, self.bottom

    def followed_by(self, others: Strips) -> Strips:
        """Return these areas followed by others."""
        return Strips(
            self.width,
            np.concatenate([self.ptr, self.ptr[-1] + others.ptr[1:]]),
            np.concatenate([self.column, others.column]),
            np.concatenate([self.top, others.top]),
            np.concatenate([self.bottom, others.bottom]),
        )


class Areas:
    """Areas prepared for sums: their strips, sorted by column.

    Maps have the shape (width, height), and sums have one row per map and one column per area.

    Attributes
    ----------
    pixels
        Number of pixels of each area, shape (n,).

    Examples
    --------
    >>> areas = Areas(Strips.of(Regions.from_labels([[1, 1, 2], [0, 2, 2]])))
    >>> areas.pixels
    array([2., 3.])
    >>> areas.sums(np.array([[[1, 2], [3, 4], [5, 6]]], dtype=np.float32))
    array([[ 4., 15.]])
    """

    def __init__(self, strips: Strips) -> None:
        column_ptr, owner, top, bottom, pixels = strips_by_column(*strips.by_area, strips.width)
        self._strips = column_ptr, owner, top, bottom
        self.pixels = pixels

    def __len__(self) -> int:
        return len(self.pixels)

    def sums(self, maps: Float32) -> Matrix:
        """Sum maps of shape (maps, width, height) over each area."""
        sums = np.zeros((len(maps), len(self)))
        region_sums(maps, *self._strips, sums)
        return sums

    def moments(self, maps: Float32) -> tuple[Matrix, Matrix]:
        """Sum maps, and their squares, over each area."""
        sums, squares = np.zeros((2, len(maps), len(self)))
        region_moments(maps, *self._strips, sums, squares)
        return sums, squares

    def counts(self, codes: NDArray[np.uint8], n_codes: int) -> Matrix:
        """Count the pixels of each code from 0 to ``n_codes - 1``; shape (n_codes, n)."""
        counts = np.zeros((n_codes, len(self)))
        region_counts(codes, *self._strips, counts)
        return counts

    def sums_by(self, kernel: Callable[..., None], *arguments: Any) -> tuple[Matrix, Matrix]:
        """Sum the eight maps that a kernel of `groupcm.kernels.images.sums` computes.

        Returns the sums over each area, shape (8, n), and over the picture, shape (8,).
        """
        sums, whole = np.zeros((len(self), 8)), np.zeros(8)
        kernel(*arguments, *self._strips, sums, whole)
        return sums.T, whole


def pixel_edges(regions: Regions) -> Index:
    """Round the boxes of regions to whole pixels, at least one wide and high.

    Examples
    --------
    >>> pixel_edges(Regions.from_boxes([[0.6, 1.2, 3.4, 1.3]], height=4, width=4))
    array([[1, 1, 3, 2]])
    """
    size = np.array([regions.width, regions.height])
    first = np.clip(np.floor(regions.edges[:, :2] + 0.5), 0, size - 1)
    last = np.clip(np.floor(regions.edges[:, 2:] + 0.5), first + 1, size)
    return np.hstack([first, last]).astype(np.int64)


def margins(edges: Index, margin: float) -> Index:
    """Return ``margin · √(width · height)`` of each box, rounded up to two pixels at least."""
    sides = edges[:, 2:] - edges[:, :2]
    return np.maximum(np.ceil(margin * np.sqrt(sides.prod(axis=1))).astype(np.int64), 2)


@dataclass(frozen=True, eq=False)
class InAndAround:
    """A statistic per map (row) and candidate (column), inside and in the ring."""

    inside: Matrix
    ring: Matrix

    @property
    def difference(self) -> Matrix:
        """Inside minus ring."""
        return self.inside - self.ring

    def followed_by(self, others: InAndAround) -> InAndAround:
        """Return the statistics of these maps followed by those of others."""
        return InAndAround(
            np.concatenate([self.inside, others.inside]), np.concatenate([self.ring, others.ring])
        )


class Surroundings:
    """Candidates with their rings: the box enlarged on each side, without the candidate itself.

    Each side moves outwards by `margins` and stops at the border of the picture. A candidate that
    fills its enlarged box has no ring; the statistics of its ring are then those of its inside, so
    that its contrast is 0.

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
        step = margins(edges, margin)[:, None]
        first = np.maximum(edges[:, :2] - step, 0)
        last = np.minimum(edges[:, 2:] + step, [regions.width, regions.height])
        self.strips = strips_of(regions)
        outer = Strips.of_boxes(np.hstack([first, last]), regions.width)
        self._areas = Areas(self.strips.followed_by(outer))
        self.pixels = self._areas.pixels[: self._n]
        self._ring_pixels = self._areas.pixels[self._n :] - self.pixels

    def means(self, maps: Float32) -> InAndAround:
        """Return the means of maps of shape (maps, width, height)."""
        return self._shares(self._areas.sums(maps))

    def moments(self, maps: Float32) -> tuple[InAndAround, InAndAround]:
        """Return the means and standard deviations of maps."""
        sums, squares = self._areas.moments(maps)
        mean, square = self._shares(sums), self._shares(squares)
        deviation = InAndAround(
            np.sqrt(np.maximum(square.inside - mean.inside**2, 0)),
            np.sqrt(np.maximum(square.ring - mean.ring**2, 0)),
        )
        return mean, deviation

    def shares(self, codes: NDArray[np.uint8], n_codes: int) -> InAndAround:
        """Return the share of each code, shape (n_codes, n); the shares of an area sum to 1."""
        return self._shares(self._areas.counts(codes, n_codes))

    def means_by(self, kernel: Callable[..., None], *arguments: Any) -> tuple[InAndAround, Matrix]:
        """Return the means of the eight maps of a kernel, and their sums over the picture."""
        sums, whole = self._areas.sums_by(kernel, *arguments)
        return self._shares(sums), whole

    def _shares(self, sums: Matrix) -> InAndAround:
        own = sums[:, : self._n]
        inside = own / self.pixels
        around = (sums[:, self._n :] - own) / np.maximum(self._ring_pixels, 1)
        return InAndAround(inside, np.where(self._ring_pixels > 0, around, inside))


def strips_of(regions: Regions) -> Strips:
    """Return `Strips.of`, which is computed once as long as the regions exist."""
    return _once(regions, "strips", lambda: Strips.of(regions))


def areas_of(regions: Regions) -> Areas:
    """Return the `Areas` of regions, which are computed once as long as the regions exist."""
    return _once(regions, "areas", lambda: Areas(strips_of(regions)))


def surroundings_of(regions: Regions, margin: float) -> Surroundings:
    """Return the `Surroundings` of regions, computed once as long as the regions exist."""
    return _once(regions, f"around {margin!r}", lambda: Surroundings(regions, margin))


def _once(regions: Regions, what: str, make: Callable[[], Made]) -> Made:
    known = _known.setdefault(regions, {})
    if what not in known:
        known[what] = make()
    return known[what]
