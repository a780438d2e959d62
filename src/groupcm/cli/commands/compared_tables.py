"""Tables of candidates read whole, with what they say of their annotation."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.cli.commands.described_columns import (
    fill_in_columns,
    measured_features,
    require_columns,
)
from groupcm.cli.commands.inputs import features_beside
from groupcm.cli.commands.marks import read_marks
from groupcm.cli.commands.side_columns import index_key, place_of_row
from groupcm.cli.options.mistakes import positive_label
from groupcm.cli.output import Display, print_line
from groupcm.data.groups import index_groups
from groupcm.data.labels import order_classes
from groupcm.data.tables.candidates import CandidateTable, read_tables
from groupcm.data.tables.formats import find_tables
from groupcm.errors import InputError
from groupcm.evaluation.leakage import rows_to_check, warn_of_leakage, warn_of_patients

__all__ = ["marks_of", "positive_class", "read_compared", "require_complete"]

_ROLES = ("group", "label", "overlap", "patient")
_MARKS = ("annotated", "object")


def read_compared(arguments: argparse.Namespace, display: Display) -> CandidateTable:
    """Read the tables of a command; marks and weights are no features, missing values are NaN."""
    about = fill_in_columns(arguments)
    require_columns(arguments, about, ("group", "label"))
    files = find_tables(arguments.tables)
    columns = {role: getattr(arguments, role) for role in _ROLES}
    marks = {role: getattr(arguments, role) for role in (*_MARKS, "weight")}
    features = features_beside(files, {**columns, **marks}, arguments.features, arguments.exclude)
    table = read_tables(
        files,
        **columns,
        features=features,
        on_file=lambda path: display.status(f"reading {path}"),
        allow_missing=True,
    )
    labels = np.asarray(table.label)
    found = rows_to_check(labels, index_groups(table.group.codes), len(table.feature_names))
    names = table.feature_names
    warn_of_leakage(arguments.label, table.X[found.rows], found, names, measured_features(about))
    warn_of_patients(names, arguments.patient)
    return table


def positive_class(table: CandidateTable, arguments: argparse.Namespace) -> Any:
    """Return which of the two labels is positive, as ``--positive`` says, and print it."""
    classes = np.unique(np.asarray(table.label))
    given = positive_label(arguments.positive, classes, arguments.label)
    negative, positive = order_classes(classes, given).tolist()
    print_line(f"Positive: {positive} (negative: {negative}).")
    return positive


def marks_of(
    table: CandidateTable, arguments: argparse.Namespace, positive: Any
) -> dict[str, NDArray[Any]]:
    """What the columns of marks say, as ``annotated`` and ``objects``."""
    columns = {role: getattr(arguments, role) for role in _MARKS}
    is_positive = np.asarray(table.label) == positive
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
