"""The options of ``groupcm recalibrate``.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse

from groupcm.cli.options.common import add_features, add_positive, number
from groupcm.cli.options.pictures import add_processes

__all__ = ["add_recalibrate"]


def add_recalibrate(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm recalibrate``."""
    parser.description = (
        "Set the threshold of a model from new data. Unlabelled data need --alarm-rate, or "
        "--specificity with --prevalence; labelled data have --label or --annotations. The model "
        "itself does not change."
    )
    parser.add_argument("model", metavar="MODEL", help="a model that groupcm fit wrote")
    parser.add_argument(
        "new",
        nargs="+",
        metavar="NEW",
        help="tables of candidates, or one folder of pictures",
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="MODEL", help="the model file to write: .json"
    )
    goal = parser.add_argument_group("goal")
    for name, help in (
        ("alarm-rate", "the share of groups that may raise an alarm"),
        ("specificity", "the specificity to keep (default: that of the model's threshold)"),
        ("sensitivity", "the sensitivity to keep, on labelled groups"),
        (
            "false-alarms",
            "the largest number of rows per group that are not positive and raise an alarm, on "
            "labelled tables",
        ),
        ("prevalence", "the share of positive groups among unlabelled ones, for --specificity"),
        ("confidence", "keep the target for new patients with this confidence (labelled groups)"),
    ):
        goal.add_argument(f"--{name}", type=number, metavar="X", help=help)
    tables = parser.add_argument_group("tables")
    tables.add_argument("--group", metavar="COL", help="the group that a row belongs to")
    tables.add_argument("--label", metavar="COL", help="the label of a row, where it is known")
    tables.add_argument("--patient", metavar="COL", help="the patient of a row")
    add_positive(tables, "the positive label, where labels differ from the model's")
    add_features(tables, "default: those of the model, by name")
    pictures = parser.add_argument_group("pictures")
    pictures.add_argument(
        "--annotations", metavar="FILE", help="annotations of some of the pictures, in any format"
    )
    pictures.add_argument(
        "--patients",
        metavar="CSV|REGEX|folders",
        help="the patients of annotated pictures; see groupcm images train --help",
    )
    pictures.add_argument(
        "--unannotated",
        choices=("leave_out", "negative"),
        default="leave_out",
        help="pictures that the annotations do not mention (default: %(default)s)",
    )
    pictures.add_argument(
        "--network",
        action="append",
        default=[],
        metavar="FILE",
        help="a network that the model needs and does not contain",
    )
    add_processes(pictures)
