"""``groupcm fit``: tables of candidates in, a model out; a linear one with its certificate."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from groupcm.boosting.classifier import GroupBoostingClassifier
from groupcm.boosting.parameters import check_tree_parameters
from groupcm.cli.options.common import columns_of, inputs_of, tables_of
from groupcm.cli.options.fit import BOTH_MODELS, LINEAR_ONLY, MAP_OPTIONS, TREES_ONLY
from groupcm.cli.output import print_error, print_line, running, show_rows
from groupcm.cli.summaries import certificate, held_out_rows, summary
from groupcm.data.tables.formats import check_not_input
from groupcm.errors import InputError, ParameterError
from groupcm.estimators.calibration import CalibratedGroupClassifier
from groupcm.estimators.classifier import GroupClassifier
from groupcm.estimators.classifier_cv import GroupClassifierCV
from groupcm.estimators.hyperparameters import LINEAR, PLUGINS, check_parameters
from groupcm.estimators.path import chosen_lams
from groupcm.estimators.tables import fit_tables
from groupcm.evaluation.model_choice import choose_model, model_named, tree_validation
from groupcm.features import feature_map_named
from groupcm.persistence.model_file import save
from groupcm.report.model_card import fit_notes
from groupcm.sources.tables import read_candidates
from groupcm.utils.extras import BOOSTING
from groupcm.utils.files import check_output
from groupcm.utils.registry import unused_parameters

__all__ = ["run"]

_SHARES = ("specificity", "sensitivity", "patient_sensitivity", "confidence")
_TOL = 1e-4
_N_FOLDS = 5
_LINEAR_OPTIONS = {name: str(each.option) for name, each in LINEAR_ONLY.items()}
_LINEAR_OPTIONS |= {name: f"--{name}" for name in MAP_OPTIONS}
_TREES_OPTIONS = {name: str(each.option) for name, each in TREES_ONLY.items()}


def run(arguments: argparse.Namespace) -> int:
    """Fit the model, save it with its notes, and print how it went."""
    output = _check_model_file(arguments.output)
    check_not_input(output, inputs_of(arguments))
    if arguments.model == "auto":
        _choose_model(arguments)
    model = estimator_from(arguments)
    if getattr(model, "checkpoint", None) is not None:
        _check_checkpoint(Path(model.checkpoint), output, inputs_of(arguments))
    shares: dict[str, Any] = {name: getattr(arguments, name, None) for name in _SHARES}
    with running(getattr(model, "tol", _TOL)):
        fit = fit_tables(
            model,
            tables_of(arguments),
            **columns_of(arguments),
            **shares,
            decision_level=getattr(arguments, "decision_level", "group"),
            k=getattr(arguments, "k", 1),
            calibrate=getattr(arguments, "calibrate", None),
            levels=arguments.levels,
            place=None if arguments.place is None else model_named(arguments.place),
        )
        notes = fit_notes(fit)
    # Trees are calibrated in any case, since that leaves groups out for the threshold.
    save(fit.model if "calibrate" in arguments else fit.trained, output, notes=notes)
    show_rows(summary(fit) + held_out_rows(fit))
    print_line(certificate(fit.trained))
    print_line(f"Wrote {output}.")
    if not fit.is_interrupted:
        return 0
    print_error(
        f"groupcm: stopped by Ctrl-C; {output} holds the best model so far, "
        f"at a certified gap of {fit.gap:.2g}"
    )
    return 130


def _choose_model(arguments: argparse.Namespace) -> None:
    """Compare the linear model and trees, and continue with the better one."""
    for name, option in (_LINEAR_OPTIONS | _TREES_OPTIONS).items():
        if getattr(arguments, name, None) is not None:
            raise InputError(
                f"{option} is for one kind of model, and --model auto chooses between two; leave "
                "it out, or name the model"
            )
    with running():
        candidates = read_candidates(
            arguments.tables,
            group=arguments.group,
            label=arguments.label,
            overlap=arguments.overlap,
            patient=arguments.patient,
            annotated=arguments.annotated,
            object=arguments.object,
            weight=arguments.weight,
            features=arguments.features,
            exclude=[*arguments.exclude, *(arguments.levels or {}).values()],
        )
        candidates.name_positive(arguments.positive)
        choice = choose_model(candidates)
    print_line(f"Chose {choice}.")
    arguments.model = choice.name
    if choice.name == "trees":
        arguments.validation = tree_validation(candidates)
    # The linear model has a λ to choose, and a threshold, by folds.
    arguments.cv = arguments.cv or choice.name == "linear"


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


def estimator_from(arguments: argparse.Namespace) -> Any:
    """Return the estimator, its hyperparameters checked before any table is read.

    With ``--cv`` it has ``held_out_scores_`` when it is fitted: a `GroupClassifierCV`, or trees
    inside a `CalibratedGroupClassifier`.
    """
    _refuse_options_of_the_other_model(arguments)
    if not arguments.cv:
        needing = ["folds", "lams", "calibrate"]
        # Trees leave groups out to choose their number.
        if arguments.model == "linear" or "early_stopping" in arguments:
            needing += [*_SHARES, "decision_level"]
        for name in needing + ["scoring"] * (arguments.model == "linear"):
            if name in arguments:
                option = name.replace("_", "-")
                raise InputError(f"--{option} needs --cv: the groups that folds leave out")
    _require_share(arguments)
    return _trees(arguments) if arguments.model == "trees" else _linear(arguments)


def _refuse_options_of_the_other_model(arguments: argparse.Namespace) -> None:
    is_trees = arguments.model == "trees"
    for name, option in (_LINEAR_OPTIONS if is_trees else _TREES_OPTIONS).items():
        if getattr(arguments, name, None) is None:
            continue
        right = (
            "leave it or --model trees out" if is_trees else "leave it out, or add --model trees"
        )
        raise InputError(f"{option} is for {'the linear model' if is_trees else 'trees'}; {right}")


def _require_share(arguments: argparse.Namespace) -> None:
    for name in _SHARES:
        value = getattr(arguments, name, 0.5)
        if not 0.0 <= value <= 1.0:
            option = name.replace("_", "-")
            raise InputError(f"--{option} is {value:g}; it is a share, between 0 and 1")


def _given(arguments: argparse.Namespace, *names: Iterable[str]) -> dict[str, Any]:
    """Return the hyperparameters that options set."""
    given = {name: getattr(arguments, name) for some in names for name in some if name in arguments}
    if given.get("class_weight") == "none":
        given["class_weight"] = None
    return given


def _linear(arguments: argparse.Namespace) -> Any:
    # The same command gives the same model.
    options: dict[str, Any] = {"random_state": 0} | _given(arguments, LINEAR_ONLY, BOTH_MODELS)
    feature_map = feature_map_named(arguments.map, arguments.degree, arguments.components)
    if feature_map is not None:
        options["feature_map"] = feature_map
    if arguments.cv:
        for name in ("lam", "C", "checkpoint"):
            if name in options:
                raise InputError(f"--cv chooses λ by itself, in many fits; leave out --{name}")
        chosen_lams(options.get("lams", 10))
        model = GroupClassifierCV(**options, cv=_n_folds(arguments))
    else:
        model = GroupClassifier(**options)
    check_parameters(model.get_params(deep=False), LINEAR)
    for name, message in unused_parameters(model.get_params(deep=False), PLUGINS).items():
        if name in options:
            raise ParameterError(*message)
    return model


def _trees(arguments: argparse.Namespace) -> Any:
    BOOSTING.require()
    if "early_stopping" in arguments:
        for name in ("validation", "scoring"):
            if name in arguments:
                raise InputError(
                    f"--{name} is for choosing the number of trees, and --no-early-stopping grows "
                    "them all; leave one of them out"
                )
    trees = GroupBoostingClassifier(**_given(arguments, TREES_ONLY, BOTH_MODELS))
    check_tree_parameters(trees.get_params(deep=False))
    if not arguments.cv:
        return trees
    method = getattr(arguments, "calibrate", "sigmoid")
    return CalibratedGroupClassifier(trees, method=method, cv=_n_folds(arguments))


def _n_folds(arguments: argparse.Namespace) -> int:
    return getattr(arguments, "folds", _N_FOLDS)
