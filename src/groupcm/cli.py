"""The command ``groupcm``: options, and which command gets them.

Only the standard library is imported here, so that ``--help`` answers at
once; what a command needs is imported when it runs.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from importlib import import_module

from groupcm import TYPE_CHECKING, __version__
from groupcm.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

__all__ = ["build_parser", "main"]

_TABLES = "Parquet, CSV or Arrow files, or folders of them"


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Help as wide as the terminal; argparse itself would import archive formats to find out."""
    try:
        width = int(os.environ.get("COLUMNS", "")) or 80
    except ValueError:
        try:
            width = os.get_terminal_size().columns or 80
        except OSError:
            width = 80
    return argparse.HelpFormatter(prog, width=width - 2)


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint is one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_formatter, **options)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def build_parser() -> argparse.ArgumentParser:
    """Describe every command and option.

    Examples
    --------
    >>> build_parser().parse_args(["demo", "-o", "here"]).output
    'here'
    """
    parser = _Parser(
        prog="groupcm",
        description="Classify groups of candidates, trained to a certified optimum.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"groupcm {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_fit(_command(commands, "fit", "train a model on tables of candidates"))
    _add_score(_command(commands, "score", "score the groups of tables with a model"))
    _add_demo(_command(commands, "demo", "simulate, train, score and explain; no data needed"))
    _add_sort(_command(commands, "sort", "bring the rows of every group together"))
    _add_simulate(_command(commands, "simulate", "write made candidates to Parquet"))
    return parser


def _command(commands, name: str, help: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name, help=help, description=help[0].upper() + help[1:] + ".", allow_abbrev=False
    )
    parser.set_defaults(command=name)
    return parser


def _add_fit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=_TABLES)
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="model to write")
    columns = parser.add_argument_group("columns")
    columns.add_argument("--group", required=True, metavar="COL", help="which group a row is in")
    columns.add_argument("--label", required=True, metavar="COL", help="the class of a row")
    columns.add_argument(
        "--overlap", metavar="COL", help="how well a row fits the annotation (0: not at all)"
    )
    columns.add_argument("--patient", metavar="COL", help="whose row it is; not a feature")
    _add_features(columns, "default: all columns not named above, which must hold numbers")
    _add_estimator_options(parser.add_argument_group("model (see GroupClassifier)"))


def _add_estimator_options(model) -> None:
    """Add what GroupClassifier takes; what is not given keeps the estimator's own default."""
    options: list[tuple[str, Callable[[str], object] | tuple[str, ...], str]] = [
        ("lam", _number, "weight of the loss against the penalty, between 0 and 1"),
        ("C", _number, "weight of the loss in the SVM's form; --lam is then not used"),
        ("loss", ("smoothed_hinge", "hinge"), "loss of a margin"),
        ("delta", _number, "half-width of the smoothed hinge's bend"),
        ("penalty", ("huber", "l2", "l1"), "penalty of the weights"),
        ("epsilon", _number, "where the Huber penalty turns from square to linear"),
        ("grouping", ("negative", "both", "none"), "which groups count once, by their worst row"),
        ("background", ("ignore", "negative"), "the other rows of a positive group"),
        ("min-overlap", _number, "leave out positive groups that fit worse than this"),
        ("solver", ("working_set", "lbfgs"), "algorithm"),
        ("tol", _number, "stop at this certified relative gap"),
        ("max-passes", _number, "stop after reading the rows this often"),
        ("random-state", _whole, "seed of what is random"),
    ]
    for name, kind, help in options:
        keywords = {"choices": kind} if isinstance(kind, tuple) else {"type": kind, "metavar": "N"}
        model.add_argument(f"--{name}", default=argparse.SUPPRESS, help=help, **keywords)
    model.add_argument(
        "--no-standardize",
        dest="standardize",
        action="store_false",
        default=argparse.SUPPRESS,
        help="take the features as they are, not on one scale",
    )


def _add_score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="model written by groupcm fit")
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=_TABLES)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="SCORES",
        help="table to write, a row a group: .parquet, .csv or .arrow",
    )
    columns = parser.add_argument_group("columns")
    columns.add_argument("--group", metavar="COL", help="default: as in training")
    columns.add_argument("--label", metavar="COL", help="the truth, to print the group AUC")
    _add_features(columns, "default: by the names the model was trained with")


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        default="groupcm-demo",
        metavar="DIR",
        help="folder for the files (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=_whole, default=0, metavar="N", help="of the made data (default: 0)"
    )


def _add_sort(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tables", nargs="+", metavar="TABLE", help=_TABLES)
    parser.add_argument("--group", required=True, metavar="COL", help="which group a row is in")
    parser.add_argument(
        "-o", "--output", required=True, metavar="SORTED", help="table to write: .parquet"
    )
    parser.add_argument(
        "--memory",
        default="2GB",
        metavar="SIZE",
        help="beyond it, rows go to temporary files beside SORTED (default: %(default)s)",
    )


def _add_simulate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", required=True, metavar="OUT", help="file, or folder with --files"
    )
    for name, default, help in (
        ("negatives", 2000, "groups without a polyp"),
        ("positives", 293, "groups with a polyp"),
        ("group-size", 200, "mean number of rows a group"),
        ("files", 1, "files to write; more than one go into the folder OUT"),
        ("seed", 0, "another seed makes other patients"),
    ):
        parser.add_argument(
            f"--{name}",
            type=_whole,
            default=default,
            metavar="N",
            help=f"{help} (default: %(default)s)",
        )
    parser.add_argument(
        "--layout",
        choices=("wide", "list"),
        default="wide",
        help="a column a feature, or one column of lists (default: %(default)s)",
    )


def _add_features(columns, default: str) -> None:
    columns.add_argument(
        "--features", type=_names, metavar="A,B", help=f"feature columns; {default}"
    )


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} holds an empty name; write A,B,C")
    return names


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return value


def _whole(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return value


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, 2 for a user's mistake, 130 for Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show "×" shows "?" instead of ending in an error.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    arguments = build_parser().parse_args(argv)
    try:
        return import_module(f"groupcm.commands.{arguments.command}").run(arguments)
    except KeyboardInterrupt:
        print("groupcm: stopped by Ctrl-C", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output left (as in `groupcm demo | head`): nothing to complain about.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (InputError, OSError) as error:
        print(f"groupcm: {_sentence(error)}", file=sys.stderr)
        return 2


def _sentence(error: Exception) -> str:
    """Return the message on one line; the operating system's errors name their file first."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {(error.strerror or 'cannot be used').lower()}"
    return " ".join(str(error).split())
