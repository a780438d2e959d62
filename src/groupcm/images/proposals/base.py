"""The interface of proposers, and what they share.

Checks of hyperparameters, smoothing of maps, interleaving of several lists of candidates, and the
selection of the most promising regions of a tree without near duplicates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from groupcm.images.filters import gaussian, three_means
from groupcm.images.proposals.branches import Branches
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.images.tree import descent, distinct_places
from groupcm.utils.typing import Float32, Index

__all__ = [
    "Proposer",
    "by_turns",
    "check_positive",
    "check_whole",
    "check_widths",
    "details",
    "distinct",
    "smoothed",
    "tree_regions",
    "turn_order",
]


# A width in pixels; wider smoothing takes minutes and leaves nothing of a picture.
_WIDEST = 1_000
_WIDE = 4.0
_ALIKE = 0.7
Candidates = TypeVar("Candidates", Regions, Branches)


class Proposer(Protocol):
    """Proposes candidates in a picture; its fields are plain values that a file can store."""

    def propose(self, view: View) -> Regions:
        """Return candidates, the most promising first; there may be none."""
        ...


def check_whole(**values: int) -> None:
    """Raise `ValueError` for a hyperparameter that is not a whole number, 1 or more.

    Examples
    --------
    >>> check_whole(smallest=0)
    Traceback (most recent call last):
    ValueError: smallest is 0; it must be a whole number, 1 or more
    """
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} is {value!r}; it must be a whole number, 1 or more")


def check_widths(**values: float | tuple[float, ...]) -> None:
    """Raise `ValueError` for widths that are not positive numbers of pixels.

    Examples
    --------
    >>> check_widths(smooth=1e9)
    Traceback (most recent call last):
    ValueError: smooth is 1000000000.0; it must be 1,000 pixels at most
    """
    check_positive(**values)
    for name, value in values.items():
        if max(value if isinstance(value, tuple) else (value,), default=0.0) > _WIDEST:
            raise ValueError(f"{name} is {value!r}; it must be {_WIDEST:,} pixels at most")


def check_positive(**values: float | tuple[float, ...]) -> None:
    """Raise `ValueError` for a hyperparameter that is not positive, or contains such a number.

    Examples
    --------
    >>> check_positive(widths=(1.0, -1.0))
    Traceback (most recent call last):
    ValueError: widths is (1.0, -1.0); it must be positive
    """
    for name, value in values.items():
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, bool) or not isinstance(each, int | float) or not each > 0:
                raise ValueError(f"{name} is {value!r}; it must be positive")


def by_turns(parts: Sequence[Candidates]) -> Candidates:
    """Interleave lists so that every beginning has about the same share of each.

    Examples
    --------
    >>> one, two = (Regions.from_boxes([[0, 0, k, k] for k in ks], 9, 9) for ks in ((1, 2), (7,)))
    >>> by_turns([one, two]).areas
    array([ 1.,  4., 49.])
    """
    return type(parts[0]).joined(parts).take(turn_order([len(part) for part in parts]))


def turn_order(counts: Sequence[int]) -> NDArray[np.intp]:
    """Return the order that interleaves concatenated lists of these lengths.

    Examples
    --------
    >>> turn_order([2, 1])
    array([0, 1, 2])
    >>> turn_order([1, 4])
    array([1, 2, 3, 0, 4])
    """
    share = np.concatenate([(np.arange(count) + 1) / max(count, 1) for count in counts])
    return np.argsort(share, kind="stable")


def smoothed(plane: Float32, width: float) -> Float32:
    """Smooth the first two axes by a Gaussian of a width in pixels.

    A wide Gaussian is approximated by three running means, whose cost does not depend on the width.

    Examples
    --------
    >>> float(smoothed(np.eye(9, dtype=np.float32), 8.0).std()) < 0.01
    True
    """
    if width < _WIDE:
        return gaussian(plane, width)
    return three_means(plane, max(1, round(np.sqrt(4 * width**2 + 1))))


def details(plane: Float32, fine: float, coarse: float) -> Float32:
    """Return the difference of smoothing by ``fine`` and by ``coarse``."""
    return smoothed(plane, fine) - smoothed(plane, coarse)


def distinct(edges: NDArray[Any], areas: NDArray[Any], alike: float, at_most: int) -> Index:
    """Return the indices of the first regions that are not near duplicates of one before them.

    Two regions are near duplicates where both the IoU of their boxes and the ratio of the square
    roots of their areas are at least ``alike``.

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
) -> Branches:
    """Return the first nodes of a tree of regions in an order, without near duplicates.

    Parameters
    ----------
    parent
        The parent of each node; parents come before their children, node 0 is the root.
    edges, areas
        Bounding box and area of each node.
    own
        The smallest node that contains each pixel, shape (height, width).
    order
        Indices of nodes, the most promising first.
    at_most
        The largest number of regions to return.
    """
    chosen = order[distinct(edges[order], areas[order].astype(np.float64), _ALIKE, at_most)]
    first, last = descent(parent.astype(np.int32))
    number = first[np.ascontiguousarray(own.T)]
    boxes, pixels = (each[chosen].astype(np.float64) for each in (edges, areas))
    none = np.zeros(len(chosen), dtype=np.int64)
    return Branches((number,), boxes, pixels, none, first[chosen], last[chosen])
