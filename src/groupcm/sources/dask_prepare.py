"""From a table to a partition as a worker holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from groupcm.errors import InputError
from groupcm.sources.arrow_columns import key_labels, key_runs
from groupcm.sources.dask_partitions import Partition, Summary
from groupcm.sources.keys import Keys, Labels
from groupcm.sources.parquet import list_column
from groupcm.table_choice import choose_columns
from groupcm.table_columns import Piece, fill
from groupcm.table_formats import TableFile

__all__ = ["Wanted", "prepare"]

_BATCH_ROWS = 65_536  # so many rows of a few dozen features stay within a processor's cache


@dataclass(frozen=True)
class Wanted:
    """What is read of a table.

    Attributes
    ----------
    roles : dict
        The column of each role, None for a role that has none.
    features : list of str or None
        The feature columns; None: every column without a role.
    order, dtype : list of str and dtype, or None
        Features in this order and as this type; None: as the table has them.
    """

    roles: dict[str, str | None]
    features: list[str] | None
    order: list[str] | None = None
    dtype: np.dtype[Any] | None = None

    @property
    def taken(self) -> set[str]:
        """The columns that have a role."""
        return {name for name in self.roles.values() if name is not None}


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
    """Features in a column of fixed-size lists as columns; and what the features are called."""
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
        name = wanted.roles[role]
        return None if name is None else (name, Piece(place, 0, _whole(table, name)))

    group, label, overlap = map(column, ("group", "label", "overlap"))
    return Keys(
        None if group is None else key_runs(*group),
        None if label is None else _in_few_bytes(key_labels(*label)),
        None
        if overlap is None
        else np.asarray(overlap[1].values.to_numpy(zero_copy_only=False), dtype=np.float64),
    )


def _whole(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _in_few_bytes(labels: Labels) -> Labels:
    """Codes that are cheap to keep and to send."""
    if labels.codes is None or len(labels.values) == 1:
        return Labels(labels.values)
    return Labels(labels.values, labels.codes.astype(np.min_scalar_type(len(labels.values) - 1)))
