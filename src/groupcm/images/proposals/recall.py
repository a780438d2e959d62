"""The recall of proposals: how well candidates cover the annotated objects.

A model cannot learn or find an object that no candidate overlaps, so this bounds every result.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from groupcm.images.overlap import overlap
from groupcm.images.regions import Regions
from groupcm.utils.typing import Vector

__all__ = ["Recall", "best_of_objects", "proposal_recall"]


@dataclass(frozen=True)
class Recall:
    """The overlap of candidates with the objects of a set of pictures.

    Attributes
    ----------
    n_objects
        Number of objects.
    mean_best
        Mean over the objects of the best overlap with a candidate.
    share_half
        Share of the objects whose best overlap is 0.5 or more.
    n_candidates
        Mean number of candidates per picture.

    Examples
    --------
    >>> print(Recall(412, 0.783, 0.961, 431.2))
    412 objects: best overlap 0.78 on average; 0.96 of them 0.5 or better; 431 candidates per
    picture
    """

    n_objects: int
    mean_best: float
    share_half: float
    n_candidates: float

    @classmethod
    def of(cls, best: Vector, n_candidates: float) -> Recall:
        """Summarise the best overlaps of all objects.

        Examples
        --------
        >>> Recall.of(np.array([0.25, 0.75]), n_candidates=10.0)
        Recall(n_objects=2, mean_best=0.5, share_half=0.5, n_candidates=10.0)
        """
        return cls(
            n_objects=best.size,
            mean_best=float(best.mean()) if best.size else float("nan"),
            share_half=float((best >= 0.5).mean()) if best.size else float("nan"),
            n_candidates=n_candidates,
        )

    def __str__(self) -> str:
        objects = f"{self.n_objects:,} object" + "s" * (self.n_objects != 1)
        candidates = f"{self.n_candidates:,.0f} candidates per picture"
        if not self.n_objects:
            return f"{objects}; {candidates}"
        return (
            f"{objects}: best overlap {self.mean_best:.2f} on average; "
            f"{self.share_half:.2f} of them 0.5 or better; {candidates}"
        )


def proposal_recall(pictures: Iterable[tuple[Regions, Regions]], kind: str = "box_iou") -> Recall:
    """Return the recall of candidates over a set of pictures.

    Parameters
    ----------
    pictures
        Candidates and objects of each picture; one pair at a time is in memory.
    kind
        The kind of overlap; see `groupcm.images.overlap.overlap`.

    Examples
    --------
    >>> candidates = Regions.from_boxes([[0, 0, 4, 4], [2, 2, 4, 4]], height=8, width=8)
    >>> objects = Regions.from_boxes([[0, 0, 4, 3], [6, 6, 8, 8]], height=8, width=8)
    >>> print(proposal_recall([(candidates, objects)]))
    2 objects: best overlap 0.38 on average; 0.50 of them 0.5 or better; 2 candidates per picture
    """
    best: list[Vector] = [np.empty(0)]
    counts = []
    for candidates, objects in pictures:
        best.append(best_of_objects(candidates, objects, kind))
        counts.append(len(candidates))
    return Recall.of(np.concatenate(best), float(np.mean(counts)) if counts else 0.0)


def best_of_objects(candidates: Regions, objects: Regions, kind: str = "box_iou") -> Vector:
    """Return the best overlap of each object with any candidate; 0 where there are none.

    Examples
    --------
    >>> candidates = Regions.from_boxes([[0, 0, 4, 4], [2, 2, 4, 4]], height=8, width=8)
    >>> best_of_objects(candidates, Regions.from_boxes([[0, 0, 4, 3]], height=8, width=8))
    array([0.75])
    """
    if not len(candidates):
        return np.zeros(len(objects))
    return overlap(candidates, objects, kind).max(axis=0)
