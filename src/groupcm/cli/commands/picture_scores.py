"""Scores of pictures as they come in: the rows of a table, the marks, and what is told of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groupcm.annotations import Mask, Picture
from groupcm.annotations.runs import compress
from groupcm.cli.output import print_error
from groupcm.data.tables.formats import write_table
from groupcm.estimators.training.profile import compare_with_profile, profile_of, warn_of_shift
from groupcm.evaluation.outcomes import LEAST_OVERLAP
from groupcm.images.patients import PictureNotes
from groupcm.images.scoring.scored_picture import ScoredPicture, marks_of, write_marks
from groupcm.metrics import group_roc_auc

__all__ = ["PictureScores"]

# Pictures whose drawn candidates are kept.
_MOST_DRAWN = 4_000
_Column = tuple[pa.DataType, Callable[[ScoredPicture], Any]]


class PictureScores:
    """Results of pictures, kept small.

    Parameters
    ----------
    probability, threshold, vote
        Whether pictures have a probability, a threshold, and a candidate that was voted for;
        there are columns for what they have.
    category
        What marks are called; None where no marks are asked for.
    notes
        The patient and the split of each picture, which become columns.
    """

    def __init__(
        self,
        *,
        probability: bool,
        threshold: float | None,
        vote: bool,
        category: str | None,
        notes: PictureNotes | None = None,
    ) -> None:
        self._threshold, self._category = threshold, category
        self._columns = _columns(probability, threshold is not None, vote, notes)
        self._values: dict[str, list[Any]] = {name: [] for name in self._columns}
        self._marked: list[Picture] = []
        self._truth: list[tuple[float, bool]] = []
        self._overlaps: list[tuple[float, float]] = []
        self._drawn: list[NDArray[np.float32]] = []

    def __len__(self) -> int:
        return len(self._values["image"])

    def add(self, found: ScoredPicture) -> None:
        """Take in one picture."""
        for name, (_, value) in self._columns.items():
            self._values[name].append(value(found))
        if self._category is not None and found.marks is not None and found.mark_scores is not None:
            self._marked.append(
                marks_of(found.name, found.marks, found.mark_scores, self._category)
            )
        if found.drawn is not None and len(self._drawn) < _MOST_DRAWN:
            self._drawn.append(found.drawn)
        if found.is_positive is not None:
            self._truth.append((found.score, found.is_positive))
        if found.winner_overlap is not None and found.vote_overlap is not None:
            self._overlaps.append((found.winner_overlap, found.vote_overlap))

    def warn_of_shift(self, model: Any) -> None:
        """Warn where the pictures differ from those of the training by more than chance.

        A line says where there are too few pictures for that.
        """
        profile = profile_of(model)
        if profile is None or not len(self):
            return
        values = np.stack(self._drawn) if self._drawn else None
        names = getattr(model, "feature_names_in_", None)
        shift = compare_with_profile(profile, self._values["score"], values, names)
        warn_of_shift(shift)
        if shift.note is not None:
            print_error(f"groupcm: {shift.note}")

    def table(self) -> pa.Table:
        """Return a row a picture."""
        return pa.table(
            {name: pa.array(self._values[name], kind) for name, (kind, _) in self._columns.items()}
        )

    def write(self, output: Path, marks: Path | None) -> None:
        """Write the table, and the marks where they were asked for; each whole or not at all."""
        write_table(self.table(), output)
        if marks is not None and self._category is not None:
            write_marks(self._marked, marks, self._category)

    def words(self) -> list[tuple[str, str]]:
        """Tell how many pictures there are, and how well they agree with what people marked."""
        candidates = sum(self._values["n_candidates"])
        rows = [
            ("pictures", f"{len(self):,}"),
            ("candidates", f"{candidates:,}, {candidates / max(len(self), 1):.0f} a picture"),
        ]
        if self._threshold is not None:
            alarms, marked = sum(self._values["alarm"]), sum(self._values["n_marked"])
            rows += [
                ("threshold", f"{self._threshold:.6g}"),
                ("alarms", f"{alarms:,} of {len(self):,} pictures"),
                ("marked", f"{marked:,} candidates"),
            ]
        return rows + self._truth_words()

    def _truth_words(self) -> list[tuple[str, str]]:
        if not self._truth:
            return []
        score, positive = (np.array(each) for each in zip(*self._truth, strict=True))
        told = f"{len(score):,} pictures, {positive.sum():,} of them with an object"
        rows = [("annotated", told)]
        if positive.all() or not positive.any():
            which = "every" if positive.all() else "no"
            rows.append(("AUC", f"not defined: {which} annotated picture shows an object"))
        else:
            rows.append(("AUC", f"{group_roc_auc(positive, score):.4f}"))
        if self._overlaps:
            on = np.array(self._overlaps) >= LEAST_OVERLAP
            for name, hits in zip(("winner on object", "vote on object"), on.T, strict=True):
                share = f"{hits.mean():.3f}, {hits.sum():,} of {len(hits):,} positive pictures"
                rows.append((name, f"{share} (box IoU {LEAST_OVERLAP:g} or more)"))
        return rows


def _columns(
    probability: bool, threshold: bool, vote: bool, notes: PictureNotes | None
) -> dict[str, _Column]:
    whole, edge = pa.int32(), pa.float32()
    columns: dict[str, _Column] = {
        "image": (pa.string(), lambda found: found.name),
    }
    if notes is not None and notes.has_patients:
        columns["patient"] = pa.string(), lambda found: notes.of(found.name).patient
    if notes is not None and notes.has_splits:
        columns["split"] = pa.string(), lambda found: notes.of(found.name).split
    columns["score"] = pa.float64(), lambda found: found.score
    if probability:
        columns["probability"] = pa.float64(), lambda found: found.probability
    if threshold:
        columns["alarm"] = pa.bool_(), lambda found: found.alarm
    columns["winner"] = whole, lambda found: found.winner
    if vote:
        columns["located"] = whole, lambda found: found.located
    for place, name in enumerate(("left", "top", "right", "bottom")):
        columns[name] = edge, lambda found, place=place: _edge(found, place)
    columns["mask"] = pa.string(), _compressed_mask
    for name in ("height", "width", "n_candidates"):
        columns[name] = whole, lambda found, name=name: getattr(found, name)
    if threshold:
        columns["n_marked"] = whole, lambda found: found.n_marked
    return columns


def _edge(found: ScoredPicture, place: int) -> float | None:
    """Return an edge of the place found; None where nothing was proposed."""
    return found.place.edges[0, place] if len(found.place) else None


def _compressed_mask(found: ScoredPicture) -> str | None:
    if not len(found.place):
        return None
    region = found.place.region(0)
    return compress(region.counts) if isinstance(region, Mask) else None
