"""The options of the commands that score, describe and export models, and make data.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse

from groupcm.cli.options.parts import (
    TABLES,
    add_all_groups,
    add_features,
    add_positive,
    add_whole_numbers,
    whole,
)

__all__ = ["add_demo", "add_describe", "add_export", "add_score", "add_simulate", "add_sort"]


def add_score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="model written by groupcm fit")
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=TABLES)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="SCORES",
        help="table to write, a row a group: .parquet, .csv or .arrow",
    )
    add_all_groups(parser, "the column of --group and, where it is given, that of --label")
    columns = parser.add_argument_group("columns")
    columns.add_argument("--group", metavar="COL", help="default: as in training")
    columns.add_argument("--label", metavar="COL", help="the truth, to print the group AUC")
    add_positive(
        columns,
        "the positive label of these tables, where their labels are others than in training",
    )
    add_features(columns, "default: by the names the model was trained with")


def add_describe(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="model written by groupcm fit, or save")
    parser.add_argument("--json", action="store_true", help="print the card as JSON")
    parser.add_argument(
        "-o", "--output", metavar="CARD", help="write the card to a file instead: .md or .json"
    )


def add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="model written by groupcm fit, or save")
    parser.add_argument(
        "-o", "--output", required=True, metavar="ONNX", help="file to write: .onnx"
    )
    parser.add_argument(
        "--no-groups",
        action="store_true",
        help="a graph that scores candidates and takes no groups (see groupcm.export_onnx)",
    )


def add_demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        default="groupcm-demo",
        metavar="DIR",
        help="folder for the files (default: %(default)s)",
    )
    parser.add_argument(
        "--tables", action="store_true", help="begin with tables of candidates, not with pictures"
    )
    parser.add_argument(
        "--seed", type=whole, default=0, metavar="N", help="of the made data (default: 0)"
    )


def add_sort(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=TABLES)
    parser.add_argument(
        "--group",
        metavar="COL",
        help="which group a row is in; a table that groupcm images made knows it",
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="SORTED", help="table to write: .parquet"
    )
    parser.add_argument(
        "--memory",
        default="2GB",
        metavar="SIZE",
        help="beyond it, rows go to temporary files beside SORTED (default: %(default)s)",
    )


def add_simulate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", required=True, metavar="OUT", help="file, or folder with --files"
    )
    add_whole_numbers(
        parser,
        ("negatives", 2000, "groups without a polyp"),
        ("positives", 293, "groups with a polyp"),
        ("group-size", 200, "mean number of rows a group"),
        ("files", 1, "files to write; more than one go into the folder OUT"),
        ("seed", 0, "another seed makes other patients"),
    )
    parser.add_argument(
        "--layout",
        choices=("wide", "list"),
        default="wide",
        help="a column a feature, or one column of lists (default: %(default)s)",
    )
