"""``groupcm compare``: tables of candidates in, a report that compares models."""

from __future__ import annotations

import argparse
from pathlib import Path

from groupcm.cli.options.common import columns_of
from groupcm.cli.output import positive_words, print_line, running, seconds, show_rows
from groupcm.data.tables.formats import check_not_input
from groupcm.evaluation.comparison.contenders import DEFAULT_NAMES
from groupcm.evaluation.comparison.document import comparison_document
from groupcm.evaluation.comparison.results import LevelComparison, ModelComparison, ModelResult
from groupcm.evaluation.comparison.tables import compare_tables
from groupcm.evaluation.documents import check_document, save_document
from groupcm.report.comparison import pair_sentence
from groupcm.report.save import check_report, save_comparison
from groupcm.utils.formatting import (
    capitalised,
    counted,
    fraction,
    interval,
    percent,
    plural,
    singular,
)
from groupcm.utils.progress import announce_stage, without_steps
from groupcm.utils.text import printable

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Compare the models, write the report if one is requested, and print the result."""
    report, document = _check_report(arguments), _check_document(arguments)
    with running(), without_steps():
        found = compare_tables(
            arguments.tables,
            **columns_of(arguments),
            models=arguments.models or DEFAULT_NAMES,
            cv=arguments.folds,
            n_settings=arguments.settings,
            max_negatives=arguments.max_negatives or None,
            learning=arguments.learning,
            random_state=arguments.seed,
            title=arguments.title,
            levels=arguments.levels,
            aggregate=arguments.aggregate or "max",
            k=1 if arguments.k is None else arguments.k,
            unit=arguments.unit,
        )
        files = []
        if report is not None:
            announce_stage("drawing the figures")
            files = save_comparison(found, report)
        if document is not None:
            save_document(comparison_document(found), document)
    _show(found)
    if files:
        print_line(f"Wrote {report}, and its figures as PNG and SVG in {files[-1].parent}.")
    if document is not None:
        print_line(f"Wrote {document}.")
    return 0


def _check_report(arguments: argparse.Namespace) -> Path | None:
    if arguments.report is None:
        return None
    report = check_report(arguments.report)
    check_not_input(report, arguments.tables)
    return report


def _check_document(arguments: argparse.Namespace) -> Path | None:
    if arguments.json is None:
        return None
    document = check_document(arguments.json)
    check_not_input(document, arguments.tables)
    return document


def _show(found: ModelComparison) -> None:
    print_line(positive_words(found.labels))
    data = found.data
    groups = f"{data.n_positive_groups:,} positive and {data.n_negative_groups:,} negative "
    groups += plural(found.unit)
    patients = "" if data.n_patients is None else f" of {counted(data.n_patients, 'patient')}"
    print_line(f"{data.n_candidates:,} candidates in {groups}{patients}.")
    print_line(
        f"{capitalised(singular(found.unit))} AUC ({percent(found.level)} interval) on what each "
        f"of {found.n_folds} folds by {found.folds_by} left out, "
        f"{counted(found.n_settings, 'setting')} per model:"
    )
    show_rows([(model.name, _row(model)) for model in found.models])
    for note in found.notes:
        print_line(note)
    for pair in found.pairs:
        print_line(pair_sentence(pair, found.level))
    for level in found.levels:
        _show_level(level, found.level)


def _show_level(found: LevelComparison, confidence: float) -> None:
    if found.note is not None:  # which was a warning already
        return
    name, names = (printable(form(found.name)) for form in (singular, plural))
    print_line(
        f"{capitalised(name)} AUC of {found.n_positive:,} positive and {found.n_negative:,} "
        f"negative {names}:"
    )
    show_rows([(model, interval(roc.auc)) for model, roc in found.rocs.items()])
    for pair in found.pairs:
        print_line(pair_sentence(pair, confidence))


def _row(model: ModelResult) -> str:
    of_candidates = model.candidate_roc
    candidates = (
        "" if of_candidates is None else f"  candidates {fraction(of_candidates.auc.estimate)}"
    )
    return f"{interval(model.group_roc.auc)}{candidates}  {seconds(model.seconds)}"
