"""Columns that are the names of folders, as Hive partitions a table: ``patient=7/part.parquet``."""

from __future__ import annotations

import glob
import re
import urllib.parse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

__all__ = ["partitions_of", "with_constants"]

_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


def with_constants(
    table: Any, n_rows: int, constants: Mapping[str, pa.Scalar], columns: Sequence[str]
) -> pa.RecordBatch:
    """Return these columns of a table, some of which have one value in all rows."""
    arrays = [
        pa.repeat(constants[name], n_rows) if name in constants else _one_array(table.column(name))
        for name in columns
    ]
    return pa.RecordBatch.from_arrays(arrays, list(columns))


def _one_array(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def partitions_of(path: Path) -> dict[str, pa.Scalar]:
    """Return the columns that folders of the form ``name=value`` right around a file give.

    A value is a whole number where those of all folders beside it are, else text.

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
