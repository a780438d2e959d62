"""Columns of tables that name the units of levels above the group, such as video and patient.

`chosen_levels` decides which columns they are: those that the user names, or those that the model
was trained with. The units of the highest level take the place of patients where no column of
patients is named, so that folds never split them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from groupcm.data.groups import GroupIndex
from groupcm.data.tables.column_selection import require_column
from groupcm.data.tables.formats import find_tables, open_table
from groupcm.data.tables.role_columns import read_key
from groupcm.data.tables.roles import ColumnRoles
from groupcm.errors import Argument, InputError
from groupcm.metrics.levels import read_levels
from groupcm.sources.tables import Tables, listed_tables

__all__ = [
    "check_level_columns",
    "columns_to_exclude",
    "level_notes",
    "noted_levels",
    "patient_column",
    "read_level_columns",
    "require_nested_columns",
]

_NOTED = "level "
# Columns of groups and patients are units of a level; the others are not.
_UNITS = ("group", "patient")


def check_level_columns(
    levels: Mapping[str, str] | None, tables: Tables, roles: ColumnRoles
) -> dict[str, str]:
    """Return the levels that a user named; raise where a column is missing or named twice.

    Parameters
    ----------
    levels : mapping of str to str, or None
        The column of each level, from the lowest to the highest.
    tables : path, or sequence of paths
    roles : ColumnRoles
        The columns of other roles.

    Examples
    --------
    >>> check_level_columns({"video": "v", "patient": "v"}, [], ColumnRoles("frame"))
    Traceback (most recent call last):
    groupcm.errors.InputError: levels names the column 'v' for both video and patient; each level
    needs a column of its own
    """
    found = dict(levels or {})
    name_of: dict[str, str] = {}
    taken = {column: role for role, column in roles.items() if role not in _UNITS}
    for name, column in found.items():
        if column in name_of:
            raise InputError(
                Argument("levels"),
                f" names the column {column!r} for both {name_of[column]} and {name}; each level "
                "needs a column of its own",
            )
        if column in taken:
            raise InputError(
                Argument("levels"),
                f" names the column {column!r} for {name}, and it is the {taken[column]} column; "
                "each needs a column of its own",
            )
        name_of[column] = name
    for file in find_tables(listed_tables(tables)) if found else ():
        for name, column in found.items():
            require_column(open_table(file), column, f"the level {name}")
    return found


def patient_column(patient: str | None, levels: Mapping[str, str]) -> str | None:
    """Return the column of patients: as given, else that of the highest level.

    Examples
    --------
    >>> patient_column(None, {"video": "video_id", "patient": "case"})
    'case'
    """
    return patient if patient is not None or not levels else list(levels.values())[-1]


def columns_to_exclude(levels: Mapping[str, str], roles: ColumnRoles) -> list[str]:
    """Return the columns of levels that have no other role: they are not features.

    Examples
    --------
    >>> columns_to_exclude({"video": "v", "patient": "p"}, ColumnRoles("frame", patient="p"))
    ['v']
    """
    return [column for column in levels.values() if column not in roles.values()]


def read_level_columns(files: Sequence[Path], levels: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """Read the unit of each row at each level.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,video\\na,v1\\nb,v1\\n")
    >>> read_level_columns([path], {"film": "video"})["film"].tolist()
    ['v1', 'v1']
    """
    return {name: read_key(files, column, "level").per_row() for name, column in levels.items()}


def require_nested_columns(
    files: Sequence[Path],
    levels: Mapping[str, str],
    groups: GroupIndex,
    by_patient: GroupIndex | None = None,
) -> None:
    """Raise where groups are not nested in the levels, or the highest level not in patients.

    Parameters
    ----------
    files : sequence of Path
    levels : mapping of str to str
        The column of each level.
    groups, by_patient : GroupIndex
        The group and the patient of each row.
    """
    if not levels:
        return
    units = {"group": groups.ids[groups.codes], **read_level_columns(files, levels)}
    if by_patient is not None:
        units["patients"] = by_patient.ids[by_patient.codes]
    try:
        read_levels(units)
    except ValueError as error:
        raise InputError(str(error).removesuffix(".")) from error


def level_notes(levels: Mapping[str, str]) -> dict[str, str]:
    """Return the levels as a model file notes them among its columns.

    Examples
    --------
    >>> level_notes({"video": "v"}), noted_levels({"group": "frame", "level video": "v"})
    ({'level video': 'v'}, {'video': 'v'})
    """
    return {f"{_NOTED}{name}": column for name, column in levels.items()}


def noted_levels(columns: Mapping[str, Any] | None, tables: Tables = ()) -> dict[str, str]:
    """Return the levels that a model file notes, those whose column all tables have.

    Parameters
    ----------
    columns : mapping or None
        The columns of training.
    tables : path, or sequence of paths
        The tables to use the model on.
    """
    files = [open_table(file) for file in find_tables(listed_tables(tables))] if tables else []
    return {
        role.removeprefix(_NOTED): column
        for role, column in (columns or {}).items()
        if role.startswith(_NOTED)
        and column is not None
        and all(column in file.schema.names for file in files)
    }
