"""Several tables of the same columns, read one after another as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
from pyarrow import types

from groupcm.data.tables.column_selection import require_column
from groupcm.data.tables.columns import KeyColumn, Piece, key_column, kind_of
from groupcm.data.tables.formats import TableFile, find_tables, open_table
from groupcm.errors import InputError

__all__ = ["Listener", "Tables", "cast", "open_tables"]

Listener = Callable[[str, int, int], None]  # what is being done, rows done, all rows


@dataclass(frozen=True)
class Tables:
    """Several tables of the same columns, read one after another."""

    paths: list[Path]
    schema: pa.Schema  # as it shall be written
    group: str
    n_rows: int
    group_as_written: bool = False  # text in CSV files, which hold groups such as 007

    def open(self, path: Path) -> TableFile:
        """Open one of the tables."""
        file = open_table(path)
        return file.with_text(self.group) if self.group_as_written else file

    def read(
        self, columns: list[str], doing: str, listener: Listener
    ) -> Iterator[tuple[pa.RecordBatch, KeyColumn]]:
        """Give columns, as types that can be reordered, and groups; refuse a missing group."""
        fields = [self.schema.field(name) for name in columns]
        plain = pa.schema([field.with_type(plain_type(field.type)) for field in fields])
        done = 0
        for path in self.paths:
            row = 0
            for batch in self.open(path).batches(columns):
                values = [cast(batch.column(field.name), field.type) for field in plain]
                rows = pa.RecordBatch.from_arrays(values, schema=plain)
                piece = Piece(path, row, rows.column(self.group))
                yield rows, key_column(self.group, "group", [piece])
                row, done = row + len(rows), done + len(rows)
                listener(doing, done, self.n_rows)


def open_tables(paths: Sequence[str | Path], group: str) -> Tables:
    found = find_tables(paths)
    as_written = any(open_table(path).loses_ids(group) for path in found)
    tables = Tables(found, pa.schema([]), group, 0, as_written)
    first = tables.open(found[0])
    _check_sortable(first, group)
    schema, n_rows = first.schema, first.n_rows
    for path in found[1:]:
        # Opened again for each pass, since an open CSV file is held in memory.
        file = tables.open(path)
        _check_same_columns(first, file)
        n_rows += file.n_rows
        for position, field in enumerate(schema):
            if types.is_dictionary(field.type):
                # The values of all tables together may need wider indices than those of one.
                kind = pa.dictionary(pa.int32(), field.type.value_type, field.type.ordered)
                field = field.with_type(kind)
            nullable = field.nullable or file.schema.field(field.name).nullable
            schema = schema.set(position, field.with_nullable(nullable))
    return replace(tables, schema=schema, n_rows=n_rows)


def _check_sortable(file: TableFile, group: str) -> None:
    require_column(file, group, "the group column")
    if (kind := kind_of(file.schema.field(group).type)).startswith("values"):
        where = f"{file.path}: the group column {group!r}"
        raise InputError(f"{where} holds {kind}; use integers or text")
    for field in file.schema:
        require_column(file, field.name, "the sort")  # refuses two columns of one name
        try:
            pa.nulls(1, plain_type(field.type)).take(pa.array([0]))
            pyarrow.parquet.ParquetWriter(pa.BufferOutputStream(), pa.schema([field])).close()
        except pa.ArrowException:
            raise InputError(
                f"{file.path}: the column {field.name!r} is of type {field.type}, "
                "which cannot be sorted or written to Parquet; leave it out or convert it"
            ) from None


def _check_same_columns(first: TableFile, file: TableFile) -> None:
    for name in sorted({*first.schema.names} ^ {*file.schema.names}):
        has, lacks = (first, file) if name in first.schema.names else (file, first)
        raise InputError(
            f"{lacks.path} lacks the column {name!r} that {has.path} has; "
            "all tables need the same columns"
        )
    for field in first.schema:
        require_column(file, field.name, "the sort")
        other = file.schema.field(field.name).type
        if plain_type(field.type) != plain_type(other):
            raise InputError(
                f"the column {field.name!r} is of type {field.type} in {first.path} "
                f"but {other} in {file.path}; all tables need the same types"
            )


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Name a type of the same values that Arrow can join and reorder, whatever the values are."""
    if types.is_dictionary(kind):
        return plain_type(kind.value_type)
    return {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}.get(kind, kind)


def cast(values: Any, kind: pa.DataType) -> Any:
    return values if values.type == kind else values.cast(kind)
