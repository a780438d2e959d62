"""The command line, run within the process of a case."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from fuzz.outcomes import Failed, Verdict
from groupcm.cli._main import main

__all__ = ["run_command"]


def run_command(arguments: Sequence[str | Path], output: Path | None = None) -> Verdict:
    """Run ``groupcm``; a mistake must be one line, status 2, and leave no output behind."""
    printed, complained = io.StringIO(), io.StringIO()
    with redirect_stdout(printed), redirect_stderr(complained), warnings.catch_warnings():
        warnings.simplefilter("default")
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = end.code
    lines = complained.getvalue().strip().split("\n")
    name = f"groupcm {arguments[0]}"
    if "Traceback" in complained.getvalue():
        raise Failed("unclean_error", f"{name} prints a traceback", lines[-1])
    if status == 0:
        return Verdict("ok")
    if status != 2 or not lines[-1].startswith("groupcm"):
        raise Failed("unclean_error", f"{name} ends with status {status}", lines[-1])
    if not lines[-1].isprintable():
        raise Failed("unclean_error", f"{name} prints control characters", repr(lines[-1]))
    if output is not None:
        left = [path.name for path in output.parent.glob(f"*{output.name}*")]
        if left:
            raise Failed("unclean_error", f"{name} leaves output behind", ", ".join(left))
    return Verdict("refused", "", lines[-1])
