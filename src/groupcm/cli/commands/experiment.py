"""``groupcm experiment``: the paper's experiment, and what annotation buys."""

from __future__ import annotations

import argparse
from dataclasses import replace

from groupcm.cli.options.common import columns_of
from groupcm.cli.output import (
    plain_warnings,
    positive_words,
    print_line,
    running,
    show_rows,
    working,
)
from groupcm.data.tables.formats import check_not_input
from groupcm.errors import InputError
from groupcm.experiments.annotation import annotation_curve_of_tables
from groupcm.experiments.annotation_report import save_annotation
from groupcm.experiments.annotation_text import (
    against_misvm,
    annotation_notes,
    next_hundred,
    what_others_add,
)
from groupcm.experiments.output import check_folder
from groupcm.experiments.paper_report import paper_into_folder
from groupcm.experiments.paper_text import run_sentence, summary_sentence
from groupcm.experiments.sizes import SCALES, Sizes
from groupcm.simulate.definition import world_of
from groupcm.utils.extras import REPORT
from groupcm.utils.formatting import interval
from groupcm.utils.progress import announce_stage, without_steps

__all__ = ["run", "run_annotation_experiment", "run_paper_experiment"]


def run(arguments: argparse.Namespace) -> int:
    """Run the requested experiment."""
    REPORT.require()
    if arguments.experiment == "annotation":
        return run_annotation_experiment(arguments)
    sizes = SCALES[arguments.scale]
    if arguments.repeats is not None:
        if arguments.repeats < 1:
            raise InputError(f"--repeats must be at least 1; got {arguments.repeats}")
        sizes = replace(sizes, repeats=arguments.repeats)
    if arguments.further is not None:
        if arguments.further < 0:
            raise InputError(f"--further must be at least 0; got {arguments.further}")
        sizes = replace(sizes, further=arguments.further)
    if arguments.world is not None:
        sizes = replace(sizes, world=world_of(arguments.world).version)
    return run_paper_experiment(sizes, arguments)


def run_paper_experiment(sizes: Sizes, arguments: argparse.Namespace) -> int:
    """Draw, train, test, judge the claims, and write all of it into a folder."""
    folder = check_folder(arguments.output)
    with plain_warnings(), working() as display:
        found, files = paper_into_folder(
            sizes, arguments.seed, folder, keep=arguments.keep, say=display.status
        )
    for claim in found.claims:
        print_line(f"{claim.id}: {claim.statement} {claim.verdict.capitalize()}.")
    print_line(summary_sentence(found.claims))
    print_line(run_sentence(found))
    print_line(
        f"Wrote {files[0]}, claims.md, datasets.csv, results.json and the figures next to it."
    )
    return 0


def run_annotation_experiment(arguments: argparse.Namespace) -> int:
    """Read tables, draw the curve, and print the gain to expect from more annotations."""
    folder = check_folder(arguments.output)
    page = folder / "annotation.html"
    check_not_input(page, arguments.tables)
    with running(), without_steps():
        curve = annotation_curve_of_tables(
            arguments.tables,
            **columns_of(arguments),
            sizes=arguments.sizes,
            repeats=arguments.repeats,
            n_folds=arguments.folds,
            n_settings=arguments.settings,
            random_state=arguments.seed,
        )
        announce_stage("drawing the figure")
        folder.mkdir(parents=True, exist_ok=True)
        save_annotation(curve, folder, curve.name)
    print_line(positive_words(curve.labels))
    print_line(
        "Group AUC (95 % interval) by annotated positive groups: GCM, GCM with the others "
        "unannotated, MI-SVM:"
    )
    lines = zip(curve.sizes, curve.gcm, curve.with_others, curve.misvm, strict=True)
    show_rows(
        [
            (f"{size:,}", "  ".join(interval(curve.auc(values)) for values in of_size))
            for size, *of_size in lines
        ]
    )
    for note in annotation_notes(curve):
        print_line(note)
    print_line(what_others_add(curve))
    print_line(against_misvm(curve))
    print_line(next_hundred(curve))
    print_line(f"Wrote {page}, annotation.json and the figure next to it.")
    return 0
