"""Bringing the rows of every group together, for tables larger than memory.

1. A pass over the group column numbers the groups in the order in which they first appear.
2. A pass over the rows appends each to one of a few temporary files, the buckets; a bucket
   holds groups of consecutive numbers.
3. Bucket by bucket, the rows are sorted by the number of their group and written. A bucket
   that does not fit the memory is cut again in the same way.

Where all rows fit the memory, or stand together already, there are no temporary files.
"""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
from numpy.typing import NDArray
from pyarrow import types

from groupcm.errors import InputError
from groupcm.files import whole_file
from groupcm.memory import parse_memory
from groupcm.table_choice import require_column
from groupcm.table_columns import KeyColumn, Piece, key_column, kind_of
from groupcm.table_formats import TableFile, find_tables, open_table

__all__ = ["SortedTable", "sort_tables"]

Listener = Callable[[str, int, int], None]
Writer = pyarrow.parquet.ParquetWriter

_ROWS_A_ROW_GROUP = 131_072
_MOST_BUCKETS = 128  # open files at a time; some systems allow a process no more than 256
# Rows are held once as they were read and once joined; the last third is for all the rest.
_SHARE_OF_MEMORY = 1 / 3


@dataclass(frozen=True)
class SortedTable:
    """What was sorted.

    Attributes
    ----------
    n_rows, n_groups, n_apart : int
        Rows, groups, and groups whose rows did not stand together.
    """

    n_rows: int
    n_groups: int
    n_apart: int


def sort_tables(
    paths: Sequence[str | Path],
    output: str | Path,
    *,
    group: str,
    memory: int | str = "2GB",
    temporary: str | Path | None = None,
    on_rows: Listener | None = None,
) -> SortedTable:
    """Write the rows of some tables to one Parquet file, those of every group together.

    Groups come in the order in which they first appear, and the rows of a group in their
    original order. All columns are kept, with their types (Parquet itself turns seconds into
    milliseconds). Beside the rows, the memory holds an entry for every group, and a CSV or
    Arrow file while it is read.

    Parameters
    ----------
    paths : sequence of str or Path
        Parquet, CSV or Arrow files or folders of them, all with the same columns.
    output : str or Path
        The Parquet file; it appears whole or not at all.
    group : str
        The column that says which group a row is in.
    memory : int or str
        Bytes, or text like ``"2GB"``: how much to hold before rows go to temporary files.
    temporary : str or Path, optional
        Folder for temporary files, as large as the rows; by default that of the output.
    on_rows : callable, optional
        Called with what is being done, the number of rows done and of all rows.

    Raises
    ------
    InputError
        One sentence that names the file, the column and, counted from 0, the row.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "apart.csv").write_text("frame,size\\nb,1\\na,2\\nb,3\\n")
    >>> sort_tables([folder / "apart.csv"], folder / "sorted.parquet", group="frame")
    SortedTable(n_rows=3, n_groups=2, n_apart=1)
    >>> pyarrow.parquet.read_table(folder / "sorted.parquet").to_pydict()
    {'frame': ['b', 'b', 'a'], 'size': [1, 3, 2]}
    """
    share = max(1, int(parse_memory(memory) * _SHARE_OF_MEMORY))
    output, folder = Path(output), Path(temporary or Path(os.path.realpath(output)).parent)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; temporary files need one that exists")
    tables = _open_tables(paths, group)
    listener = on_rows or (lambda doing, done, n_rows: None)
    with whole_file(output) as beside, _naming(output):
        groups = _GroupNumbers()
        for _, key in tables.read([group], "numbering groups", listener):
            groups.count(groups.of(key))
        everything = tables.read(tables.schema.names, "reading", listener)
        with _open_writer(beside, tables.schema) as writer:
            rows = _RowGroups(writer, tables.n_rows, listener)
            if groups.n_apart == 0:
                for batch, _ in everything:
                    rows.add(pa.Table.from_batches([batch]))
            else:
                sorter = _Sorter(groups.rows_before(), share, folder, rows)
                sorter.sort(groups.numbered(everything), 0, groups.n_groups)
            rows.write_rest()
    return SortedTable(tables.n_rows, groups.n_groups, groups.n_apart)


