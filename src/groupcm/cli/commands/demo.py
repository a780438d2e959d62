"""``groupcm demo``: the whole journey on made data, from pictures or from tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from groupcm.errors import InputError

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Make data, train on it, and tell how good the model is on other patients."""
    if arguments.tables:
        from groupcm.cli.commands.demo_tables import run_on_tables

        return run_on_tables(_make_folder(Path(arguments.output)), arguments.seed)
    from groupcm.cli.commands.demo_pictures import require_extras, run_on_pictures

    require_extras()
    return run_on_pictures(_make_folder(Path(arguments.output)), arguments.seed)


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"cannot write into {folder}: it is a file, not a folder") from None
    return folder
