"""Many regions of one picture as plain arrays, so that all of them are compared at once.

Boxes keep their edges. Polygons and masks become strips: runs of pixels within one column, from
row ``top`` to row ``bottom`` (one past the last). The pixel in column ``c`` and row ``r`` is the
square from ``(c, r)`` to ``(c + 1, r + 1)``, as in `groupcm.annotations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.annotations import Box, Mask, Region
from groupcm.annotations.runs import cut_at_columns, from_edges
from groupcm.utils.typing import Flags, Index, Matrix

__all__ = ["Regions", "boxes_and_areas"]

_MOST_STRIPS = 2**27  # of all regions of a picture: five arrays of a gigabyte


@dataclass(frozen=True, eq=False)
class Regions:
    """Regions of one picture of ``height`` × ``width`` pixels; what lies outside is cut off.

    Attributes
    ----------
    height, width
        Size of the picture.
    edges
        Left, top, right and bottom of every region's box, shape (n, 4).
    areas
        Area of every region, shape (n,).
    is_box
        Whether the region is a whole box; such a region has no strips.
    strip_ptr
        Where the strips of every region begin, shape (n + 1,).
    column, top, bottom
        The strips, region by region and from left to right.

    Examples
    --------
    >>> from groupcm.annotations import Box, Mask
    >>> regions = Regions.of([Box(1, 0, 5, 2), Mask.from_array([[0, 1, 1], [0, 0, 1]])], 2, 3)
    >>> regions.areas, regions.edges
    (array([4., 3.]),
     array([[1., 0., 3., 2.],
            [1., 0., 3., 2.]]))
    >>> regions.mask(1).astype(int)
    array([[0, 1, 1],
           [0, 0, 1]])
    """

    height: int
    width: int
    edges: Matrix
    areas: Matrix
    is_box: Flags
    strip_ptr: Index
    column: Index
    top: Index
    bottom: Index

    def __len__(self) -> int:
        return len(self.areas)

    @classmethod
    def of(
        cls, regions: Iterable[Region], height: int, width: int, *, what: str = "region"
    ) -> Regions:
        """Gather boxes, polygons and masks; ``what`` is how an error calls one of them."""
        listed = list(regions)
        is_box = np.array([isinstance(region, Box) for region in listed], dtype=bool)
        edges = np.zeros((len(listed), 4))
        run_ends: list[Index] = []
        for place, region in enumerate(listed):
            if isinstance(region, Box):
                edges[place] = region.x, region.y, region.right, region.bottom
                continue
            try:
                ends = np.cumsum(region.runs(height, width))
            except ValueError as error:
                raise ValueError(f"{what} {place}: {error}") from error
            run_ends.append(ends[: ends.size // 2 * 2])
        counts = np.zeros(len(listed), dtype=np.int64)
        counts[~is_box] = [ends.size // 2 for ends in run_ends]
        joined = np.concatenate([np.empty(0, dtype=np.int64), *run_ends])
        made = _from_runs(joined[::2], joined[1::2], counts, height, width)
        _cut_boxes(made, edges, is_box)
        _refuse_empty(made, edges, what)
        return made

    @classmethod
    def from_boxes(
        cls, edges: ArrayLike, height: int, width: int, *, what: str = "region"
    ) -> Regions:
        """Gather boxes given as rows of left, top, right and bottom.

        Examples
        --------
        >>> Regions.from_boxes([[0, 0, 2, 2], [1, 1, 9, 9]], height=4, width=4).areas
        array([4., 9.])
        >>> Regions.from_boxes([[0, 0, 2, 2], [5, 1, 9, 9]], height=4, width=4)
        Traceback (most recent call last):
        ValueError: region 1 (5 to 9 across, 1 to 9 down) covers nothing of the picture of 4 × 4
        pixels; a region needs some of it
        """
        given = np.asarray(edges, dtype=np.float64)
        given = given.reshape(0, 4) if given.size == 0 else given
        if given.ndim != 2 or given.shape[1] != 4:
            raise ValueError(
                f"boxes have the shape {given.shape}; they need a row each of left, top, right "
                "and bottom"
            )
        if not np.isfinite(given).all():
            wrong = int(np.flatnonzero(~np.isfinite(given).all(axis=1))[0])
            raise ValueError(f"{what} {wrong} has an edge that is no number of pixels")
        none = np.empty(0, dtype=np.int64)
        made = _from_runs(none, none, np.zeros(len(given), dtype=np.int64), height, width)
        _cut_boxes(made, given, np.ones(len(given), dtype=bool))
        _refuse_empty(made, given, what)
        return made

    @classmethod
    def from_masks(cls, masks: ArrayLike, *, what: str = "region") -> Regions:
        """Gather masks given as one array of shape (n, height, width).

        Examples
        --------
        >>> Regions.from_masks([[[1, 1], [0, 0]], [[0, 1], [0, 1]]]).areas
        array([2., 2.])
        """
        given = np.asarray(masks, dtype=bool)
        if given.ndim != 3:
            raise ValueError(
                f"masks have {given.ndim} dimensions; they need 3: region, row and column"
            )
        n, height, width = given.shape
        column_by_column = given.transpose(0, 2, 1).reshape(n, height * width).view(np.int8)
        change = np.diff(column_by_column, axis=1, prepend=0, append=0)
        region, begins = np.nonzero(change == 1)
        ends = np.nonzero(change == -1)[1]
        made = _from_runs(begins, ends, np.bincount(region, minlength=n), height, width)
        _refuse_empty(made, made.edges, what)
        return made

    @classmethod
    def from_labels(cls, labels: ArrayLike) -> Regions:
        """Gather the regions of a picture of labels: 1 to n, each a region; 0 is none.

        Examples
        --------
        >>> Regions.from_labels([[1, 1, 2], [0, 2, 2]]).areas
        array([2., 3.])
        """
        given = np.asarray(labels)
        if given.ndim != 2 or given.dtype.kind not in "iu" or (given.size and given.min() < 0):
            raise ValueError("labels must be one picture of whole numbers, 0 and above")
        height, width = given.shape
        flat = given.T.ravel().astype(np.int64)
        begins = np.flatnonzero(np.diff(flat, prepend=-1))
        ends = np.append(begins[1:], flat.size)
        label = flat[begins]
        kept = label > 0
        order = np.argsort(label[kept], kind="stable")
        begins, ends, label = (each[kept][order] for each in (begins, ends, label))
        counts = np.bincount(label, minlength=1)[1:]
        made = _from_runs(begins, ends, counts.astype(np.int64), height, width)
        _refuse_empty(made, made.edges, "label", first=1)
        return made

    def take(self, chosen: ArrayLike) -> Regions:
        """Return some of the regions, by their places or by true and false.

        Examples
        --------
        >>> Regions.from_labels([[1, 1, 2], [0, 2, 2]]).take([1]).areas
        array([3.])
        """
        wanted = np.asarray(chosen)
        places = np.arange(len(self))[wanted if wanted.size else wanted.astype(np.int64)]
        counts = np.diff(self.strip_ptr)[places]
        ptr = _pointer(counts)
        strip = np.arange(ptr[-1]) + np.repeat(self.strip_ptr[places] - ptr[:-1], counts)
        return Regions(
            self.height,
            self.width,
            self.edges[places],
            self.areas[places],
            self.is_box[places],
            ptr,
            self.column[strip],
            self.top[strip],
            self.bottom[strip],
        )

    @classmethod
    def joined(cls, parts: Sequence[Regions]) -> Regions:
        """Put the regions of several sets of one picture one after another.

        Examples
        --------
        >>> some = Regions.from_labels([[1, 1, 2], [0, 2, 2]])
        >>> len(Regions.joined([some, some]))
        4
        """
        sizes = {(part.height, part.width) for part in parts}
        if len(sizes) != 1:
            raise ValueError(f"regions of pictures of {len(sizes)} sizes; they need one size")
        height, width = sizes.pop()

        def all_of(name: str) -> NDArray:
            return np.concatenate([getattr(part, name) for part in parts])

        return cls(
            height,
            width,
            all_of("edges"),
            all_of("areas"),
            all_of("is_box"),
            _pointer(np.concatenate([np.diff(part.strip_ptr) for part in parts])),
            all_of("column"),
            all_of("top"),
            all_of("bottom"),
        )

    def region(self, place: int) -> Box | Mask:
        """Return one region as a `Box` or a `Mask`."""
        if self.is_box[place]:
            return Box.from_corners(*self.edges[place].tolist())
        strips = slice(self.strip_ptr[place], self.strip_ptr[place + 1])
        above = self.column[strips] * self.height
        edges = np.concatenate([above + self.top[strips], above + self.bottom[strips]])
        return Mask(self.height, self.width, from_edges(edges, self.height * self.width))

    def mask(self, place: int) -> Flags:
        """Return the pixels of one region."""
        if self.is_box[place]:
            return Box.from_corners(*self.edges[place].tolist()).mask(self.height, self.width)
        strips = slice(self.strip_ptr[place], self.strip_ptr[place + 1])
        start = self.column[strips] * self.height
        change = np.zeros(self.height * self.width + 1, dtype=np.int8)
        np.add.at(change, start + self.top[strips], 1)
        np.add.at(change, start + self.bottom[strips], -1)
        inside = np.cumsum(change[:-1], dtype=np.int8) > 0
        return np.ascontiguousarray(inside.reshape(self.width, self.height).T)


def _check_strips(n_strips: int) -> None:
    if n_strips > _MOST_STRIPS:
        raise ValueError(
            f"the regions have {n_strips:,} strips of pixels; at most {_MOST_STRIPS:,} are held"
        )


def _pointer(counts: Index) -> Index:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _from_runs(begins: Index, ends: Index, counts: Index, height: int, width: int) -> Regions:
    """Regions from runs of the picture read column by column, cut where a column ends."""
    n = len(counts)
    run, column, top, bottom = cut_at_columns(begins, ends, height, _check_strips)
    owner = np.repeat(np.arange(n), counts)[run]
    ptr = _pointer(np.bincount(owner, minlength=n))
    edges, areas = np.zeros((n, 4)), np.zeros(n)
    filled = np.flatnonzero(np.diff(ptr))
    if filled.size:
        edges[filled], areas[filled] = boxes_and_areas(ptr[:-1][filled], column, top, bottom)
    return Regions(height, width, edges, areas, np.zeros(n, dtype=bool), ptr, column, top, bottom)


def boxes_and_areas(
    first: Index, column: Index, top: Index, bottom: Index
) -> tuple[Matrix, Matrix]:
    """Boxes and areas of regions by their strips; ``first`` is where those of each begin."""
    ends = [
        np.minimum.reduceat(column, first),
        np.minimum.reduceat(top, first),
        np.maximum.reduceat(column, first) + 1,
        np.maximum.reduceat(bottom, first),
    ]
    return np.stack(ends, axis=1).astype(float), np.add.reduceat(bottom - top, first).astype(float)


def _cut_boxes(regions: Regions, edges: Matrix, is_box: Flags) -> None:
    """Enter boxes, cut at the border of the picture."""
    across = np.clip(edges[:, ::2], 0, regions.width)
    down = np.clip(edges[:, 1::2], 0, regions.height)
    sides = np.maximum(np.diff(across)[:, 0], 0), np.maximum(np.diff(down)[:, 0], 0)
    regions.edges[is_box, ::2] = across[is_box]
    regions.edges[is_box, 1::2] = down[is_box]
    regions.areas[is_box] = (sides[0] * sides[1])[is_box]
    regions.is_box[:] = is_box


def _refuse_empty(regions: Regions, given: Matrix, what: str, first: int = 0) -> None:
    empty = np.flatnonzero(regions.areas <= 0)
    if not empty.size:
        return
    place = int(empty[0])
    left, top, right, bottom = given[place]
    where = f" ({left:g} to {right:g} across, {top:g} to {bottom:g} down)"
    raise ValueError(
        f"{what} {place + first}{where if regions.is_box[place] else ''} covers nothing of the "
        f"picture of {regions.width} × {regions.height} pixels; a region needs some of it"
    )
