"""``groupcm fit``: tables of candidates in, a certified model out."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from groupcm.calibration import CalibratedGroupClassifier
from groupcm.classifier import GroupClassifier
from groupcm.classifier_cv import GroupClassifierCV
from groupcm.commands.described_columns import fill_in_columns, require_columns
from groupcm.commands.display import Display, mistakes, plain_warnings, working
from groupcm.commands.held_out import held_out_point, held_out_rows
from groupcm.commands.inputs import Candidates, open_candidates
from groupcm.commands.maps import feature_map_of
from groupcm.commands.option_mistakes import mistakes_in_options
from groupcm.commands.summary import certificate, summary
from groupcm.commands.trained import name_of
from groupcm.commands.words import show_rows
from groupcm.errors import InputError
from groupcm.files import check_output
from groupcm.metrics import metric_named
from groupcm.parameters import check_parameters
from groupcm.persistence import save
from groupcm.progress import listening
from groupcm.selection import chosen_lams
from groupcm.table_formats import check_not_input

__all__ = ["fit_candidates", "run"]

# Where to put the threshold that a model fitted with folds remembers.
_SPECIFICITY = 0.9
_OPTION_OF_PARAMETER = {
    "use cv=": "use --folds ",
    "cv must": "--folds must",
    "lams must": "--lams must",
    'set background="negative"': "give --background negative",
    ", or a callable(y, scores, groups)": "",
}
_ROLES = ("group", "label", "overlap", "patient")
_FOLD_OPTIONS = ("folds", "lams", "scoring", "calibrate", "specificity")
_NOT_OPTIONS = {
    *("command", "tables", "output", *_ROLES, "features", "map", "degree", "components"),
    *("cv", "folds", "calibrate", "specificity"),
}


def run(arguments: argparse.Namespace) -> int:
    """Read, fit, save, and say how it went."""
    output = check_output(arguments.output)
    check_not_input(output, arguments.tables)
    model = _model_of(arguments)
    if getattr(model, "checkpoint", None) is not None:
        _check_checkpoint(Path(model.checkpoint), output, arguments.tables)
    about = fill_in_columns(arguments)
    require_columns(arguments, about, ("group", "label"))
    columns = {role: getattr(arguments, role) for role in _ROLES}
    with plain_warnings(), working(model.tol) as display:
        candidates = open_candidates(
            arguments.tables, display, features=arguments.features, **columns
        )
        _require_two_classes(candidates, arguments.label)
        took = fit_candidates(model, candidates, display)
        found = summary(model, candidates, took)
        notes: dict[str, Any] = {"columns": columns, "trained_on": _counts(candidates, arguments)}
        if about is not None and about.recipe is not None:
            notes["recipe"] = about.recipe
        saved = model
        if isinstance(model, GroupClassifierCV):
            point = held_out_point(model, getattr(arguments, "specificity", _SPECIFICITY))
            notes["operating_point"] = {"threshold": point.value, "chosen": point.chosen}
            found += held_out_rows(model, point)
            if "calibrate" in arguments:
                saved = CalibratedGroupClassifier.of_held_out(model, method=arguments.calibrate)
    save(saved, output, notes=notes)
    show_rows(found)
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


def _model_of(arguments: argparse.Namespace) -> Any:
    """The estimator asked for, its parameters checked before the tables are read."""
    options = _options_of(arguments)
    if arguments.cv:
        options["cv"] = getattr(arguments, "folds", 5)
        for name in ("lam", "C", "checkpoint"):
            if name in options:
                raise InputError(f"--cv chooses λ by itself, in many fits; leave out --{name}")
        with mistakes_in_options(_OPTION_OF_PARAMETER):
            metric_named(options.get("scoring", "group_roc_auc"))
            chosen_lams(options.get("lams", 10))
        _require_share(arguments)
        model = GroupClassifierCV(**options)
    else:
        for name in _FOLD_OPTIONS:
            if name in arguments:
                raise InputError(f"--{name} needs --cv: the groups that folds leave out")
        model = GroupClassifier(**options)
    with mistakes():
        check_parameters(model.get_params(deep=False))
    return model


def _require_share(arguments: argparse.Namespace) -> None:
    value = getattr(arguments, "specificity", _SPECIFICITY)
    if not 0.0 <= value <= 1.0:
        raise InputError(f"--specificity is {value:g}; it is a share, between 0 and 1")


def _counts(candidates: Candidates, arguments: argparse.Namespace) -> dict[str, Any] | None:
    """How much was trained on, for the notes of the model; None for more than two classes."""
    classes = candidates.classes
    if len(classes) > 2:
        return None
    is_positive = candidates.groups_with(classes[-1])
    return {
        "name": name_of(arguments.tables),
        "n_candidates": int(candidates.n_rows),
        "n_positive_groups": int(is_positive.sum()),
        "n_negative_groups": int((~is_positive).sum()),
        "n_patients": candidates.n_patients,
    }


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
    with (
        mistakes_in_options(_OPTION_OF_PARAMETER),
        listening(display.step, display.reading, display.status),
    ):
        candidates.fit(model)
    return time.perf_counter() - start


def _was_interrupted(model: Any) -> bool:
    solutions = model.solution_ if isinstance(model.solution_, list) else [model.solution_]
    return any(solution.interrupted for solution in solutions)
