"""What the page of a review is told of every picture, and what of it is new.

What people marked in the pictures of a library, beside what a model finds there.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any

from groupcm.errors import InputError
from groupcm.images.overlap import overlap
from groupcm.images.parallel import Unreadable
from groupcm.images.regions import Regions
from groupcm.images.truth import Truth, object_regions
from groupcm.metrics.froc import LEAST_OVERLAP
from groupcm.web.review.flags import MarksFile
from groupcm.web.server.background import Result
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.records import object_to_json
from groupcm.web.server.scored_pictures import PictureResult

__all__ = ["Changes", "PictureTruth", "ToldResults"]


class PictureTruth:
    """Annotations by the names of pictures.

    Parameters
    ----------
    truth
        What people marked; None where nobody has looked.

    Examples
    --------
    >>> from groupcm.annotations import AnnotatedObject, Annotations, Box, Picture
    >>> box = AnnotatedObject("polyp", Box(1, 1, 4, 4))
    >>> truth = PictureTruth(Truth(Annotations([Picture("a.png", 9, 9, [box])]), "marks.json"))
    >>> truth.is_positive("a.png"), truth.is_positive("b.png")
    (True, None)
    >>> others = PictureTruth(Truth(truth.truth.marked, "marks.json", unmarked="negative"))
    >>> others.is_positive("b.png"), others.objects("b.png")
    (False, [])
    >>> truth.beside("a.png", PictureResult(0.5, None, (1.0, 1.0, 4.0, 4.0), 9, 9))["on_object"]
    True
    """

    def __init__(self, truth: Truth | None) -> None:
        self.truth = truth

    def is_positive(self, name: str) -> bool | None:
        """Whether there is an object; None where nobody knows."""
        marked = None if self.truth is None else self.truth.of(name)
        return None if marked is None else bool(marked.objects)

    def objects(self, name: str) -> list[dict[str, Any]] | None:
        """Objects of a picture as JSON; None where nobody has looked."""
        if self.truth is None or self.truth.of(name) is None:
            return None
        if name not in self.truth.marked:
            return []
        wanted = self.truth.categories
        return [
            object_to_json(replace(marked, id=place if marked.id is None else marked.id))
            for place, marked in enumerate(self.truth.marked[name].objects)
            if wanted is None or marked.category in wanted
        ]

    def beside(self, name: str, found: Result | None) -> dict[str, Any]:
        """What a page is told of a picture, but for its mark; it may not be scored yet."""
        told: dict[str, Any] = dict.fromkeys(
            ("score", "probability", "winner", "width", "height", "on_object", "error")
        )
        told["truth"] = self.is_positive(name)
        if isinstance(found, Unreadable):
            return told | {"error": found.reason}
        if found is None:
            return told
        told |= {"width": found.width, "height": found.height}
        try:
            is_on_object = self._is_on_object(name, found)
        except InputError as error:  # annotations of another picture
            return told | {"error": str(error)}
        return told | {
            "score": found.score,
            "probability": found.probability,
            "winner": list(found.winner),
            "on_object": is_on_object,
        }

    def _is_on_object(self, name: str, found: PictureResult) -> bool | None:
        """Whether the winner lies on an object; None where there is none or nobody knows."""
        marked = None if self.truth is None else self.truth.of(name)
        if self.truth is None or marked is None:
            return None
        objects = object_regions(name, marked, found.height, found.width, self.truth.where)
        if not len(objects):
            return None
        left, top, width, height = found.winner
        winner = Regions.from_boxes(
            [[left, top, left + width, top + height]], found.height, found.width
        )
        return bool(overlap(winner, objects, "box_iou").max() >= LEAST_OVERLAP)


@dataclass(frozen=True)
class Changes:
    """The newest revision, and what is known of pictures that changed after an older one."""

    revision: int
    results: dict[int, dict[str, Any]]


class ToldResults:
    """Results of pictures with truth and marks; the revision grows with every change.

    Parameters
    ----------
    library
        The pictures.
    truth
        What people marked in them.
    marks
        Those to correct.
    """

    def __init__(self, library: PictureLibrary, truth: PictureTruth, marks: MarksFile) -> None:
        self._library, self._truth, self._marks = library, truth, marks
        self._lock = threading.Lock()
        self._changed: list[int] = []
        self._told: dict[int, dict[str, Any]] = {}

    @property
    def revision(self) -> int:
        """Grows with every change."""
        return len(self._changed)

    def put(self, number: int, found: Result, stamp: str) -> None:
        """Take the newest result of a picture, whose file had this stamp."""
        self._told[number] = self._tell(number, found, stamp)
        self.note_change(number)

    def note_change(self, number: int) -> int:
        """Say that a picture changed; return the revision."""
        with self._lock:
            self._changed.append(number)
            return len(self._changed)

    def stamp(self, number: int) -> str | None:
        """Stamp of the file that a picture's result is of; None where there is none yet."""
        told = self._told.get(number)
        return None if told is None else told["stamp"]

    def of(self, number: int) -> dict[str, Any] | None:
        """What is known of a picture; None where that is still to come."""
        told = self._told.get(number)
        mark = self._marks.marks.get(self._library.names[number])
        if told is None and mark is None:
            return None
        told = told or self._tell(number, None, None)
        return told | {"mark": None if mark is None else {"kind": "annotation", "note": mark.note}}

    def changed_since(self, revision: int) -> Changes:
        """Return what changed after a revision; all where it is not one of ours."""
        with self._lock:
            newest = len(self._changed)
            numbers = self._changed[revision:] if 0 <= revision <= newest else None
        if numbers is None:
            numbers = range(len(self._library))
        found = {number: self.of(number) for number in dict.fromkeys(numbers)}
        return Changes(newest, {number: each for number, each in found.items() if each})

    def _tell(self, number: int, found: Result | None, stamp: str | None) -> dict[str, Any]:
        return self._truth.beside(self._library.names[number], found) | {"stamp": stamp}