@dataclass(frozen=True)
class _Tables:
    """Several tables of the same columns, read one after another."""

    paths: list[Path]
    schema: pa.Schema  # as it shall be written
    group: str
    n_rows: int

    def read(
        self, columns: list[str], doing: str, listener: Listener
    ) -> Iterator[tuple[pa.RecordBatch, KeyColumn]]:
        """Give columns, as types that can be reordered, and groups; refuse a missing group."""
        fields = [self.schema.field(name) for name in columns]
        plain = pa.schema([field.with_type(_plain(field.type)) for field in fields])
        done = 0
        for path in self.paths:
            row = 0
            for batch in open_table(path).batches(columns):
                values = [_cast(batch.column(field.name), field.type) for field in plain]
                rows = pa.RecordBatch.from_arrays(values, schema=plain)
                piece = Piece(path, row, rows.column(self.group))
                yield rows, key_column(self.group, "group", [piece])
                row, done = row + len(rows), done + len(rows)
                listener(doing, done, self.n_rows)


def _open_tables(paths: Sequence[str | Path], group: str) -> _Tables:
    found = find_tables(paths)
    first = open_table(found[0])
    _check_sortable(first, group)
    schema, n_rows = first.schema, first.n_rows
    for path in found[1:]:
        # Opened again for each pass, since an open CSV file is held in memory.
        file = open_table(path)
        _check_same_columns(first, file)
        n_rows += file.n_rows
        for position, field in enumerate(schema):
            if types.is_dictionary(field.type):
                # The values of all tables together may need wider indices than those of one.
                kind = pa.dictionary(pa.int32(), field.type.value_type, field.type.ordered)
                field = field.with_type(kind)
            nullable = field.nullable or file.schema.field(field.name).nullable
            schema = schema.set(position, field.with_nullable(nullable))
    return _Tables(found, schema, group, n_rows)


def _check_sortable(file: TableFile, group: str) -> None:
    require_column(file, group, "the group column")
    if (kind := kind_of(file.schema.field(group).type)).startswith("values"):
        where = f"{file.path}: the group column {group!r}"
        raise InputError(f"{where} holds {kind}; use integers or text")
    for field in file.schema:
        require_column(file, field.name, "the sort")  # refuses two columns of one name
        try:
            pa.nulls(1, _plain(field.type)).take(pa.array([0]))
            Writer(pa.BufferOutputStream(), pa.schema([field])).close()
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
        if _plain(field.type) != _plain(other):
            raise InputError(
                f"the column {field.name!r} is of type {field.type} in {first.path} "
                f"but {other} in {file.path}; all tables need the same types"
            )


def _plain(kind: pa.DataType) -> pa.DataType:
    """Name a type of the same values that Arrow can join and reorder, whatever the values are."""
    if types.is_dictionary(kind):
        return _plain(kind.value_type)
    return {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}.get(kind, kind)


def _cast(values: Any, kind: pa.DataType) -> Any:
    return values if values.type == kind else values.cast(kind)


class _GroupNumbers:
    """Numbers for groups in the order of their first appearance, and how many rows each has."""

    def __init__(self) -> None:
        self._number_of: dict[Any, int] = {}
        self._sizes = np.zeros(1024, np.int64)
        self._runs = np.zeros(1024, np.int64)
        self._last = -1

    @property
    def n_groups(self) -> int:
        return len(self._number_of)

    @property
    def n_apart(self) -> int:
        return int(np.count_nonzero(self._runs > 1))

    def of(self, key: KeyColumn) -> NDArray[np.int64]:
        """Number the groups of some rows; new ones get the next numbers."""
        codes, names = key.codes, key.names
        if names is None:
            encoded = pa.array(codes).dictionary_encode()
            codes, names = encoded.indices.to_numpy(), encoded.dictionary
        known = self._number_of
        numbers = (known.setdefault(name, len(known)) for name in names.to_pylist())
        return np.fromiter(numbers, np.int64, len(names))[codes]

    def count(self, numbers: NDArray[np.int64]) -> None:
        """Count the rows that come next, and the runs of rows that stand together."""
        if len(numbers) == 0:
            return
        if (missing := self.n_groups - len(self._sizes)) > 0:
            more = np.zeros(missing + len(self._sizes), np.int64)
            self._sizes, self._runs = np.append(self._sizes, more), np.append(self._runs, more)
        edges = np.flatnonzero(np.diff(numbers, prepend=-1, append=-1))
        of_run = numbers[edges[:-1]]
        np.add.at(self._sizes, of_run, np.diff(edges))
        np.add.at(self._runs, of_run, 1)
        self._runs[numbers[0]] -= numbers[0] == self._last
        self._last = numbers[-1]

    def numbered(
        self, batches: Iterable[tuple[pa.RecordBatch, KeyColumn]]
    ) -> Iterator[pa.RecordBatch]:
        """Put the number of the group before the other columns."""
        for batch, key in batches:
            schema = batch.schema.insert(0, pa.field("number", pa.int64()))
            yield pa.RecordBatch.from_arrays([self.of(key), *batch.columns], schema=schema)

    def rows_before(self) -> NDArray[np.int64]:
        """Count the rows before each group in the sorted table; the last number is of all."""
        return np.concatenate([[0], np.cumsum(self._sizes[: self.n_groups])])


