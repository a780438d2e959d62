"""What a page was opened for, so that one left open does not write into something else."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

__all__ = ["PROJECT_HEADER", "list_id", "project_id"]

PROJECT_HEADER = "Groupcm-Project"
"""Header in which a page that changes something tells what it was opened for."""


def project_id(file: str | os.PathLike[str], folder: str | os.PathLike[str]) -> str:
    """Return an id of an annotation file together with a folder, the same at every start.

    Examples
    --------
    >>> project_id("a.json", "frames") == project_id("./a.json", "frames/../frames")
    True
    >>> project_id("a.json", "frames") == project_id("b.json", "frames")
    False
    """
    return _id(str(Path(each).resolve()) for each in (file, folder))


def list_id(names: Iterable[str]) -> str:
    """Return an id of the names of pictures in their order, by which numbers have a meaning."""
    return _id(names)


def _id(texts: Iterable[str]) -> str:
    told = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(told).hexdigest()[:20]
