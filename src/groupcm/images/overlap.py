"""Overlap of the candidates and the objects of a picture.

With |c ∩ o| the area of the intersection of candidate c and object o,

    iou                 |c ∩ o| / |c ∪ o|
    dice                2 |c ∩ o| / (|c| + |o|)
    object_coverage     |c ∩ o| / |o|
    candidate_coverage  |c ∩ o| / |c|
    box_iou             iou of the boxes around c and o

Areas are exact: a pixel is a unit square, and a box may cover parts of pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from groupcm.annotations import Region
from groupcm.images.regions import Regions
from groupcm.utils.typing import Index, Matrix, Vector

__all__ = ["OVERLAPS", "BestOverlap", "best_overlap", "overlap", "shared_area"]

_BLOCK = 2_000_000  # elements of the largest temporary array

# Functions of the shared area, the areas of candidates (a column) and of objects (a row).
OVERLAPS: dict[str, Callable[[Matrix, Matrix, Matrix], Matrix]] = {
    "iou": lambda shared, c, o: shared / (c + o - shared),
    "dice": lambda shared, c, o: 2 * shared / (c + o),
    "object_coverage": lambda shared, c, o: shared / o,
    "candidate_coverage": lambda shared, c, o: shared / c,
    "box_iou": lambda shared, c, o: shared / (c + o - shared),
}
_OF_BOXES = ("box_iou",)


@dataclass(frozen=True, eq=False)
class BestOverlap:
    """The largest overlap of each candidate, and the object it is with.

    Attributes
    ----------
    overlap
        Largest overlap, shape (n,); 0 where the candidate touches no object.
    object
        Index of that object, shape (n,); the first of equal ones, and -1 where the candidate
        touches no object.
    """

    overlap: Vector
    object: Index


def overlap(
    candidates: Regions | Iterable[Region],
    objects: Regions | Iterable[Region],
    kind: str = "iou",
    *,
    height: int | None = None,
    width: int | None = None,
) -> Matrix:
    """Return the overlap of every candidate with every object of one picture, shape (n, m).

    Parameters
    ----------
    candidates, objects
        `Regions`, or boxes, polygons and masks; ``height`` and ``width`` of the picture are
        required unless one of the two is `Regions`.
    kind
        One of `OVERLAPS`.

    Examples
    --------
    >>> from groupcm.annotations import Box, Mask
    >>> candidates = [Box(0, 0, 2, 2), Box(0, 0, 3, 1)]
    >>> objects = [Mask.from_array([[1, 1, 0], [0, 0, 0]])]
    >>> overlap(candidates, objects, "iou", height=2, width=3)
    array([[0.5       ],
           [0.66666667]])
    >>> overlap(candidates, objects, "object_coverage", height=2, width=3)
    array([[1.],
           [1.]])
    """
    if kind not in OVERLAPS:
        raise ValueError(f"the overlap {kind!r} is not one of " + ", ".join(map(repr, OVERLAPS)))
    both = _as_regions(candidates, objects, height, width)
    if kind in _OF_BOXES:
        both = _around(both[0]), _around(both[1])
    shared = shared_area(*both)
    areas = both[0].areas[:, None], both[1].areas[None, :]
    return np.minimum(OVERLAPS[kind](shared, *areas), 1.0)


def best_overlap(
    candidates: Regions | Iterable[Region],
    objects: Regions | Iterable[Region],
    kind: str = "iou",
    *,
    height: int | None = None,
    width: int | None = None,
) -> BestOverlap:
    """Return the largest overlap of each candidate and the object it is with; see `overlap`.

    Examples
    --------
    >>> from groupcm.annotations import Box
    >>> best = best_overlap(
    ...     [Box(0, 0, 2, 2), Box(5, 5, 1, 1)], [Box(1, 0, 2, 2)], height=9, width=9
    ... )
    >>> best.overlap, best.object
    (array([0.33333333, 0.        ]), array([ 0, -1]))
    """
    table = overlap(candidates, objects, kind, height=height, width=width)
    if not table.shape[1]:
        return BestOverlap(np.zeros(len(table)), np.full(len(table), -1))
    best = table.max(axis=1)
    return BestOverlap(best, np.where(best > 0, table.argmax(axis=1), -1))


def shared_area(candidates: Regions, objects: Regions) -> Matrix:
    """Return the area |c ∩ o| of every candidate c and object o, shape (n, m).

    Examples
    --------
    >>> some = Regions.from_labels([[1, 1, 2], [0, 2, 2]])
    >>> shared_area(some, Regions.from_boxes([[0, 0, 1.5, 2]], height=2, width=3))
    array([[1.5],
           [0.5]])
    """
    shared = np.zeros((len(candidates), len(objects)))
    c_box, o_box = np.flatnonzero(candidates.is_box), np.flatnonzero(objects.is_box)
    c_mask, o_mask = np.flatnonzero(~candidates.is_box), np.flatnonzero(~objects.is_box)
    edges = candidates.edges[c_box], objects.edges[o_box]
    shared[np.ix_(c_box, o_box)] = _boxes_with_boxes(*edges)
    masks = candidates.take(c_mask), objects.take(o_mask)
    shared[np.ix_(c_mask, o_box)] = _masks_with_boxes(masks[0], edges[1])
    shared[np.ix_(c_box, o_mask)] = _masks_with_boxes(masks[1], edges[0]).T
    shared[np.ix_(c_mask, o_mask)] = _masks_with_masks(*masks)
    return shared


def _as_regions(
    candidates: Regions | Iterable[Region],
    objects: Regions | Iterable[Region],
    height: int | None,
    width: int | None,
) -> tuple[Regions, Regions]:
    sizes = {
        (each.height, each.width) for each in (candidates, objects) if isinstance(each, Regions)
    }
    if height is not None and width is not None:
        sizes.add((height, width))
    if len(sizes) > 1:
        listed = " and ".join(f"{w} × {h}" for h, w in sorted(sizes))
        raise ValueError(
            f"candidates and objects are of pictures of {listed} pixels; give one size"
        )
    if not sizes:
        raise ValueError("the size of the picture is not known; give height and width")
    size = sizes.pop()
    if not isinstance(candidates, Regions):
        candidates = Regions.of(candidates, *size, what="candidate")
    if not isinstance(objects, Regions):
        objects = Regions.of(objects, *size, what="object")
    return candidates, objects


def _around(regions: Regions) -> Regions:
    """Return the bounding boxes of regions."""
    return Regions.from_boxes(regions.edges, regions.height, regions.width)


def _boxes_with_boxes(a: Matrix, b: Matrix) -> Matrix:
    first = np.maximum(a[:, None, :2], b[None, :, :2])
    last = np.minimum(a[:, None, 2:], b[None, :, 2:])
    return np.maximum(last - first, 0).prod(axis=2)


def _masks_with_boxes(masks: Regions, boxes: Matrix) -> Matrix:
    """Return the area of the strips within each box, summed region by region."""
    shared = np.zeros((len(masks), len(boxes)))
    if not len(masks):
        return shared
    column, top, bottom = (each[:, None] for each in (masks.column, masks.top, masks.bottom))
    for some in _blocks(len(boxes), masks.column.size):
        left, upper, right, lower = boxes[some].T
        wide = np.maximum(np.minimum(right, column + 1) - np.maximum(left, column), 0)
        high = np.maximum(np.minimum(lower, bottom) - np.maximum(upper, top), 0)
        shared[:, some] = np.add.reduceat(wide * high, masks.strip_ptr[:-1])
    return shared


def _masks_with_masks(candidates: Regions, objects: Regions) -> Matrix:
    """|c ∩ o| = Σ over the strips of c of F_o(end) - F_o(begin).

    F_o(p) counts the pixels of o before position p, the picture scanned column by column. It is
    evaluated at the ends of strips only, so the cost does not depend on the size of the picture.
    """
    shared = np.zeros((len(candidates), len(objects)))
    if not shared.size:
        return shared
    c_begin, c_end = _strip_places(candidates)
    o_begin, o_end = _strip_places(objects)
    places, rank = np.unique(np.concatenate([c_begin, c_end, o_begin, o_end]), return_inverse=True)
    c_begin, c_end, o_begin, o_end = np.split(
        rank, np.cumsum([c_begin.size, c_end.size, o_begin.size])
    )
    whole = np.int32 if candidates.height * candidates.width < 2**31 else np.int64
    gaps = np.diff(places).astype(whole)
    for some in _blocks(len(objects), places.size):
        strips = slice(objects.strip_ptr[some.start], objects.strip_ptr[some.stop])
        count = np.diff(objects.strip_ptr[some.start : some.stop + 1])
        owner = np.repeat(np.arange(count.size), count)
        change = np.zeros((count.size, places.size), dtype=whole)
        np.add.at(change, (owner, o_begin[strips]), 1)
        np.add.at(change, (owner, o_end[strips]), -1)
        inside = np.cumsum(change, axis=1, dtype=whole)
        before = np.zeros_like(inside)
        np.cumsum(inside[:, :-1] * gaps, axis=1, out=before[:, 1:], dtype=whole)
        within = before.take(c_end, axis=1) - before.take(c_begin, axis=1)
        shared[:, some] = np.add.reduceat(within, candidates.strip_ptr[:-1], axis=1).T
    return shared


def _strip_places(regions: Regions) -> tuple[Index, Index]:
    """Return where strips begin and end, the picture scanned column by column."""
    above = regions.column * regions.height
    return above + regions.top, above + regions.bottom


def _blocks(total: int, cost_of_one: int) -> Iterator[slice]:
    step = max(1, _BLOCK // max(cost_of_one, 1))
    for start in range(0, total, step):
        yield slice(start, min(start + step, total))
