"""The options of the commands that use tables and models, or make data.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse

from groupcm.cli.options.common import (
    TABLES,
    add_all_groups,
    add_columns,
    add_features,
    add_group_files,
    add_levels,
    add_positive,
    add_report,
    add_whole_numbers,
    names,
    number,
    numbers,
    whole,
    wholes,
)

__all__ = [
    "add_compare",
    "add_demo",
    "add_describe",
    "add_doctor",
    "add_evaluate",
    "add_experiment",
    "add_export",
    "add_score",
    "add_sort",
]

_MODEL = "a model that groupcm fit wrote"
_SAVED = "a model that groupcm fit or groupcm.save wrote"
_AS_DECIDED = "as the model decides, else "


def add_score(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm score``."""
    parser.add_argument("model", metavar="MODEL", help=_MODEL)
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=TABLES)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="SCORES",
        help="the table to write, one row per group: .parquet, .csv or .arrow",
    )
    add_all_groups(parser, "the column of --group and, if given, that of --label")
    add_group_files(parser, with_training=False)
    columns = parser.add_argument_group("columns")
    columns.add_argument("--group", metavar="COL", help="default: as in training")
    columns.add_argument("--label", metavar="COL", help="the true label, to print the group AUC")
    add_positive(
        columns,
        "the positive label of these tables, if their labels differ from those of the training",
    )
    add_levels(
        columns, "SCORES_NAME is written for each (default: as in training)", aggregate=_AS_DECIDED
    )
    add_features(columns, "default: those that the model was trained with")


