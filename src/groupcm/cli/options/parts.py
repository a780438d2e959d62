"""Options that several commands have, and what their values may be.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse

__all__ = [
    "TABLES",
    "add_all_groups",
    "add_columns",
    "add_features",
    "add_positive",
    "add_report",
    "add_whole_numbers",
    "count_or_numbers",
    "folds_or_share",
    "names",
    "number",
    "whole",
    "wholes",
]

TABLES = "Parquet, CSV, TSV or Arrow files, or folders of them, also as patient=7/part.parquet"


def add_columns(columns, *, with_marks: bool = False) -> None:
    """Add the columns of a table that is trained on; ``with_marks`` those of its annotation too."""
    columns.description = "A table that groupcm images made knows its columns; others need names."
    columns.add_argument("--group", metavar="COL", help="which group a row is in")
    columns.add_argument("--label", metavar="COL", help="the class of a row")
    add_positive(columns, "the positive one of two labels (default: the larger)")
    columns.add_argument(
        "--overlap", metavar="COL", help="how well a row fits the annotation (0: not at all)"
    )
    columns.add_argument(
        "--patient", metavar="COL", help="whose row it is; folds split no patient; not a feature"
    )
    if with_marks:
        _add_mark_columns(columns)
    add_features(
        columns,
        "'f*' and shape (all that begin with shape_) stand for several; default: one column of "
        "lists, or all columns not named above",
    )
    columns.add_argument(
        "--exclude",
        type=names,
        default=[],
        metavar="A,B",
        help="columns that are no features, such as labels of other tasks; 'label_*' and label "
        "(all that begin with label_) stand for several",
    )


def _add_mark_columns(columns) -> None:
    columns.add_argument(
        "--object",
        metavar="COL",
        help="which object of its group a positive row shows; each counts by its best row",
    )
    columns.add_argument(
        "--annotated",
        metavar="COL",
        help="true or false, the same in all rows of a group: false where a positive group is "
        "known as such and nobody said which of its rows show the object",
    )


def add_positive(columns, help: str) -> None:
    columns.add_argument("--positive", metavar="LABEL", help=help)


def add_features(columns, default: str) -> None:
    columns.add_argument(
        "--features", type=names, metavar="A,B", help=f"feature columns; {default}"
    )


def add_all_groups(parser: argparse.ArgumentParser, columns: str) -> None:
    parser.add_argument(
        "--all-groups",
        metavar="TABLE",
        help=f"one row per group, with {columns}: a group without candidates has the "
        "score -inf and never alarms",
    )


def add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--report",
        metavar="REPORT",
        help="page to write, .html; a folder next to it gets the figures as PNG and SVG, and the "
        "metrics of an evaluation as JSON",
    )


def add_whole_numbers(parser, *options: tuple[str, int, str]) -> None:
    """Add options of whole numbers: name, default, and what they are."""
    for name, default, help in options:
        parser.add_argument(
            f"--{name}",
            type=whole,
            default=default,
            metavar="N",
            help=f"{help} (default: %(default)s)",
        )


def count_or_numbers(text: str) -> int | list[float]:
    """Return how many, or which numbers.

    Examples
    --------
    >>> count_or_numbers("10"), count_or_numbers("0.001,0.01"), count_or_numbers("0.5")
    (10, [0.001, 0.01], [0.5])
    """
    if text.isdigit():
        return int(text)
    try:
        return [number(each) for each in names(text)]
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a whole number, how many, nor numbers between commas, such as "
            "0.001,0.01"
        ) from None


def folds_or_share(text: str) -> float:
    """A whole number of folds, or a share.

    Examples
    --------
    >>> folds_or_share("3"), folds_or_share("0.2")
    (3, 0.2)
    """
    return int(text) if text.isdigit() else number(text)


def names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} holds an empty name; write A,B,C")
    return names


def number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return value


def whole(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return value


def wholes(text: str) -> list[int]:
    """Whole numbers between commas.

    Examples
    --------
    >>> wholes("10,20,50")
    [10, 20, 50]
    """
    try:
        return [whole(each) for each in names(text)]
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"{text!r} does not hold whole numbers of at least 0 between commas, such as 10,20"
        ) from None
