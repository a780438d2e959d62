"""``groupcm evaluate``: a model on groups it has not seen, in numbers and as a report."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from groupcm.cli.output import mistakes, plain_warnings, print_line, show_rows, working
from groupcm.cli.summaries import evaluation_rows
from groupcm.data.tables.formats import check_not_input
from groupcm.errors import InputError
from groupcm.evaluation.documents import check_document, evaluation_document, save_document
from groupcm.evaluation.table_evaluation import evaluate_tables
from groupcm.persistence.model_file import read
from groupcm.utils.progress import announce_stage, listening

if TYPE_CHECKING:
    from groupcm.report.picture_folder import PictureFolder

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Evaluate the model, write the report, and print the main numbers."""
    report, document = _check_report(arguments), _check_document(arguments)
    pictures = _open_pictures(arguments)
    with (
        plain_warnings() as warned,
        working() as display,
        mistakes(),
        listening(display.step, display.reading, display.status),
    ):
        evaluation = evaluate_tables(
            read(arguments.model),
            arguments.tables,
            group=arguments.group,
            label=arguments.label,
            patient=arguments.patient,
            overlap=arguments.overlap,
            annotated=arguments.annotated,
            object=arguments.object,
            features=arguments.features,
            pos_label=arguments.positive,
            all_groups=arguments.all_groups,
            all_objects=arguments.all_objects,
            threshold=arguments.threshold,
            specificity=arguments.specificity,
            sensitivity=arguments.sensitivity,
            false_alarms=arguments.false_alarms,
            confidence=arguments.confidence,
            decision_level=arguments.decision_level,
            validation=arguments.validation,
            train=arguments.train,
            least_overlap=arguments.least_overlap,
            hit_rule=arguments.hit_rule,
            hit_column=arguments.hit_column,
            hit=arguments.hit,
            most_distance=arguments.most_distance,
            groups_per_second=arguments.groups_per_second,
            title=arguments.title,
            name=arguments.model,
            levels=arguments.levels,
            by=arguments.by,
            aggregate=arguments.aggregate,
            k=arguments.k,
            prevalence=arguments.prevalence,
            unit=arguments.unit,
        )
        # The page is what is passed on: it shows the warnings that the terminal showed.
        evaluation = replace(evaluation, cautions=tuple(dict.fromkeys(warned)))
        if report is not None:
            from groupcm.report.save import save_evaluation

            announce_stage("drawing the report")
            shown = None if pictures is None else pictures.draw_cases(evaluation, arguments.tables)
            save_evaluation(evaluation, report, shown)
        if document is not None:
            save_document(evaluation_document(evaluation), document)
    show_rows(evaluation_rows(evaluation))
    for written in (report, document):
        if written is not None:
            print_line(f"Wrote {written}.")
    return 0


def _check_report(arguments: argparse.Namespace) -> Path | None:
    if arguments.report is None:
        return None
    from groupcm.report.save import check_report

    return _check_not_read(check_report(arguments.report), "the report", arguments)


def _check_document(arguments: argparse.Namespace) -> Path | None:
    if arguments.json is None:
        return None
    return _check_not_read(check_document(arguments.json), "the numbers", arguments)


def _check_not_read(path: Path, what: str, arguments: argparse.Namespace) -> Path:
    """Raise where a file to write is one that is read."""
    tables = [*arguments.tables, *(arguments.validation or ()), *(arguments.train or ())]
    check_not_input(path, tables)
    if path.exists() and path.samefile(arguments.model):
        raise InputError(f"{path} is the model; write {what} to another file")
    return path


def _open_pictures(arguments: argparse.Namespace) -> PictureFolder | None:
    if arguments.images is None:
        if arguments.annotations is not None:
            raise InputError("--annotations is drawn onto pictures; give their folder as --images")
        return None
    if arguments.report is None:
        raise InputError("--images is for the report; give --report REPORT.html too")
    from groupcm.report.picture_folder import PictureFolder

    with plain_warnings():
        return PictureFolder.open(arguments.images, arguments.annotations)
