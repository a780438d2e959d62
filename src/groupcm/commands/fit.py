"""``groupcm fit``: tables of candidates in, a certified model out."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from groupcm.classifier import GroupClassifier
from groupcm.commands.display import Display, mistakes, plain_warnings, working
from groupcm.commands.inputs import Candidates, open_candidates
from groupcm.commands.maps import feature_map_of
from groupcm.commands.summary import certificate, summary
from groupcm.commands.words import show_rows
from groupcm.errors import InputError
from groupcm.files import check_output
from groupcm.parameters import check_parameters
from groupcm.persistence import save
from groupcm.progress import listening
from groupcm.table_formats import check_not_input

__all__ = ["fit_candidates", "run"]

_ROLES = ("group", "label", "overlap", "patient")
_NOT_OPTIONS = {"command", "tables", "output", *_ROLES, "features", "map", "degree", "components"}


def run(arguments: argparse.Namespace) -> int:
    """Read, fit, save, and say how it went."""
    output = check_output(arguments.output)
    check_not_input(output, arguments.tables)
    options = _options_of(arguments)
    if "checkpoint" in options:
        _check_checkpoint(Path(options["checkpoint"]), output, arguments.tables)
    model = GroupClassifier(**options)
    with mistakes():  # before the tables are read, which may take long
        check_parameters(model.get_params(deep=False))
    columns = {role: getattr(arguments, role) for role in _ROLES}
    with plain_warnings(), working(model.tol) as display:
        candidates = open_candidates(
            arguments.tables, display, features=arguments.features, **columns
        )
        _require_two_classes(candidates, arguments.label)
        took = fit_candidates(model, candidates, display)
    save(model, output, notes={"columns": columns})
    show_rows(summary(model, candidates, took))
    print(certificate(model))
    print(f"Wrote {output}.")
    if not _was_interrupted(model):
        return 0
    gap = float(np.max(model.gap_))
    print(
        f"groupcm: stopped by Ctrl-C; {output} holds the best model so far, "
        f"at a certified gap of {gap:.2g}",
        file=sys.stderr,
    )
    return 130


def _options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Pick the estimator's options that were given."""
    options = {name: value for name, value in vars(arguments).items() if name not in _NOT_OPTIONS}
    with mistakes():
        feature_map = feature_map_of(arguments.map, arguments.degree, arguments.components)
    return options if feature_map is None else {**options, "feature_map": feature_map}


def _check_checkpoint(checkpoint: Path, output: Path, tables: list[str]) -> None:
    check_not_input(check_output(checkpoint), tables)
    if checkpoint.resolve() == output.resolve():
        raise InputError(f"{output} cannot be both the model and the checkpoint; name two files")


def _require_two_classes(candidates: Candidates, label: str) -> None:
    classes = candidates.classes
    if len(classes) < 2:
        raise InputError(
            f"the label column {label!r} holds {classes[0]} in every row; "
            "a fit needs two classes or more"
        )


def fit_candidates(model: Any, candidates: Candidates, display: Display) -> float:
    """Fit the model, showing progress; return the seconds it took."""
    n_features = len(candidates.feature_names)
    display.status(f"fitting {candidates.n_rows:,} rows × {n_features} features")
    start = time.perf_counter()
    with mistakes(), listening(display.step, display.reading):
        candidates.fit(model)
    return time.perf_counter() - start


def _was_interrupted(model: Any) -> bool:
    solutions = model.solution_ if isinstance(model.solution_, list) else [model.solution_]
    return any(solution.interrupted for solution in solutions)
