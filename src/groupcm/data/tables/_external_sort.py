"""An external sort: put numbered rows in order, and write them as row groups of one size.

Rows that fit the memory are sorted there, others by way of temporary files.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
from numpy.typing import NDArray
from pyarrow import types

from groupcm.data.tables._concatenation import Listener, cast
from groupcm.data.tables.parquet import parquet_writer
from groupcm.utils.files import naming

__all__ = ["RowGroups", "Sorter", "open_writer"]

_ROWS_PER_ROW_GROUP = 131_072
_MOST_BUCKETS = 128  # open files at a time; some systems allow a process no more than 256
_ROWS_AT_ONCE = 131_072

Writer = pyarrow.parquet.ParquetWriter


@dataclass(frozen=True)
class Sorter:
    """Sort rows by the number in their first column.

    Attributes
    ----------
    rows_before : ndarray
        The number of rows in the groups before each group.
    share : int
        The number of bytes that it may hold.
    folder : Path
        The folder of temporary files; it is created when they are needed.
    output : RowGroups
    """

    rows_before: NDArray[np.int64]
    share: int
    folder: Path
    output: RowGroups

    def sort(self, batches: Iterable[pa.RecordBatch], first: int, end: int) -> None:
        """Add the rows of the groups ``first`` to ``end - 1`` to the output, in order."""
        batches = iter(batches)
        if end - first == 1:
            for batch in batches:
                self.output.add(pa.Table.from_batches([batch]).remove_column(0))
            return
        held: deque[pa.RecordBatch] = deque()
        n_bytes, goal = 0, 0.75 * self.share  # groups, and perhaps rows, differ in size
        for batch in batches:
            held.append(batch)
            n_bytes += batch.nbytes
            if n_bytes > self.share:
                bytes_per_row = n_bytes / sum(len(batch) for batch in held)
                bytes_of_all = bytes_per_row * (self.rows_before[end] - self.rows_before[first])
                n_buckets = int(np.clip(np.ceil(bytes_of_all / goal), 2, _MOST_BUCKETS))
                edges = self._cut(first, end, n_buckets)
                drained = (held.popleft() for _ in range(len(held)))
                self._sort_by_buckets(chain(drained, batches), edges)
                return
        self._sort_in_memory(held)

    def _sort_in_memory(self, held: deque[pa.RecordBatch]) -> None:
        if not held:
            return
        rows = pa.Table.from_batches(held)
        held.clear()  # else the rows would be in memory three times
        rows = rows.combine_chunks()
        order = np.argsort(rows.column(0).to_numpy(), kind="stable")
        rows = rows.remove_column(0)
        for first in range(0, len(order), _ROWS_AT_ONCE):
            self.output.add(rows.take(pa.array(order[first : first + _ROWS_AT_ONCE])))

    def _cut(self, first: int, end: int, n_buckets: int) -> list[int]:
        """Cut a range of two groups or more into about equally many rows, at least in two."""
        ends = self.rows_before[first + 1 : end + 1]
        wanted = np.linspace(self.rows_before[first], ends[-1], n_buckets + 1)[1:-1]
        cuts = first + 1 + np.searchsorted(ends, wanted)
        return [first, *np.unique(np.clip(cuts, first + 1, end - 1)).tolist(), end]

    def _sort_by_buckets(self, batches: Iterable[pa.RecordBatch], edges: list[int]) -> None:
        with naming(self.folder.parent):
            self.folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            buckets = [Path(folder, f"{first}.arrow") for first in edges[:-1]]
            with naming(self.folder.parent):
                _scatter(batches, edges, buckets)
            for bucket, (first, end) in zip(buckets, pairwise(edges), strict=True):
                with pa.OSFile(str(bucket)) as file, pyarrow.ipc.open_stream(file) as reader:
                    self.sort(reader, first, end)
                bucket.unlink()


class RowGroups:
    """Collect rows, and write them as row groups of one size."""

    def __init__(self, writer: Writer, n_rows: int, listener: Listener) -> None:
        self._writer, self._n_rows, self._listener = writer, n_rows, listener
        self._held: list[pa.Table] = []
        self._n_held = self._n_written = 0

    def add(self, rows: pa.Table) -> None:
        self._held.append(rows)
        self._n_held += rows.num_rows
        if self._n_held >= _ROWS_PER_ROW_GROUP:
            whole = self._n_held - self._n_held % _ROWS_PER_ROW_GROUP
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
        self._writer.write_table(rows, _ROWS_PER_ROW_GROUP)
        self._n_written += rows.num_rows
        self._listener("writing", self._n_written, self._n_rows)


def open_writer(path: Path, schema: pa.Schema) -> AbstractContextManager[Writer]:
    """Open the output within the ``with`` block."""
    # A dictionary of measurements is larger than the measurements.
    repeating = [column.name for column in schema if not types.is_floating(column.type)]
    return parquet_writer(path, schema, use_dictionary=repeating)


def _scatter(batches: Iterable[pa.RecordBatch], edges: list[int], buckets: list[Path]) -> None:
    """Append each row to the file of the bucket that its group's number falls in."""
    with ExitStack() as opened:
        files = [opened.enter_context(pa.OSFile(str(path), "wb")) for path in buckets]
        writers = []
        for batch in batches:
            writers = writers or [
                opened.enter_context(pyarrow.ipc.new_stream(file, batch.schema)) for file in files
            ]
            bucket = np.searchsorted(edges[1:-1], batch.column(0).to_numpy(), side="right")
            rows = batch.take(pa.array(np.argsort(bucket, kind="stable")))
            ends = np.cumsum(np.bincount(bucket, minlength=len(buckets)))
            for writer, (first, end) in zip(writers, pairwise([0, *ends]), strict=True):
                if end > first:
                    writer.write_batch(rows.slice(first, end - first))
