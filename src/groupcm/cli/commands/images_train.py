"""``groupcm images train``: a folder of annotated pictures in; model, report and overlays out."""

from __future__ import annotations

import argparse
import time
from typing import Any

from groupcm.cli.options.image_training import CHOICES
from groupcm.cli.output import print_line, running, seconds, show_rows
from groupcm.cli.summaries import certificate, evaluation_rows
from groupcm.estimators.weights import linear_part
from groupcm.workflows import TrainingChoices, read_choices, train_folder

__all__ = ["run"]

_FILES = (
    ("report.html", "how good the model is on the pictures held out: open it in a browser"),
    ("overlays", "the pictures held out, with what the model found"),
    ("model.json", "the model; score other pictures with groupcm images score"),
    ("scores.parquet", "one row per picture held out: score, alarm, place"),
    ("train.toml", "every choice of this training, for --config"),
)


def run(arguments: argparse.Namespace) -> int:
    """Train a model on a folder of pictures, and print what was understood and how it went."""
    began = time.perf_counter()
    with running():
        done = train_folder(
            arguments.folder, arguments.output, TrainingChoices(**_given(arguments))
        )
    for sentence in done.findings:
        print_line(sentence)
    print_line()
    print_line("On the pictures held out:")
    show_rows(evaluation_rows(done.evaluation))
    if linear_part(done.fit.trained) is not None:
        print_line(certificate(done.fit.trained))
    print_line()
    print_line(f"Done in {seconds(time.perf_counter() - began)}. Files:")
    show_rows([(str(done.output / name), about) for name, about in _FILES])
    return 0


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the choices of the file, and over them those of the options."""
    choices = {} if arguments.config is None else read_choices(arguments.config)
    options = {name: getattr(arguments, name) for name in CHOICES if name in arguments}
    lists = {name: tuple(value) for name, value in options.items() if isinstance(value, list)}
    return choices | options | lists
