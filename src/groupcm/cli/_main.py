"""The command ``groupcm``: its commands, their options, and its exit status.

Only the standard library is imported here, so that ``--help`` answers at once; the modules that a
command needs are imported when it runs.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from importlib import import_module

from groupcm import TYPE_CHECKING, __version__
from groupcm.errors import InputError
from groupcm.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

__all__ = ["build_parser", "main"]


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Return help as wide as the terminal; argparse would import archive formats to find out."""
    try:
        width = int(os.environ.get("COLUMNS", "")) or 80
    except ValueError:
        try:
            width = os.get_terminal_size().columns or 80
        except OSError:
            width = 80
    return argparse.HelpFormatter(prog, width=width - 2)


class _Parser(argparse.ArgumentParser):
    """A parser whose error messages are one line, and which the parsed arguments name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_formatter, **options)
        self.set_defaults(parser=self)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{printable(f'{self.prog}: {message}; see {self.prog} --help')}\n")


# Each command with its help and the function that adds its options, ``module.function`` of
# `groupcm.cli.options`.
_COMMANDS = {
    "fit": ("train a model on tables of candidates", "fit.add_fit"),
    "score": ("score the groups of tables with a model", "table_commands.add_score"),
    "describe": ("print the model card of a model", "table_commands.add_describe"),
    "export": ("write a model as an ONNX file", "table_commands.add_export"),
    "evaluate": ("evaluate a model on groups that it has not seen", "table_commands.add_evaluate"),
    "recalibrate": (
        "set the threshold of a model from new data, labelled or not",
        "recalibrate.add_recalibrate",
    ),
    "compare": (
        "compare SVM, MI-SVM, GCM and trees on the same folds",
        "table_commands.add_compare",
    ),
    "plan": ("find how many patients a study needs, from a pilot", "plan.add_plan"),
    "experiment": (
        "repeat the experiments of the paper, or estimate the gain of more annotations",
        "table_commands.add_experiment",
    ),
    "images": (
        "train on a folder of pictures, turn pictures into candidates, and score pictures",
        "images.add_images",
    ),
    "annotate": ("annotate objects in pictures, in the browser", "images.add_annotate"),
    "review": ("review the results of a model on pictures, in the browser", "images.add_review"),
    "demo": ("simulate, train, score and explain; needs no data", "table_commands.add_demo"),
    "doctor": ("describe this installation and test it", "table_commands.add_doctor"),
    "sort": (
        "sort tables so that the rows of every group are contiguous",
        "table_commands.add_sort",
    ),
    "simulate": ("write synthetic candidates to Parquet", "simulate.add_simulate"),
}

# What the help of a command ends with.
_EXAMPLES = {
    "fit": "groupcm fit train.parquet --group frame --label on_polyp --cv -o model.json",
    "score": "groupcm score model.json new.parquet -o scores.csv",
    "describe": "groupcm describe model.json -o card.md",
    "export": "groupcm export model.json -o model.onnx",
    "evaluate": "groupcm evaluate model.json test.parquet --report report.html",
    "recalibrate": "groupcm recalibrate model.json new.parquet --alarm-rate 0.1 -o here.json",
    "compare": "groupcm compare train.parquet --group frame --label on_polyp --report report.html",
    "plan": "groupcm plan pilot.parquet --score model.json --width 0.1",
    "experiment": "groupcm experiment paper --scale small -o paper",
    "images": "groupcm images train pictures -o results",
    "annotate": "groupcm annotate pictures --categories polyp",
    "review": "groupcm review model.json pictures",
    "demo": "groupcm demo -o demo",
    "doctor": "groupcm doctor",
    "sort": "groupcm sort frames.csv --group frame -o sorted.parquet",
    "simulate": "groupcm simulate --negatives 500 --positives 100 -o frames.parquet",
}


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of every command, with its options.

    Parameters
    ----------
    command : str, optional
        Add the options of this command alone, which is quicker; by default those of all.

    Examples
    --------
    >>> build_parser().parse_args(["demo", "-o", "here"]).output
    'here'
    """
    parser = _Parser(
        prog="groupcm",
        description="Classify groups of candidates, trained to a certified optimum.",
        epilog="Start with groupcm demo, which needs no data and shows every step; "
        "groupcm COMMAND --help lists the options of a command and ends with an example.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"groupcm {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, (help, add) in _COMMANDS.items():
        own = _command(commands, name, help)
        if command is None or command == name:
            module, _, function = add.partition(".")
            getattr(import_module(f"groupcm.cli.options.{module}"), function)(own)
    return parser


def _command(commands, name: str, help: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=help,
        description=help[0].upper() + help[1:] + ".",
        epilog=f"Example: {_EXAMPLES[name]}",
        allow_abbrev=False,
    )
    parser.set_defaults(command=name)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0, 2 for a mistake of the user, 130 for Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show "×" shows "?" instead of ending in an error.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    argv = sys.argv[1:] if argv is None else argv
    named = next((word for word in argv if not word.startswith("-")), "")
    arguments = build_parser(named).parse_args(argv)
    from groupcm.cli.options import spelling  # not for --help of all commands, which ends above

    spelling.name_options(arguments.parser)
    try:
        return import_module(f"groupcm.cli.commands.{arguments.command}").run(arguments)
    except KeyboardInterrupt as stop:
        detail = f"; {stop}" if stop.args else ""
        print(printable(f"groupcm: stopped by Ctrl-C{detail}"), file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of the output has ended, as in `groupcm demo | head`, which is not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (InputError, OSError, MemoryError) as error:
        print(f"groupcm: {_sentence(error)}", file=sys.stderr)
        return 2


def _sentence(error: Exception) -> str:
    """Return the message on one line, with options for parameters; OS errors name their file."""
    if isinstance(error, OSError) and error.filename is not None:
        return printable(f"{error.filename}: {(error.strerror or 'cannot be used').lower()}")
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; free some, or allow less with --memory"
    from groupcm.cli.options import spelling

    return printable(" ".join(spelling.in_options(error).split()))
