"""What the options for folders of one file per group mean."""

from __future__ import annotations

import argparse
from typing import Any

from groupcm.errors import InputError
from groupcm.sources.group_file_candidates import open_candidates

__all__ = ["tables_of"]

_OF_FILES = ("labels", "annotations", "category", "patch_size")
_OF_TABLES = ("overlap", "object", "annotated", "weight", "features", "levels", "all_groups")


def tables_of(arguments: argparse.Namespace) -> Any:
    """Return the tables of a command, or the candidates of a folder of one file per group."""
    if arguments.format == "tables":
        _refuse(arguments, _OF_FILES, "--format hdf5 or npy")
        return arguments.tables
    _refuse(arguments, _OF_TABLES, "tables")
    known = {name: getattr(arguments, name, None) for name in (*_OF_FILES, "patient")}
    return open_candidates(
        arguments.tables,
        arguments.format,
        group=arguments.group,
        label=arguments.label,
        pos_label=arguments.positive,
        **known,
    )


def _refuse(arguments: argparse.Namespace, names: tuple[str, ...], what: str) -> None:
    for name in names:
        if getattr(arguments, name, None):
            raise InputError(f"--{name.replace('_', '-')} is for {what}; leave it out")
