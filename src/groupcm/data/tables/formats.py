"""Table files in Parquet, CSV, TSV or Arrow: find them, read them in batches, and write them.

A CSV file may have commas, semicolons or tabs between its values, and be compressed with gzip. A
folder may be partitioned as Hive does it, ``frames/patient=7/part.parquet``: every row of that file
has the patient 7, in a column that is not a feature unless it is named as one.

A file may be damaged, or come from anywhere. What Arrow itself takes on trust is checked here: the
buffers of an Arrow file, the encoding of text, and the number of rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from groupcm.data.tables.columns import partitions_of, with_constants
from groupcm.data.tables.csv_text import is_lost_in_numbers, read_as_written, read_text
from groupcm.data.tables.parquet import native_file, open_parquet, parquet_writer
from groupcm.errors import FileName, InputError
from groupcm.utils.files import whole_file

__all__ = [
    "PARQUET",
    "TableFile",
    "check_not_input",
    "check_table_name",
    "find_tables",
    "is_parquet",
    "open_table",
    "open_tables",
    "readable",
    "write_table",
]

PARQUET = (".parquet", ".pq")
_BATCH_ROWS = 65_536  # a batch of a few dozen float32 columns stays within a processor's cache


@dataclass(frozen=True)
class TableFile:
    """An opened table: its columns, its number of rows, and its rows in batches."""

    path: Path
    schema: pa.Schema
    n_rows: int
    _batches: Callable[[list[str]], Iterator[pa.RecordBatch]]
    #: The columns that the names of its folders give, and their values.
    partitions: Mapping[str, pa.Scalar] = field(default_factory=dict)
    #: Reads a column as it is written, where the file is text and its numbers were only guessed.
    _as_written: Callable[[str], pa.ChunkedArray] | None = None

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the named columns, some rows at a time, in the order of the file."""
        n_read = 0
        batches = self._batches(list(columns))
        while True:
            # Not around the yield: an error of the caller is not one of the file.
            with readable(self.path):
                batch = next(batches, None)
            if batch is None:
                break
            n_read += batch.num_rows
            if n_read > self.n_rows:
                break
            yield batch
        if n_read != self.n_rows:
            more = "more" if n_read > self.n_rows else f"{n_read:,}"
            raise InputError(
                FileName(self.path),
                f" claims to have {self.n_rows:,} rows and has {more}; "
                "it is damaged, so write it again",
            )

    def is_guessed(self, column: str) -> bool:
        """Return whether a column holds numbers only because its text looks like numbers."""
        if self._as_written is None or column in self.partitions:
            return False
        if self.schema.names.count(column) != 1:
            return False
        kind = self.schema.field(column).type
        return pa.types.is_integer(kind) or pa.types.is_floating(kind)

    def loses_ids(self, column: str) -> bool:
        """Return whether a guessed column holds ids that are no longer apart as numbers."""
        if self._as_written is None or not self.is_guessed(column):
            return False
        with readable(self.path):
            return is_lost_in_numbers(self._as_written(column), self._whole(column))

    def with_text(self, column: str) -> TableFile:
        """Return the table with a guessed column as it is written, and missing where it was."""
        if self._as_written is None or not self.is_guessed(column):
            return self
        with readable(self.path):
            written = self._as_written(column)
        written = pc.call_function(
            "if_else", [self._whole(column).is_valid(), written, pa.scalar(None, pa.string())]
        )
        written = written.combine_chunks()
        at = self.schema.get_field_index(column)
        schema = self.schema.set(at, pa.field(column, pa.string()))

        def batches(columns: list[str]) -> Iterator[pa.RecordBatch]:
            row = 0
            for batch in self._batches(columns):
                if column in columns:
                    text = written.slice(row, batch.num_rows)
                    batch = batch.set_column(columns.index(column), column, text)
                row += batch.num_rows
                yield batch

        return replace(self, schema=schema, _batches=batches)

    def _whole(self, column: str) -> pa.ChunkedArray:
        parts = [batch.column(0) for batch in self._batches([column])]
        return pa.chunked_array(parts, self.schema.field(column).type)


