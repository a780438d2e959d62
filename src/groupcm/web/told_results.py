"""What the page of a review is told of every picture, and what of it is new."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from groupcm.web.background import Result
from groupcm.web.library import PictureLibrary
from groupcm.web.marks_file import MarksFile
from groupcm.web.picture_truth import PictureTruth

__all__ = ["Changes", "ToldResults"]


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
