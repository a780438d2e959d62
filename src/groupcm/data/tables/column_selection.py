"""Which columns of some tables are the features, and whether all tables can be read as one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from groupcm.data.tables.columns import is_number, kind_of
from groupcm.data.tables.formats import TableFile, is_parquet
from groupcm.data.tables.roles import agreed
from groupcm.errors import Argument, FileName, InputError

__all__ = [
    "ChosenColumns",
    "check_roles",
    "choose_columns",
    "described_features",
    "expand_features",
    "require_column",
    "require_rows",
]


@dataclass(frozen=True)
class ChosenColumns:
    """The columns to read.

    Attributes
    ----------
    features : list of str
        The feature columns, in order.
    taken : dict
        The role of every other column that is read.
    dtype : dtype
        float32 where it holds every feature exactly, else float64.
    """

    features: list[str]
    taken: dict[str, str]
    dtype: np.dtype[Any]


def expand_features(
    files: list[TableFile],
    roles: Mapping[str, str | None],
    features: str | Sequence[str] | None,
    exclude: str | Sequence[str] = (),
) -> list[str] | None:
    """Return the feature columns that names, patterns and families denote.

    A name is that of a column. A pattern holds ``*``, for any characters, or ``?``, for one. A
    family, such as ``shape``, is what no column is called, and denotes all columns that begin
    with ``shape_``. Patterns and families never denote columns with a role. In ``exclude``, the
    name of a column with a role denotes its family, too: it is not a feature anyway.

    Parameters
    ----------
    files : list of TableFile
    roles : mapping
        The column of each role, None for a role that has none.
    features : str or sequence of str, optional
        What to use, in that order; by default those that the tables describe, the only column
        of fixed-size lists, or else every column without a role.
    exclude : str or sequence of str
        What to leave out of these.

    Returns
    -------
    list of str or None
        None where nothing is given, and a reader finds the same ones by itself.

    Raises
    ------
    InputError
        Where a pattern, or a name to exclude, matches no column.

    Examples
    --------
    >>> schema = pa.schema([(name, pa.float32()) for name in ("id", "shape_a", "shape_b", "red")])
    >>> table = TableFile("t.parquet", schema, 1, lambda columns: iter(()))
    >>> expand_features([table], {"group": "id"}, ["red", "shape"])
    ['red', 'shape_a', 'shape_b']
    >>> expand_features([table], {"group": "id"}, None, ["*_a"])
    ['shape_b', 'red']
    """
    features = [features] if isinstance(features, str) else features
    exclude = [exclude] if isinstance(exclude, str) else exclude
    if features is None and not exclude:
        return None
    taken = {column for column in roles.values() if column is not None}
    file, names = files[0], files[0].schema.names
    left_out = {name for given in exclude for name in _meant(file, given, "exclude")}
    left_out |= {name for given in taken.intersection(exclude) for name in _family(given, names)}
    if features is None:
        found = described_features(files, roles) or _leftover(file, dict.fromkeys(taken, ""))
        found = [name for name in found if name not in left_out]
        fixed = [n for n in found if pa.types.is_fixed_size_list(file.schema.field(n).type)]
        found = fixed or found
    else:
        found, by_pattern = [], set()
        for given in features:
            # A name that no column has is refused where the columns are looked up.
            if given in names or not (_is_pattern(given) or _family(given, names)):
                found += [given] if given not in by_pattern else []
                continue
            meant = _meant(file, given, "features")
            more = [name for name in meant if name not in {*taken, *found}]
            found += more
            by_pattern.update(more)
        found = [name for name in found if name not in left_out]
    if not found:
        raise InputError(
            FileName(file.path), " has no feature columns left by ", Argument("exclude")
        )
    return found


def _meant(file: TableFile, given: str, argument: str) -> list[str]:
    """Return the columns that a name, a pattern or a family denotes."""
    names = file.schema.names
    if given in names:
        return [given]
    found = _family(given, names)
    if _is_pattern(given):
        pattern = re.escape(given).replace(r"\*", ".*").replace(r"\?", ".")
        found = [name for name in names if re.fullmatch(pattern, name, re.DOTALL)]
    if not found:
        shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        raise InputError(
            f"{given!r} of ",
            Argument(argument),
            f" matches no column of {file.path}; it has {shown}",
        )
    return found


def _family(given: str, names: Sequence[str]) -> list[str]:
    return [name for name in names if name.startswith(f"{given}_")]


def _is_pattern(given: str) -> bool:
    return "*" in given or "?" in given


def choose_columns(
    files: list[TableFile], roles: Mapping[str, str | None], features: Sequence[str] | None
) -> ChosenColumns:
    """Find the columns of each role and the features, the same in every table.

    Parameters
    ----------
    files : list of TableFile
    roles : mapping
        The column of each role, None for a role that has none.
    features : sequence of str, optional
        By default those that the tables describe, else every column without a role.

    Raises
    ------
    InputError
        One sentence that names the file and the column.
    """
    if features is None:
        features = described_features(files, roles)
    taken = check_roles(files, roles, features)
    names = _choose_features(files, taken, features)
    return ChosenColumns(names, taken, np.dtype(_matrix_dtype(files, names)))


def described_features(files: list[TableFile], roles: Mapping[str, str | None]) -> list[str] | None:
    """The features that tables describe, but for columns with a role; None where they do not."""
    about = agreed([(file.path, file.schema if is_parquet(file.path) else None) for file in files])
    if about is None:
        return None
    return [name for name in about.features if name not in roles.values()]


def require_rows(files: Sequence[TableFile]) -> None:
    """Raise where no table has a row; scores can be computed all the same, and are none."""
    if not any(file.n_rows for file in files):
        raise InputError(FileName(files[0].path), " has no rows; a fit or an evaluation needs some")


def check_roles(
    files: list[TableFile], roles: Mapping[str, str | None], features: Sequence[str] | None
) -> dict[str, str]:
    """Check that every table has the columns with a role; give the role of each column."""
    taken = {column: role for role, column in roles.items() if column is not None}
    _check_request(roles, taken, features)
    for file in files:
        for column, role in taken.items():
            require_column(file, column, f"the {role} column")
    _check_kinds(files, taken)
    return taken


def _check_request(
    roles: Mapping[str, str | None], taken: dict[str, str], features: Sequence[str] | None
) -> None:
    for role, column in roles.items():
        if column is not None and taken[column] != role:
            raise InputError(
                f"the column {column!r} is named as both {role} and {taken[column]}; "
                "each needs a column of its own",
                column=column,
            )
    seen: set[str] = set()
    for name in features or ():
        if name in taken:
            raise InputError(
                f"the {taken[name]} column {name!r} cannot be a feature as well", column=name
            )
        if name in seen:
            raise InputError(f"the feature {name!r} is named twice; name it once", column=name)
        seen.add(name)


def _choose_features(
    files: list[TableFile], taken: dict[str, str], features: Sequence[str] | None
) -> list[str]:
    """Find the feature columns, the same in every file, and refuse what is not a number."""
    chosen: list[str] = []
    for file in files:
        found = list(features) if features is not None else _leftover(file, taken)
        for name in found:
            require_column(file, name, "the feature")
            # A column without values often has no type either.
            if file.n_rows and not is_number(file.schema.field(name).type):
                advice = [
                    *("; leave it out with ", Argument("exclude")),
                    *(", or select columns with ", Argument("features")),
                ]
                raise InputError(
                    FileName(file.path),
                    f": the column {name!r} holds "
                    f"{kind_of(file.schema.field(name).type)}, and a feature must hold numbers",
                    *([] if features else advice),
                    column=name,
                )
        chosen = chosen or found
        for name in set(chosen) ^ set(found):
            has, lacks = (files[0], file) if name in chosen else (file, files[0])
            raise InputError(
                FileName(lacks.path),
                f" lacks the column {name!r} that {has.path} has; "
                "all tables need the same columns, or select columns with ",
                Argument("features"),
                column=name,
            )
    if not chosen:
        raise InputError(
            FileName(files[0].path), f" has no feature columns besides {', '.join(taken)}"
        )
    return chosen


def _leftover(file: TableFile, taken: dict[str, str]) -> list[str]:
    names = file.schema.names
    for position, name in enumerate(names):
        if not name:
            raise InputError(
                FileName(file.path),
                f": column {position + 1} has no name; name it, or select columns with ",
                Argument("features"),
            )
        if names.count(name) > 1:
            raise InputError(
                FileName(file.path), f" has two columns called {name!r}; rename one", column=name
            )
    # pandas stores a frame's row index as such a column; it is not a measurement.
    aside = taken.keys() | file.partitions.keys()
    return [n for n in names if n not in aside and not n.startswith("__index_level_")]


def require_column(file: TableFile, column: str, what: str) -> None:
    names = file.schema.names
    if names.count(column) > 1:
        raise InputError(
            FileName(file.path), f" has two columns called {column!r}; rename one", column=column
        )
    if column not in names:
        same = {name.lower(): name for name in names}
        near = difflib.get_close_matches(column.lower(), same, n=1)
        listed = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        hint = f"did you mean {same[near[0]]!r}?" if near else f"it has {listed}"
        raise InputError(
            FileName(file.path), f" has no column {column!r} for {what}; {hint}", column=column
        )


def _check_kinds(files: list[TableFile], taken: dict[str, str]) -> None:
    filled = [file for file in files if file.n_rows]
    for column, role in taken.items():
        kinds = [kind_of(file.schema.field(column).type) for file in filled]
        for file, kind in zip(filled, kinds, strict=True):
            if kind != kinds[0]:
                raise InputError(
                    f"the column {column!r} holds {kinds[0]} in {filled[0].path} "
                    f"but {kind} in {file.path}; all tables need the same kind"
                )
            if kind.startswith("values") or (role in ("overlap", "weight") and kind == "text"):
                right = "numbers" if role in ("overlap", "weight") else "integers or text"
                raise InputError(
                    FileName(file.path),
                    f": the {role} column {column!r} holds {kind}; use {right}",
                    column=column,
                )


def _matrix_dtype(files: list[TableFile], names: list[str]) -> type[np.floating]:
    """Choose float32 where it holds every feature column exactly."""
    small = {pa.float32(), pa.float16(), pa.bool_(), pa.int8(), pa.int16(), pa.uint8(), pa.uint16()}
    filled = [file for file in files if file.n_rows]
    fits = all(file.schema.field(name).type in small for file in filled for name in names)
    return np.float32 if fits else np.float64
