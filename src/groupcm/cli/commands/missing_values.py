"""Whether Parquet files hold missing values, which only rows in memory may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow.compute as pc

from groupcm.data.tables.column_selection import choose_columns, described_features
from groupcm.data.tables.formats import TableFile, open_table
from groupcm.errors import InputError
from groupcm.sources.parquet import list_column
from groupcm.utils.memory import memory_to_use

__all__ = ["holds_missing"]


def holds_missing(
    files: Sequence[Path], roles: Mapping[str, str | None], features: Sequence[str] | None
) -> bool:
    """Look for a feature that is missing or NaN, or refuse tables that then need too much memory.

    A column of lists is not looked into: whoever reads it refuses what is missing there.

    Parameters
    ----------
    files : sequence of Path
        Parquet files, read up to the first missing value.
    roles : mapping
        Columns that are no features.
    features : sequence of str or None
        The feature columns; None for those the files describe, or all others.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa, pyarrow.parquet
    >>> path = Path(tempfile.mkdtemp()) / "frames.parquet"
    >>> pa.parquet.write_table(pa.table({"frame": [1, 1, 2], "size": [0.5, None, 1.5]}), path)
    >>> holds_missing([path], {"group": "frame"}, None)
    True
    """
    tables = [open_table(file) for file in files]
    given = described_features(tables, roles) if features is None else features
    if list_column(tables, {name for name in roles.values() if name}, given) is not None:
        return False
    chosen = choose_columns(tables, roles, given)
    found = next(filter(None, (_first_missing(table, chosen.features) for table in tables)), None)
    if found is None:
        return False
    n_rows = sum(table.n_rows for table in tables)
    if n_rows * len(chosen.features) * chosen.dtype.itemsize > memory_to_use(None):
        raise InputError(
            f"{found}, and with missing values all {n_rows:,} candidates need to be in memory, "
            "where they do not fit; fill the values in, or give fewer tables"
        )
    return True


def _first_missing(table: TableFile, features: Sequence[str]) -> str | None:
    """Where the first batch with a missing value has it, in words."""
    row = 0
    for batch in table.batches(features):
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            place = pc.index(column.is_null(nan_is_null=True), True).as_py()
            if place >= 0:
                return f"{table.path}: the column {name!r} is missing in row {row + place}"
        row += batch.num_rows
    return None
