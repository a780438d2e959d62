"""The results that the review page shows: score, annotations and flag of every picture.

`ResultFeed` also returns the results that changed after a revision; `PictureTruth` compares the
result of a picture with its annotations.
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
from groupcm.web.review.flags import FlagFile
from groupcm.web.server.annotation_json import object_to_json
from groupcm.web.server.background import Result
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.scored_pictures import PictureResult

__all__ = ["Changes", "PictureTruth", "ResultFeed"]


@dataclass(frozen=True)
class Changes:
    """The current revision, and the results that changed after an earlier one."""

    revision: int
    results: dict[int, dict[str, Any]]


class ResultFeed:
    """The results of all pictures with annotations and flags.

    Parameters
    ----------
    library
        The pictures.
    truth
        The annotations.
    flags
        The flags of pictures to correct.
    """

    def __init__(self, library: PictureLibrary, truth: PictureTruth, flags: FlagFile) -> None:
        self._library, self._truth, self._flags = library, truth, flags
        self._lock = threading.Lock()
        self._changed: list[int] = []
        self._results: dict[int, dict[str, Any]] = {}

    @property
    def revision(self) -> int:
        """A number that grows with every change."""
        return len(self._changed)

    def put(self, number: int, found: Result, stamp: str) -> None:
        """Add the result of a picture whose file had this stamp."""
        self._results[number] = self._to_json(number, found, stamp)
        self.note_change(number)

    def note_change(self, number: int) -> int:
        """Record that a picture changed, and return the revision."""
        with self._lock:
            self._changed.append(number)
            return len(self._changed)

    def stamp(self, number: int) -> str | None:
        """Return the stamp of the file that was scored, or None if there is no result yet."""
        result = self._results.get(number)
        return None if result is None else result["stamp"]

    def of(self, number: int) -> dict[str, Any] | None:
        """Return the result of a picture as JSON, or None if nothing is known of it yet."""
        result = self._results.get(number)
        flag = self._flags.flags.get(self._library.names[number])
        if result is None and flag is None:
            return None
        result = result or self._to_json(number, None, None)
        mark = None if flag is None else {"kind": "annotation", "note": flag.note}
        return result | {"mark": mark}

    def changed_since(self, revision: int) -> Changes:
        """Return the results that changed after a revision; all if the revision is not known."""
        with self._lock:
            newest = len(self._changed)
            numbers = self._changed[revision:] if 0 <= revision <= newest else None
        if numbers is None:
            numbers = range(len(self._library))
        found = {number: self.of(number) for number in dict.fromkeys(numbers)}
        return Changes(newest, {number: each for number, each in found.items() if each})

    def _to_json(self, number: int, found: Result | None, stamp: str | None) -> dict[str, Any]:
        return self._truth.compared_with(self._library.names[number], found) | {"stamp": stamp}


class PictureTruth:
    """The annotations of pictures by name.

    Parameters
    ----------
    truth
        The annotations, or None.

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
    >>> found = PictureResult(0.5, None, (1.0, 1.0, 4.0, 4.0), 9, 9)
    >>> truth.compared_with("a.png", found)["on_object"]
    True
    """

    def __init__(self, truth: Truth | None) -> None:
        self.truth = truth

    def is_positive(self, name: str) -> bool | None:
        """Return whether a picture has an object; None if it is unannotated."""
        marked = None if self.truth is None else self.truth.of(name)
        return None if marked is None else bool(marked.objects)

    def objects(self, name: str) -> list[dict[str, Any]] | None:
        """Return the objects of a picture as JSON; None if it is unannotated."""
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

    def compared_with(self, name: str, found: Result | None) -> dict[str, Any]:
        """Return the result of a picture, which may not be scored yet, with its annotations."""
        result: dict[str, Any] = dict.fromkeys(
            ("score", "probability", "winner", "width", "height", "on_object", "error")
        )
        result["truth"] = self.is_positive(name)
        if isinstance(found, Unreadable):
            return result | {"error": found.reason}
        if found is None:
            return result
        result |= {"width": found.width, "height": found.height}
        try:
            is_on_object = self._is_on_object(name, found)
        except InputError as error:  # the annotations are of another picture
            return result | {"error": str(error)}
        return result | {
            "score": found.score,
            "probability": found.probability,
            "winner": list(found.winner),
            "on_object": is_on_object,
        }

    def _is_on_object(self, name: str, found: PictureResult) -> bool | None:
        """Return whether the winner overlaps an object; None without objects or annotations."""
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
