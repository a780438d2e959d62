"""Candidates as commands ask for them: streamed from Parquet, in memory from other tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from groupcm.cli.commands.candidates import Candidates
from groupcm.cli.commands.in_memory import InMemory
from groupcm.cli.commands.missing_values import holds_missing
from groupcm.cli.commands.streamed import Streamed
from groupcm.cli.output import Display
from groupcm.data.tables.candidates import read_tables
from groupcm.data.tables.column_selection import (
    check_roles,
    choose_columns,
    described_features,
    expand_features,
    require_rows,
)
from groupcm.data.tables.formats import TableFile, find_tables, is_parquet, open_table
from groupcm.errors import InputError
from groupcm.sources.parquet import from_parquet, list_column

__all__ = ["Candidates", "InMemory", "Streamed", "features_beside", "open_candidates"]


def open_candidates(
    paths: Sequence[str | Path],
    display: Display,
    *,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    object: str | None = None,
    annotated: str | None = None,
    weight: str | None = None,
    allow_missing: bool = False,
    allow_empty: bool = False,
    **roles: str | None,
) -> Candidates:
    """Open tables of which ``roles`` names the columns: ``group``, ``label`` and so on.

    Where all are Parquet files they are streamed, else they are read into memory, as are those
    with missing values, if ``allow_missing``. They need rows, unless ``allow_empty``. The columns
    ``object``, ``annotated`` and ``weight`` are read where a fit or an evaluation asks for them.
    """
    files = find_tables(paths)
    if not allow_empty:
        require_rows([open_table(file) for file in files])
    all_roles = {**roles, "object": object, "annotated": annotated, "weight": weight}
    features = features_beside(files, all_roles, features, exclude)
    candidates = _open(files, display, features, roles, allow_missing)
    candidates.object_column, candidates.annotated_column = object, annotated
    candidates.weight_column = weight
    return candidates


def features_beside(
    files: Sequence[Path],
    roles: Mapping[str, str | None],
    given: Sequence[str] | None,
    exclude: Sequence[str] = (),
) -> Sequence[str] | None:
    """Return the features by name: as given, and next to columns of marks as readers find them.

    Parameters
    ----------
    files : sequence of Path
    roles : mapping
        The column of each role, ``object``, ``annotated`` and ``weight`` among them.
    given : sequence of str or None
        The features as the user named them; a column of marks is refused among them.
    exclude : sequence of str
        What to leave out; see `groupcm.data.tables.column_selection.expand_features`.

    Returns
    -------
    sequence of str or None
        Those given; None where a reader finds the same ones by itself.
    """
    has_more = any(roles[role] is not None for role in ("object", "annotated", "weight"))
    if given is None and not exclude and not has_more:
        return given
    tables = [open_table(file) for file in files]
    if given is not None:
        _require_more_than_roles(tables, roles, given)
    given = expand_features(tables, roles, given, exclude)
    if given is not None:
        check_roles(tables, roles, given)
        return given
    listed = None
    if all(map(is_parquet, files)) and described_features(tables, roles) is None:
        listed = list_column(tables, {name for name in roles.values() if name}, None)
    return [listed] if listed is not None else choose_columns(tables, roles, None).features


def _require_more_than_roles(
    tables: list[TableFile], roles: Mapping[str, str | None], given: Sequence[str]
) -> None:
    """Refuse patterns of features that stand for columns with a role and no others."""
    if all(name in tables[0].schema.names for name in given):
        return  # a column with a role that is named as it is has a sentence of its own
    role_of = {column: role for role, column in roles.items() if column is not None}
    meant = expand_features(tables, {}, given) or []
    if all(name in role_of for name in meant):
        named = ", ".join(f"the {role_of[name]} column {name!r}" for name in meant)
        raise InputError(
            f"--features {','.join(given)} matches {named} alone, which cannot be a feature as "
            f"well; name other columns of {tables[0].path}"
        )


def _open(
    files: list[Path],
    display: Display,
    features: Sequence[str] | None,
    roles: Mapping[str, str | None],
    allow_missing: bool,
) -> Candidates:
    columns: dict[str, Any] = dict.fromkeys(("group", "label", "overlap", "patient"))
    columns |= roles
    is_streamed = all(map(is_parquet, files))
    if is_streamed:
        named = str(files[0]) if len(files) == 1 else f"{len(files)} files"
        display.status(f"looking at {named}")
    if not is_streamed or (allow_missing and holds_missing(files, columns, features)):
        table = read_tables(
            files,
            **columns,
            features=features,
            on_file=lambda path: display.status(f"reading {path}"),
            allow_missing=allow_missing,
            allow_empty=True,
        )
        return InMemory(table)
    source = from_parquet(files, **columns, features=features)
    if columns["label"] is not None:
        display.status(f"reading the groups and labels of {source.n_rows:,} rows")
        source.index()
    return Streamed(source)
