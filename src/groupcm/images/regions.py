"""Many regions of one picture as plain arrays, for vectorised operations.

Boxes are stored by their edges. Polygons and masks are stored as strips: runs of pixels within one
column, from row ``top`` to row ``bottom`` (exclusive). The pixel in column ``c`` and row ``r`` is
the square from ``(c, r)`` to ``(c + 1, r + 1)``, as in `groupcm.annotations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.annotations import Box, Mask, Region
from groupcm.annotations.runs import cut_at_columns, expand, from_edges
from groupcm.utils.typing import Flags, Index, Matrix

__all__ = ["Regions", "boxes_and_areas", "pointer"]

_MOST_STRIPS = 2**27  # of all regions of a picture: five arrays of one gigabyte


@dataclass(frozen=True, eq=False)
class Regions:
    """Regions of one picture of ``height`` × ``width`` pixels, clipped at its border.

    Attributes
    ----------
    height, width
        Size of the picture.
    edges
        Left, top, right and bottom of the bounding box of each region, shape (n, 4).
    areas
        Area of each region, shape (n,).
    is_box
        Whether the region is a box, which has no strips.
    strip_ptr
        Region k has the strips ``strip_ptr[k]`` to ``strip_ptr[k + 1]``, shape (n + 1,).
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
        """Collect boxes, polygons and masks; ``what`` is the name of one of them in an error."""
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
        result = _from_runs(joined[::2], joined[1::2], counts, height, width)
        _set_boxes(result, edges, is_box)
        return _checked(result, edges, what)

    @classmethod
    def from_boxes(
        cls, edges: ArrayLike, height: int, width: int, *, what: str = "region"
    ) -> Regions:
        """Collect boxes given as rows of left, top, right and bottom.

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
            raise ValueError(f"{what} {wrong} has an edge that is not a number of pixels")
        none = np.empty(0, dtype=np.int64)
        result = _from_runs(none, none, np.zeros(len(given), dtype=np.int64), height, width)
        _set_boxes(result, given, np.ones(len(given), dtype=bool))
        return _checked(result, given, what)

    @classmethod
    def from_masks(cls, masks: ArrayLike, *, what: str = "region") -> Regions:
        """Collect masks given as one array of shape (n, height, width).

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
        result = _from_runs(begins, ends, np.bincount(region, minlength=n), height, width)
        return _checked(result, result.edges, what)

    @classmethod
    def from_labels(cls, labels: ArrayLike) -> Regions:
        """Collect the regions of an array of labels: 1 to n are regions, 0 is background.

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
        result = _from_runs(begins, ends, counts.astype(np.int64), height, width)
        return _checked(result, result.edges, "label", first=1)

    def take(self, chosen: ArrayLike) -> Regions:
        """Return some of the regions, by their indices or by a boolean mask.

        Examples
        --------
        >>> Regions.from_labels([[1, 1, 2], [0, 2, 2]]).take([1]).areas
        array([3.])
        """
        wanted = np.asarray(chosen)
        places = np.arange(len(self))[wanted if wanted.size else wanted.astype(np.int64)]
        counts = np.diff(self.strip_ptr)[places]
        strip = expand(self.strip_ptr[places], counts)[1]
        return Regions(
            self.height,
            self.width,
            self.edges[places],
            self.areas[places],
            self.is_box[places],
            pointer(counts),
            self.column[strip],
            self.top[strip],
            self.bottom[strip],
        )

    @classmethod
    def joined(cls, parts: Sequence[Regions]) -> Regions:
        """Concatenate several sets of regions of one picture.

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
            pointer(np.concatenate([np.diff(part.strip_ptr) for part in parts])),
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
        return self.region(place).mask(self.height, self.width)


def pointer(counts: Index) -> Index:
    """Return where each of consecutive parts begins, and where the last ends, by their lengths."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _check_strips(n_strips: int) -> None:
    if n_strips > _MOST_STRIPS:
        raise ValueError(
            f"the regions have {n_strips:,} strips of pixels; at most {_MOST_STRIPS:,} are held"
        )


def _from_runs(begins: Index, ends: Index, counts: Index, height: int, width: int) -> Regions:
    """Return regions from runs of the picture scanned column by column."""
    n = len(counts)
    run, column, top, bottom = cut_at_columns(begins, ends, height, _check_strips)
    owner = np.repeat(np.arange(n), counts)[run]
    ptr = pointer(np.bincount(owner, minlength=n))
    edges, areas = np.zeros((n, 4)), np.zeros(n)
    filled = np.flatnonzero(np.diff(ptr))
    if filled.size:
        edges[filled], areas[filled] = boxes_and_areas(ptr[:-1][filled], column, top, bottom)
    return Regions(height, width, edges, areas, np.zeros(n, dtype=bool), ptr, column, top, bottom)


def boxes_and_areas(
    first: Index, column: Index, top: Index, bottom: Index
) -> tuple[Matrix, Matrix]:
    """Return bounding boxes and areas of regions, whose strips begin at ``first``."""
    ends = [
        np.minimum.reduceat(column, first),
        np.minimum.reduceat(top, first),
        np.maximum.reduceat(column, first) + 1,
        np.maximum.reduceat(bottom, first),
    ]
    return np.stack(ends, axis=1).astype(float), np.add.reduceat(bottom - top, first).astype(float)


def _set_boxes(regions: Regions, edges: Matrix, is_box: Flags) -> None:
    """Fill in the boxes, clipped at the border of the picture."""
    across = np.clip(edges[:, ::2], 0, regions.width)
    down = np.clip(edges[:, 1::2], 0, regions.height)
    sides = np.maximum(np.diff(across)[:, 0], 0), np.maximum(np.diff(down)[:, 0], 0)
    regions.edges[is_box, ::2] = across[is_box]
    regions.edges[is_box, 1::2] = down[is_box]
    regions.areas[is_box] = (sides[0] * sides[1])[is_box]
    regions.is_box[:] = is_box


def _checked(regions: Regions, given: Matrix, what: str, first: int = 0) -> Regions:
    """Return the regions; raise `ValueError` if one of them is empty."""
    empty = np.flatnonzero(regions.areas <= 0)
    if not empty.size:
        return regions
    place = int(empty[0])
    left, top, right, bottom = given[place]
    where = f" ({left:g} to {right:g} across, {top:g} to {bottom:g} down)"
    raise ValueError(
        f"{what} {place + first}{where if regions.is_box[place] else ''} covers nothing of the "
        f"picture of {regions.width} × {regions.height} pixels; a region needs some of it"
    )