def _open_parquet(path: Path) -> TableFile:
    file = open_parquet(path)
    return TableFile(
        path,
        file.schema_arrow,
        file.metadata.num_rows,
        lambda columns: _parquet_batches(path, file, columns),
    )


def _parquet_batches(
    path: Path, file: pyarrow.parquet.ParquetFile, columns: list[str]
) -> Iterator[pa.RecordBatch]:
    try:
        yield from file.iter_batches(_BATCH_ROWS, columns=columns)
    except (pa.ArrowException, OSError):
        for row_group in range(file.metadata.num_row_groups):
            with readable(path, f"row group {row_group}"):
                file.read_row_group(row_group, columns=columns)
        raise


def _open_arrow(path: Path) -> TableFile:
    with native_file(path) as file:
        # The file format opens with this word; the streaming format does not.
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        reader = (pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream)(file)
        table = reader.read_all()
    # Arrow trusts the offsets within a file; a wrong one would read beyond the memory.
    table.validate(full=True)
    return _in_memory(path, table)


def _open_csv(path: Path) -> TableFile:
    # Not streamed: a column's type is known only when all of it has been seen.
    def open_file() -> pa.NativeFile:
        return native_file(path)

    table = _in_memory(path, read_text(path, open_file))
    return replace(table, _as_written=lambda column: read_as_written(path, open_file, column))


def _in_memory(path: Path, table: pa.Table) -> TableFile:
    return TableFile(
        path,
        table.schema,
        table.num_rows,
        lambda columns: iter(table.select(columns).to_batches(_BATCH_ROWS)),
    )


_OPENERS: dict[str, tuple[str, Callable[[Path], TableFile]]] = {
    ".parquet": ("Parquet", _open_parquet),
    ".pq": ("Parquet", _open_parquet),
    ".csv": ("CSV", _open_csv),
    ".csv.gz": ("CSV", _open_csv),
    ".tsv": ("CSV", _open_csv),
    ".tsv.gz": ("CSV", _open_csv),
    ".arrow": ("Arrow", _open_arrow),
    ".feather": ("Arrow", _open_arrow),
    ".ipc": ("Arrow", _open_arrow),
}


def _suffix(path: Path) -> str | None:
    name = path.name.lower()
    return max((suffix for suffix in _OPENERS if name.endswith(suffix)), key=len, default=None)


def _kind(path: Path) -> str | None:
    suffix = _suffix(path)
    return None if suffix is None else _OPENERS[suffix][0]


@contextmanager
def readable(path: Path, place: str = "") -> Iterator[None]:
    """Turn the errors that damaged files cause in readers into one sentence.

    Parameters
    ----------
    path : Path
        The file.
    place : str
        Where in it, such as "row group 3".
    """
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError, MemoryError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        where = f" in {place}" if place else ""
        if isinstance(error, MemoryError):
            raise InputError(
                FileName(path),
                f" needs more memory than is available{where}; is the file complete, and is it "
                "really this large?",
            ) from error
        kind = _kind(path) or "a table"
        reason = " ".join(str(error).split()).rstrip(".")
        raise InputError(
            FileName(path),
            f" cannot be read as {kind}{where} ({reason}); is it complete, and is it {kind}?",
        ) from error


def open_table(path: Path) -> TableFile:
    """Open one table by the suffix of its name."""
    suffix = _suffix(path)
    if suffix is None:
        raise InputError(
            FileName(path),
            f" has no supported table format ({path.suffix!r}); use {', '.join(_OPENERS)}",
        )
    if path.stat().st_size == 0:
        raise InputError(FileName(path), " is an empty file; a table has column names and rows")
    with readable(path):
        table = _OPENERS[suffix][1](path)
        _ = table.schema.names  # decodes them
    if table.n_rows < 0:
        raise InputError(FileName(path), f" claims to have {table.n_rows:,} rows; it is damaged")
    return _with_partitions(table)


def open_tables(paths: Sequence[Path], ids: Iterable[str | None]) -> list[TableFile]:
    """Open tables, with columns of ids that are not changed by taking them for numbers.

    Parameters
    ----------
    paths : sequence of Path
    ids : iterable of str or None
        Columns of groups, patients or objects. Where one of them holds a value such as 007 in a
        CSV file, it is text in all CSV files.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,size\\n01,0.5\\n1,1.5\\n")
    >>> (table,) = open_tables([path], ["frame"])
    >>> [batch.column(0).to_pylist() for batch in table.batches(["frame"])]
    [['01', '1']]
    """
    tables = [open_table(path) for path in paths]
    for column in ids:
        if column is not None and any(table.loses_ids(column) for table in tables):
            tables = [table.with_text(column) for table in tables]
    return tables


