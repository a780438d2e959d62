"""Candidates as commands ask for them: streamed from Parquet, in memory from other tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from groupcm.commands.candidates import Candidates
from groupcm.commands.display import Display
from groupcm.commands.in_memory import InMemory
from groupcm.commands.streamed import Streamed
from groupcm.sources.parquet import from_parquet
from groupcm.table_formats import find_tables, is_parquet
from groupcm.tables import read_tables

__all__ = ["Candidates", "InMemory", "Streamed", "open_candidates"]


def open_candidates(
    paths: Sequence[str | Path],
    display: Display,
    *,
    features: Sequence[str] | None = None,
    object: str | None = None,
    **roles: str | None,
) -> Candidates:
    """Open tables of which ``roles`` names the columns: ``group``, ``label`` and so on.

    Where all are Parquet files they are streamed, else they are read into memory. The column
    ``object`` is read where an evaluation asks for it; name the features beside it.
    """
    candidates = _open(find_tables(paths), display, features, roles)
    candidates.object_column = object
    return candidates


def _open(
    files: list[Path],
    display: Display,
    features: Sequence[str] | None,
    roles: Mapping[str, str | None],
) -> Candidates:
    columns: dict[str, Any] = dict.fromkeys(("group", "label", "overlap", "patient"))
    columns |= roles
    if not all(map(is_parquet, files)):
        table = read_tables(
            files,
            **columns,
            features=features,
            on_file=lambda path: display.status(f"reading {path}"),
        )
        return InMemory(table)
    display.status("looking at " + (str(files[0]) if len(files) == 1 else f"{len(files)} files"))
    source = from_parquet(files, **columns, features=features)
    if columns["label"] is not None:
        display.status(f"reading the groups and labels of {source.n_rows:,} rows")
        source.index()
    return Streamed(source)
