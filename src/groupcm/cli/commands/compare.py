"""``groupcm compare``: tables of candidates in, a report on which model tells groups apart best."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from groupcm.cli.commands.compared_tables import (
    marks_of,
    positive_class,
    read_compared,
    require_complete,
)
from groupcm.cli.options.mistakes import mistakes_in_options
from groupcm.cli.output import Display, plain_warnings, print_line, seconds, show_rows, working
from groupcm.data.tables.candidates import CandidateTable
from groupcm.data.tables.formats import check_not_input
from groupcm.errors import InputError
from groupcm.evaluation.comparison.compare_models import compare_models
from groupcm.evaluation.comparison.contender import Contender
from groupcm.evaluation.comparison.contenders import DEFAULT_NAMES, contenders
from groupcm.evaluation.comparison.results import ModelComparison, ModelResult
from groupcm.report.comparison import pair_sentence
from groupcm.report.formatting import counted, fraction, interval, percent
from groupcm.report.save import check_report, save_comparison
from groupcm.utils.text import listed

__all__ = ["run"]

_OPTION_OF_PARAMETER = {
    "use cv=": "use --folds ",
    "cv must": "--folds must",
    "n_settings": "--settings",
    "max_negatives": "--max-negatives",
}


def run(arguments: argparse.Namespace) -> int:
    """Read, compare, say who is better, and write the report where one is asked for."""
    report = _check_report(arguments)
    with mistakes_in_options(
        _OPTION_OF_PARAMETER
    ):  # before the tables are read, which may take long
        if arguments.folds < 2:
            raise ValueError(f"--folds must be at least 2; got {arguments.folds}.")
        models = contenders(
            arguments.models or DEFAULT_NAMES,
            arguments.settings,
            max_negatives=arguments.max_negatives or None,
            random_state=arguments.seed,
        )
    with plain_warnings(), working() as display:
        table = read_compared(arguments, display)
        _require_two_classes(table, arguments.label)
        _require_complete(table, models)
        found = _compare(table, models, arguments, display)
        files = []
        if report is not None:
            display.status("drawing the figures")
            files = save_comparison(found, report)
    _show(found)
    if files:
        print_line(f"Wrote {report}, and its figures as PNG and SVG in {files[-1].parent}.")
    return 0


def _check_report(arguments: argparse.Namespace) -> Path | None:
    if arguments.report is None:
        return None
    report = check_report(arguments.report)
    check_not_input(report, arguments.tables)
    return report


def _require_two_classes(table: CandidateTable, label: str) -> None:
    classes = np.unique(np.asarray(table.label))
    if len(classes) == 1:
        raise InputError(
            f"the label column {label!r} holds {classes[0]} in every row; "
            "a comparison needs two classes"
        )
    if len(classes) > 2:
        shown = ", ".join(map(str, classes[:3])) + (", …" if len(classes) > 3 else "")
        raise InputError(
            f"the label column {label!r} holds {len(classes)} classes ({shown}); a comparison "
            "needs two: make a column of one of them against the rest"
        )


def _require_complete(table: CandidateTable, models: list[Contender]) -> None:
    """Refuse missing values unless every model takes them."""
    refusing = [model.name for model in models if not model.takes_missing]
    if refusing:
        require_complete(
            table,
            f"{listed(refusing)} {'needs' if len(refusing) == 1 else 'need'}",
            "fill the values in, or compare models of trees alone, which take them: --models "
            "trees,lightgbm,xgboost",
        )


def _compare(
    table: CandidateTable, models: list[Contender], arguments: argparse.Namespace, display: Display
) -> ModelComparison:
    names = [file.name for file in table.files]
    name = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    positive = positive_class(table, arguments)
    marks = marks_of(table, arguments, positive)
    with mistakes_in_options(_OPTION_OF_PARAMETER):
        return compare_models(
            table.X,
            np.asarray(table.label),
            table.group.per_row(),
            table.overlap,
            None if table.patient is None else table.patient.per_row(),
            annotated=marks.get("annotated"),
            objects=marks.get("objects"),
            pos_label=positive,
            models=models,
            cv=arguments.folds,
            learning=arguments.learning,
            random_state=arguments.seed,
            title=arguments.title or f"Models compared on {name}",
            data_name=name,
            progress=display.status,
        )


def _show(found: ModelComparison) -> None:
    data = found.data
    groups = f"{data.n_positive_groups:,} positive and {data.n_negative_groups:,} negative groups"
    patients = "" if data.n_patients is None else f" of {counted(data.n_patients, 'patient')}"
    print_line(f"{data.n_candidates:,} candidates in {groups}{patients}.")
    print_line(
        f"Group AUC ({percent(found.level)} interval) on what each of {found.n_folds} folds by "
        f"{found.folds_by} left out, {counted(found.n_settings, 'setting')} a model:"
    )
    show_rows([(model.name, _row(model)) for model in found.models])
    for note in found.notes:
        print_line(note)
    for pair in found.pairs:
        print_line(pair_sentence(pair))


def _row(model: ModelResult) -> str:
    of_candidates = model.candidate_roc
    candidates = (
        "" if of_candidates is None else f"  candidates {fraction(of_candidates.auc.estimate)}"
    )
    return f"{interval(model.group_roc.auc)}{candidates}  {seconds(model.seconds)}"
