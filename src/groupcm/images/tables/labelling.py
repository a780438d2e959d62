"""Which candidates of a picture are positive, by how well they fit what people marked in it.

What came of proposing candidates, counted picture by picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import Argument, ParameterError
from groupcm.images.overlap import OVERLAPS, best_overlap, overlap
from groupcm.images.parallel import Unreadable
from groupcm.images.proposals.recall import Recall, best_of_objects
from groupcm.images.regions import Regions
from groupcm.images.tables.resuming import DonePicture

__all__ = ["Labelling", "Labels", "Proposed", "Tally", "picture_notes"]


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
            raise ParameterError(
                Argument("positive_overlap"),
                f" is {self.positive_overlap:g}; it must be above 0 and at most 1",
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


@dataclass(frozen=True)
class Proposed:
    """What came of proposing candidates.

    Attributes
    ----------
    output
        The table.
    n_pictures, n_candidates, n_features
        What it holds.
    n_positive, n_positive_candidates
        Pictures that show an object, and candidates that fit one; None where nothing is marked.
    recall
        How well candidates fit the objects, by kind of overlap: that of boxes, and the one that
        labels were made by. Empty where nothing is marked.
    n_left_out
        Pictures that are not finished, which are not in the table.
    n_in_progress
        Those of them in which objects are marked.
    n_before
        Pictures that an earlier run had done.
    skipped
        Pictures that could not be read.
    """

    output: Path
    n_pictures: int
    n_candidates: int
    n_features: int
    n_positive: int | None
    n_positive_candidates: int | None
    recall: Mapping[str, Recall]
    n_left_out: int
    n_before: int = 0
    skipped: tuple[Unreadable, ...] = ()
    n_in_progress: int = 0


def picture_notes(
    candidates: Regions, objects: Regions, labels: Labels, overlap: str
) -> dict[str, Any]:
    """What to remember of a picture beside its rows, as plain values."""
    kinds = dict.fromkeys(("box_iou", overlap))
    return {
        "positive": int(labels.label.sum()),
        "best": {kind: best_of_objects(candidates, objects, kind).tolist() for kind in kinds},
    }


@dataclass
class Tally:
    """Counts that grow picture by picture.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.add(0, DonePicture("a.png", "", 3, notes={"positive": 1, "best": {"iou": [0.5]}}))
    >>> tally.n_candidates, tally.recall()["iou"].mean_best
    (3, 0.5)
    """

    n_pictures: int = 0
    n_candidates: int = 0
    n_positive: int = 0
    n_positive_candidates: int = 0
    best: dict[str, list[float]] = field(default_factory=dict)
    skipped: dict[int, Unreadable] = field(default_factory=dict)
    small_ranges: list[str] = field(default_factory=list)

    def add(self, place: int, done: DonePicture) -> None:
        """Count a picture at a place of the table."""
        if done.skipped is not None:
            self.skipped[place] = Unreadable(done.name, done.skipped)
            return
        notes = done.notes or {}
        best = notes.get("best", {})
        if notes.get("small_range"):
            self.small_ranges.append(done.name)
        self.n_pictures += 1
        self.n_candidates += done.n_rows
        self.n_positive += any(map(len, best.values()))
        self.n_positive_candidates += notes.get("positive", 0)
        for kind, values in best.items():
            self.best.setdefault(kind, []).extend(values)

    def recall(self) -> dict[str, Recall]:
        """How well candidates fit the objects, by kind of overlap."""
        a_picture = self.n_candidates / max(self.n_pictures, 1)
        return {kind: Recall.of(np.array(best), a_picture) for kind, best in self.best.items()}

    def proposed(
        self,
        output: Path,
        n_features: int,
        *,
        is_marked: bool,
        n_left_out: int,
        n_before: int,
        n_in_progress: int = 0,
    ) -> Proposed:
        """Sum up."""
        return Proposed(
            output,
            self.n_pictures,
            self.n_candidates,
            n_features,
            self.n_positive if is_marked else None,
            self.n_positive_candidates if is_marked else None,
            self.recall(),
            n_left_out,
            n_before,
            tuple(self.skipped[place] for place in sorted(self.skipped)),
            n_in_progress,
        )
