"""Which candidates of a picture are positive, by how well they fit what people marked in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.overlap import OVERLAPS, best_overlap, overlap
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

    The best-fitting candidate of each object is positive however badly it fits: so the object
    counts even where the proposals missed it, and ``min_overlap`` of a fit decides whether to
    learn from it. A candidate is the best of one object only, the one it fits most; an object
    whose best candidate fits another one more has none of its own. Where no candidate touches
    any object, the first candidate is positive, for the first object.

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
            fittest = int(np.argmax(best.overlap))
            label[fittest] = True
            which[fittest] = max(which[fittest], 0)
            if len(np.unique(which[label])) < len(objects):
                label |= _is_fittest(overlap(candidates, objects, self.overlap), best.object)
        return Labels(label.astype(np.int8), best.overlap.astype(np.float32), which)


def _is_fittest(overlaps: NDArray[np.float64], shown: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which candidates are the best of the object they show; of equal ones the first."""
    fittest = overlaps.argmax(axis=0)
    is_own = shown[fittest] == np.arange(len(fittest))
    found = np.zeros(len(shown), dtype=np.bool_)
    found[fittest[is_own]] = True
    return found


def _listed(names) -> str:
    return ", ".join(map(repr, names))
