"""The options of ``groupcm plan``.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse

from groupcm.cli.options.common import TABLES, add_positive, add_whole_numbers, number

__all__ = ["add_plan"]


def add_plan(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm plan``."""
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=f"the pilot: {TABLES}")
    parser.add_argument(
        "--score",
        required=True,
        metavar="COL",
        help="the column of scores, or a MODEL.json that scores the tables",
    )
    parser.add_argument(
        "--other",
        metavar="COL",
        help="the scores, or the MODEL.json, of another model, to compare with",
    )
    columns = parser.add_argument_group("columns (default: as in the training of a MODEL.json)")
    for role, help in (
        ("label", "the true label"),
        ("group", "the group that a row belongs to (default: each row is one)"),
        ("patient", "the patient of a row (default: each group is one)"),
    ):
        columns.add_argument(f"--{role}", metavar="COL", help=help)
    add_positive(columns, "the positive label")
    goal = parser.add_argument_group("goal (one of the two)")
    goal.add_argument(
        "--width",
        type=number,
        metavar="W",
        help="the width of the confidence interval, such as 0.1",
    )
    goal.add_argument(
        "--power",
        type=number,
        metavar="P",
        help="the share of studies that find the difference from --other, such as 0.8",
    )
    goal.add_argument(
        "--difference",
        type=number,
        metavar="D",
        help="the difference to find (default: that of the pilot, which is often too large)",
    )
    goal.add_argument(
        "--metric",
        choices=(
            "group_roc_auc",
            "group_average_precision",
            "sensitivity_at_specificity",
            "sensitivity",
            "specificity",
        ),
        default="group_roc_auc",
        help="the metric; sensitivity and specificity are those at --threshold (default: "
        "%(default)s)",
    )
    goal.add_argument("--threshold", type=number, metavar="T", help="default: that of a MODEL.json")
    goal.add_argument(
        "--at-specificity",
        type=number,
        default=0.9,
        metavar="S",
        help="for sensitivity_at_specificity (default: %(default)s)",
    )
    goal.add_argument(
        "--confidence",
        dest="level",
        type=number,
        default=0.95,
        metavar="C",
        help="the confidence level of intervals; differences are tested at 1 - C (default: "
        "%(default)s)",
    )
    add_whole_numbers(
        parser,
        ("most", 100_000, "largest number of patients to try"),
        ("studies", 2000, "number of studies drawn for each number of patients"),
        ("seed", 0, "seed of the studies"),
    )
    parser.add_argument("-o", "--output", metavar="PLAN", help="write the numbers to a file, .json")
    parser.add_argument(
        "--plot", metavar="FIGURE", help="draw the curve into a file: .png, .svg or .pdf"
    )
