"""The options of the commands that tell how good models are.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse

from groupcm.cli.options.parts import (
    TABLES,
    add_all_groups,
    add_columns,
    add_features,
    add_positive,
    add_report,
    add_whole_numbers,
    names,
    number,
    whole,
    wholes,
)

__all__ = ["add_compare", "add_evaluate", "add_experiment"]


def add_evaluate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="model written by groupcm fit")
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=TABLES)
    add_report(parser)
    parser.add_argument("--title", metavar="TEXT", help="of the report")
    columns = parser.add_argument_group("columns")
    for role, help in (
        ("label", "the truth (default: as in training)"),
        ("group", "default: as in training"),
        ("patient", "whose row it is; intervals draw patients (default: as in training)"),
        ("object", "which object a positive row lies on, such as the polyp, for the FROC curve"),
        ("overlap", "how well a row fits the object (default: as in training, where it is there)"),
        (
            "annotated",
            "true or false, the same in all rows of a group: where it is false, a positive group "
            "counts in numbers of groups alone (default: as in training, where it is there)",
        ),
    ):
        columns.add_argument(f"--{role}", metavar="COL", help=help)
    add_positive(
        columns,
        "the positive label of these tables, where their labels are others than in training",
    )
    columns.add_argument(
        "--least-overlap",
        type=number,
        default=0.3,
        metavar="X",
        help="from this overlap on, a winner lies on the object (default: %(default)s)",
    )
    add_features(columns, "default: by the names the model was trained with")
    add_all_groups(
        parser,
        "the columns of --group and --label, and that of --patient where the tables have patients",
    )
    pictures = parser.add_argument_group("pictures in the report")
    pictures.add_argument(
        "--images",
        metavar="FOLDER",
        help="the pictures of these tables: those to look at are shown with their winner",
    )
    pictures.add_argument(
        "--annotations", metavar="FILE", help="what people marked in them, outlined beside it"
    )
    choice = parser.add_argument_group("threshold (default: that of the model)")
    for name, help in (
        ("specificity", "the threshold that keeps this specificity"),
        ("sensitivity", "the threshold that keeps this sensitivity"),
        ("threshold", "this one"),
    ):
        choice.add_argument(f"--{name}", type=number, metavar="S", help=help)
    choice.add_argument(
        "--validation",
        nargs="+",
        metavar="TABLE",
        help="choose it on these groups, not on those evaluated",
    )
    parser.add_argument(
        "--train",
        nargs="+",
        metavar="TABLE",
        help="train again on ever more negative groups of these tables: a learning curve",
    )


def add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=TABLES)
    add_report(parser)
    parser.add_argument("--title", metavar="TEXT", help="of the report")
    add_columns(parser.add_argument_group("columns"), with_marks=True)
    how = parser.add_argument_group("comparison")
    how.add_argument(
        "--models",
        type=names,
        metavar="A,B",
        help="which (default: svm,misvm,gcm-none,gcm, and trees where LightGBM is installed; also "
        "logistic, lightgbm, lightgbm-ranker, xgboost)",
    )
    add_whole_numbers(
        how,
        ("folds", 5, "folds that split no group and no patient"),
        ("settings", 10, "settings that each model may choose from, inside the folds"),
        ("max-negatives", 100_000, "negatives that models of single candidates train on"),
        ("seed", 0, "of the folds"),
    )
    how.add_argument(
        "--no-learning",
        dest="learning",
        action="store_false",
        help="leave out the learning curves over negative groups",
    )


def add_experiment(parser: argparse.ArgumentParser) -> None:
    experiments = parser.add_subparsers(metavar="EXPERIMENT", dest="experiment", required=True)
    for name, help, add in (
        ("paper", "the paper's tables and figures, and which of its claims hold", _add_paper),
        ("annotation", "what the next annotated groups would buy", _add_annotation),
    ):
        described = f"Draw {help}."
        add(experiments.add_parser(name, help=help, description=described, allow_abbrev=False))


def _add_paper(parser: argparse.ArgumentParser) -> None:
    _add_folder(parser)
    parser.add_argument(
        "--scale",
        choices=("small", "default", "full"),
        default="default",
        help="up to 1e5, 1e7 or 1e8 negatives to train on (default: %(default)s)",
    )
    parser.add_argument(
        "--repeats", type=whole, metavar="N", help="training sets drawn (default: by the scale)"
    )
    parser.add_argument(
        "--keep", action="store_true", help="leave the made candidates in DIR where they are files"
    )
    add_whole_numbers(parser, ("seed", 0, "of the made candidates"))


def _add_annotation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=TABLES)
    _add_folder(parser)
    add_columns(parser.add_argument_group("columns"), with_marks=True)
    how = parser.add_argument_group("experiment")
    how.add_argument(
        "--sizes",
        type=wholes,
        metavar="N,N",
        help="numbers of annotated positive groups (default: spread over what there is)",
    )
    add_whole_numbers(
        how,
        ("repeats", 5, "draws of so many groups"),
        ("folds", 5, "folds that split no group and no patient"),
        ("settings", 5, "λ to choose from, inside the folds"),
        ("seed", 0, "of folds and draws"),
    )


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="folder for the page and the figures"
    )
