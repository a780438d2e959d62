"""Columns of candidate tables that are read by themselves: ids, overlaps and annotations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
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
    Missing,
    Piece,
    check_key,
    is_number,
    is_text,
    key_column,
    number_column,
    numbers_of,
)
from groupcm.data.tables.formats import open_table, open_tables
from groupcm.data.tables.roles import ColumnRoles
from groupcm.errors import InputError

__all__ = [
    "count_distinct",
    "index_key",
    "object_names",
    "place_of_row",
    "read_annotation",
    "read_key",
    "read_numbers",
    "read_objects",
    "read_overlap",
    "read_values",
    "read_weights",
    "require_one_weight",
]

Bools = NDArray[np.bool_]

# How programs write truth values as text.
_WRITTEN = {"true": 1, "false": 0, "1": 1, "0": 0}


def index_key(key: KeyColumn) -> GroupIndex:
    """Return which rows have which value of a column, by the values of the table."""
    index = index_groups(key.codes)
    return replace(index, ids=key.values(index.ids).to_numpy(zero_copy_only=False))


def read_key(files: Sequence[Path], column: str, role: str) -> KeyColumn:
    """Read one column of ids."""
    return key_column(column, role, list(_pieces(files, column, role)))


def count_distinct(files: Sequence[Path], column: str, role: str) -> int:
    """Count the ids of a column, in memory for these ids only."""
    found: set[Any] = set()
    for piece in _pieces(files, column, role):
        check_key(column, role, piece)
        found.update(piece.values.unique().to_pylist())
    return len(found)


def read_objects(
    files: Sequence[Path], column: str, is_positive: NDArray[np.bool_]
) -> NDArray[np.integer]:
    """Return the number of the object that each row shows, -1 where the table has none.

    Rows that are not positive need none.
    """
    pieces = list(_pieces(files, column, "object"))
    encoded = _encoded(pieces)
    numbers = encoded.indices.fill_null(-1).to_numpy()
    if is_text(encoded.dictionary.type):  # CSV has no other way to leave a text out
        empty = pc.index(encoded.dictionary.cast(pa.string()), "").as_py()
        numbers = np.where(numbers == empty, -1, numbers)
    lacking = is_positive & (numbers < 0)
    if lacking.any():
        path, row = _place(pieces, int(np.argmax(lacking)))
        raise InputError(
            f"{path}: row {row} (counted from 0) is positive and its object column {column!r} "
            "is empty; every positive row needs the object that it shows"
        )
    return numbers


def _encoded(pieces: Sequence[Piece]) -> pa.DictionaryArray:
    kinds = {piece.values.type for piece in pieces}
    common = kinds.pop() if len(kinds) == 1 else pa.string()
    whole = pa.chunked_array([piece.values.cast(common) for piece in pieces])
    return whole.dictionary_encode().combine_chunks()


def object_names(files: Sequence[Path], column: str) -> list[Any]:
    """Return the ids of the objects, in the order in which `read_objects` numbers them."""
    return _encoded(list(_pieces(files, column, "object"))).dictionary.to_pylist()


def read_annotation(
    files: Sequence[Path], groups: GroupIndex, is_positive: Bools, roles: ColumnRoles
) -> dict[str, NDArray[Any]]:
    """Return what the columns ``annotated`` and ``object`` hold, as a fit takes it.

    Parameters
    ----------
    files : sequence of Path
        The tables.
    groups : GroupIndex
        The group of each row, by the names in the tables.
    is_positive : ndarray of bool
        Which rows are positive.
    roles : ColumnRoles
        Names the two columns, or one of them, or none.

    Returns
    -------
    dict
        ``annotated``, one bool per row, and ``objects``, one number per row, where there are such
        columns.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,known,polyp\\na,1,p\\na,1,\\nb,0,\\n")
    >>> groups, is_positive = index_groups(["a", "a", "b"]), np.array([True, False, True])
    >>> roles = ColumnRoles("frame", annotated="known", object="polyp")
    >>> found = read_annotation([path], groups, is_positive, roles)
    >>> found["annotated"].tolist(), found["objects"].tolist()
    ([True, True, False], [0, -1, -1])
    """
    found: dict[str, NDArray[Any]] = {}
    if roles.annotated is not None:
        found["annotated"] = _read_annotated(files, roles.annotated)
        _require_one_value(groups, is_positive, found["annotated"], roles.annotated)
        # Which object the candidates of unannotated groups show is not known.
        is_positive = is_positive & found["annotated"]
    if roles.object is not None:
        found["objects"] = np.asarray(read_objects(files, roles.object, is_positive))
    return found


def read_overlap(
    files: Sequence[Path], given: str | None, noted: str | None
) -> NDArray[np.float64] | None:
    """Return how well each row fits its object; None where the tables have no such column.

    Parameters
    ----------
    files : sequence of Path
        The tables.
    given : str or None
        The column that the user named: every table must have it.
    noted : str or None
        The column of training, which is read where none was named and all tables have it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,fit\\na,0.5\\na,0\\n")
    >>> read_overlap([path], None, "fit"), read_overlap([path], None, "iou")
    (array([0.5, 0. ]), None)
    """
    return read_numbers(files, given, noted, "overlap")


def read_numbers(
    files: Sequence[Path],
    given: str | None,
    noted: str | None,
    role: str,
    *,
    allow_missing: bool = False,
) -> NDArray[np.float64] | None:
    """Return one number per row, of a column that is given or expected; see `read_overlap`.

    With ``allow_missing`` a value may be missing, which is NaN.
    """
    column = given or noted
    tables = [open_table(file) for file in files]
    if column is None or (
        given is None and any(column not in table.schema.names for table in tables)
    ):
        return None
    check_roles(tables, {role: column}, None)
    pieces = _pieces(files, column, role)
    if not allow_missing:
        return number_column(column, pieces)
    allowed = Missing(allowed=True)
    parts = [
        numbers_of(piece.values, column, piece.path, piece.first_row, missing=allowed)
        for piece in pieces
    ]
    return np.concatenate([np.empty(0), *parts])


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


def read_values(files: Sequence[Path], column: str) -> NDArray[Any]:
    """Read one value per row, such as a site or a size: NaN or None where it is missing.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,size,site\\na,2.5,\\nb,,Bern\\n")
    >>> read_values([path], "size").tolist(), read_values([path], "site").tolist()
    ([2.5, nan], ['', 'Bern'])
    """
    arrays = [piece.values for piece in _pieces(files, column, "subgroup")]
    if all(is_number(each.type) or pa.types.is_null(each.type) for each in arrays):
        numbers = [each.cast(pa.float64()).to_numpy(zero_copy_only=False) for each in arrays]
        return np.concatenate([np.empty(0), *numbers])
    texts = pa.chunked_array([each.cast(pa.string()) for each in arrays])
    return texts.to_numpy(zero_copy_only=False)


def place_of_row(files: Sequence[Path], row: int) -> tuple[Path, int]:
    """Return the file that holds a row of several tables, and its number there."""
    for file in files:
        n_rows = open_table(file).n_rows
        if row < n_rows:
            return file, row
        row -= n_rows
    raise IndexError(row)


def _pieces(files: Sequence[Path], column: str, role: str) -> Iterator[Piece]:
    is_id = role in ("group", "patient", "object", "level")
    for table in open_tables(files, [column]) if is_id else map(open_table, files):
        path = table.path
        require_column(table, column, f"the {role} column")
        row = 0
        for batch in table.batches([column]):
            yield Piece(path, row, batch.column(0))
            row += batch.num_rows


def _place(pieces: Sequence[Piece], row: int) -> tuple[Path, int]:
    """Return the file that holds a row of the pieces, and its number there."""
    for piece in pieces:
        if row < len(piece.values):
            return piece.path, piece.first_row + row
        row -= len(piece.values)
    raise IndexError(row)


def _read_annotated(files: Sequence[Path], column: str) -> Bools:
    key = read_key(files, column, "annotated")
    values = key.codes
    if key.names is not None:
        written = [_WRITTEN.get(str(name).lower(), name) for name in key.names.to_pylist()]
        values = np.array(written, dtype=object)
    is_true = np.asarray(values == 1)
    for value in values[~is_true & np.asarray(values != 0)].tolist():
        code = value if key.names is None else values.tolist().index(value)
        path, row = place_of_row(files, int(np.argmax(key.codes == code)))
        raise InputError(
            f"{path}: the annotated column {column!r} holds {value!r} in row {row} (counted from "
            "0); write true or false, or 1 or 0"
        )
    return is_true if key.names is None else is_true[key.codes]


def _require_one_value(
    groups: GroupIndex, is_positive: Bools, annotated: Bools, column: str
) -> None:
    mixed = groups.maxima(annotated) & groups.maxima(~annotated) & groups.maxima(is_positive)
    if mixed.any():
        name = groups.ids[int(np.argmax(mixed))]
        raise InputError(
            f"the annotated column {column!r} holds both true and false for the positive group "
            f"{name!s}; a group is annotated or not, the same in all its rows"
        )


def require_one_weight(
    groups: GroupIndex, is_positive: Bools, weight: NDArray[np.float64], column: str
) -> None:
    """Refuse a negative group whose rows weigh differently; a row of weight 0 is left out.

    Parameters
    ----------
    groups : GroupIndex
        By the tables' own names.
    is_positive : ndarray of bool
        Which rows are positive.
    weight : ndarray
        Of each row.
    column : str
        The name of its column.

    Examples
    --------
    >>> from groupcm.data.groups import index_groups
    >>> rows = index_groups(["a", "a", "b", "b"]), np.array([True, False, False, False])
    >>> require_one_weight(*rows, np.array([1.0, 2.0, 1.0, 2.0]), "times")
    Traceback (most recent call last):
    groupcm.errors.InputError: the weight column 'times' holds 1 and 2 for the negative group b;
    give all its rows the same weight, or 0 to those that should be left out
    """
    largest = groups.maxima(weight)
    least = -groups.maxima(-np.where(weight > 0.0, weight, np.inf))
    differs = (least < largest) & ~groups.maxima(is_positive)
    if differs.any():
        k = int(np.argmax(differs))
        raise InputError(
            f"the weight column {column!r} holds {least[k]:g} and {largest[k]:g} for the negative "
            f"group {groups.ids[k]!s}; give all its rows the same weight, or 0 to those that "
            "should be left out"
        )
