"""Options that several commands share, and readers of their values.

Importing this module imports only the standard library, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse

from groupcm import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "TABLES",
    "add_all_groups",
    "add_columns",
    "add_features",
    "add_levels",
    "add_positive",
    "add_report",
    "add_whole_numbers",
    "columns_of",
    "count_or_numbers",
    "folds_or_share",
    "inputs_of",
    "names",
    "number",
    "number_or_numbers",
    "numbers",
    "tables_of",
    "whole",
    "wholes",
]

TABLES = "Parquet, CSV, TSV or Arrow files, or folders of them, also as patient=7/part.parquet"

_LONGEST_WORD = 60
# Options of one file per group only, and of tables only.
_OF_FILES = ("labels", "annotations", "category", "patch_size")
_OF_TABLES = ("overlap", "object", "annotated", "weight", "features", "levels", "all_groups")


def add_columns(
    columns, *, with_marks: bool = False, with_levels: bool = False, aggregate: str | None = None
) -> None:
    """Add the columns of a training table; ``with_marks`` adds annotation and weights.

    With ``with_levels`` there are levels; ``aggregate`` is as for `add_levels`.
    """
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
        help="the patient of a row; folds never split a patient; not used as a feature",
    )
    if with_marks:
        _add_mark_columns(columns)
    if with_levels:
        add_levels(
            columns,
            "folds never split a unit of the highest level; not used as features",
            aggregate=aggregate,
        )
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


def columns_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values of the options that `add_columns` adds, by the names of the library."""
    roles = ("group", "label", "overlap", "patient", "annotated", "object", "weight")
    found = {name: getattr(arguments, name) for name in (*roles, "features", "exclude")}
    return {**found, "pos_label": arguments.positive}


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
        "the same in all rows of a negative group; not used as a feature",
    )


def add_group_files(parser: argparse.ArgumentParser, *, with_training: bool) -> None:
    """Add the options for folders of one file of embeddings per group."""
    group = parser.add_argument_group("embeddings in one file per group")
    group.add_argument(
        "--format",
        choices=("tables", "hdf5", "npy"),
        default="tables",
        help="hdf5: TABLE is a folder of files as TRIDENT and CLAM write them; npy: a folder of "
        "one matrix per group (default: %(default)s)",
    )
    group.add_argument(
        "--labels",
        metavar="FILE",
        help="a table of one row per group, with the columns --group (default: slide), --label "
        "(default: label) and, if given, --patient",
    )
    if not with_training:
        return
    group.add_argument(
        "--annotations",
        metavar="FOLDER",
        help="GeoJSON files of QuPath with the names of the slides, or other annotations, in "
        "pixels of the full resolution",
    )
    group.add_argument(
        "--category",
        type=names,
        metavar="A,B",
        help="the categories of annotated regions that count (default: all)",
    )
    group.add_argument(
        "--patch-size",
        type=number,
        metavar="N",
        help="the sides of the patches in pixels of the full resolution, where the files lack them",
    )


def inputs_of(arguments: argparse.Namespace) -> list[str]:
    """Return the tables that a command reads; with files per group only that of the labels."""
    if arguments.format == "tables":
        return arguments.tables
    return [] if arguments.labels is None else [arguments.labels]


def tables_of(arguments: argparse.Namespace) -> Any:
    """Return the tables of a command, or the candidates of a folder of one file per group."""
    if arguments.format == "tables":
        _refuse(arguments, _OF_FILES, "--format hdf5 or npy")
        return arguments.tables
    _refuse(arguments, _OF_TABLES, "tables")
    from groupcm.sources.group_file_candidates import open_candidates

    known = {name: getattr(arguments, name, None) for name in (*_OF_FILES, "patient")}
    return open_candidates(
        arguments.tables,
        arguments.format,
        group=arguments.group,
        label=arguments.label,
        pos_label=arguments.positive,
        **known,
    )


def _refuse(arguments: argparse.Namespace, options: tuple[str, ...], what: str) -> None:
    from groupcm.errors import InputError

    for name in options:
        if getattr(arguments, name, None):
            raise InputError(f"--{name.replace('_', '-')} is for {what}; leave it out")


def add_positive(columns, help: str) -> None:
    columns.add_argument("--positive", metavar="LABEL", help=help)


def add_features(columns, default: str) -> None:
    columns.add_argument(
        "--features", type=names, metavar="A,B", help=f"feature columns; {default}"
    )


class _TakeLevel(argparse.Action):
    """Add ``NAME=COLUMN``, or ``COLUMN``, to the levels that were named before it."""

    def __call__(self, parser, namespace, values, option_string=None):
        name, _, column = str(values).partition("=")
        levels = getattr(namespace, self.dest) or {}
        if not name or (not column and "=" in str(values)):
            parser.error(f"{option_string} is {values!r}; write NAME=COLUMN, or COLUMN")
        if name in levels:
            parser.error(f"{option_string} names the level {name!r} twice; name each once")
        setattr(namespace, self.dest, {**levels, name: column or name})


def add_levels(columns, help: str, *, aggregate: str | None = None) -> None:
    """Add ``--level``, and how scores of groups make those of units.

    ``aggregate`` is what the default of that is taken from, before "max"; None leaves it out.
    """
    columns.add_argument(
        "--level",
        dest="levels",
        action=_TakeLevel,
        metavar="NAME=COL",
        help="a level above the group, such as video=video_id; give it again for each higher "
        f"level, up to the patient; {help}",
    )
    if aggregate is None:
        return
    columns.add_argument(
        "--aggregate",
        choices=("max", "kth_largest", "top_mean"),
        help="the score of a unit of a level: the largest of its groups, the K-th largest (an "
        f"alarm where at least K groups raise one), or the mean of the K largest (default: "
        f"{aggregate}max)",
    )
    columns.add_argument(
        "--top",
        dest="k",
        type=whole,
        metavar="K",
        help=f"for --aggregate (default: {aggregate}1)",
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
        help="the page to write, .html; its figures are written next to it as PNG and SVG, and all "
        "numbers as JSON",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="the file to write all numbers to, .json, in the layout that the documentation states",
    )
    parser.add_argument(
        "--unit",
        type=_word,
        default="group",
        metavar="WORD",
        help="the word for a group in the report and in what is printed, such as frame, or "
        "query/queries where the plural is irregular (default: %(default)s)",
    )


def _word(text: str) -> str:
    if not text.strip() or len(text) > _LONGEST_WORD:
        raise argparse.ArgumentTypeError(
            f"{text[:_LONGEST_WORD]!r} is not a word for a group: give one of up to "
            f"{_LONGEST_WORD} characters, such as frame"
        )
    return text.strip()


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


def number_or_numbers(text: str) -> float | list[float]:
    """Return a number, or a list of them.

    Examples
    --------
    >>> number_or_numbers("0.1"), number_or_numbers("0.05,0.1")
    (0.1, [0.05, 0.1])
    """
    return [number(each) for each in names(text)] if "," in text else number(text)


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


def numbers(text: str) -> float | list[float]:
    """Return a finite number, or several between commas.

    Examples
    --------
    >>> numbers("0.3"), numbers("0.1,0.5")
    (0.3, [0.1, 0.5])
    """
    found = [number(each) for each in names(text)]
    return found[0] if len(found) == 1 else found


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
