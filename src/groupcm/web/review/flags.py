"""Pictures whose annotation is to be corrected, in a CSV file: read at the start, written whole."""

from __future__ import annotations

import csv
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from groupcm.errors import InputError
from groupcm.web.server.file_stamp import GuardedFile

__all__ = ["COLUMNS", "OLD_COLUMNS", "Mark", "MarksFile", "read_marks"]

COLUMNS = ["image", "score", "truth", "outcome", "note"]
# The picture's column had another name before.
OLD_COLUMNS = ["picture", *COLUMNS[1:]]
_TRUTHS = ("", "positive", "negative")
_LONGEST_NOTE = 2_000


@dataclass(frozen=True)
class Mark:
    """A picture to correct.

    Attributes
    ----------
    score
        Its score when it was marked; None where that was not known.
    truth
        "positive" or "negative" as the annotations said then; "" where they did not.
    outcome
        Such as "false positive"; "" where it was not known.
    note
        What the reviewer wrote.
    """

    score: float | None = None
    truth: str = ""
    outcome: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.note, str):
            raise InputError("the note must be a text")
        if len(self.note) > _LONGEST_NOTE:
            raise InputError(
                f"the note has {len(self.note):,} characters; it may have {_LONGEST_NOTE:,}"
            )
        if "\0" in self.note or not _is_text(self.note):
            raise InputError("the note holds characters that no file of text can hold")


def read_marks(path: str | os.PathLike[str]) -> dict[str, Mark]:
    """Read the marks of pictures by their names, in the order of the file.

    Examples
    --------
    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "review.csv")
    >>> MarksFile(path).mark("a.png", Mark(0.5, "negative", "false positive", "?"))
    >>> read_marks(path)
    {'a.png': Mark(score=0.5, truth='negative', outcome='false positive', note='?')}
    """
    marks: dict[str, Mark] = {}
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            columns = next(rows, [])
            if columns not in (COLUMNS, OLD_COLUMNS):
                raise InputError(
                    f"{path} is no file of marks, whose columns are {', '.join(COLUMNS)}; "
                    "name another file"
                )
            for row in rows:
                where = f"{path}, line {rows.line_num}"
                if len(row) != len(COLUMNS):
                    raise InputError(
                        f"{where}: there are {len(row)} values and must be {len(COLUMNS)}"
                    )
                if not row[0] or row[0] in marks:
                    told = f"is marked twice: {row[0]}" if row[0] else "has no name"
                    raise InputError(f"{where}: a picture {told}; each is marked once")
                marks[row[0]] = _mark_of(row, where)
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path} is damaged and cannot be read as CSV: {error}") from error
    return marks


class MarksFile:
    """The marks of a review; each change is on the disk when it returns.

    Marks of pictures that are not in the folder are kept as they are. A change is refused with
    `ChangedOnDisk` where another program wrote the file since.

    Parameters
    ----------
    path
        The file; where there is none it is made at the first mark. A damaged one is an error.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = GuardedFile(path)
        self._lock = threading.Lock()
        self._marks = read_marks(self.path) if self._file.look() else {}

    @property
    def path(self) -> Path:
        """Where they are."""
        return self._file.path

    @property
    def marks(self) -> Mapping[str, Mark]:
        """Marks by the names of pictures."""
        return self._marks

    def mark(self, name: str, mark: Mark) -> None:
        """Mark a picture, or replace its mark."""
        with self._lock:
            self._write(self._marks | {name: mark})

    def unmark(self, name: str) -> None:
        """Take a mark away; nothing happens where there is none."""
        with self._lock:
            if name in self._marks:
                self._write({each: mark for each, mark in self._marks.items() if each != name})

    def _write(self, marks: dict[str, Mark]) -> None:
        with (
            self._file.replacing() as beside,
            open(beside, "w", encoding="utf-8", newline="") as file,
        ):
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(COLUMNS)
            for name, mark in marks.items():
                score = "" if mark.score is None else repr(mark.score)
                rows.writerow([name, score, mark.truth, mark.outcome, mark.note])
        self._marks = marks


def _mark_of(row: list[str], where: str) -> Mark:
    _, score, truth, outcome, note = row
    try:
        number = float(score) if score else None
    except ValueError:
        number = float("nan")
    if number is not None and not isfinite(number):
        raise InputError(f"{where}: the score is {score!r}; it must be a number or nothing")
    if truth not in _TRUTHS:
        raise InputError(
            f"{where}: the truth is {truth!r}; it must be positive, negative or nothing"
        )
    try:
        return Mark(number, truth, outcome, note)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _is_text(note: str) -> bool:
    try:
        note.encode()
    except UnicodeEncodeError:
        return False
    return True
