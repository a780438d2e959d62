"""``groupcm describe``: what a model is, was trained on and can do."""

from __future__ import annotations

import argparse
from pathlib import Path

from groupcm.cli.output import print_line, show_sections
from groupcm.errors import InputError
from groupcm.report.model_card import model_card
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
        with whole_file(output) as temporary:
            temporary.write_text(text, encoding="utf-8")
        print_line(f"Wrote {output}.")
    elif arguments.json:
        print(card.json())
    else:
        show_sections(sections_of(card))
    return 0


def _check(arguments: argparse.Namespace) -> Path:
    endings = [".json"] if arguments.json else [".md", ".json"]
    output = check_output(arguments.output, endings=endings)
    if output.exists() and output.samefile(arguments.model):
        raise InputError(f"{output} is the model; write the card to another file")
    return output
