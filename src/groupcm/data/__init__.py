"""Candidates with their labels, groups and patients, read from tables."""

from importlib import import_module

# Importing `typing` for its constant of this name would take longer than the whole package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from groupcm.data.side_columns import read_all_groups
    from groupcm.sources.candidates import Candidates
    from groupcm.sources.tables import read_candidates

__all__ = ["Candidates", "read_all_groups", "read_candidates"]

_HOME = {
    "Candidates": "groupcm.sources.candidates",
    "read_all_groups": "groupcm.data.side_columns",
    "read_candidates": "groupcm.sources.tables",
}


def __getattr__(name: str) -> "Any":
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'groupcm.data' has no attribute {name!r}")
