"""Masks as runs: lengths of background and object by turns, background first.

A picture is read column by column (``order="F"``, as COCO does) unless a function says otherwise.
Runs are canonical when only the first may be 0 and the last is not a repetition: `from_edges` and
`from_mask` make such runs, so that equal masks have equal runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["bounds", "canonical", "from_edges", "from_mask", "to_mask", "union"]

Order = Literal["C", "F"]
Runs = NDArray[np.int64]


def from_edges(edges: ArrayLike, size: int) -> Runs:
    """Runs of ``size`` pixels that change sides at every edge; two edges at one place cancel.

    Examples
    --------
    >>> from_edges([5, 2, 8, 8], size=10)
    array([2, 3, 5])
    """
    places, times = np.unique(np.asarray(edges, dtype=np.int64), return_counts=True)
    places = places[(times % 2 == 1) & (places < size)]
    return np.diff(places, prepend=0, append=size)


def from_mask(mask: ArrayLike, order: Order = "F") -> Runs:
    """Runs of a mask.

    Examples
    --------
    >>> from_mask([[0, 1, 1], [0, 0, 1]])
    array([2, 1, 1, 2])
    >>> from_mask([[0, 1, 1], [0, 0, 1]], order="C")
    array([1, 2, 2, 1])
    """
    flat = np.asarray(mask, dtype=bool).ravel(order=order)
    edges = np.flatnonzero(np.diff(flat, prepend=False))
    return np.diff(edges, prepend=0, append=flat.size)


def to_mask(runs: ArrayLike, height: int, width: int, order: Order = "F") -> NDArray[np.bool_]:
    """Return the mask of ``height`` rows and ``width`` columns that the runs describe.

    Examples
    --------
    >>> to_mask([2, 1, 1, 2], height=2, width=3).astype(int)
    array([[0, 1, 1],
           [0, 0, 1]])
    """
    runs = np.asarray(runs, dtype=np.int64)
    flat = np.repeat(np.arange(runs.size) % 2 == 1, runs)
    return np.ascontiguousarray(flat.reshape((height, width), order=order))


def canonical(runs: ArrayLike, size: int) -> Runs:
    """Check runs that a file gives, and bring them to the one form of their mask.

    Runs may end early: the rest is background.

    Examples
    --------
    >>> canonical([2, 0, 1, 4], size=8)
    array([3, 4, 1])
    >>> canonical([5, 6], size=8)
    Traceback (most recent call last):
    ValueError: the mask's runs cover 11 pixels and the mask has 8
    """
    values = np.asarray(runs)
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
        raise ValueError("the mask's runs must be a list of whole numbers")
    values = values.astype(np.int64)
    if values.size and (values.min() < 0 or values.max() > size):
        wrong = values.min() if values.min() < 0 else values.max()
        raise ValueError(f"the mask has a run of {wrong} pixels and must have 0 to {size}")
    total = int(values.sum())
    if total > size:
        raise ValueError(f"the mask's runs cover {total} pixels and the mask has {size}")
    return from_edges(np.cumsum(values), size)


def union(parts: Iterable[Runs], size: int) -> Runs:
    """Runs of the pixels that belong to any of the parts.

    Examples
    --------
    >>> union([np.array([2, 3, 5]), np.array([4, 4, 2])], size=10)
    array([2, 6, 2])
    """
    edges = [np.cumsum(part)[: part.size // 2 * 2] for part in parts]
    steps = [np.where(np.arange(ends.size) % 2 == 0, 1, -1) for ends in edges]
    places = np.concatenate([np.empty(0, dtype=np.int64), *edges])
    step = np.concatenate([np.empty(0, dtype=np.int64), *steps])
    # Where one part ends as another begins the depth must not touch 0: begin first.
    order = np.lexsort((-step, places))
    inside = np.cumsum(step[order]) > 0
    change = np.diff(inside, prepend=False)
    return from_edges(places[order][change], size)


def bounds(runs: Sequence[int] | Runs, height: int) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom (one past the last) of the object's pixels.

    Examples
    --------
    >>> bounds([2, 1, 1, 2], height=2)
    (1, 0, 3, 2)
    """
    ends = np.cumsum(runs)
    ends = ends[: len(runs) // 2 * 2]
    first, last = ends[::2], ends[1::2] - 1
    keep = last >= first
    first, last = first[keep], last[keep]
    if not first.size:
        raise ValueError("the mask is empty")
    left, right = first // height, last // height
    # A run that goes on into the next column reaches both ends of a column.
    whole = bool(np.any(left < right))
    top = 0 if whole else int((first % height).min())
    bottom = height if whole else int((last % height).max()) + 1
    return int(left.min()), top, int(right.max()) + 1, bottom
