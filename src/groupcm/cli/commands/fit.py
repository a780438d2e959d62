"""``groupcm fit``: tables of candidates in, a model out; a linear one with its certificate."""

from __future__ import annotations

import argparse
from pathlib import Path

from groupcm.cli.options.model import asked_model
from groupcm.cli.output import mistakes, plain_warnings, print_error, print_line, show_rows, working
from groupcm.cli.summaries import certificate, held_out_rows, summary
from groupcm.data.tables.formats import check_not_input
from groupcm.errors import InputError
from groupcm.estimators.tables import fit_tables
from groupcm.persistence.model_file import save
from groupcm.report.model_card import fit_notes
from groupcm.utils.files import check_output
from groupcm.utils.progress import listening

__all__ = ["run"]

_TOL = 1e-4


def run(arguments: argparse.Namespace) -> int:
    """Fit the model, save it with its notes, and print how it went."""
    output = _check_model_file(arguments.output)
    check_not_input(output, arguments.tables)
    model = asked_model(arguments)
    if getattr(model, "checkpoint", None) is not None:
        _check_checkpoint(Path(model.checkpoint), output, arguments.tables)
    with (
        plain_warnings(),
        working(getattr(model, "tol", _TOL)) as display,
        mistakes(),
        listening(display.step, display.reading, display.status),
    ):
        fit = fit_tables(
            model,
            arguments.tables,
            group=arguments.group,
            label=arguments.label,
            overlap=arguments.overlap,
            patient=arguments.patient,
            annotated=arguments.annotated,
            object=arguments.object,
            weight=arguments.weight,
            features=arguments.features,
            exclude=arguments.exclude,
            pos_label=arguments.positive,
            specificity=getattr(arguments, "specificity", None),
            calibrate=getattr(arguments, "calibrate", None),
        )
        notes = fit_notes(fit)
    # Trees are calibrated in any case, since that leaves groups out for the threshold.
    save(fit.model if "calibrate" in arguments else fit.trained, output, notes=notes)
    show_rows(summary(fit) + held_out_rows(fit))
    print_line(certificate(fit.trained))
    print_line(f"Wrote {output}.")
    if not fit.is_interrupted:
        return 0
    print_error(
        f"groupcm: stopped by Ctrl-C; {output} holds the best model so far, "
        f"at a certified gap of {fit.gap:.2g}"
    )
    return 130


def _check_model_file(path: str) -> Path:
    output = Path(path)
    if output.suffix.lower() == ".onnx":
        model = output.with_suffix(".json")
        raise InputError(
            f"cannot write {output}: a fit writes a model as JSON; name it {model}, and make an "
            f"ONNX file of that with groupcm export {model} -o {output}, or groupcm.export_onnx"
        )
    return check_output(output, endings=[".json"])


def _check_checkpoint(checkpoint: Path, output: Path, tables: list[str]) -> None:
    check_not_input(check_output(checkpoint), tables)
    if checkpoint.resolve() == output.resolve():
        raise InputError(f"{output} cannot be both the model and the checkpoint; name two files")
