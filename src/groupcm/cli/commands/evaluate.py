"""``groupcm evaluate``: a model on groups it has not seen, in numbers and as a report."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groupcm.cli.commands.candidates import Candidates
from groupcm.cli.commands.described_columns import fill_in_columns
from groupcm.cli.commands.learning import learn_again
from groupcm.cli.commands.side_columns import read_all_groups, read_overlap
from groupcm.cli.commands.trained import TrainedColumns, name_of
from groupcm.cli.options.mistakes import mistakes_in_options, mistakes_in_positive
from groupcm.cli.output import Display, mistakes, plain_warnings, print_line, show_rows, working
from groupcm.cli.summaries import evaluation_rows
from groupcm.data.labels import label_named
from groupcm.data.tables.formats import check_not_input, find_tables
from groupcm.data.tables.roles import TableDescription
from groupcm.errors import InputError
from groupcm.estimators.thresholds import ChosenThreshold, choose_threshold
from groupcm.evaluation._evaluate import evaluate_scored
from groupcm.evaluation.results import DataCounts, Evaluation
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.scoring import require_two_classes, with_all_groups
from groupcm.persistence.model_file import SavedModel, read
from groupcm.utils.progress import listening

if TYPE_CHECKING:
    from groupcm.cli.commands.case_pictures import PictureFolder

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Read, score, evaluate, and say or write what was found."""
    report = _check_report(arguments)
    _check_threshold_options(arguments)
    pictures = _open_pictures(arguments)
    saved = read(arguments.model)
    about = fill_in_columns(arguments)
    with mistakes():
        require_two_classes(saved.model)
    with plain_warnings() as warned, working() as display:
        _warn_if_made_otherwise(saved, about, name_of(arguments.tables))
        columns = TrainedColumns(
            saved,
            arguments.model,
            group=arguments.group,
            label=arguments.label,
            patient=arguments.patient,
            features=arguments.features,
            positive=arguments.positive,
        )
        evaluation = _evaluate(saved, columns, arguments, display)
        # The page is what is passed on: it says what the terminal said.
        evaluation = replace(evaluation, cautions=tuple(dict.fromkeys(warned)))
        if report is not None:
            from groupcm.report.save import save_evaluation

            display.status("drawing the report")
            shown = None if pictures is None else pictures.draw_cases(evaluation, arguments.tables)
            save_evaluation(evaluation, report, shown)
    show_rows(evaluation_rows(evaluation))
    if report is not None:
        print_line(f"Wrote {report}.")
    return 0


def _check_report(arguments: argparse.Namespace) -> Path | None:
    if arguments.report is None:
        return None
    from groupcm.report.save import check_report

    report = check_report(arguments.report)
    tables = [*arguments.tables, *(arguments.validation or ()), *(arguments.train or ())]
    check_not_input(report, tables)
    if report.exists() and report.samefile(arguments.model):
        raise InputError(f"{report} is the model; write the report to another file")
    return report


def _open_pictures(arguments: argparse.Namespace) -> PictureFolder | None:
    if arguments.images is None:
        if arguments.annotations is not None:
            raise InputError("--annotations is drawn onto pictures; give their folder as --images")
        return None
    if arguments.report is None:
        raise InputError("--images is for the report; give --report REPORT.html too")
    from groupcm.cli.commands.case_pictures import PictureFolder

    with plain_warnings():
        return PictureFolder.open(arguments.images, arguments.annotations)


def _check_threshold_options(arguments: argparse.Namespace) -> None:
    options = ("threshold", "specificity", "sensitivity")
    given = [name for name in options if getattr(arguments, name) is not None]
    if len(given) > 1:
        raise InputError(f"--{given[0]} and --{given[1]} are both given; a threshold follows one")
    for name in given:
        value = getattr(arguments, name)
        if name != "threshold" and not 0.0 <= value <= 1.0:
            raise InputError(f"--{name} is {value:g}; it is a share, between 0 and 1")
    if arguments.validation and "threshold" in given:
        raise InputError("--validation chooses a threshold, and --threshold gives one; leave one")


