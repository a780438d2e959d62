"""Columns of a table as NumPy arrays: features, numbers, and keys such as groups and patients.

Every function that may refuse a value takes the name of the column, the file and the number of the
first row, so that the error names the place. Columns can also be the names of folders, as Hive
partitions a table: ``patient=7/part.parquet``.
"""

from __future__ import annotations

import glob
import re
import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from groupcm.errors import FileName, InputError

__all__ = [
    "REFUSED",
    "KeyColumn",
    "Missing",
    "Piece",
    "check_key",
    "fill",
    "is_number",
    "is_text",
    "key_column",
    "kind_of",
    "number_column",
    "numbers_of",
    "partitions_of",
    "with_constants",
]

_LARGEST_EXACT = 2**53  # beyond it, a float64 cannot hold every integer
_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class KeyColumn:
    """A column of keys: integers as they are, other values as codes.

    Attributes
    ----------
    codes : ndarray
        One integer per row.
    names : pyarrow.Array or None
        ``names[code]`` is the value in the table; None where the code is the value.
    """

    codes: np.ndarray
    names: pa.Array | None = None

    def values(self, codes: np.ndarray) -> pa.Array:
        """Return the values in the table of some codes."""
        return pa.array(codes) if self.names is None else self.names.take(pa.array(codes))

    def per_row(self) -> np.ndarray:
        """Return the values in the table, one per row."""
        if self.names is None:
            return self.codes
        names = self.names.to_numpy(zero_copy_only=False)
        return (names.astype(str) if names.dtype == object else names)[self.codes]

    @property
    def n_distinct(self) -> int:
        """The number of distinct values."""
        return len(np.unique(self.codes)) if self.names is None else len(self.names)


@dataclass(frozen=True)
class Piece:
    """A part of a column, and where it came from."""

    path: Path
    first_row: int
    values: pa.Array


@dataclass(frozen=True)
class Missing:
    """How a missing value of a feature is handled: NaN where it is allowed, else an error.

    Attributes
    ----------
    allowed : bool
    advice : str
        What the error adds to its sentence, which begins with a semicolon.
    """

    allowed: bool
    advice: str = ""


REFUSED = Missing(allowed=False)


