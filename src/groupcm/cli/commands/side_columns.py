"""Columns beside the features that only an evaluation reads: whose a row is, and what it is on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from groupcm.data.groups import GroupIndex, index_groups
from groupcm.data.tables.column_selection import check_roles, require_column
from groupcm.data.tables.columns import (
    KeyColumn,
    Piece,
    is_text,
    key_column,
    number_column,
    numbers_of,
)
from groupcm.data.tables.formats import find_tables, open_table, open_tables
from groupcm.errors import InputError

__all__ = [
    "AllGroups",
    "index_key",
    "place_of_row",
    "read_all_groups",
    "read_key",
    "read_objects",
    "read_overlap",
    "read_weights",
]


@dataclass(frozen=True)
class AllGroups:
    """Every group with its label and its patient, as a table lists them.

    Attributes
    ----------
    ids : list
    labels, patients : dict or None
        By group.
    """

    ids: list[Any]
    labels: dict[Any, Any]
    patients: dict[Any, Any] | None


def read_all_groups(
    path: str | Path, *, group: str, label: str | None = None, patient: str | None = None
) -> AllGroups:
    """Read a table that lists every group once, those without candidates included.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,polyp\\na,1\\nb,0\\n")
    >>> read_all_groups(path, group="frame", label="polyp").labels
    {'a': 1, 'b': 0}
    """
    files = find_tables([path])

    def column(name: str | None, role: str) -> list[Any] | None:
        return None if name is None else read_key(files, name, role).per_row().tolist()

    ids = column(group, "group") or []
    if len(set(ids)) < len(ids):
        seen: set[Any] = set()
        twice = next(each for each in ids if each in seen or seen.add(each))
        raise InputError(f"{path} lists the group {twice!r} twice; list every group once")
    labels, patients = column(label, "label"), column(patient, "patient")
    return AllGroups(
        ids,
        {} if labels is None else dict(zip(ids, labels, strict=True)),
        None if patients is None else dict(zip(ids, patients, strict=True)),
    )


def index_key(key: KeyColumn) -> GroupIndex:
    """Which rows have which value, by the table's own values."""
    index = index_groups(key.codes)
    return replace(index, ids=key.values(index.ids).to_numpy(zero_copy_only=False))


def read_key(files: Sequence[Path], column: str, role: str) -> KeyColumn:
    """A column that tells rows apart, read by itself."""
    return key_column(column, role, list(_pieces(files, column, role)))


def read_objects(
    files: Sequence[Path], column: str, is_positive: NDArray[np.bool_]
) -> NDArray[np.integer]:
    """The number of the object each row lies on, -1 where the table has none.

    Rows that are not positive need none.
    """
    pieces = list(_pieces(files, column, "object"))
    kinds = {piece.values.type for piece in pieces}
    common = kinds.pop() if len(kinds) == 1 else pa.string()
    whole = pa.chunked_array([piece.values.cast(common) for piece in pieces])
    encoded = whole.dictionary_encode().combine_chunks()
    numbers = encoded.indices.fill_null(-1).to_numpy()
    if is_text(common):  # CSV has no other way to leave a text out
        empty = pc.index(encoded.dictionary.cast(pa.string()), "").as_py()
        numbers = np.where(numbers == empty, -1, numbers)
    lacking = is_positive & (numbers < 0)
    if lacking.any():
        path, row = _place(pieces, int(np.argmax(lacking)))
        raise InputError(
            f"{path}: row {row} (counted from 0) is positive and its object column {column!r} "
            "is empty; every positive row needs the object it lies on"
        )
    return numbers


def read_overlap(
    files: Sequence[Path], given: str | None, noted: str | None
) -> NDArray[np.float64] | None:
    """How well each row fits the object; None where the tables do not tell.

    Parameters
    ----------
    files : sequence of Path
    given : str or None
        The column, as a user named it: every table must have it.
    noted : str or None
        Else the column of training, if these tables all have it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,fit\\na,0.5\\na,0\\n")
    >>> read_overlap([path], None, "fit"), read_overlap([path], None, "iou")
    (array([0.5, 0. ]), None)
    """
    column = given or noted
    tables = [open_table(file) for file in files]
    if column is None or (
        given is None and any(column not in table.schema.names for table in tables)
    ):
        return None
    check_roles(tables, {"overlap": column}, None)
    return number_column(column, _pieces(files, column, "overlap"))


def read_weights(files: Sequence[Path], column: str) -> NDArray[np.float64]:
    """Read one weight per row: finite numbers of at least 0.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,times\\na,2\\na,0.5\\n")
    >>> read_weights([path], "times")
    array([2. , 0.5])
    """
    check_roles([open_table(file) for file in files], {"weight": column}, None)
    parts = [np.empty(0)]
    for piece in _pieces(files, column, "weight"):
        part = numbers_of(piece.values, column, piece.path, piece.first_row).astype(np.float64)
        bad = np.flatnonzero(~(np.isfinite(part) & (part >= 0.0)))
        if len(bad):
            raise InputError(
                f"{piece.path}: the weight column {column!r} is {part[bad[0]]:g} in row "
                f"{piece.first_row + bad[0]} (counted from 0); a weight is a finite number of at "
                "least 0"
            )
        parts.append(part)
    return np.concatenate(parts)


def place_of_row(files: Sequence[Path], row: int) -> tuple[Path, int]:
    """The file that a row of several tables is in, and its number there."""
    for file in files:
        n_rows = open_table(file).n_rows
        if row < n_rows:
            return file, row
        row -= n_rows
    raise IndexError(row)


def _pieces(files: Sequence[Path], column: str, role: str) -> Iterator[Piece]:
    is_id = role in ("group", "patient", "object")
    for table in open_tables(files, [column]) if is_id else map(open_table, files):
        path = table.path
        require_column(table, column, f"the {role} column")
        row = 0
        for batch in table.batches([column]):
            yield Piece(path, row, batch.column(0))
            row += batch.num_rows


def _place(pieces: Sequence[Piece], row: int) -> tuple[Path, int]:
    """The file a row is in, and its number there."""
    for piece in pieces:
        if row < len(piece.values):
            return piece.path, piece.first_row + row
        row -= len(piece.values)
    raise IndexError(row)
