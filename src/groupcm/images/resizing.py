"""Regions of a picture told in the pixels of the same picture at another size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groupcm.images.regions import Regions

__all__ = ["resized"]

_Ints = NDArray[np.int64]


def resized(regions: Regions, height: int, width: int) -> Regions:
    """Scale regions to a picture of ``height`` × ``width`` pixels.

    Boxes are scaled by the factors. Of masks, a new pixel belongs to the region where the old
    pixel under its centre does; a region that no centre falls on keeps one pixel.

    Examples
    --------
    >>> regions = Regions.from_labels([[1, 1, 2], [0, 2, 2]])
    >>> resized(regions, 4, 6).mask(0).astype(int)
    array([[1, 1, 1, 1, 0, 0],
           [1, 1, 1, 1, 0, 0],
           [0, 0, 0, 0, 0, 0],
           [0, 0, 0, 0, 0, 0]])
    >>> resized(Regions.from_boxes([[0, 0, 3, 1]], 2, 3), 4, 4).edges
    array([[0., 0., 4., 2.]])
    """
    if (height, width) == (regions.height, regions.width):
        return regions
    if height < 1 or width < 1:
        raise ValueError(f"a picture of {width} × {height} pixels has no regions; give 1 or more")
    owner = np.repeat(np.arange(len(regions)), np.diff(regions.strip_ptr))
    left = _first_centre(regions.column, regions.width, width)
    right = _first_centre(regions.column + 1, regions.width, width)
    top = _first_centre(regions.top, regions.height, height)
    bottom = _first_centre(regions.bottom, regions.height, height)
    kept = np.flatnonzero((right > left) & (bottom > top))
    strip = np.repeat(kept, (right - left)[kept])
    column = left[strip] + _counted(np.asarray((right - left)[kept]))
    owner_of, top, bottom = owner[strip], top[strip], bottom[strip]
    lost = np.setdiff1d(np.flatnonzero(~regions.is_box), owner_of)
    first = regions.strip_ptr[lost]
    lost_column = regions.column[first] * width // regions.width
    lost_top = (regions.top[first] + regions.bottom[first]) * height // (2 * regions.height)
    lost_top = np.minimum(lost_top, height - 1)
    owner_of = np.concatenate([owner_of, lost])
    column = np.concatenate([column, lost_column])
    top, bottom = np.concatenate([top, lost_top]), np.concatenate([bottom, lost_top + 1])
    order = np.lexsort((top, column, owner_of))
    return _gathered(
        regions, height, width, owner_of[order], column[order], top[order], bottom[order]
    )


def _first_centre(edge: _Ints, old: int, new: int) -> _Ints:
    """First new pixel whose centre lies at or behind an old edge: ⌈edge · new / old - ½⌉."""
    return -((old - 2 * edge * new) // (2 * old))


def _counted(counts: _Ints) -> _Ints:
    """0, 1, … within each of the counts."""
    starts = np.cumsum(counts) - counts
    return np.arange(counts.sum()) - np.repeat(starts, counts)


def _gathered(
    old: Regions,
    height: int,
    width: int,
    owner: _Ints,
    column: _Ints,
    top: _Ints,
    bottom: _Ints,
) -> Regions:
    ptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(old)))]).astype(np.int64)
    factors = np.array([width / old.width, height / old.height] * 2)
    edges, areas = old.edges * factors, old.areas * factors[0] * factors[1]
    masks = np.flatnonzero(~old.is_box)
    if masks.size:
        at = ptr[:-1][masks]
        edges[masks, 0] = np.minimum.reduceat(column, at)
        edges[masks, 1] = np.minimum.reduceat(top, at)
        edges[masks, 2] = np.maximum.reduceat(column, at) + 1
        edges[masks, 3] = np.maximum.reduceat(bottom, at)
        areas[masks] = np.add.reduceat(bottom - top, at)
    return Regions(height, width, edges, areas, old.is_box, ptr, column, top, bottom)
