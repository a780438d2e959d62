"""The command ``groupcm``: which command gets which options, and how it ends.

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
from groupcm.cli.options import fit as fit_options
from groupcm.cli.options import images as image_options
from groupcm.cli.options import models as options
from groupcm.cli.options import reports as report_options
from groupcm.cli.options import web as web_options
from groupcm.errors import InputError
from groupcm.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

__all__ = ["build_parser", "main"]


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
        self.exit(2, f"{printable(f'{self.prog}: {message}; see {self.prog} --help')}\n")


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
    fit_options.add_fit(_command(commands, "fit", "train a model on tables of candidates"))
    options.add_score(_command(commands, "score", "score the groups of tables with a model"))
    options.add_describe(_command(commands, "describe", "tell what a model is: a model card"))
    options.add_export(_command(commands, "export", "write a model as an ONNX file"))
    report_options.add_evaluate(
        _command(commands, "evaluate", "tell how good a model is on groups it has not seen")
    )
    report_options.add_compare(
        _command(
            commands, "compare", "train SVM, MI-SVM, GCM and trees on the same folds, and compare"
        )
    )
    report_options.add_experiment(
        _command(commands, "experiment", "repeat the paper's experiment, or weigh annotations")
    )
    image_options.add_images(
        _command(commands, "images", "from pictures to candidates, and to scores and places")
    )
    web_options.add_annotate(
        _command(commands, "annotate", "mark objects in pictures, on a page in the browser")
    )
    web_options.add_review(
        _command(commands, "review", "look at what a model makes of pictures, in the browser")
    )
    options.add_demo(
        _command(commands, "demo", "simulate, train, score and explain; no data needed")
    )
    options.add_sort(_command(commands, "sort", "bring the rows of every group together"))
    options.add_simulate(_command(commands, "simulate", "write made candidates to Parquet"))
    return parser


def _command(commands, name: str, help: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name, help=help, description=help[0].upper() + help[1:] + ".", allow_abbrev=False
    )
    parser.set_defaults(command=name)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, 2 for a user's mistake, 130 for Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show "×" shows "?" instead of ending in an error.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    arguments = build_parser().parse_args(argv)
    try:
        return import_module(f"groupcm.cli.commands.{arguments.command}").run(arguments)
    except KeyboardInterrupt as stop:
        detail = f"; {stop}" if stop.args else ""
        print(printable(f"groupcm: stopped by Ctrl-C{detail}"), file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output left (as in `groupcm demo | head`): nothing to complain about.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (InputError, OSError, MemoryError) as error:
        print(f"groupcm: {_sentence(error)}", file=sys.stderr)
        return 2


def _sentence(error: Exception) -> str:
    """Return the message on one line; the operating system's errors name their file first."""
    if isinstance(error, OSError) and error.filename is not None:
        return printable(f"{error.filename}: {(error.strerror or 'cannot be used').lower()}")
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; free some, or allow less with --memory"
    return printable(" ".join(str(error).split()))
