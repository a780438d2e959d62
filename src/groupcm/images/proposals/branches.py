"""Regions that are branches of trees, whose pixels are read off only where they are needed.

Of all the candidates that are found in a picture, most are near duplicates of others. Boxes and
areas decide that, and the tree has them already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.images.regions import Regions, pointer
from groupcm.kernels.images.tree import branch_strips
from groupcm.utils.typing import Index, Matrix

__all__ = ["Branches", "regions_of"]


@dataclass(frozen=True, eq=False)
class Branches:
    """Branches of one or several trees of a picture.

    Attributes
    ----------
    numbers
        For each tree the preorder number of the smallest node of each pixel, shape
        (width, height).
    edges, areas
        Bounding boxes, shape (n, 4), and areas, shape (n,).
    tree
        The tree of each branch, shape (n,).
    first, last
        Branch k has the pixels with ``first[k] ≤ number < last[k]``, shape (n,).
    """

    numbers: tuple[NDArray[np.int32], ...]
    edges: Matrix
    areas: Matrix
    tree: Index
    first: NDArray[np.int32]
    last: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.areas)

    def take(self, chosen: ArrayLike) -> Self:
        """Return some of the branches, by their indices."""
        at = np.asarray(chosen, dtype=np.int64)
        return type(self)(
            self.numbers,
            edges=self.edges[at],
            areas=self.areas[at],
            tree=self.tree[at],
            first=self.first[at],
            last=self.last[at],
        )

    @classmethod
    def joined(cls, parts: Sequence[Branches]) -> Branches:
        """Concatenate branches of the trees of one picture."""
        before = np.cumsum([0, *(len(part.numbers) for part in parts)])
        tree = [part.tree + start for part, start in zip(parts, before[:-1], strict=True)]
        names = ("edges", "areas", "first", "last")
        every = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        numbers = tuple(number for part in parts for number in part.numbers)
        return cls(numbers, tree=np.concatenate(tree), **every)

    def regions(self) -> Regions:
        """Return the branches with their pixels."""
        width, height = self.numbers[0].shape
        found = []
        for tree in range(len(self.numbers)):
            rows = np.flatnonzero(self.tree == tree)
            whole = self.edges[rows].astype(np.int32)
            first, last = self.first[rows], self.last[rows]
            ptr, strips = branch_strips(self.numbers[tree], first, last, whole)
            boxes = np.zeros(len(rows), dtype=bool)
            found.append(
                Regions(height, width, self.edges[rows], self.areas[rows], boxes, ptr, *strips)
            )
        return Regions.joined(found).take(np.argsort(np.argsort(self.tree, kind="stable")))


def regions_of(parts: Sequence[Regions | Branches], rows: Index) -> Regions:
    """Return some of concatenated regions, by their indices, reading off their pixels only.

    Examples
    --------
    >>> one, two = (Regions.from_boxes([[0, 0, k, k] for k in ks], 9, 9) for ks in ((1, 2), (7,)))
    >>> regions_of([one, two], np.array([2, 0])).areas
    array([49.,  1.])
    """
    ends = pointer(np.array([len(part) for part in parts]))
    owner = np.searchsorted(ends, rows, side="right") - 1
    found = []
    for place, part in enumerate(parts):
        chosen = part.take(rows[owner == place] - ends[place])
        found.append(chosen.regions() if isinstance(chosen, Branches) else chosen)
    return Regions.joined(found).take(np.argsort(np.argsort(owner, kind="stable")))