def _evaluate(
    saved: SavedModel, columns: TrainedColumns, arguments: argparse.Namespace, display: Display
) -> Evaluation:
    candidates = columns.open(
        arguments.tables, display, object=arguments.object, annotated=arguments.annotated
    )
    threshold = _threshold(saved, columns, arguments, display)
    scored = _score(saved.model, candidates, display)
    noted = (saved.notes.get("columns") or {}).get("overlap")
    overlap = read_overlap(find_tables(arguments.tables), arguments.overlap, noted)
    scored = replace(scored, overlap=overlap)
    if arguments.all_groups is not None:
        listed = read_all_groups(
            arguments.all_groups,
            group=columns.group,
            label=columns.label,
            patient=None if scored.by_patient is None else columns.patient(arguments.tables),
        )
        positive = arguments.positive
        if positive is not None:
            positive = label_named(positive, list(listed.labels.values()))
        with mistakes_in_positive():
            scored = with_all_groups(saved.model, scored, listed.labels, listed.patients, positive)
    display.status("evaluating")
    with mistakes_in_options({"least_overlap": "--least-overlap"}):
        evaluation = evaluate_scored(
            saved.model,
            scored,
            threshold=threshold,
            specificity=arguments.specificity if threshold is None else None,
            sensitivity=arguments.sensitivity if threshold is None else None,
            title=arguments.title or f"{Path(arguments.model).stem} on {name_of(arguments.tables)}",
            data_name=name_of(arguments.tables),
            object_word=arguments.object or "object",
            least_overlap=arguments.least_overlap,
            trained_on=_trained_on(saved),
            notes=_notes(arguments, scored),
        )
    _warn_if_seen(_trained_on(saved), evaluation.data)
    if not arguments.train:
        return evaluation
    train = columns.open_training(arguments.train, display)
    trained_on, learning = learn_again(saved.model, train, candidates, scored, display)
    training = evaluation.training
    if training.trained_on is None:
        training = replace(training, trained_on=replace(trained_on, name=name_of(arguments.train)))
    return replace(evaluation, training=training, learning=learning)


def _score(model: Any, candidates: Candidates, display: Display) -> ScoredCandidates:
    display.status(f"scoring {candidates.n_rows:,} rows")
    with mistakes(), listening(display.step, display.reading):
        return candidates.scored(model)


def _threshold(
    saved: SavedModel, columns: TrainedColumns, arguments: argparse.Namespace, display: Display
) -> ChosenThreshold | None:
    """As given, or as chosen on validation tables; None for the model's own, or one chosen here."""
    wanted = {"specificity": arguments.specificity, "sensitivity": arguments.sensitivity}
    if arguments.validation:
        tables = arguments.validation
        validation = _score(saved.model, columns.open(tables, display), display)
        where = f"groups of {name_of(tables)}"
        is_same = not set(_resolved(tables)).isdisjoint(_resolved(arguments.tables))
        return choose_threshold(
            validation.group_positive,
            validation.group_score,
            where=where,
            is_chosen_here=is_same,
            **wanted,
        )
    return None if arguments.threshold is None else ChosenThreshold.given(arguments.threshold)


def _resolved(tables: Sequence[str]) -> list[Path]:
    return [file.resolve() for file in find_tables(tables)]


def _warn_if_seen(noted: DataCounts | None, found: DataCounts) -> None:
    """Warn where the tables have the name and the counts of those trained on."""
    if noted is None or replace(noted, n_objects=None) != replace(found, n_objects=None):
        return
    warnings.warn(
        f"{found.name} has the name and the numbers of groups and candidates that the model was "
        "trained on; on groups it has seen, every number flatters it.",
        UserWarning,
        stacklevel=2,
    )


def _warn_if_made_otherwise(saved: SavedModel, about: TableDescription | None, name: str) -> None:
    """Warn where candidates of pictures were made by another recipe than in training."""
    trained = saved.notes.get("recipe")
    if trained is None or about is None or about.recipe in (None, trained):
        return
    warnings.warn(
        f"{name} was made by another recipe of pictures (proposals, features, sizes) than the "
        "model was trained with, so that its scores may mean something else; make it with the "
        "options of the training table.",
        UserWarning,
        stacklevel=2,
    )


def _trained_on(saved: SavedModel) -> DataCounts | None:
    noted = saved.notes.get("trained_on")
    return None if noted is None else DataCounts(**noted)


def _notes(arguments: argparse.Namespace, scored: ScoredCandidates) -> dict[str, str]:
    n_clusters = len(np.unique(scored.group_clusters))
    drawn = "groups" if scored.by_patient is None else "patients"
    return {
        "Model": str(arguments.model),
        "Tables": ", ".join(map(str, arguments.tables)),
        "Intervals": f"95 %, from drawing {n_clusters:,} {drawn} again and again",
    }
