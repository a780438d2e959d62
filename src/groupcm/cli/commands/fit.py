"""``groupcm fit``: tables of candidates in, a model out; a linear one with its certificate."""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from groupcm.cli.commands.described_columns import (
    fill_in_columns,
    measured_features,
    require_columns,
)
from groupcm.cli.commands.fit_notes import fit_notes, fold_notes
from groupcm.cli.commands.held_out import held_out_rows
from groupcm.cli.commands.inputs import Candidates, open_candidates
from groupcm.cli.options.mistakes import mistakes_in_options, positive_label
from groupcm.cli.options.model import OPTION_OF_PARAMETER, SPECIFICITY, asked_model
from groupcm.cli.output import Display, plain_warnings, print_error, print_line, show_rows, working
from groupcm.cli.summaries import certificate, summary
from groupcm.data.labels import shown_labels
from groupcm.data.tables.formats import check_not_input
from groupcm.data.tables.roles import TableDescription
from groupcm.errors import InputError, ThresholdWarning
from groupcm.estimators.adapters import takes_missing
from groupcm.estimators.calibration import CalibratedGroupClassifier
from groupcm.estimators.thresholds import held_out_groups_of
from groupcm.evaluation.leakage import warn_of_leakage, warn_of_patients
from groupcm.persistence.model_file import save
from groupcm.utils.files import check_output
from groupcm.utils.progress import listening

__all__ = ["fit_candidates", "run"]

_ROLES = ("group", "label", "overlap", "patient", "annotated", "object", "weight")
_TOL = 1e-4


def run(arguments: argparse.Namespace) -> int:
    """Read, fit, save, and say how it went."""
    output = _check_model_file(arguments.output)
    check_not_input(output, arguments.tables)
    model = asked_model(arguments)
    if getattr(model, "checkpoint", None) is not None:
        _check_checkpoint(Path(model.checkpoint), output, arguments.tables)
    about = _fill_in_columns(arguments)
    columns = {role: getattr(arguments, role) for role in _ROLES}
    with plain_warnings(), working(getattr(model, "tol", _TOL)) as display:
        candidates = open_candidates(
            arguments.tables,
            display,
            features=arguments.features,
            exclude=arguments.exclude,
            allow_missing=takes_missing(model),
            **columns,
        )
        _require_two_classes(candidates, arguments)
        _set_positive(model, candidates, arguments)
        names, some_rows = candidates.feature_names, candidates.some_rows()
        warn_of_leakage(arguments.label, *some_rows, names, measured_features(about))
        warn_of_patients(names, arguments.patient)
        took = fit_candidates(model, candidates, display)
        _tune_threshold(model, arguments)
        saved, fitted = _saved_and_fitted(model, arguments)
        found = summary(fitted, candidates, took)
        notes = fit_notes(fitted, candidates, columns, arguments.tables)
        if about is not None and about.recipe is not None:
            notes["recipe"] = about.recipe
        if held_out_groups_of(model) is not None:
            notes |= fold_notes(model, candidates, display)
            found += held_out_rows(model)
    save(saved, output, notes=notes)
    show_rows(found)
    print_line(certificate(fitted))
    print_line(f"Wrote {output}.")
    if not _was_interrupted(fitted):
        return 0
    gap = float(np.max(fitted.gap_))
    print_error(
        f"groupcm: stopped by Ctrl-C; {output} holds the best model so far, "
        f"at a certified gap of {gap:.2g}"
    )
    return 130


def _fill_in_columns(arguments: argparse.Namespace) -> TableDescription | None:
    """As the tables say; objects that they know are left out where the model has none."""
    given = arguments.object
    about = fill_in_columns(arguments)
    require_columns(arguments, about, ("group", "label"))
    needs_none = getattr(arguments, "grouping", "negative") != "negative"
    if given is not None and needs_none:
        raise InputError("--object needs --grouping negative, where each object counts by itself")
    if given is None and needs_none:
        arguments.object = None
    return about


def _tune_threshold(model: Any, arguments: argparse.Namespace) -> None:
    """Choose the threshold on the groups that folds left out, where they did."""
    if held_out_groups_of(model) is not None:
        model.tune_threshold(specificity=getattr(arguments, "specificity", SPECIFICITY))
    elif "specificity" in arguments:
        warnings.warn(
            "--specificity had no effect: no groups of both classes were left out to choose the "
            "threshold on, which stays 0.",
            ThresholdWarning,
            stacklevel=2,
        )


def _saved_and_fitted(model: Any, arguments: argparse.Namespace) -> tuple[Any, Any]:
    """What the file holds, and what was trained: the same but where probabilities are asked for."""
    is_calibrated = "calibrate" in arguments
    if isinstance(model, CalibratedGroupClassifier):
        fitted = model.estimator_
        # The folds around the trees left groups out for the threshold, too.
        fitted.threshold_, fitted.decision_ = model.threshold_, model.decision_
        return model if is_calibrated else fitted, fitted
    if not is_calibrated:
        return model, model
    return CalibratedGroupClassifier.of_held_out(model, method=arguments.calibrate), model


def _check_model_file(path: str) -> Path:
    output = Path(path)
    if output.suffix.lower() == ".onnx":
        model = output.with_suffix(".json")
        raise InputError(
            f"cannot write {output}: a fit writes a model as JSON; name it {model}, and make an "
            f"ONNX file of that with groupcm export {model} -o {output}, or groupcm.export_onnx"
        )
    return check_output(output, endings=[".json"])


def _check_checkpoint(checkpoint: Path, output: Path, tables: list[str]) -> None:
    check_not_input(check_output(checkpoint), tables)
    if checkpoint.resolve() == output.resolve():
        raise InputError(f"{output} cannot be both the model and the checkpoint; name two files")


def _require_two_classes(candidates: Candidates, arguments: argparse.Namespace) -> None:
    classes, label = candidates.classes, arguments.label
    if len(classes) > 2 and arguments.cv:
        raise InputError(
            f"--cv is for two labels, and the label column {label!r} holds {len(classes)} "
            f"({shown_labels(classes)}); leave --cv out, or make a column of one label against "
            "the rest"
        )
    if len(classes) < 2:
        raise InputError(
            f"the label column {label!r} holds {classes[0]} in every row; "
            "a fit needs two classes or more"
        )


def _set_positive(model: Any, candidates: Candidates, arguments: argparse.Namespace) -> None:
    """Let the model and its candidates know which label is positive, where that is given."""
    label = positive_label(arguments.positive, candidates.classes, arguments.label)
    candidates.pos_label = label
    part = model.estimator if isinstance(model, CalibratedGroupClassifier) else model
    part.set_params(pos_label=label)


def fit_candidates(model: Any, candidates: Candidates, display: Display) -> float:
    """Fit the model, showing progress; return the seconds it took."""
    n_features = len(candidates.feature_names)
    display.status(f"fitting {candidates.n_rows:,} rows × {n_features} features")
    start = time.perf_counter()
    with (
        mistakes_in_options(OPTION_OF_PARAMETER),
        listening(display.step, display.reading, display.status),
    ):
        candidates.fit(model)
    return time.perf_counter() - start


def _was_interrupted(model: Any) -> bool:
    solutions = getattr(model, "solution_", [])
    solutions = solutions if isinstance(solutions, list) else [solutions]
    return any(solution.interrupted for solution in solutions)
