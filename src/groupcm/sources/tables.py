"""Provides `read_candidates`: tables are streamed if all are Parquet files, else in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from groupcm.data.frames import is_frame
from groupcm.data.tables.candidates import read_tables
from groupcm.data.tables.column_selection import (
    check_roles,
    choose_columns,
    described_features,
    expand_features,
    require_rows,
)
from groupcm.data.tables.formats import TableFile, find_tables, is_parquet, open_table
from groupcm.data.tables.roles import ColumnRoles, TableDescription, described
from groupcm.errors import Argument, InputError
from groupcm.sources.candidates import Candidates, InMemoryCandidates, StreamedCandidates
from groupcm.sources.parquet import from_parquet, list_column
from groupcm.utils.memory import memory_to_use
from groupcm.utils.progress import announce_stage

__all__ = [
    "DESCRIBED",
    "Tables",
    "holds_missing",
    "listed_tables",
    "name_of",
    "read_candidates",
    "read_with_roles",
]

#: A table or a folder of tables, or several of them.
Tables = str | Path | Sequence[str | Path]

#: The roles that the description of a table fills in.
DESCRIBED = ("group", "label", "overlap", "patient", "object")

_READ_WITH_FEATURES = ("group", "label", "overlap", "patient")


def read_candidates(
    tables: Tables,
    *,
    group: str | None = None,
    label: str | None = None,
    overlap: str | None = None,
    patient: str | None = None,
    annotated: str | None = None,
    object: str | None = None,
    weight: str | None = None,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    in_memory: bool = False,
    allow_missing: bool = False,
    allow_empty: bool = False,
) -> Candidates:
    """Read candidates from Parquet, CSV, TSV or Arrow files, or folders of them.

    Where all tables are Parquet files the candidates are streamed: features are read when they
    are needed, as often as they are needed. The columns ``annotated``, ``object`` and
    ``weight`` are read where a fit or an evaluation needs them.

    Parameters
    ----------
    tables : path, or sequence of paths
        Files and folders; see `groupcm.data.tables.candidates.read_tables`.
    group, label, overlap, patient, annotated, object, weight : str, optional
        The column of each role; see `groupcm.data.tables.roles.ColumnRoles`. Tables of pictures
        describe their columns, so that none needs to be named; for other tables ``group`` is
        needed.
    features : sequence of str, optional
        Feature columns in the order wanted, and patterns and families of them; see
        `groupcm.data.tables.column_selection`. By default every column without a role.
    exclude : sequence of str, optional
        Columns, patterns and families to leave out of these.
    in_memory : bool, default=False
        Read Parquet files into memory, too.
    allow_missing : bool, default=False
        Whether a missing feature becomes NaN, as trees take it, or is an error. Parquet files
        with missing values are read into memory.
    allow_empty : bool, default=False
        Whether the tables may have no rows at all.

    Returns
    -------
    Candidates
        Its ``fit_arguments()`` are what the ``fit`` of an estimator takes.

    Raises
    ------
    InputError
        One sentence that names the file, the column and, counted from 0, the row.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm import GroupClassifier
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,polyp,size\\na,1,2.5\\na,0,1.5\\nb,0,2.0\\nb,0,1.0\\n")
    >>> train = read_candidates(path, group="frame", label="polyp")
    >>> train.feature_names, train.classes.tolist(), train.groups_with(1).tolist()
    (['size'], [0, 1], [True, False])
    >>> model = GroupClassifier().fit(**train.fit_arguments())
    >>> model.group_scores(train.X, train.group_index.codes).group.tolist()
    [0, 1]
    """
    about = described(listed_tables(tables))
    roles = ColumnRoles(group, label, overlap, patient, annotated, object, weight)
    roles = roles.filled_in(about, DESCRIBED)
    roles.require(["group"], listed_tables(tables)[0], about)
    return read_with_roles(
        tables,
        roles,
        about,
        features=features,
        exclude=exclude,
        in_memory=in_memory,
        allow_missing=allow_missing,
        allow_empty=allow_empty,
    )


def read_with_roles(
    tables: Tables,
    roles: ColumnRoles,
    about: TableDescription | None = None,
    *,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    in_memory: bool = False,
    allow_missing: bool = False,
    allow_empty: bool = False,
) -> Candidates:
    """Read candidates of which all columns with a role are known.

    Parameters
    ----------
    tables : path, or sequence of paths
        Files and folders.
    roles : ColumnRoles
        The columns that are not features, ``group`` among them.
    about : TableDescription, optional
        What the tables say of their own columns.
    features, exclude, in_memory, allow_missing, allow_empty
        See `read_candidates`.
    """
    files = find_tables(listed_tables(tables))
    if not allow_empty:
        require_rows([open_table(file) for file in files])
    features = _named_features(files, roles, features, exclude)
    with_features = ColumnRoles.of({role: roles.get(role) for role in _READ_WITH_FEATURES})
    columns = {role: getattr(roles, role) for role in _READ_WITH_FEATURES}
    is_streamed = not in_memory and all(map(is_parquet, files))
    if is_streamed:
        named = str(files[0]) if len(files) == 1 else f"{len(files)} files"
        announce_stage(f"looking at {named}")
    if not is_streamed or (allow_missing and holds_missing(files, with_features, features)):
        table = read_tables(
            files,
            **columns,
            features=features,
            on_file=lambda path: announce_stage(f"reading {path}"),
            allow_missing=allow_missing,
            allow_empty=True,
        )
        return InMemoryCandidates(table, roles, about)
    source = from_parquet(files, **columns, features=features)
    if roles.label is not None:
        announce_stage(f"reading the groups and labels of {source.n_rows:,} rows")
        source.index()
    return StreamedCandidates(source, roles, about)


def listed_tables(tables: Tables) -> list[str | Path]:
    """Return tables as a list, also where one path is given.

    Examples
    --------
    >>> listed_tables("train.parquet")
    ['train.parquet']
    """
    if isinstance(tables, str | Path):
        return [tables]
    if is_frame(tables) or isinstance(tables, np.ndarray):
        raise InputError(
            f"tables are read from files, and a {type(tables).__name__} is in memory; pass its "
            "columns to the model, as in model.fit(X, y, groups)"
        )
    return list(tables)


def name_of(tables: Tables) -> str:
    """Return what a sentence calls some tables.

    Examples
    --------
    >>> name_of(["here/test.parquet"]), name_of(["a.csv", "b.csv"])
    ('test.parquet', '2 tables')
    """
    listed = listed_tables(tables)
    return Path(listed[0]).name if len(listed) == 1 else f"{len(listed)} tables"


def _named_features(
    files: Sequence[Path],
    roles: ColumnRoles,
    given: Sequence[str] | None,
    exclude: Sequence[str] = (),
) -> Sequence[str] | None:
    """Return the features by name; None where a reader finds the same ones by itself.

    A reader of features does not know the columns of annotations, which are not features either.
    """
    if given is None and not exclude and not set(roles) - set(_READ_WITH_FEATURES):
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
        listed = list_column(tables, set(roles.values()), None)
    return [listed] if listed is not None else choose_columns(tables, roles, None).features


def _require_more_than_roles(
    tables: list[TableFile], roles: ColumnRoles, given: Sequence[str]
) -> None:
    """Raise where patterns of features match columns with a role and no others."""
    if all(name in tables[0].schema.names for name in given):
        return  # a column with a role that is named as it is has a sentence of its own
    role_of = {column: role for role, column in roles.items() if column is not None}
    meant = expand_features(tables, {}, given) or []
    if all(name in role_of for name in meant):
        named = ", ".join(f"the {role_of[name]} column {name!r}" for name in meant)
        raise InputError(
            Argument("features"),
            f" {','.join(given)} matches {named} alone, which cannot be a feature as well; name "
            f"other columns of {tables[0].path}",
        )


def holds_missing(
    files: Sequence[Path], roles: Mapping[str, str | None], features: Sequence[str] | None
) -> bool:
    """Return whether a feature is missing or NaN; raise where the rows then do not fit the memory.

    A column of lists is not looked into: reading it raises where a value is missing.

    Parameters
    ----------
    files : sequence of Path
        Parquet files, read up to the first missing value.
    roles : mapping
        The columns that are not features.
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
    """Return where the first batch with a missing value has it, as a phrase; None without one."""
    row = 0
    for batch in table.batches(features):
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            place = pc.index(column.is_null(nan_is_null=True), True).as_py()
            if place >= 0:
                return f"{table.path}: the column {name!r} has a missing value in row {row + place}"
        row += batch.num_rows
    return None
