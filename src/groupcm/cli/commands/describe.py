"""``groupcm describe``: what a model is, was trained on and can do."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from groupcm.cli.output import print_line
from groupcm.errors import InputError
from groupcm.report.model_card import ModelCard, model_card
from groupcm.report.model_card.sections import sections_of
from groupcm.utils.files import check_output, whole_file

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Read the model, and print its card or write it."""
    output = None if arguments.output is None else _check(arguments)
    card = model_card(arguments.model)
    if output is not None:
        is_json = arguments.json or output.suffix.lower() == ".json"
        text = f"{card.json()}\n" if is_json else card.markdown()
        with whole_file(output) as beside:
            beside.write_text(text, encoding="utf-8")
        print_line(f"Wrote {output}.")
    elif arguments.json:
        print(card.json())
    else:
        _show(card)
    return 0


def _check(arguments: argparse.Namespace) -> Path:
    endings = [".json"] if arguments.json else [".md", ".json"]
    output = check_output(arguments.output, endings=endings)
    if output.exists() and output.samefile(arguments.model):
        raise InputError(f"{output} is the model; write the card to another file")
    return output


def _show(card: ModelCard) -> None:
    """A table on a terminal, plain text elsewhere or where rich is not installed."""
    try:
        if not sys.stdout.isatty():
            raise ImportError
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        for line in card.text().splitlines():
            print_line(line)
        return
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for number, section in enumerate(sections_of(card)):
        if number:
            table.add_row("", "")
        table.add_row(Text(section.title, style="bold"), "")
        for name, value in section.rows:
            table.add_row(Text(f"  {name}"), Text(value or "-"))
    Console().print(table)