def is_text(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds text."""
    if types.is_dictionary(kind):
        kind = kind.value_type
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def is_number(kind: pa.DataType) -> bool:
    """Return whether a column of this type can be a feature."""
    # An all-empty CSV column has the null type: it is reported as missing values, row and all.
    return (
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)
    )


def kind_of(kind: pa.DataType) -> str:
    """Describe what a column of this type holds."""
    if is_text(kind):
        return "text"
    if types.is_boolean(kind):
        return "true and false"
    return "numbers" if is_number(kind) else f"values of type {kind}"


def fill(
    block: np.ndarray,
    batch: pa.RecordBatch,
    names: list[str],
    path: Path,
    row: int,
    *,
    missing: Missing = REFUSED,
) -> None:
    """Copy a batch's feature columns into rows of the matrix; ``row`` is the first one's number."""
    for j, name in enumerate(names):
        block[:, j] = numbers_of(batch.column(name), name, path, row, missing=missing)
    refused = np.isinf(block) if missing.allowed else ~np.isfinite(block)
    if refused.any():
        i, j = np.argwhere(refused)[0]
        advice = missing.advice if np.isnan(block[i, j]) else ""
        raise InputError(
            FileName(path),
            f": the feature {names[j]!r} is {block[i, j]} in row {row + i} "
            f"(counted from 0); features must be finite numbers{advice}",
            column=names[j],
            row=row + i,
        )


def numbers_of(
    values: pa.Array, name: str, path: Path, row: int, *, missing: Missing = REFUSED
) -> np.ndarray:
    """Return a column as a NumPy array, without a copy where Arrow allows it."""
    is_missing = None
    if values.null_count:
        if not missing.allowed:
            _refuse_null(values, name, path, row, missing.advice)
        is_missing = values.is_null().to_numpy(zero_copy_only=False)
    if types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    elif types.is_decimal(values.type) or types.is_null(values.type):
        values = values.cast(pa.float64())
    if is_missing is not None and types.is_integer(values.type):
        values = values.fill_null(0)  # else Arrow converts them to floats before they are checked
    numbers = values.to_numpy(zero_copy_only=False)
    _refuse_inexact(numbers, name, path, row)
    return numbers if is_missing is None else np.where(is_missing, np.nan, numbers)


def _refuse_inexact(numbers: np.ndarray, name: str, path: Path, row: int) -> None:
    if numbers.dtype.kind not in "iu" or numbers.dtype.itemsize < 8:
        return
    # Not abs(): the smallest int64 has no absolute value.
    bad = (numbers > _LARGEST_EXACT) | (numbers < -_LARGEST_EXACT)
    if bad.any():
        i = int(bad.argmax())
        raise InputError(
            FileName(path),
            f": the column {name!r} is {numbers[i]} in row {row + i} (counted from 0), "
            "beyond 2**53, where a float no longer holds every integer; "
            "is it an identifier rather than a feature?",
            column=name,
            row=row + i,
        )


def _refuse_null(values: pa.Array, name: str, path: Path, row: int, advice: str = "") -> None:
    if values.null_count:
        i = pc.index(values.is_null(), True).as_py()
        raise InputError(
            FileName(path),
            f": the column {name!r} has a missing value in row {row + i} (counted from "
            f"0); every row needs a value{advice}",
            column=name,
            row=row + i,
        )


def number_column(name: str, pieces: Iterable[Piece]) -> np.ndarray:
    """Concatenate a column of finite numbers."""
    parts = []
    for piece in pieces:
        part = numbers_of(piece.values, name, piece.path, piece.first_row).astype(np.float64)
        if not np.isfinite(part).all():
            i = int((~np.isfinite(part)).argmax())
            raise InputError(
                FileName(piece.path),
                f": the column {name!r} is {part[i]} in row {piece.first_row + i} "
                "(counted from 0); write 0 where nothing is annotated",
                column=name,
                row=piece.first_row + i,
            )
        parts.append(part)
    return np.concatenate(parts) if parts else np.empty(0)


def check_key(name: str, role: str, piece: Piece) -> None:
    """Refuse a missing value, a NaN, an empty text, or text that is not UTF-8."""
    _refuse_null(piece.values, name, piece.path, piece.first_row)
    if is_text(piece.values.type):
        try:
            piece.values.validate(full=True)
        except pa.ArrowInvalid as error:
            raise InputError(
                FileName(piece.path),
                f": the {role} column {name!r} holds text that is not UTF-8, at or "
                f"after row {piece.first_row} (counted from 0); is the file damaged?",
                column=name,
            ) from error
    if (i := _first_empty(piece.values)) >= 0:
        raise InputError(
            FileName(piece.path),
            f": the {role} column {name!r} is empty in row "
            f"{piece.first_row + i} (counted from 0); every row needs a value",
            column=name,
            row=piece.first_row + i,
        )


def key_column(name: str, role: str, pieces: list[Piece]) -> KeyColumn:
    """Concatenate a column of keys; a value may be neither missing nor empty."""
    pieces = [piece for piece in pieces if len(piece.values)]
    if not pieces:
        return KeyColumn(np.empty(0, dtype=np.int64), pa.array([], pa.string()))
    for piece in pieces:
        check_key(name, role, piece)
    kinds = {piece.values.type for piece in pieces}
    first = pieces[0].values.type
    if all(types.is_integer(kind) for kind in kinds):
        common = first if len(kinds) == 1 else pa.int64()
        return KeyColumn(np.concatenate([p.values.cast(common).to_numpy() for p in pieces]))
    common = pa.float64()
    if is_text(first):
        common = pa.string()
    elif types.is_boolean(first):
        common = first
    column = pa.chunked_array([piece.values.cast(common) for piece in pieces])
    whole = column.dictionary_encode().combine_chunks()
    return KeyColumn(whole.indices.to_numpy().astype(np.int64), whole.dictionary)


def _first_empty(values: pa.Array) -> int:
    """Return the row of the first NaN or empty text, or -1."""
    if types.is_floating(values.type):
        nan = np.isnan(values.to_numpy())
        return int(nan.argmax()) if nan.any() else -1
    return pc.index(values.cast(pa.string()), "").as_py() if is_text(values.type) else -1


def with_constants(
    table: Any, n_rows: int, constants: Mapping[str, pa.Scalar], columns: Sequence[str]
) -> pa.RecordBatch:
    """Return columns of a table, some of which have one value in all rows."""
    arrays = [
        pa.repeat(constants[name], n_rows) if name in constants else _one_array(table.column(name))
        for name in columns
    ]
    return pa.RecordBatch.from_arrays(arrays, list(columns))


def _one_array(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def partitions_of(path: Path) -> dict[str, pa.Scalar]:
    """Return the columns that folders of the form ``name=value`` right around a file give.

    The value is an integer where those of all sibling folders are, else text.

    Examples
    --------
    >>> partitions_of(Path("frames/site=north/patient=7/part.parquet"))
    {'site': <pyarrow.StringScalar: 'north'>, 'patient': <pyarrow.Int64Scalar: 7>}
    """
    found: dict[str, pa.Scalar] = {}
    for folder in path.parents:
        name, equals, value = folder.name.partition("=")
        if not (name and equals):
            break
        values = [value]
        if folder.parent.is_dir():
            values += [
                each.name.partition("=")[2] for each in folder.parent.glob(f"{glob.escape(name)}=*")
            ]
        kind = pa.int64() if all(map(_is_whole, values)) else pa.string()
        plain = None if value == _HIVE_NULL else urllib.parse.unquote(value)
        found[name] = pa.scalar(plain if plain is None or kind == pa.string() else int(plain), kind)
    return dict(reversed(found.items()))


def _is_whole(value: str) -> bool:
    return value == _HIVE_NULL or re.fullmatch(r"-?(0|[1-9]\d{0,17})", value) is not None