def _with_partitions(table: TableFile) -> TableFile:
    """Add the columns that the names of the folders around a table give."""
    given = partitions_of(table.path)
    given = {name: value for name, value in given.items() if name not in table.schema.names}
    if not given:
        return table
    schema = table.schema
    for name, value in given.items():
        schema = schema.append(pa.field(name, value.type))

    def batches(columns: list[str]) -> Iterator[pa.RecordBatch]:
        stored = [name for name in columns if name not in given]
        for batch in table._batches(stored) if stored else _no_columns(table.n_rows):
            yield with_constants(batch, batch.num_rows, given, columns)

    return replace(table, schema=schema, _batches=batches, partitions=given)


def _no_columns(n_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield batches that have rows and no columns that are stored."""
    for first in range(0, n_rows, _BATCH_ROWS):
        rows = pa.nulls(min(_BATCH_ROWS, n_rows - first))
        yield pa.RecordBatch.from_arrays([rows], ["no column"])


def find_tables(paths: Sequence[str | Path]) -> list[Path]:
    """List the files to read: the files named, and the tables in the folders named, by name.

    Examples
    --------
    >>> find_tables(["no-such.parquet"])
    Traceback (most recent call last):
    groupcm.errors.InputError: no-such.parquet does not exist; give a table or a folder of tables
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = list(_tables_in(path))
            if not inside:
                raise InputError(
                    f"the folder {path} holds no tables; files directly in it, or in folders of "
                    f"the form NAME=VALUE, that end in {', '.join(_OPENERS)} are read"
                )
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise InputError(FileName(path), " does not exist; give a table or a folder of tables")
    seen: set[Path] = set()
    for path in found:
        if path.resolve() in seen:
            raise InputError(FileName(path), " is given twice; each table is read once")
        seen.add(path.resolve())
    return found


def _tables_in(folder: Path) -> Iterator[Path]:
    """Yield the tables of a folder by name, then those of its partitions."""
    inside = sorted(folder.iterdir())
    yield from (file for file in inside if _is_table(file))
    for part in inside:
        if part.is_dir() and re.match(r"[^._=][^=]*=", part.name):
            yield from _tables_in(part)


def check_not_input(output: Path, tables: Sequence[str | Path]) -> None:
    """Refuse to replace what is being read."""
    if output.exists() and any(output.samefile(path) for path in find_tables(tables)):
        raise InputError(f"{output} is one of the tables; write to another file")


def is_parquet(path: str | Path) -> bool:
    """Return whether the name of a file is that of a Parquet file."""
    return _kind(Path(path)) == "Parquet"


def _is_table(path: Path) -> bool:
    # Names with a leading dot or underline are other programs' notes (_SUCCESS, ._x.parquet).
    return path.is_file() and _suffix(path) is not None and path.name[0] not in "._"


def check_table_name(path: str | Path) -> None:
    """Raise where the suffix of a name belongs to no format.

    Examples
    --------
    >>> check_table_name("scores.xlsx")
    Traceback (most recent call last):
    groupcm.errors.InputError: cannot write scores.xlsx: end its name in .parquet, .csv or .arrow
    """
    if _suffix(Path(path)) in (None, ".csv.gz", ".tsv", ".tsv.gz"):
        raise InputError(f"cannot write {path}: end its name in .parquet, .csv or .arrow")


def write_table(table: pa.Table, path: str | Path) -> None:
    """Write a table in the format its suffix names; it appears whole or not at all."""
    check_table_name(path)
    kind = _kind(Path(path))
    with whole_file(path) as temporary:
        if kind == "Parquet":
            with parquet_writer(temporary, table.schema) as writer:
                writer.write_table(table)
            return
        with native_file(temporary, "wb") as file:
            if kind == "CSV":
                pyarrow.csv.write_csv(table, file)
                return
            with pyarrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
