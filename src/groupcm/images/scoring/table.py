"""The scores of many pictures: one row of a table per picture, and their summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groupcm.annotations import Mask, Picture
from groupcm.annotations.runs import compress
from groupcm.data.tables.formats import write_table
from groupcm.errors import InputError
from groupcm.estimators.shift import Shift, compare_with_profile, warn_of_shift
from groupcm.estimators.training.profile import profile_of
from groupcm.images.patients import PictureNotes
from groupcm.images.scoring.scored_picture import ScoredPicture, marks_of, write_marks
from groupcm.metrics import group_roc_auc
from groupcm.metrics.froc import LEAST_OVERLAP

__all__ = ["Agreement", "PictureScores", "keep_partial"]

# Pictures whose drawn candidates are kept.
_MOST_DRAWN = 4_000
_Column = tuple[pa.DataType, Callable[[ScoredPicture], Any]]


@dataclass(frozen=True)
class Agreement:
    """How scores agree with the annotations of pictures.

    Attributes
    ----------
    n_pictures, n_positive
        The number of annotated pictures, and of those that show an object.
    auc
        The AUC of the annotated pictures; None where all or none of them show an object.
    n_located
        The number of annotated pictures with an object in which the place was compared with it.
    n_winner_on_object, n_vote_on_object
        The number of those where the winner, or the candidate that the best ones vote for, is on
        the object.
    """

    n_pictures: int
    n_positive: int
    auc: float | None
    n_located: int
    n_winner_on_object: int
    n_vote_on_object: int


class PictureScores:
    """Scores of many pictures, without their candidates, so that they fit into memory.

    Parameters
    ----------
    probability, vote
        Whether pictures have a probability, and a candidate that locates the object (by vote, or by
        a place model) other than the winner; there are columns for what they have.
    threshold
        Pictures that score at least this raise an alarm; None without columns for that.
    category
        The category of the marked candidates; None where they are not kept.
    notes
        The patient and the split of each picture, which become columns.

    Examples
    --------
    >>> from groupcm.images.regions import Regions
    >>> place = Regions.from_boxes([[1, 1, 4, 3]], height=9, width=9)
    >>> scores = PictureScores(probability=False, threshold=0.0, vote=False, category=None)
    >>> scores.add(ScoredPicture("a.png", 9, 9, 0.5, None, True, 0, 0, 12, place, n_marked=1))
    >>> scores.table()["alarm"].to_pylist(), scores.n_alarms, scores.n_candidates
    ([True], 1, 12)
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
        self.threshold, self._category = threshold, category
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

    @property
    def n_candidates(self) -> int:
        """The number of candidates of all pictures."""
        return sum(self._values["n_candidates"])

    @property
    def n_alarms(self) -> int | None:
        """The number of pictures that raise an alarm; None without a threshold."""
        return None if self.threshold is None else sum(self._values["alarm"])

    @property
    def n_marked(self) -> int | None:
        """The number of candidates that score at least the threshold; None without one."""
        return None if self.threshold is None else sum(self._values["n_marked"])

    def shift_from_training(self, model: Any) -> Shift | None:
        """Compare the pictures with those of the training, and warn where they differ.

        Returns
        -------
        Shift or None
            None where the model has no profile of its training, or there are no pictures.
        """
        profile = profile_of(model)
        if profile is None or not len(self):
            return None
        values = np.stack(self._drawn) if self._drawn else None
        names = getattr(model, "feature_names_in_", None)
        shift = compare_with_profile(profile, self._values["score"], values, names)
        warn_of_shift(shift)
        return shift

    def table(self) -> pa.Table:
        """Return a table of one row per picture."""
        return pa.table(
            {name: pa.array(self._values[name], kind) for name, (kind, _) in self._columns.items()}
        )

    def write(self, output: Path, marks: Path | None) -> None:
        """Write the table, and the marks if they were requested; each whole or not at all."""
        write_table(self.table(), output)
        if marks is not None and self._category is not None:
            write_marks(self._marked, marks, self._category)

    def agreement(self) -> Agreement | None:
        """Return how the scores agree with annotations; None where there are none."""
        if not self._truth:
            return None
        score, positive = (np.array(each) for each in zip(*self._truth, strict=True))
        is_defined = positive.any() and not positive.all()
        on_object = np.array(self._overlaps).reshape(-1, 2) >= LEAST_OVERLAP
        winner, vote = on_object.sum(axis=0).tolist()
        return Agreement(
            n_pictures=len(score),
            n_positive=int(positive.sum()),
            auc=float(group_roc_auc(positive, score)) if is_defined else None,
            n_located=len(on_object),
            n_winner_on_object=winner,
            n_vote_on_object=vote,
        )


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


@contextmanager
def keep_partial(scores: PictureScores, output: Path | None, marks: Path | None) -> Iterator[None]:
    """Within the block, what ends the work early has what was done written under another name."""
    try:
        yield
    except (InputError, KeyboardInterrupt) as error:
        if not len(scores) or output is None:
            raise
        partial = _partial(output)
        scores.write(partial, None if marks is None else _partial(marks))
        kept = f"the scores of {len(scores):,} pictures are in {partial}"
        if isinstance(error, InputError):
            raise InputError(error, f"; {kept}") from error
        raise KeyboardInterrupt(kept) from error


def _partial(path: Path) -> Path:
    return path.with_name(f"{path.stem}.partial{path.suffix}")
