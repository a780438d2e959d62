"""What came of proposing candidates, counted picture by picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from groupcm.images.labelling import Labels
from groupcm.images.parallel_pictures import Unreadable
from groupcm.images.part_file import DonePicture
from groupcm.images.proposals.recall import Recall, best_of_objects
from groupcm.images.regions import Regions

__all__ = ["Proposed", "Tally", "picture_notes"]


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

    def add(self, place: int, done: DonePicture) -> None:
        """Count a picture at a place of the table."""
        if done.skipped is not None:
            self.skipped[place] = Unreadable(done.name, done.skipped)
            return
        notes = done.notes or {}
        best = notes.get("best", {})
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
