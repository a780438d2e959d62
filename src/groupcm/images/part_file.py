"""One file with the rows of a few pictures, which tells whose rows they are."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from groupcm.files import whole_file
from groupcm.table_formats import open_parquet, parquet_writer

__all__ = ["DonePicture", "PartFile", "read_part", "write_part"]

_KEY = b"groupcm.part"


@dataclass(frozen=True)
class DonePicture:
    """A picture that is done.

    Attributes
    ----------
    name
        Its name.
    stamp
        What its rows depend on beside the settings: another stamp means other rows.
    n_rows
        How many rows it has.
    skipped
        Why it has none, where it could not be read.
    notes
        Plain values to remember of it.
    """

    name: str
    stamp: str
    n_rows: int
    skipped: str | None = None
    notes: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class PartFile:
    """A file with the rows of pictures that stand next to each other.

    Attributes
    ----------
    path
        The file.
    settings
        What all its rows depend on: other settings have another text.
    first
        Place of the first picture in the table to come.
    pictures
        The pictures, in order.
    """

    path: Path
    settings: str
    first: int
    pictures: tuple[DonePicture, ...]


def write_part(
    folder: Path,
    settings: str,
    first: int,
    pictures: Sequence[DonePicture],
    rows: Sequence[pa.RecordBatch],
    schema: pa.Schema,
) -> PartFile:
    """Write a part into a folder; it appears whole or not at all."""
    about = {
        "settings": settings,
        "first": first,
        "pictures": [asdict(done) for done in pictures],
    }
    # The description of the table, which a recipe may make large, waits until all are joined.
    table = pa.Table.from_batches(rows, schema.remove_metadata())
    table = table.replace_schema_metadata({_KEY: json.dumps(about).encode()})
    path = folder / f"part-{first:09d}-{secrets.token_hex(4)}.parquet"
    with (
        whole_file(path) as beside,
        parquet_writer(beside, table.schema, use_dictionary=False) as writer,
    ):
        writer.write_table(table)
    return PartFile(path, settings, first, tuple(pictures))


def read_part(path: Path) -> PartFile | None:
    """What a file says of its rows; None where it is no part, or is damaged."""
    try:
        about = json.loads((open_parquet(path).schema_arrow.metadata or {})[_KEY])
        pictures = tuple(DonePicture(**done) for done in about["pictures"])
        return PartFile(path, str(about["settings"]), int(about["first"]), pictures)
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError):
        return None
