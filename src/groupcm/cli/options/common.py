"""Options that several commands share, readers of their values, and the names of arguments.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
from contextvars import ContextVar

from groupcm import TYPE_CHECKING
from groupcm.errors import Argument, FileName, Message
from groupcm.estimators.hyperparameters import LINEAR, TREES

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    "in_options",
    "name_options",
    "names",
    "number",
    "whole",
    "wholes",
]

TABLES = "Parquet, CSV, TSV or Arrow files, or folders of them, also as patient=7/part.parquet"

# Parameters of Python whose option has another name, in the commands that have that option.
_OTHER_NAMES = {
    "cv": "--folds",
    "n_files": "--files",
    "n_folds": "--folds",
    "n_negative": "--negatives",
    "n_positive": "--positives",
    "n_settings": "--settings",
    "pos_label": "--positive",
    "sample_weight": "--weight",
}
_OF_FIT = {each.name: each.option for each in (*TREES, *LINEAR) if each.option is not None}
_options: ContextVar[Mapping[str, str]] = ContextVar("options", default={})  # noqa: B039


def name_options(parser: argparse.ArgumentParser) -> None:
    """Let `in_options` name the options of this parser from now on.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> _ = parser.add_argument("--min-overlap")
    >>> name_options(parser)
    >>> in_options(Message("lower ", Argument("min_overlap"), ", or raise ", Argument("lam")))
    'lower --min-overlap, or raise --lam of groupcm fit'
    """
    actions = parser._actions
    found = {each.dest: each.option_strings[-1] for each in actions if each.option_strings}
    others = {name: option for name, option in _OTHER_NAMES.items() if option in found.values()}
    _options.set(found | others)


def in_options(message: BaseException) -> str:
    """Return the message of an error or a warning, with options where Python has parameters.

    A parameter of an estimator that the running command has no option for is named by the option
    of ``groupcm fit``.
    """
    return message.message(_option) if isinstance(message, Message) else str(message)


def _option(argument: Argument | FileName) -> str:
    if isinstance(argument, FileName):
        return str(argument)
    options, name = _options.get(), argument.name
    option = options.get(name)
    if option is None:
        if name not in _OF_FIT:
            return str(argument)
        return f"{_with_value(_OF_FIT[name], argument)} of groupcm fit"
    return _with_value(option, argument)


def _with_value(option: str, argument: Argument) -> str:
    if argument.value is ... or isinstance(argument.value, bool):
        return option
    if argument.value is None:
        return f"no {option}"
    from shlex import quote

    if isinstance(argument.value, list):
        return f"{option} {quote(','.join(map(str, argument.value)))}"
    return f"{option} {quote(argument.shown_value)}"


def add_columns(columns, *, with_marks: bool = False) -> None:
    """Add the columns of a training table; ``with_marks`` adds annotation and weights."""
    columns.description = (
        "A table that groupcm images wrote describes its own columns; other tables need them here."
    )
    columns.add_argument("--group", metavar="COL", help="the group that a row belongs to")
    columns.add_argument("--label", metavar="COL", help="the label of a row")
    add_positive(columns, "the positive one of two labels (default: the larger)")
    columns.add_argument(
        "--overlap", metavar="COL", help="how well a row overlaps the annotation (0: not at all)"
    )
    columns.add_argument(
        "--patient",
        metavar="COL",
        help="the patient of a row; folds split no patient; not a feature",
    )
    if with_marks:
        _add_mark_columns(columns)
    add_features(
        columns,
        "'f*' and shape (all names that begin with shape_) select several; default: one column "
        "of lists, or all columns that are not named above",
    )
    columns.add_argument(
        "--exclude",
        type=names,
        default=[],
        metavar="A,B",
        help="columns that are not features, such as labels of other tasks; 'label_*' and label "
        "(all names that begin with label_) select several",
    )


def _add_mark_columns(columns) -> None:
    columns.add_argument(
        "--object",
        metavar="COL",
        help="the object of its group that a positive row shows; each object counts by its best "
        "row",
    )
    columns.add_argument(
        "--annotated",
        metavar="COL",
        help="true or false, the same in all rows of a group: false for a positive group without "
        "an annotation of the rows that show the object",
    )
    columns.add_argument(
        "--weight",
        metavar="COL",
        help="how much a row counts in groupcm fit (2: as if it were there twice, 0: not at all), "
        "the same in all rows of a negative group; not a feature",
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
        help=f"a table of all groups, one row per group, with {columns}: a group without "
        "candidates has the score -inf and never raises an alarm",
    )


def add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--report",
        metavar="REPORT",
        help="the page to write, .html; its figures are written next to it as PNG and SVG, and the "
        "metrics of an evaluation as JSON",
    )


def add_whole_numbers(parser, *options: tuple[str, int, str]) -> None:
    """Add options whose values are whole numbers, from their names, defaults and help."""
    for name, default, help in options:
        parser.add_argument(
            f"--{name}",
            type=whole,
            default=default,
            metavar="N",
            help=f"{help} (default: %(default)s)",
        )


def count_or_numbers(text: str) -> int | list[float]:
    """Return a count, or a list of numbers.

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
    """Return a whole number of folds, or a share.

    Examples
    --------
    >>> folds_or_share("3"), folds_or_share("0.2")
    (3, 0.2)
    """
    return int(text) if text.isdigit() else number(text)


def names(text: str) -> list[str]:
    """Return the names between commas."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} holds an empty name; write A,B,C")
    return names


def number(text: str) -> float:
    """Return a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return value


def whole(text: str) -> int:
    """Return a whole number of at least 0."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return value


def wholes(text: str) -> list[int]:
    """Return the whole numbers between commas.

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
