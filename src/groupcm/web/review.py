"""A folder under review: what a model makes of its pictures, beside what people marked in them."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from groupcm.annotations import Picture
from groupcm.errors import InputError
from groupcm.evaluation.localisation import LEAST_OVERLAP
from groupcm.images.overlap import overlap
from groupcm.images.parallel_pictures import Unreadable
from groupcm.images.regions import Regions
from groupcm.images.score import PictureScorer
from groupcm.images.truth import Truth, object_regions
from groupcm.web.background import BackgroundScores, Result, picture_stamp
from groupcm.web.candidate_json import candidates_to_json
from groupcm.web.library import PictureLibrary
from groupcm.web.marks_file import Mark, MarksFile
from groupcm.web.measuring import MeasuredPicture, measure_picture
from groupcm.web.once import WorkedOutOnce
from groupcm.web.picture_result import NumberedPicture, PictureResult
from groupcm.web.records import object_to_json
from groupcm.web.review_words import outcome_of, results_as_csv, truth_word
from groupcm.web.score_cache import ScoreCache
from groupcm.web.typical import TypicalCandidate, explained

__all__ = ["Review"]

_PICTURES_KEPT = 16


@dataclass(frozen=True)
class Changes:
    """The newest revision, and what is known of pictures that changed after an older one."""

    revision: int
    results: dict[int, dict[str, Any]]


class Review:
    """Scores of a folder as they become known, with truth, marks and explanations.

    Parameters
    ----------
    library
        The pictures.
    scorer
        The model.
    marks
        Where marks are kept.
    truth
        What people marked; None where nobody has looked.
    cache
        Keeps scores for the next start.
    workers
        See `groupcm.web.background.BackgroundScores`.
    """

    def __init__(
        self,
        library: PictureLibrary,
        scorer: PictureScorer,
        marks: MarksFile,
        *,
        truth: Truth | None = None,
        cache: ScoreCache | None = None,
        workers: int | None = None,
    ) -> None:
        self.library, self.scorer, self.truth, self.marks = library, scorer, truth, marks
        self._cache = cache
        self._lock = threading.Lock()
        self._changed: list[int] = []
        self._typical = TypicalCandidate(len(library))
        self._measured = WorkedOutOnce(self._measure, _PICTURES_KEPT)
        self._shown: dict[int, dict[str, Any]] = {}
        self.scores = BackgroundScores(
            library,
            scorer,
            workers,
            known=self._known_before(),
            with_mean=self._typical.numbers,
            heard=self._hear,
        )

    def start(self) -> None:
        """Begin to score."""
        self.scores.start()

    def stop(self) -> None:
        """End the work and its processes."""
        self.scores.stop()

    @property
    def revision(self) -> int:
        """Grows with every change."""
        return len(self._changed)

    def results(self) -> list[dict[str, Any] | None]:
        """What is known of each picture; None where that is still to come."""
        return [self.result(number) for number in range(len(self.library))]

    def changed_since(self, revision: int) -> Changes:
        """Return what changed after a revision; all where it is not one of ours."""
        with self._lock:
            newest = len(self._changed)
            numbers = self._changed[revision:] if 0 <= revision <= newest else None
        if numbers is None:
            numbers = range(len(self.library))
        found = {number: self.result(number) for number in dict.fromkeys(numbers)}
        return Changes(newest, {number: each for number, each in found.items() if each})

    def result(self, number: int) -> dict[str, Any] | None:
        """What is known of a picture."""
        shown = self._shown.get(number)
        mark = self.marks.marks.get(self.library.names[number])
        if shown is None and mark is None:
            return None
        shown = shown or self._show(number, None)
        return shown | {"mark": None if mark is None else {"kind": "annotation", "note": mark.note}}

    def details(self, number: int) -> dict[str, Any]:
        """All candidates of a picture, the best first, and what people marked in it."""
        found = self._measured(number).found
        regions = found.regions
        return {
            "name": self.library.names[number],
            "width": regions.width,
            "height": regions.height,
            "score": found.score,
            "probability": found.probability,
            "threshold": self.scorer.threshold,
            "winner": 0,
            "candidates": candidates_to_json(regions, _best_first(found.scores), found.scores),
            "objects": self._objects(number),
        }

    def explanation(self, number: int, candidate: int = 0) -> dict[str, Any]:
        """What the features of one of the `details`' candidates add to its score."""
        measured = self._measured(number)
        if not 0 <= candidate < len(measured.rows):
            raise IndexError(candidate)
        row = measured.rows[_best_first(measured.found.scores)[candidate]]
        typical = self._typical.mean()
        if typical is None:
            typical = measured.rows.mean(axis=0, dtype=np.float64)
        return explained(self.scorer, row, typical)

    def mark(self, number: int, note: str) -> int:
        """Say that the annotation of a picture is to be corrected; return the revision."""
        score, truth = self.scores.score(number), self._is_positive(number)
        outcome = outcome_of(score, truth, self.scorer.threshold)
        name = self.library.names[number]
        self.marks.mark(name, Mark(score, truth_word(truth), outcome, note))
        return self._note_change(number)

    def unmark(self, number: int) -> int:
        """Take the mark away; return the revision."""
        self.marks.unmark(self.library.names[number])
        return self._note_change(number)

    def export(self, threshold: float | None) -> str:
        """Return all pictures as CSV."""
        return results_as_csv(zip(self.library.names, self.results(), strict=True), threshold)

    def _known_before(self) -> dict[int, Result]:
        if self._cache is None:
            return {}
        numbers = range(len(self.library))
        stamps = {self.library.names[n]: picture_stamp(self.library, n) for n in numbers}
        found = self._cache.open(stamps)
        known = {n: found[self.library.names[n]] for n in numbers if self.library.names[n] in found}
        for number, result in known.items():
            self._typical.add(number, result)
            self._shown[number] = self._show(number, result)
            self._changed.append(number)
        return dict(known)

    def _hear(self, task: NumberedPicture, result: Result) -> None:
        self._shown[task.number] = self._show(task.number, result)
        if isinstance(result, PictureResult):
            self._typical.add(task.number, result)
            if self._cache is not None:
                self._cache.add(task.name, task.stamp, result)
        self._note_change(task.number)

    def _note_change(self, number: int) -> int:
        with self._lock:
            self._changed.append(number)
            return len(self._changed)

    def _is_positive(self, number: int) -> bool | None:
        marked = None if self.truth is None else self.truth.of(self.library.names[number])
        return None if marked is None else bool(marked.objects)

    def _show(self, number: int, found: Result | None) -> dict[str, Any]:
        """What the page is told of a picture, but for its mark."""
        shown: dict[str, Any] = dict.fromkeys(
            ("score", "probability", "winner", "width", "height", "on_object", "error")
        )
        shown["truth"] = self._is_positive(number)
        if isinstance(found, Unreadable):
            return shown | {"error": found.reason}
        if found is None:
            return shown
        shown |= {"width": found.width, "height": found.height}
        try:
            is_on_object = self._is_on_object(number, found)
        except InputError as error:  # annotations of another picture
            return shown | {"error": str(error)}
        return shown | {
            "score": found.score,
            "probability": found.probability,
            "winner": list(found.winner),
            "on_object": is_on_object,
        }

    def _is_on_object(self, number: int, found: PictureResult) -> bool | None:
        """Whether the winner lies on an object; None where there is none or nobody knows."""
        if self.truth is None:
            return None
        name = self.library.names[number]
        marked = self.truth.of(name)
        if marked is None:
            return None
        objects = object_regions(name, marked, found.height, found.width, self.truth.where)
        if not len(objects):
            return None
        left, top, width, height = found.winner
        winner = Regions.from_boxes(
            [[left, top, left + width, top + height]], found.height, found.width
        )
        return bool(overlap(winner, objects, "box_iou").max() >= LEAST_OVERLAP)

    def _objects(self, number: int) -> list[dict[str, Any]] | None:
        name = self.library.names[number]
        if self.truth is None or self.truth.of(name) is None:
            return None
        wanted = self.truth.categories
        picture: Picture = self.truth.marked[name]
        return [
            object_to_json(replace(marked, id=place if marked.id is None else marked.id))
            for place, marked in enumerate(picture.objects)
            if wanted is None or marked.category in wanted
        ]

    def _measure(self, number: int) -> MeasuredPicture:
        name = self.library.names[number]
        pixels = self.library.read(number)
        try:
            return measure_picture(self.scorer, pixels, name)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"the picture {name}: {error}") from error


def _best_first(scores: Any) -> list[int]:
    return np.argsort(-scores, kind="stable").tolist()
