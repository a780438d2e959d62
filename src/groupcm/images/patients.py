"""The patient and the split of each picture, from a CSV file of the user.

The file has one row per picture. Its columns are ``image``, the picture's name, and ``patient``,
``split`` or both; other columns are ignored. A name may leave out its ending, and a stack needs one
row for all of its pages.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from groupcm.annotations.model import relative_name
from groupcm.annotations.parsing import text_of
from groupcm.errors import Argument, InputError

__all__ = [
    "PictureNote",
    "PictureNotes",
    "notes_of",
    "patients_in_names",
    "possible_pattern",
    "read_patients",
]

_BEFORE_LAST = "^(.+)[_-]"
_IMAGE = ("image", "picture", "filename", "file_name", "file")


class PictureNote(NamedTuple):
    """The patient and the split of a picture; None where unknown."""

    patient: str | None = None
    split: str | None = None


class PictureNotes:
    """The patient and the split of each picture of a file.

    Attributes
    ----------
    has_patients, has_splits
        Whether the file has such a column.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "patients.csv"
    >>> _ = path.write_text("image,patient,split\\na.png,p1,train\\nb,p2,test\\n")
    >>> notes = read_patients(path)
    >>> notes.of("b.png")
    PictureNote(patient='p2', split='test')
    >>> notes.in_split(["a.png", "b.png"], "train")
    ['a.png']
    >>> notes.of("c.png")
    Traceback (most recent call last):
    groupcm.errors.InputError: ...patients.csv has no row for the picture 'c.png'
    """

    def __init__(
        self, path: Path, rows: dict[str, PictureNote], has_patients: bool, has_splits: bool
    ) -> None:
        self.path, self._rows = path, rows
        self.has_patients, self.has_splits = has_patients, has_splits

    def of(self, name: str) -> PictureNote:
        """Return the patient and the split of a picture, which must have a row."""
        file = name.rpartition("#")[0]
        for known in (name, _without_ending(name), file, _without_ending(file) if file else ""):
            if known in self._rows:
                return self._rows[known]
        raise InputError(f"{self.path} has no row for the picture {name!r}")

    def in_split(self, names: Sequence[str], split: str | None) -> list[str]:
        """Return the pictures of a split; all pictures for None."""
        if split is None:
            return list(names)
        found = [name for name in names if self.of(name).split == split]
        if not found:
            splits = sorted({note.split for note in self._rows.values() if note.split})
            raise InputError(
                f"{self.path} puts no picture into the split {split!r}; its splits are "
                + ", ".join(map(repr, splits))
            )
        return found


def read_patients(path: str | os.PathLike[str], patient: str = "patient") -> PictureNotes:
    """Read the patient and the split of each picture from a CSV file.

    Columns are separated by commas, semicolons or tabs. An empty cell, two rows that contradict
    each other, and a file with neither column are errors.

    Parameters
    ----------
    path : path
    patient : str, default="patient"
        The column of patients; one of another name must exist.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    text = text_of(path)
    first = text.partition("\n")[0]
    lines = csv.reader(
        io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True
    )
    rows: dict[str, PictureNote] = {}
    try:
        header = [name.strip().lower() for name in next(lines, [])]
        image = next((header.index(name) for name in _IMAGE if name in header), None)
        wanted = (patient.strip().lower(), "split")
        columns = [header.index(name) if name in header else None for name in wanted]
        if patient != "patient" and columns[0] is None:
            raise InputError(
                f"{path} has no column {patient!r}; its columns are {', '.join(header)}",
                file=path,
                column=patient,
            )
        if image is None or columns == [None, None]:
            raise InputError(
                f"{path}: the columns should be image and patient, or image and split, and are "
                f"{', '.join(header) or 'none'}"
            )
        for row in lines:
            if not any(cell.strip() for cell in row):
                continue
            where = f"{path}, line {lines.line_num}"
            if len(row) != len(header):
                raise InputError(f"{where}: {len(row)} cells are below {len(header)} columns")
            note = PictureNote(*(_cell(row, at, where, header) for at in columns))
            try:
                name = relative_name(row[image])
            except ValueError as error:
                raise InputError(f"{where}: {error}") from error
            if rows.setdefault(name, note) != note:
                raise InputError(f"{where}: the picture {name!r} has another row that differs")
    except csv.Error as error:
        raise InputError(f"{path}, line {lines.line_num}: this is not CSV ({error})") from error
    return PictureNotes(path, rows, columns[0] is not None, columns[1] is not None)


def notes_of(
    patients: str | os.PathLike[str] | None, split: str | None, known: PictureNotes | None = None
) -> PictureNotes | None:
    """Read the file of patients and splits, if given; ``split`` requires it, or ``known``."""
    notes = known if patients is None else read_patients(patients)
    if split is not None and notes is None:
        raise InputError(
            Argument("split"), " is given and no ", Argument("patients"), " with a column 'split'"
        )
    if split is not None and notes is not None and not notes.has_splits:
        raise InputError(
            f"{notes.path} has no column 'split', which ",
            Argument("split", split),
            " needs",
            file=notes.path,
            column="split",
        )
    return notes


def patients_in_names(
    names: Sequence[str], pattern: str, argument: str = "patient_from"
) -> dict[str, str]:
    r"""Return the patient of each picture, by a pattern whose first group is found in its name.

    Errors name ``argument``, the parameter that the pattern was given as.

    Examples
    --------
    >>> patients_in_names(["p1_a.png", "p2_a.png"], r"^(p\d+)_")
    {'p1_a.png': 'p1', 'p2_a.png': 'p2'}
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise InputError(
            Argument(argument), f" {pattern!r} is not a regular expression: {error}"
        ) from error
    if not compiled.groups:
        raise InputError(
            Argument(argument),
            f" {pattern!r} has no group in parentheses, which would be the patient",
        )
    patients = {}
    for name in names:
        found = compiled.search(name)
        if found is None or not found[1]:
            raise InputError(
                Argument(argument),
                f" {pattern!r} finds no patient in the name of the picture {name!r}",
            )
        patients[name] = found[1]
    return patients


def _cell(row: list[str], at: int | None, where: str, header: list[str]) -> str | None:
    if at is None:
        return None
    if not row[at].strip():
        raise InputError(f"{where}: the column {header[at]!r} is empty")
    return row[at].strip()


def _without_ending(name: str) -> str:
    return str(PurePosixPath(name).with_suffix(""))


def possible_pattern(names: Sequence[str]) -> tuple[str, str] | None:
    """Return a pattern by which names seem to state patients, and what it finds in the first name.

    That is the part before the last underscore or hyphen, if names share it.

    Examples
    --------
    >>> possible_pattern(["p1_a.png", "p1_b.png", "p2_a.png", "p2_b.png"])
    ('^(.+)[_-]', 'p1')
    >>> possible_pattern(["a_1.png", "b_1.png"]) is None
    True
    """
    found = [re.search(_BEFORE_LAST, name) for name in names]
    parts = [each[1] for each in found if each is not None]
    is_shared = len(parts) == len(names) and 2 <= len(set(parts)) <= len(names) / 2
    return (_BEFORE_LAST, parts[0]) if is_shared else None