def _open_writer(path: Path, schema: pa.Schema) -> Writer:
    # A dictionary of measurements is larger than the measurements.
    repeating: Any = [column.name for column in schema if not types.is_floating(column.type)]
    return Writer(path, schema, use_dictionary=repeating)


class _RowGroups:
    """Rows on their way into row groups of one size."""

    def __init__(self, writer: Writer, n_rows: int, listener: Listener) -> None:
        self._writer, self._n_rows, self._listener = writer, n_rows, listener
        self._held: list[pa.Table] = []
        self._n_held = self._n_written = 0

    def add(self, rows: pa.Table) -> None:
        self._held.append(rows)
        self._n_held += rows.num_rows
        if self._n_held >= _ROWS_A_ROW_GROUP:
            whole = self._n_held - self._n_held % _ROWS_A_ROW_GROUP
            held = pa.concat_tables(self._held)
            self._held, self._n_held = [held.slice(whole)], self._n_held - whole
            self._write(held.slice(0, whole))

    def write_rest(self) -> None:
        if self._n_held:
            self._write(pa.concat_tables(self._held))

    def _write(self, rows: pa.Table) -> None:
        schema = self._writer.schema
        columns = map(_cast, rows.columns, schema.types)
        rows = pa.Table.from_arrays(list(columns), schema=schema)
        self._writer.write_table(rows, _ROWS_A_ROW_GROUP)
        self._n_written += rows.num_rows
        self._listener("writing", self._n_written, self._n_rows)


@dataclass(frozen=True)
class _Sorter:
    """Sorts rows by the number in their first column; ``share`` is how many bytes it may hold."""

    rows_before: NDArray[np.int64]
    share: int
    folder: Path
    output: _RowGroups

    def sort(self, batches: Iterable[pa.RecordBatch], first: int, end: int) -> None:
        """Add the rows of the groups ``first`` to ``end - 1`` to the output, in order."""
        batches = iter(batches)
        if end - first == 1:
            for batch in batches:
                self.output.add(pa.Table.from_batches([batch]).remove_column(0))
            return
        held: deque[pa.RecordBatch] = deque()
        n_bytes, goal = 0, 0.75 * self.share  # groups are of many sizes; rows too, perhaps
        for batch in batches:
            held.append(batch)
            n_bytes += batch.nbytes
            if n_bytes > self.share:
                n_bytes_a_row = n_bytes / sum(len(batch) for batch in held)
                n_bytes_all = n_bytes_a_row * (self.rows_before[end] - self.rows_before[first])
                n_buckets = int(np.clip(np.ceil(n_bytes_all / goal), 2, _MOST_BUCKETS))
                edges = self._cut(first, end, n_buckets)
                drained = (held.popleft() for _ in range(len(held)))
                self._sort_by_buckets(chain(drained, batches), edges)
                return
        self._sort_in_memory(held)

    def _sort_in_memory(self, held: deque[pa.RecordBatch]) -> None:
        if not held:
            return
        rows = pa.Table.from_batches(held)
        held.clear()  # or the rows would be there three times
        rows = rows.combine_chunks()
        order = np.argsort(rows.column(0).to_numpy(), kind="stable")
        rows = rows.remove_column(0)
        for first in range(0, len(order), _ROWS_A_ROW_GROUP):
            self.output.add(rows.take(pa.array(order[first : first + _ROWS_A_ROW_GROUP])))

    def _cut(self, first: int, end: int, n_buckets: int) -> list[int]:
        """Cut a range of two groups or more into about equally many rows, at least in two."""
        ends = self.rows_before[first + 1 : end + 1]
        wanted = np.linspace(self.rows_before[first], ends[-1], n_buckets + 1)[1:-1]
        cuts = first + 1 + np.searchsorted(ends, wanted)
        return [first, *np.unique(np.clip(cuts, first + 1, end - 1)).tolist(), end]

    def _sort_by_buckets(self, batches: Iterable[pa.RecordBatch], edges: list[int]) -> None:
        with tempfile.TemporaryDirectory(prefix=".groupcm-sort-", dir=self.folder) as folder:
            buckets = [Path(folder, f"{first}.arrow") for first in edges[:-1]]
            with _naming(self.folder):
                _scatter(batches, edges, buckets)
            for bucket, (first, end) in zip(buckets, pairwise(edges), strict=True):
                with pa.OSFile(str(bucket)) as file, pyarrow.ipc.open_stream(file) as reader:
                    self.sort(reader, first, end)
                bucket.unlink()


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


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name what could not be written, where Arrow says only that the disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