def add_describe(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm describe``."""
    parser.add_argument("model", metavar="MODEL", help=_SAVED)
    parser.add_argument("--json", action="store_true", help="print the model card as JSON")
    parser.add_argument(
        "-o", "--output", metavar="CARD", help="write the model card to a file: .md or .json"
    )


def add_export(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm export``."""
    parser.add_argument("model", metavar="MODEL", help=_SAVED)
    parser.add_argument(
        "-o", "--output", required=True, metavar="ONNX", help="the file to write: .onnx"
    )
    parser.add_argument(
        "--no-groups",
        action="store_true",
        help="write a graph that scores candidates and takes no groups (see groupcm.export_onnx)",
    )


def add_doctor(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm doctor``."""
    parser.add_argument("--json", action="store_true", help="print the diagnosis as JSON")


def add_demo(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm demo``."""
    parser.add_argument(
        "-o",
        "--output",
        default="groupcm-demo",
        metavar="DIR",
        help="the folder for the files (default: %(default)s)",
    )
    parser.add_argument(
        "--tables", action="store_true", help="start from tables of candidates instead of pictures"
    )
    parser.add_argument(
        "--seed", type=whole, default=0, metavar="N", help="seed of the synthetic data (default: 0)"
    )


def add_sort(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm sort``."""
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=TABLES)
    parser.add_argument(
        "--group",
        metavar="COL",
        help="the group that a row belongs to; a table that groupcm images wrote describes it",
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="SORTED", help="the table to write: .parquet"
    )
    parser.add_argument(
        "--memory",
        default="2GB",
        metavar="SIZE",
        help="the memory to use; rows beyond it go to temporary files next to SORTED "
        "(default: %(default)s)",
    )


def add_evaluate(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm evaluate``."""
    parser.add_argument("model", metavar="MODEL", help=_MODEL)
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=TABLES)
    add_report(parser)
    parser.add_argument("--title", metavar="TEXT", help="the title of the report")
    columns = parser.add_argument_group("columns")
    for role, help in (
        ("label", "the true label (default: as in training)"),
        ("group", "the group that a row belongs to (default: as in training)"),
        ("patient", "the patient of a row, for patient-level bootstrap (default: as in training)"),
        ("object", "the object that a positive row overlaps, such as a polyp, for the FROC curve"),
        ("overlap", "how well a row overlaps the object (default: as in training, if present)"),
        (
            "annotated",
            "true or false, the same in all rows of a group: a positive group with false counts in "
            "group-level metrics only (default: as in training, if present)",
        ),
    ):
        columns.add_argument(f"--{role}", metavar="COL", help=help)
    add_positive(
        columns,
        "the positive label of these tables, if their labels differ from those of the training",
    )
    add_levels(columns, "its results are shown (default: as in training)", aggregate=_AS_DECIDED)
    columns.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="COL",
        help="show the main results for each value of this column, such as site or size; can be "
        "given again",
    )
    add_features(columns, "default: those that the model was trained with")
    add_all_groups(
        parser,
        "the columns of --group and --label, and those of --patient and --level if the tables "
        "have them",
    )
    parser.add_argument(
        "--prevalence",
        type=number,
        metavar="P",
        help="the share of positive groups where the model will be used, such as 0.01: print the "
        "precision and the negative predictive value there",
    )
    _add_objects(parser)
    pictures = parser.add_argument_group("pictures in the report")
    pictures.add_argument(
        "--images",
        metavar="FOLDER",
        help="the pictures of these tables; the cases of the report are shown with their winning "
        "candidate",
    )
    pictures.add_argument(
        "--annotations", metavar="FILE", help="the annotations of these pictures, drawn as outlines"
    )
    choice = parser.add_argument_group("threshold (default: that of the model)")
    for name, help in (
        ("specificity", "choose the threshold that keeps this specificity"),
        ("sensitivity", "choose the threshold that keeps this sensitivity"),
        (
            "false-alarms",
            "choose the lowest threshold that at most this number of rows per group reach that are "
            "not positive, such as 0.5",
        ),
        ("threshold", "use this threshold"),
    ):
        choice.add_argument(f"--{name}", type=number, metavar="S", help=help)
    choice.add_argument(
        "--confidence",
        type=number,
        metavar="C",
        help="with --validation, choose the threshold so that the target holds for new patients "
        "with this confidence",
    )
    choice.add_argument(
        "--decision-level",
        default="group",
        metavar="NAME",
        help="with --validation, what the target is about: group, or the NAME of a --level "
        "(default: %(default)s)",
    )
    choice.add_argument(
        "--validation",
        nargs="+",
        metavar="TABLE",
        help="choose the threshold on these groups instead of the evaluated ones",
    )
    parser.add_argument(
        "--train",
        nargs="+",
        metavar="TABLE",
        help="draw a learning curve: train again on more and more negative groups of these tables",
    )


def _add_objects(parser: argparse.ArgumentParser) -> None:
    found = parser.add_argument_group("objects found")
    found.add_argument(
        "--all-objects",
        metavar="TABLE",
        help="a table of all objects, one row for each group that shows one, with the columns of "
        "--object and --group, and that of --patient for groups without rows: an object that no "
        "row overlaps counts as missed",
    )
    found.add_argument(
        "--hit-rule",
        choices=("label", "overlap", "centre", "distance"),
        default="label",
        help="when a row is on an object: where its label is positive, by its overlap, where its "
        "centre is inside the object, or by the distance of the centres (default: %(default)s)",
    )
    found.add_argument(
        "--hit-column",
        metavar="COL",
        help="the column that --hit-rule centre or distance reads (default: centre_inside or "
        "centre_distance)",
    )
    found.add_argument(
        "--least-overlap",
        type=numbers,
        default=0.3,
        metavar="X,X",
        help="the overlap from which the winning row of a group, and with --hit-rule overlap any "
        "row, counts as on the object; several values give one result each (default: %(default)s)",
    )
    found.add_argument(
        "--most-distance",
        type=number,
        metavar="D",
        help="the largest distance of a hit, for --hit-rule distance",
    )
    found.add_argument(
        "--hit",
        choices=("highest_score", "best_overlap"),
        default="highest_score",
        help="which row gives an object its score, where several of one group are on it "
        "(default: %(default)s)",
    )
    found.add_argument(
        "--groups-per-second",
        "--frames-per-second",
        type=number,
        metavar="R",
        help="how fast groups are read, to state the reading time that showing only alarms saves",
    )


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm compare``."""
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=TABLES)
    add_report(parser)
    parser.add_argument("--title", metavar="TEXT", help="the title of the report")
    columns = parser.add_argument_group("columns")
    add_columns(columns, with_marks=True, with_levels=True, aggregate="")
    how = parser.add_argument_group("comparison")
    how.add_argument(
        "--models",
        type=names,
        metavar="A,B",
        help="the models to compare (default: svm,misvm,gcm-none,gcm, and trees if LightGBM is "
        "installed; also logistic, lightgbm, lightgbm-ranker, xgboost)",
    )
    add_whole_numbers(
        how,
        ("folds", 5, "number of folds, which split no group and no patient"),
        (
            "settings",
            10,
            "number of hyperparameter settings that each model tries inside the folds",
        ),
        ("max-negatives", 100_000, "largest number of negatives for models of single candidates"),
        ("seed", 0, "seed of the folds"),
    )
    how.add_argument(
        "--no-learning",
        dest="learning",
        action="store_false",
        help="leave out the learning curves over the number of negative groups",
    )


def add_experiment(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``groupcm experiment``."""
    experiments = parser.add_subparsers(metavar="EXPERIMENT", dest="experiment", required=True)
    for name, help, add in (
        ("paper", "the tables and figures of the paper, and whether its claims hold", _add_paper),
        ("annotation", "the gain to expect from annotating more groups", _add_annotation),
    ):
        described = f"Compute and draw {help}."
        add(experiments.add_parser(name, help=help, description=described, allow_abbrev=False))


def _add_paper(parser: argparse.ArgumentParser) -> None:
    _add_folder(parser)
    parser.add_argument(
        "--scale",
        choices=("small", "default", "full"),
        default="default",
        help="train on up to 1e5, 1e7 or 1e8 negatives (default: %(default)s)",
    )
    parser.add_argument(
        "--repeats",
        type=whole,
        metavar="N",
        help="number of training sets with all sizes (default: by the scale)",
    )
    parser.add_argument(
        "--further",
        type=whole,
        metavar="N",
        help="number of training sets without the largest size (default: by the scale)",
    )
    parser.add_argument(
        "--world",
        type=whole,
        metavar="VERSION",
        help="version of the synthetic candidates (default: 3; 2 has fainter polyps)",
    )
    parser.add_argument(
        "--keep", action="store_true", help="keep the files of synthetic candidates in DIR"
    )
    add_whole_numbers(parser, ("seed", 0, "seed of the synthetic candidates"))


def _add_annotation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=TABLES)
    _add_folder(parser)
    add_columns(parser.add_argument_group("columns"), with_marks=True)
    how = parser.add_argument_group("experiment")
    how.add_argument(
        "--sizes",
        type=wholes,
        metavar="N,N",
        help="numbers of annotated positive groups (default: spread over those available)",
    )
    add_whole_numbers(
        how,
        ("repeats", 5, "number of draws for each number of groups"),
        ("folds", 5, "number of folds, which split no group and no patient"),
        ("settings", 5, "number of values of λ to choose from, inside the folds"),
        ("seed", 0, "seed of the folds and the draws"),
    )


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="DIR",
        help="the folder for the page and the figures",
    )
