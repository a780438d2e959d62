"""Which candidates of a picture are positive, by how well they fit what people marked in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.overlap import OVERLAPS, BestOverlap, best_overlap
from groupcm.images.regions import Regions

__all__ = ["Labelling", "Labels"]


@dataclass(frozen=True, eq=False)
class Labels:
    """The truth about the candidates of one picture.

    Attributes
    ----------
    label
        1 where the candidate is positive, else 0; shape (n,).
    overlap
        Its largest overlap with an object.
    object
        Place of that object among the objects of the picture; -1 where it touches none.
    """

    label: NDArray[np.int8]
    overlap: NDArray[np.float32]
    object: NDArray[np.int32]


@dataclass(frozen=True)
class Labelling:
    """A candidate is positive where it fits an object well enough.

    Of the candidates that fit an object better than any other, the best-fitting is positive
    however badly it fits: so each object counts, and the picture is a positive group, even where
    the proposals missed it, and ``min_overlap`` of a fit decides whether to learn from it. An
    object that no candidate fits better than another has none. Where no candidate touches any
    object, the first candidate is positive, for the first object.

    Parameters
    ----------
    overlap
        How to compare; one of `groupcm.images.overlap.OVERLAPS`.
    positive_overlap
        From this overlap on a candidate is positive.

    Examples
    --------
    >>> candidates = Regions.from_boxes([[0, 0, 4, 4], [2, 0, 6, 4], [6, 6, 8, 8]], 8, 8)
    >>> labels = Labelling(positive_overlap=0.5).of(candidates, candidates.take([0]))
    >>> labels.label, labels.overlap.round(2), labels.object
    (array([1, 0, 0], dtype=int8),
     array([1.  , 0.33, 0.  ], dtype=float32),
     array([ 0,  0, -1], dtype=int32))
    """

    overlap: str = "box_iou"
    positive_overlap: float = 0.3

    def __post_init__(self) -> None:
        if self.overlap not in OVERLAPS:
            raise ValueError(f"overlap is {self.overlap!r}; it must be one of " + _listed(OVERLAPS))
        if not 0 < self.positive_overlap <= 1:
            raise ValueError(
                f"positive_overlap is {self.positive_overlap:g}; it must be above 0 and at most 1"
            )

    def of(self, candidates: Regions, objects: Regions) -> Labels:
        """Label the candidates of a picture by the objects in it."""
        best = best_overlap(candidates, objects, self.overlap)
        label = best.overlap >= self.positive_overlap
        which = best.object.astype(np.int32)
        if len(objects) and len(candidates):
            label[_fittest_of_each(best)] = True
            if not label.any():
                label[0], which[0] = True, 0
        return Labels(label.astype(np.int8), best.overlap.astype(np.float32), which)


def _fittest_of_each(best: BestOverlap) -> NDArray[np.int64]:
    """Of the candidates that fit an object best, the first with the largest overlap."""
    by_overlap = np.argsort(-best.overlap, kind="stable")
    touching = by_overlap[best.object[by_overlap] >= 0]
    _, first = np.unique(best.object[touching], return_index=True)
    return touching[first]


def _listed(names) -> str:
    return ", ".join(map(repr, names))
