"""``groupcm export``: a model as an ONNX file, which runs without groupcm."""

from __future__ import annotations

import argparse
from pathlib import Path

from groupcm.cli.output import plain_warnings, print_line
from groupcm.errors import InputError
from groupcm.metrics.decision import resolve_threshold, threshold_rule
from groupcm.persistence.model_file import read
from groupcm.persistence.onnx import export_onnx
from groupcm.utils.files import check_output

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Read the model, write the graph, and print the threshold that its metadata carry."""
    output = _check(arguments)
    saved = read(arguments.model)
    with plain_warnings():
        export_onnx(saved.model, output, groups=not arguments.no_groups)
    print_line(f"Wrote {output}.")
    own = resolve_threshold(saved.model)
    if own is not None:
        print_line(f"Threshold, {own.chosen}: {threshold_rule(own.value)}.")
    return 0


def _check(arguments: argparse.Namespace) -> Path:
    output = check_output(arguments.output, endings=[".onnx"])
    if output.exists() and output.samefile(arguments.model):
        raise InputError(f"{output} is the model; write the ONNX file elsewhere")
    return output
