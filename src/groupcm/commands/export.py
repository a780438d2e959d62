"""``groupcm export``: a model as an ONNX file, which runs without groupcm."""

from __future__ import annotations

import argparse
from pathlib import Path

from groupcm.commands.display import plain_warnings
from groupcm.commands.words import print_line
from groupcm.errors import InputError
from groupcm.files import check_output
from groupcm.onnx_export import export_onnx
from groupcm.persistence import read
from groupcm.report.words import threshold_rule

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Read the model, write the graph, and tell the threshold that the graph does not know."""
    output = _check(arguments)
    saved = read(arguments.model)
    with plain_warnings():
        export_onnx(saved.model, output, groups=not arguments.no_groups)
    print_line(f"Wrote {output}.")
    noted = saved.notes.get("operating_point")
    if noted:
        print_line(f"Threshold, {noted['chosen']}: {threshold_rule(float(noted['threshold']))}.")
    return 0


def _check(arguments: argparse.Namespace) -> Path:
    output = check_output(arguments.output, endings=[".onnx"])
    if output.exists() and output.samefile(arguments.model):
        raise InputError(f"{output} is the model; write the ONNX file elsewhere")
    return output
