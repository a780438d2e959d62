"""Tables of candidates, as a fit needs them: a matrix of features and a few columns beside it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from groupcm.errors import InputError
from groupcm.table_columns import (
    KeyColumn,
    Piece,
    fill,
    is_number,
    key_column,
    kind_of,
    number_column,
)
from groupcm.table_formats import TableFile, find_tables, open_table

__all__ = ["CandidateTable", "read_tables"]


@dataclass(frozen=True)
class CandidateTable:
    """Candidates read from one or more tables, in the order of the tables.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        C-contiguous; float32 where that holds every feature column exactly, else float64.
    feature_names : list of str
        The columns of ``X``.
    group : KeyColumn
        Which group a row is in.
    label : ndarray or None
        The class of a row.
    overlap : ndarray or None
        How well a row fits the annotation.
    patient : KeyColumn or None
        Whose row it is.
    files : list of Path
        The tables read.
    """

    X: np.ndarray
    feature_names: list[str]
    group: KeyColumn
    label: np.ndarray | None
    overlap: np.ndarray | None
    patient: KeyColumn | None
    files: list[Path]


def read_tables(
    paths: Sequence[str | Path],
    *,
    group: str,
    label: str | None = None,
    overlap: str | None = None,
    patient: str | None = None,
    features: Sequence[str] | None = None,
    on_file: Callable[[Path], None] | None = None,
) -> CandidateTable:
    """Read candidates from Parquet, CSV or Arrow files, or folders of them.

    Parameters
    ----------
    paths : sequence of str or Path
        Files and folders; a folder stands for the tables directly in it, sorted by name.
    group, label, overlap, patient : str
        Columns by name; all but ``group`` may be left out.
    features : sequence of str, optional
        Feature columns in the order wanted. By default every column not named
        above, and each must hold numbers.
    on_file : callable, optional
        Hears the name of each file before its rows are read.

    Returns
    -------
    CandidateTable

    Raises
    ------
    InputError
        One sentence that names the file, the column and, counted from 0, the row.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,polyp,size,red\\na,1,2.5,7\\na,0,1.5,3\\nb,0,2.0,4\\n")
    >>> table = read_tables([path], group="frame", label="polyp")
    >>> table.feature_names, table.X.shape, table.group.per_row().tolist()
    (['size', 'red'], (3, 2), ['a', 'a', 'b'])
    """
    roles = {"group": group, "label": label, "overlap": overlap, "patient": patient}
    taken = {column: role for role, column in roles.items() if column is not None}
    _check_request(roles, taken, features)
    files = [open_table(path) for path in find_tables(paths)]
    if not any(file.n_rows for file in files):
        raise InputError(f"{files[0].path} has no rows; a fit or a score needs some")
    names = _choose_features(files, taken, features)
    _check_kinds(files, taken)

    X = np.empty((sum(file.n_rows for file in files), len(names)), _matrix_dtype(files, names))
    beside: dict[str, list[Piece]] = {column: [] for column in taken}
    row = 0
    for file in files:
        if on_file is not None:
            on_file(file.path)
        first = row
        for batch in file.batches([*names, *taken]):
            fill(X[row : row + batch.num_rows], batch, names, file.path, row - first)
            for column, pieces in beside.items():
                pieces.append(Piece(file.path, row - first, batch.column(column)))
            row += batch.num_rows

    def key(column: str | None) -> KeyColumn | None:
        return None if column is None else key_column(column, taken[column], beside[column])

    group_column, label_column = key_column(group, "group", beside[group]), key(label)
    return CandidateTable(
        X=X,
        feature_names=names,
        group=group_column,
        label=None if label_column is None else label_column.per_row(),
        overlap=None if overlap is None else number_column(overlap, beside[overlap]),
        patient=key(patient),
        files=[file.path for file in files],
    )


def _check_request(
    roles: dict[str, str | None], taken: dict[str, str], features: Sequence[str] | None
) -> None:
    for role, column in roles.items():
        if column is not None and taken[column] != role:
            raise InputError(
                f"the column {column!r} is named as both {role} and {taken[column]}; "
                "each needs a column of its own"
            )
    seen: set[str] = set()
    for name in features or ():
        if name in taken:
            raise InputError(f"the {taken[name]} column {name!r} cannot be a feature as well")
        if name in seen:
            raise InputError(f"the feature {name!r} is named twice; name it once")
        seen.add(name)


def _choose_features(
    files: list[TableFile], taken: dict[str, str], features: Sequence[str] | None
) -> list[str]:
    """Find the feature columns, the same in every file, and refuse what is not a number."""
    chosen: list[str] = []
    for file in files:
        for column, role in taken.items():
            _require(file, column, f"the {role} column")
        found = list(features) if features is not None else _leftover(file, taken)
        for name in found:
            _require(file, name, "the feature")
            if not is_number(file.schema.field(name).type):
                advice = "" if features else "; name the feature columns with --features A,B"
                raise InputError(
                    f"{file.path}: the column {name!r} holds "
                    f"{kind_of(file.schema.field(name).type)}, and a feature must hold numbers"
                    f"{advice}"
                )
        chosen = chosen or found
        for name in set(chosen) ^ set(found):
            has, lacks = (files[0], file) if name in chosen else (file, files[0])
            raise InputError(
                f"{lacks.path} lacks the column {name!r} that {has.path} has; "
                "all tables need the same columns, or name the features with --features A,B"
            )
    if not chosen:
        raise InputError(f"{files[0].path} has no feature columns beside {', '.join(taken)}")
    return chosen


def _leftover(file: TableFile, taken: dict[str, str]) -> list[str]:
    names = file.schema.names
    for position, name in enumerate(names):
        if not name:
            raise InputError(
                f"{file.path}: column {position + 1} has no name; "
                "name it, or name the features with --features A,B"
            )
        if names.count(name) > 1:
            raise InputError(f"{file.path} has two columns called {name!r}; rename one")
    # pandas stores a frame's row index as such a column; it is not a measurement.
    return [n for n in names if n not in taken and not n.startswith("__index_level_")]


def _require(file: TableFile, column: str, what: str) -> None:
    names = file.schema.names
    if names.count(column) > 1:
        raise InputError(f"{file.path} has two columns called {column!r}; rename one")
    if column not in names:
        same = {name.lower(): name for name in names}
        near = difflib.get_close_matches(column.lower(), same, n=1)
        listed = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        hint = f"did you mean {same[near[0]]!r}?" if near else f"it has {listed}"
        raise InputError(f"{file.path} has no column {column!r} for {what}; {hint}")


def _check_kinds(files: list[TableFile], taken: dict[str, str]) -> None:
    for column, role in taken.items():
        kinds = [kind_of(file.schema.field(column).type) for file in files]
        for file, kind in zip(files, kinds, strict=True):
            if kind != kinds[0]:
                raise InputError(
                    f"the column {column!r} holds {kinds[0]} in {files[0].path} "
                    f"but {kind} in {file.path}; all tables need the same kind"
                )
            if kind.startswith("values") or (role == "overlap" and kind == "text"):
                right = "numbers" if role == "overlap" else "integers or text"
                raise InputError(
                    f"{file.path}: the {role} column {column!r} holds {kind}; use {right}"
                )


def _matrix_dtype(files: list[TableFile], names: list[str]) -> type[np.floating]:
    """Choose float32 where it holds every feature column exactly."""
    small = {pa.float32(), pa.float16(), pa.bool_(), pa.int8(), pa.int16(), pa.uint8(), pa.uint16()}
    fits = all(file.schema.field(name).type in small for file in files for name in names)
    return np.float32 if fits else np.float64
