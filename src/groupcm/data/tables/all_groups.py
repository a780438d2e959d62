"""The list of all groups: a table with one row per group, those without candidates included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groupcm.data.tables.column_selection import require_column
from groupcm.data.tables.formats import find_tables, open_table
from groupcm.data.tables.role_columns import read_key, read_values
from groupcm.errors import InputError

__all__ = ["AllGroups", "read_all_groups"]


@dataclass(frozen=True)
class AllGroups:
    """Every group with its label and its patient, as a table lists them.

    Attributes
    ----------
    ids : list
        The groups.
    labels : dict
        The label of each group.
    patients : dict or None
        The patient of each group.
    levels : dict or None
        For each level the unit of each group.
    columns : dict or None
        For each column of subgroups that the table has, the value of each group.
    """

    ids: list[Any]
    labels: dict[Any, Any]
    patients: dict[Any, Any] | None
    levels: dict[str, dict[Any, Any]] | None = None
    columns: dict[str, dict[Any, Any]] | None = None


def read_all_groups(
    path: str | Path,
    *,
    group: str,
    label: str | None = None,
    patient: str | None = None,
    levels: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
) -> AllGroups:
    """Read a table that lists every group once, those without candidates included.

    Parameters
    ----------
    path : path
    group, label, patient : str
        The columns of groups, and of their labels and patients.
    levels : mapping of str to str, optional
        The column of each level above the group.
    by : sequence of str
        Columns of subgroups; one that the table lacks is not known of the groups.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,polyp\\na,1\\nb,0\\n")
    >>> read_all_groups(path, group="frame", label="polyp").labels
    {'a': 1, 'b': 0}
    """
    files = find_tables([path])

    def column(name: str | None, role: str) -> list[Any] | None:
        return None if name is None else read_key(files, name, role).per_row().tolist()

    ids = column(group, "group") or []
    if len(set(ids)) < len(ids):
        seen: set[Any] = set()
        twice = next(each for each in ids if each in seen or seen.add(each))
        raise InputError(f"{path} lists the group {twice!r} twice; list every group once")
    labels, patients = column(label, "label"), column(patient, "patient")
    for name, of_level in (levels or {}).items():
        for file in files:
            require_column(open_table(file), of_level, f"the level {name}, of every group")
    there = [name for name in by if all(name in open_table(f).schema.names for f in files)]
    return AllGroups(
        ids,
        {} if labels is None else dict(zip(ids, labels, strict=True)),
        None if patients is None else dict(zip(ids, patients, strict=True)),
        {
            name: dict(zip(ids, column(of_level, "level") or [], strict=True))
            for name, of_level in (levels or {}).items()
        },
        {name: dict(zip(ids, read_values(files, name).tolist(), strict=True)) for name in there},
    )
