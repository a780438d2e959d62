"""``groupcm doctor``: what an installation consists of, and whether it works."""

from __future__ import annotations

import argparse

from groupcm.cli.output import print_error, print_line, show_sections
from groupcm.diagnostics import diagnose

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Diagnose the installation, print what was found, and return 1 if the self-test fails."""
    if not arguments.json:
        print_error("Testing the installation; this takes a few seconds.")
    diagnosis = diagnose()
    if arguments.json:
        print(diagnosis.json())
        return 0 if diagnosis.passed else 1
    show_sections(diagnosis.sections())
    print_line()
    if diagnosis.passed:
        print_line("The self-test passed.")
        return 0
    failed = [check.name for check in diagnosis.checks if not check.passed]
    print_line(f"The self-test failed: {', '.join(failed)}. Paste this output into an issue.")
    return 1
