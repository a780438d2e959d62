"""Tables of candidates read whole, with what they say of their annotation."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.commands.described_columns import fill_in_columns, require_columns
from groupcm.commands.display import Display
from groupcm.commands.inputs import features_beside
from groupcm.commands.marks import read_marks
from groupcm.commands.side_columns import index_key, place_of_row
from groupcm.errors import InputError
from groupcm.evaluation.leakage import rows_to_check, warn_of_leakage
from groupcm.table_formats import find_tables
from groupcm.tables import CandidateTable, read_tables

__all__ = ["marks_of", "read_compared", "require_complete"]

_ROLES = ("group", "label", "overlap", "patient")
_MARKS = ("annotated", "object")


def read_compared(arguments: argparse.Namespace, display: Display) -> CandidateTable:
    """Read the tables of a command; columns of marks are no features, missing values are NaN."""
    require_columns(arguments, fill_in_columns(arguments), ("group", "label"))
    files = find_tables(arguments.tables)
    columns = {role: getattr(arguments, role) for role in _ROLES}
    marks = {role: getattr(arguments, role) for role in _MARKS}
    features = features_beside(files, {**columns, **marks}, arguments.features, arguments.exclude)
    table = read_tables(
        files,
        **columns,
        features=features,
        on_file=lambda path: display.status(f"reading {path}"),
        allow_missing=True,
    )
    labels = np.asarray(table.label)
    rows = rows_to_check(labels, len(table.feature_names))
    warn_of_leakage(arguments.label, table.X[rows], labels[rows], table.feature_names)
    return table


def marks_of(table: CandidateTable, arguments: argparse.Namespace) -> dict[str, NDArray[Any]]:
    """What the columns of marks say, as ``annotated`` and ``objects``; the labels are two."""
    labels = np.asarray(table.label)
    columns = {role: getattr(arguments, role) for role in _MARKS}
    is_positive = labels == np.unique(labels)[-1]
    return read_marks(table.files, index_key(table.group), is_positive, **columns)


def require_complete(table: CandidateTable, who: str, remedy: str) -> None:
    """Refuse missing values of features.

    Parameters
    ----------
    table : CandidateTable
    who : str
        Needs complete rows, in words with the verb.
    remedy : str
        What would be right.
    """
    is_missing = np.isnan(table.X)
    if not is_missing.any():
        return
    row = int(np.argmax(is_missing.any(axis=1)))
    name = table.feature_names[int(np.argmax(is_missing[row]))]
    path, row = place_of_row(table.files, row)
    raise InputError(
        f"{path}: the feature {name!r} is missing in row {row} (counted from 0), and {who} "
        f"complete rows; {remedy}"
    )
