"""The CSV file of pictures that a reviewer flagged because their annotation is to be corrected."""

from __future__ import annotations

import csv
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from groupcm.errors import InputError
from groupcm.web.server.guarded_file import GuardedFile

__all__ = ["COLUMNS", "OLD_COLUMNS", "Flag", "FlagFile", "read_flags"]

COLUMNS = ["image", "score", "truth", "outcome", "note"]
# Files of earlier versions call the first column "picture".
OLD_COLUMNS = ["picture", *COLUMNS[1:]]
_TRUTHS = ("", "positive", "negative")
_LONGEST_NOTE = 2_000


@dataclass(frozen=True)
class Flag:
    """The flag of a picture whose annotation is to be corrected.

    Attributes
    ----------
    score
        Its score when it was flagged; None if it was not known.
    truth
        "positive" or "negative" according to the annotations then; "" if unannotated.
    outcome
        Such as "false positive"; "" if it was not known.
    note
        The note of the reviewer.
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


def read_flags(path: str | os.PathLike[str]) -> dict[str, Flag]:
    """Read the flags by the names of pictures, in the order of the file.

    Examples
    --------
    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "review.csv")
    >>> FlagFile(path).flag("a.png", Flag(0.5, "negative", "false positive", "?"))
    >>> read_flags(path)
    {'a.png': Flag(score=0.5, truth='negative', outcome='false positive', note='?')}
    """
    flags: dict[str, Flag] = {}
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            columns = next(rows, [])
            if columns not in (COLUMNS, OLD_COLUMNS):
                raise InputError(
                    f"{path} is not a file of marks, whose columns are {', '.join(COLUMNS)}; "
                    "name another file"
                )
            for row in rows:
                where = f"{path}, line {rows.line_num}"
                if len(row) != len(COLUMNS):
                    raise InputError(
                        f"{where}: there are {len(row)} values and must be {len(COLUMNS)}"
                    )
                if not row[0] or row[0] in flags:
                    problem = f"is marked twice: {row[0]}" if row[0] else "has no name"
                    raise InputError(f"{where}: a picture {problem}; each is marked once")
                flags[row[0]] = _flag_of(row, where)
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path} is damaged and cannot be read as CSV: {error}") from error
    return flags


class FlagFile:
    """The flags of a review; each change is on the disk when the method returns.

    Flags of pictures that are not in the folder are kept. A change is refused with
    `ChangedOnDisk` if another program has changed the file.

    Parameters
    ----------
    path
        The file; it is created with the first flag. A damaged file is an error.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = GuardedFile(path)
        self._lock = threading.Lock()
        self._flags = read_flags(self.path) if self._file.look() else {}

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._file.path

    @property
    def flags(self) -> Mapping[str, Flag]:
        """The flags by the names of pictures."""
        return self._flags

    def flag(self, name: str, flag: Flag) -> None:
        """Flag a picture, or replace its flag."""
        with self._lock:
            self._write(self._flags | {name: flag})

    def unflag(self, name: str) -> None:
        """Remove the flag of a picture, if there is one."""
        with self._lock:
            if name in self._flags:
                self._write({each: flag for each, flag in self._flags.items() if each != name})

    def _write(self, flags: dict[str, Flag]) -> None:
        with (
            self._file.replacing() as temporary,
            open(temporary, "w", encoding="utf-8", newline="") as file,
        ):
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(COLUMNS)
            for name, flag in flags.items():
                score = "" if flag.score is None else repr(flag.score)
                rows.writerow([name, score, flag.truth, flag.outcome, flag.note])
        self._flags = flags


def _flag_of(row: list[str], where: str) -> Flag:
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
        return Flag(number, truth, outcome, note)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _is_text(note: str) -> bool:
    try:
        note.encode()
    except UnicodeEncodeError:
        return False
    return True
