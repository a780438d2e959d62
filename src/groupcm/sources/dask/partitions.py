"""Provides `Partition`, a table as a worker holds it, and the slices that a pass works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from groupcm.data.tables.column_selection import choose_columns
from groupcm.data.tables.columns import Piece, fill
from groupcm.data.tables.formats import TableFile
from groupcm.data.tables.roles import ColumnRoles
from groupcm.errors import InputError
from groupcm.sources.base import Columns, Job
from groupcm.sources.parquet import list_column
from groupcm.sources.rows.arrow_columns import key_labels, key_runs, whole_column
from groupcm.sources.rows.chunk import Chunk, RowMajorFeatures
from groupcm.sources.rows.index import Keys, Labels, Runs
from groupcm.utils.parallel import work_alone

__all__ = ["Partition", "Slice", "Summary", "Wanted", "cut", "prepare", "run_on_slice", "summarise"]

Result = TypeVar("Result")

# A unit is small compared with a worker's memory, and takes longer than the cost of a task.
_UNIT_BYTES = 1 << 25
_MOST_UNITS = 1 << 11
_BATCH_ROWS = 65_536  # so many rows of a few dozen features stay within a processor's cache


@dataclass(frozen=True)
class Summary:
    """What the client learns of a partition."""

    table: TableFile
    features: list[str]
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Partition:
    """Features in one C-ordered matrix, groups as runs, labels by number."""

    summary: Summary
    X: NDArray[np.floating]
    keys: Keys

    def __sizeof__(self) -> int:
        # Dask calls this to estimate what moving a partition would cost and when memory runs short.
        arrays = [self.X, self.keys.overlap]
        if self.keys.runs is not None:
            arrays += [self.keys.runs.start, self.keys.runs.ids]
        if self.keys.labels is not None:
            arrays.append(self.keys.labels.codes)
        return sum(array.nbytes for array in arrays if array is not None)


@dataclass(frozen=True)
class Slice:
    """Rows ``lo`` to ``hi`` of a partition, the first of which is row ``first`` of the source."""

    partition: int
    lo: int
    hi: int
    first: int

    def chunk(self, held: Partition, columns: Columns) -> Chunk:
        """Return these rows, without a copy."""
        here = slice(self.lo, self.hi)
        runs = labels = overlap = None
        if columns.group and held.keys.runs is not None:
            runs = _runs_between(held.keys.runs, self.lo, self.hi)
        if columns.label and held.keys.labels is not None:
            codes = held.keys.labels.codes
            labels = Labels(held.keys.labels.values, None if codes is None else codes[here])
        if columns.overlap and held.keys.overlap is not None:
            overlap = held.keys.overlap[here]
        features = RowMajorFeatures(held.X[here]) if columns.features else None
        return Chunk(self.first, self.hi - self.lo, features, Keys(runs, labels, overlap))


def _runs_between(runs: Runs, lo: int, hi: int) -> Runs:
    first = np.searchsorted(runs.start, lo, side="right") - 1
    part = slice(first, np.searchsorted(runs.start, hi))
    return Runs(np.maximum(runs.start[part] - lo, 0), runs.ids[part])


def summarise(held: Partition) -> Summary:
    return held.summary


def run_on_slice(job: Job[Result], rows: Slice, columns: Columns, held: Partition) -> Result:
    """Run a job on some rows of a partition, on the worker that holds it."""
    work_alone()
    return job(rows.chunk(held, columns))


def cut(sizes: list[int], row_bytes: int) -> list[Slice]:
    """Units: partitions, or pieces of even size of the large ones; none where there are no rows.

    Examples
    --------
    >>> cut([2, 0, 3], row_bytes=4)
    [Slice(partition=0, lo=0, hi=2, first=0), Slice(partition=2, lo=0, hi=3, first=2)]
    """
    most_bytes = max(_UNIT_BYTES, sum(sizes) * row_bytes // _MOST_UNITS)
    firsts = np.cumsum([0, *sizes])
    units = []
    for number, (size, first) in enumerate(zip(sizes, firsts, strict=False)):
        n_pieces = min(size, -(-size * row_bytes // most_bytes))
        edges = [size * k // n_pieces for k in range(n_pieces + 1)] if size else []
        units += [Slice(number, lo, hi, int(first) + lo) for lo, hi in pairwise(edges)]
    return units


@dataclass(frozen=True)
class Wanted:
    """What is read of a table.

    Attributes
    ----------
    roles : ColumnRoles
        The column of each role that has one.
    features : list of str or None
        The feature columns; None: every column without a role.
    order, dtype : list of str and dtype, or None
        Features in this order and as this type; None: as the table has them.
    """

    roles: ColumnRoles
    features: list[str] | None
    order: list[str] | None = None
    dtype: np.dtype[Any] | None = None

    @property
    def taken(self) -> set[str]:
        """The columns that have a role."""
        return set(self.roles.values())


def prepare(number: int, wanted: Wanted, data: Any) -> Partition:
    """Turn a partition into what a pass needs; an error for a mistake in it has its number."""
    place = Path(f"partition {number}")
    table, named = _spread_list(_as_arrow(data, place, wanted), place, wanted)
    described = _described(place, table)
    if table.num_rows == 0:
        # Columns without values often have no type either: nothing to check, nothing to read.
        return Partition(Summary(described, [], np.dtype(np.float32)), np.empty((0, 0)), Keys())
    chosen = choose_columns([described], wanted.roles, named)
    names = chosen.features if wanted.order is None else wanted.order
    dtype = chosen.dtype if wanted.dtype is None else wanted.dtype
    summary = Summary(described, names, dtype)
    return Partition(summary, _matrix(table, names, dtype, place), _keys(table, place, wanted))


def _as_arrow(data: Any, place: Path, wanted: Wanted) -> pa.Table:
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return data
    if nw.dependencies.is_pandas_dataframe(data):
        return _from_pandas(data, place, wanted)
    try:
        return nw.from_native(data, eager_only=True).to_arrow()
    except TypeError as error:
        raise InputError(
            f"{place} is of the type {type(data).__name__}; "
            "it must be a table of pandas, polars or Arrow"
        ) from error


def _from_pandas(data: Any, place: Path, wanted: Wanted) -> pa.Table:
    if not data.columns.is_unique:
        twice = data.columns[data.columns.duplicated()][0]
        raise InputError(f"{place} has two columns called {twice!r}; rename one")
    used = wanted.taken.union(wanted.features or ())
    keep_index = not used.isdisjoint(data.index.names)
    try:
        return pa.Table.from_pandas(data, preserve_index=keep_index, nthreads=1)
    except (pa.ArrowException, TypeError, ValueError) as error:
        reason = " ".join(": ".join(map(str, error.args)).split()).rstrip(".")
        raise InputError(
            f"{place} cannot be read as a table ({reason}); a column holds plain values of one kind"
        ) from error


def _described(place: Path, table: pa.Table) -> TableFile:
    return TableFile(place, table.schema, table.num_rows, _no_rows_travel)


def _no_rows_travel(columns: Sequence[str]) -> Any:
    raise NotImplementedError("only a description of the table is here")


def _spread_list(table: pa.Table, place: Path, wanted: Wanted) -> tuple[pa.Table, list[str] | None]:
    """Return a table with one column per element of its lists, and the names of the features."""
    name = list_column([_described(place, table)], wanted.taken, wanted.features)
    if name is None:
        return table, wanted.features
    lists = table.column(name)
    spread = {
        f"{name}[{j}]": pc.call_function("list_element", [lists, j])
        for j in range(lists.type.list_size)
    }
    others = {role: table.column(role) for role in table.schema.names if role in wanted.taken}
    return pa.table({**others, **spread}), list(spread)


def _matrix(
    table: pa.Table, names: list[str], dtype: np.dtype[Any], place: Path
) -> NDArray[np.floating]:
    X = np.empty((table.num_rows, len(names)), dtype)
    row = 0
    for batch in table.select(names).to_batches(max_chunksize=_BATCH_ROWS):
        fill(X[row : row + len(batch)], batch, names, place, row)
        row += len(batch)
    return X


def _keys(table: pa.Table, place: Path, wanted: Wanted) -> Keys:
    def column(role: str) -> tuple[str, Piece] | None:
        name = wanted.roles.get(role)
        return None if name is None else (name, Piece(place, 0, whole_column(table.column(name))))

    group, label, overlap = map(column, ("group", "label", "overlap"))
    return Keys(
        None if group is None else key_runs(*group),
        None if label is None else _in_few_bytes(key_labels(*label)),
        None
        if overlap is None
        else np.asarray(overlap[1].values.to_numpy(zero_copy_only=False), dtype=np.float64),
    )


def _in_few_bytes(labels: Labels) -> Labels:
    """Return labels whose codes are cheap to keep and to send."""
    if labels.codes is None or len(labels.values) == 1:
        return Labels(labels.values)
    return Labels(labels.values, labels.codes.astype(np.min_scalar_type(len(labels.values) - 1)))
