"""Which format a file or a folder has, by looking into it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groupcm.annotations.formats.masks import SIDE_FILE
from groupcm.annotations.formats.yolo_names import NAME_FILES
from groupcm.annotations.json_files import load
from groupcm.annotations.pictures import PICTURE_SUFFIXES
from groupcm.annotations.safe_xml import root_tag
from groupcm.errors import InputError

__all__ = ["sniff"]

_ROOTS = {"annotation": "voc", "annotations": "cvat"}


def sniff(path: Path) -> str:
    """Name of the format, or a sentence where it cannot be told."""
    if not path.exists():
        raise InputError(f"there is no file or folder {path}")
    found = _of_folder(path) if path.is_dir() else _of_file(path)
    if found is None:
        raise InputError(
            f"{path} is of no known format of annotations; say which it is (format=...), or see "
            "the formats in the documentation of groupcm.annotations"
        )
    return found


def _of_file(path: Path) -> str | None:
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        return "csv"
    if suffix == ".xml":
        return _ROOTS.get(root_tag(path))
    if suffix == ".json":
        return _of_json(load(path))
    return None


def _of_json(content: Any) -> str | None:
    if isinstance(content, dict):
        if "images" in content:
            return "coco"
        if "shapes" in content:
            return "labelme"
    tasks = content if isinstance(content, list) else [content]
    if tasks and isinstance(tasks[0], dict) and "data" in tasks[0]:
        return "label_studio"
    return None


def _of_folder(path: Path) -> str | None:
    """Format by the endings of a folder's files; pictures may lie among annotations."""
    if (path / SIDE_FILE).is_file():
        return "masks"
    files = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")]
    suffixes = {file.suffix.lower() for file in files if file.name not in NAME_FILES}
    formats = {".xml": "voc", ".json": "labelme", ".txt": "yolo"}
    found = [name for suffix, name in formats.items() if suffix in suffixes]
    if len(found) > 1:
        raise InputError(
            f"{path} holds files of several formats ({', '.join(found)}); say which to read "
            "(format=...)"
        )
    if found:
        return found[0]
    return "masks" if suffixes & PICTURE_SUFFIXES else None
