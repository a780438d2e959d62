"""The most promising parts of a tree of regions, without near duplicates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.images.regions import Regions
from groupcm.kernels.proposals_distinct import distinct_places
from groupcm.kernels.proposals_strips import branch_strips
from groupcm.kernels.proposals_tree import descent

__all__ = ["distinct", "tree_regions"]

_ALIKE = 0.7


def distinct(
    edges: NDArray[Any], areas: NDArray[Any], alike: float, at_most: int
) -> NDArray[np.int64]:
    """Return the places of the first regions that are not nearly one before them.

    Two are alike where the overlap (IoU) of their boxes and the ratio of the sides of squares of
    their areas are both at least ``alike``.

    Examples
    --------
    >>> edges = np.array([[0, 0, 10, 10], [0, 0, 10, 9], [0, 0, 10, 2]], dtype=float)
    >>> distinct(edges, np.array([100.0, 90.0, 20.0]), 0.7, 9)
    array([0, 2])
    """
    return distinct_places(edges.astype(np.float64), np.sqrt(areas), alike, at_most)


def tree_regions(
    parent: NDArray[np.integer],
    edges: NDArray[np.integer],
    areas: NDArray[np.number],
    own: NDArray[np.integer],
    order: NDArray[np.integer],
    at_most: int,
) -> Regions:
    """Return parts of a tree in their order, at most so many, near duplicates left out.

    Parameters
    ----------
    parent
        The part around each part; parents come before their children, part 0 is the whole.
    edges, areas
        Box and area of each part.
    own
        The smallest part of every pixel, shape (height, width).
    order
        Places of parts, the most promising first.
    at_most
        How many to return.
    """
    height, width = own.shape
    chosen = order[distinct(edges[order], areas[order].astype(np.float64), _ALIKE, at_most)]
    first, last = descent(parent.astype(np.int32))
    number = np.ascontiguousarray(first[own].T)
    ptr, strips = branch_strips(number, first[chosen], last[chosen], edges[chosen])
    column, top, bottom = strips
    boxes = edges[chosen].astype(np.float64)
    pixels = areas[chosen].astype(np.float64)
    is_box = np.zeros(len(chosen), dtype=bool)
    return Regions(height, width, boxes, pixels, is_box, ptr, column, top, bottom)
