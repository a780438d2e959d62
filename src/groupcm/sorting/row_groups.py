"""Rows on their way into a Parquet file, in row groups of one size."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
from pyarrow import types

from groupcm.sorting.tables import Listener, cast
from groupcm.table_formats import parquet_writer

__all__ = ["ROWS_A_ROW_GROUP", "RowGroups", "open_writer"]

ROWS_A_ROW_GROUP = 131_072

Writer = pyarrow.parquet.ParquetWriter


def open_writer(path: Path, schema: pa.Schema) -> AbstractContextManager[Writer]:
    """Open the output, within whose block rows are written."""
    # A dictionary of measurements is larger than the measurements.
    repeating = [column.name for column in schema if not types.is_floating(column.type)]
    return parquet_writer(path, schema, use_dictionary=repeating)


class RowGroups:
    """Rows on their way into row groups of one size."""

    def __init__(self, writer: Writer, n_rows: int, listener: Listener) -> None:
        self._writer, self._n_rows, self._listener = writer, n_rows, listener
        self._held: list[pa.Table] = []
        self._n_held = self._n_written = 0

    def add(self, rows: pa.Table) -> None:
        self._held.append(rows)
        self._n_held += rows.num_rows
        if self._n_held >= ROWS_A_ROW_GROUP:
            whole = self._n_held - self._n_held % ROWS_A_ROW_GROUP
            held = pa.concat_tables(self._held)
            self._held, self._n_held = [held.slice(whole)], self._n_held - whole
            self._write(held.slice(0, whole))

    def write_rest(self) -> None:
        if self._n_held:
            self._write(pa.concat_tables(self._held))

    def _write(self, rows: pa.Table) -> None:
        schema = self._writer.schema
        columns = map(cast, rows.columns, schema.types)
        rows = pa.Table.from_arrays(list(columns), schema=schema)
        self._writer.write_table(rows, ROWS_A_ROW_GROUP)
        self._n_written += rows.num_rows
        self._listener("writing", self._n_written, self._n_rows)
