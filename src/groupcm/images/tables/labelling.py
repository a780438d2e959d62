"""Labels of candidates by their overlap with annotated objects, and the summary of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import Argument, ParameterError
from groupcm.images.overlap import OVERLAPS, best_overlap, overlap, shared_area
from groupcm.images.parallel import Unreadable
from groupcm.images.proposals.recall import Recall, best_of_objects
from groupcm.images.regions import Regions
from groupcm.images.tables._checkpoint import DonePicture
from groupcm.utils.typing import Float32

__all__ = ["Labelling", "Labels", "Proposed", "Tally", "picture_notes"]


@dataclass(frozen=True, eq=False)
class Labels:
    """The ground truth of the candidates of one picture.

    Attributes
    ----------
    label
        1 for a positive candidate, else 0; shape (n,).
    overlap
        The largest overlap with an object.
    object
        Index of that object in the picture; -1 where the candidate touches none.
    centre_inside
        1 where the centre of the candidate's box is inside that object, else 0.
    centre_distance
        Distance of the centres of the boxes of the candidate and of that object, in pixels; NaN
        where the candidate touches none.
    """

    label: NDArray[np.int8]
    overlap: Float32
    object: NDArray[np.int32]
    centre_inside: NDArray[np.int8]
    centre_distance: Float32


@dataclass(frozen=True)
class Labelling:
    """The rule for labels: a candidate is positive if it overlaps an object enough.

    The best candidate of each object is positive even if the overlap is small: so the object counts
    even where the proposals missed it, and ``min_overlap`` of a fit decides whether to learn from
    it. A candidate is the best of one object only, the one it overlaps most; an object whose best
    candidate overlaps another one more has none. Where no candidate touches any object, the first
    candidate is positive, for the first object.

    Parameters
    ----------
    overlap
        The kind of overlap; one of `groupcm.images.overlap.OVERLAPS`.
    positive_overlap
        The smallest overlap of a positive candidate.

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
            listed = ", ".join(map(repr, OVERLAPS))
            raise ValueError(f"overlap is {self.overlap!r}; it must be one of {listed}")
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
            first = int(np.argmax(best.overlap))
            label[first] = True
            which[first] = max(which[first], 0)
            if len(np.unique(which[label])) < len(objects):
                # The best candidate of each object, unless it overlaps another object more.
                best_of = overlap(candidates, objects, self.overlap).argmax(axis=0)
                label[best_of[best.object[best_of] == np.arange(len(objects))]] = True
        inside, distance = _centres(candidates, objects, which)
        return Labels(
            label.astype(np.int8), best.overlap.astype(np.float32), which, inside, distance
        )


def _centres(
    candidates: Regions, objects: Regions, which: NDArray[np.int32]
) -> tuple[NDArray[np.int8], Float32]:
    """Return whether the centre of each candidate is inside its object, and their distance."""
    inside = np.zeros(len(candidates), dtype=np.int8)
    distance = np.full(len(candidates), np.nan, dtype=np.float32)
    on = np.flatnonzero(which >= 0)
    if on.size:
        centre, middle = (
            (each.edges[:, :2] + each.edges[:, 2:]) / 2 for each in (candidates, objects)
        )
        distance[on] = np.linalg.norm(centre[on] - middle[which[on]], axis=1)
        # The pixel of the centre; at the last edge it is the pixel before.
        last = candidates.width - 1, candidates.height - 1
        corner = np.minimum(np.floor(centre[on]), last)
        pixels = Regions.from_boxes(
            np.hstack([corner, corner + 1]), candidates.height, candidates.width
        )
        shared = shared_area(pixels, objects)[np.arange(on.size), which[on]]
        inside[on] = shared >= 0.5  # most of the pixel
    return inside, distance


@dataclass(frozen=True)
class Proposed:
    """Summary of a table of candidates.

    Attributes
    ----------
    output
        The path of the table.
    n_pictures, n_candidates, n_features
        Size of the table.
    n_positive, n_positive_candidates
        Number of pictures with an object, and of positive candidates; None without annotations.
    recall
        Recall of the proposals, by kind of overlap: that of boxes, and the one of the labels.
        Empty without annotations.
    n_left_out
        Number of unfinished pictures, which are not in the table.
    n_in_progress
        Number of those that have objects.
    n_before
        Number of pictures that an earlier run completed.
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
    """Return plain values that are stored with the rows of a picture, for the summary."""
    kinds = dict.fromkeys(("box_iou", overlap))
    return {
        "positive": int(labels.label.sum()),
        "best": {kind: best_of_objects(candidates, objects, kind).tolist() for kind in kinds},
    }


@dataclass
class Tally:
    """Counts over the pictures of a table.

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
        """Count the picture at an index of the table."""
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
        """Return the recall of the proposals, by kind of overlap."""
        per_picture = self.n_candidates / max(self.n_pictures, 1)
        return {kind: Recall.of(np.array(best), per_picture) for kind, best in self.best.items()}

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
        """Return the summary of the table."""
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
