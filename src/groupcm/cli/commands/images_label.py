"""``groupcm images label``: a table of candidates in, the same with other labels out."""

from __future__ import annotations

import argparse

from groupcm.cli.output import mistakes, plain_warnings, show_rows, working
from groupcm.cli.summaries import proposed_rows, show_written
from groupcm.images.tables.relabel import label_table

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Label the candidates, write the table, and print a summary."""
    with plain_warnings(), working() as display, mistakes():
        display.status(f"labelling {arguments.table}")
        done = label_table(
            arguments.table,
            arguments.output,
            annotations=arguments.annotations,
            images=arguments.images,
            category=arguments.category,
            overlap=arguments.overlap,
            positive_overlap=arguments.positive_overlap,
            unmarked=arguments.unmarked.replace("-", "_"),
            missing_pictures=arguments.missing_pictures,
            patients=arguments.patients,
            split=arguments.split,
        )
    show_rows(proposed_rows(done))
    show_written(done)
    return 0
