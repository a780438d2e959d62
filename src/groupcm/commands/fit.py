"""``groupcm fit``: tables of candidates in, a certified model out."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from groupcm.classifier import GroupClassifier
from groupcm.commands.display import (
    Display,
    mistakes,
    plain_warnings,
    seconds,
    show_rows,
    working,
)
from groupcm.errors import InputError
from groupcm.files import check_output
from groupcm.group_index import index_groups
from groupcm.parameters import check_parameters
from groupcm.persistence import save
from groupcm.progress import listening
from groupcm.table_formats import find_tables
from groupcm.tables import CandidateTable, read_tables

__all__ = ["certificate", "check_not_input", "fit_table", "options_of", "run", "summary"]

_NOT_OPTIONS = {"command", "tables", "output", "group", "label", "overlap", "patient", "features"}


def run(arguments: argparse.Namespace) -> int:
    """Read, fit, save, and say how it went."""
    output = check_output(arguments.output)
    check_not_input(output, arguments.tables)
    model = GroupClassifier(**options_of(arguments))
    with mistakes():  # before the tables are read, which may take long
        check_parameters(model.get_params(deep=False))
    columns = {role: getattr(arguments, role) for role in ("group", "label", "overlap", "patient")}
    with plain_warnings(), working(model.tol) as display:
        table = read_tables(
            arguments.tables,
            **columns,
            features=arguments.features,
            on_file=lambda path: display.status(f"reading {path}"),
        )
        label = np.asarray(table.label)
        if np.all(label == label[0]):
            raise InputError(
                f"the label column {arguments.label!r} holds {label[0]} in every row; "
                "a fit needs two classes or more"
            )
        took = fit_table(model, table, display)
    save(model, output, notes={"columns": columns})
    show_rows(summary(model, table, took))
    print(certificate(model))
    print(f"Wrote {output}.")
    return 0


def options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Pick the estimator's options that were given."""
    return {name: value for name, value in vars(arguments).items() if name not in _NOT_OPTIONS}


def check_not_input(output: Path, tables: list[str]) -> None:
    """Refuse to replace what is being read."""
    if output.exists() and any(output.samefile(path) for path in find_tables(tables)):
        raise InputError(f"{output} is one of the tables; write to another file")


def fit_table(model: Any, table: CandidateTable, display: Display) -> float:
    """Fit the model on a table, showing progress; return the seconds it took."""
    display.status(f"fitting {len(table.X):,} rows × {len(table.feature_names)} features")
    start = time.perf_counter()
    with mistakes(), listening(display.step):
        model.fit(table.X, table.label, groups=table.group.codes, overlap=table.overlap)
    # The matrix has no names; the model shall know them all the same.
    model.feature_names_in_ = np.array(table.feature_names, dtype=object)
    return time.perf_counter() - start


def summary(model: Any, table: CandidateTable, took: float) -> list[tuple[str, str]]:
    """What was read and what came out, as names and values."""
    rows = [
        ("rows", f"{len(table.X):,} × {len(table.feature_names)} features, {table.X.dtype}"),
        ("groups", _count_groups(model, table)),
    ]
    if table.patient is not None:
        rows.append(("patients", f"{table.patient.n_distinct:,}"))
    for name, value in (
        ("objective", model.objective_),
        ("lower bound", model.lower_bound_),
        ("certified gap", model.gap_),
    ):
        rows.append((name, ", ".join(f"{number:.6g}" for number in np.ravel(value))))
    rows.append(("passes", f"{np.max(model.n_passes_):.3g} over the rows, {seconds(took)}"))
    return rows + _largest_weights(model, table)


def _count_groups(model: Any, table: CandidateTable) -> str:
    groups, label = index_groups(table.group.codes), table.label
    classes = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    counts = [f"{int(groups.maxima(label == value).sum()):,} with {value}" for value in classes]
    return f"{groups.n_groups:,}, of them {', '.join(counts)}"


def _largest_weights(model: Any, table: CandidateTable) -> list[tuple[str, str]]:
    """Rank features by what one standard deviation of them adds to the score."""
    # Some thousand rows from everywhere are enough to rank by.
    spread = table.X[:: max(1, len(table.X) // 100_000)].std(axis=0, dtype=np.float64)
    effects = np.atleast_2d(model.coef_) * spread
    rows = []
    for effect, value in zip(effects, model.classes_[-len(effects) :], strict=True):
        largest = np.argsort(-np.abs(effect))[:5]
        shown = ", ".join(f"{table.feature_names[j]} {effect[j]:+.3g}" for j in largest)
        rows.append((f"for {value}" if len(effects) > 1 else "largest weights", shown))
    return [(name, f"{shown}  (per standard deviation)") for name, shown in rows]


def certificate(model: Any) -> str:
    """Say in words what the gap proves."""
    gap, tol = float(np.max(model.gap_)), model.tol
    proof = (
        f"Certificate: no weights whatever have an objective more than {100 * gap:.2g} % "
        "below this model's."
    )
    return proof if gap <= tol else f"{proof} That is not yet the {100 * tol:.2g} % asked for."
