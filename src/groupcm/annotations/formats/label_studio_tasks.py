"""Which picture a Label Studio task is about, and how large it is."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from groupcm.annotations.json_files import field, whole
from groupcm.annotations.pictures import PICTURE_SUFFIXES
from groupcm.annotations.reading import Reading

__all__ = ["address", "name_of_task", "size_of_task"]

_UPLOADED = re.compile(r"^/?data/upload/(?:\d+/)?")
_UPLOAD_MARK = re.compile(r"^[0-9a-f]{8}-")


def address(name: str, prefix: str) -> str:
    """Write a picture's address: the name alone, or quoted after the prefix of a storage.

    Examples
    --------
    >>> address("day 1/a.jpg", "/data/local-files/?d=")
    '/data/local-files/?d=day%201/a.jpg'
    """
    return prefix + quote(name) if prefix else name


def name_of_task(task: dict[str, Any], reading: Reading) -> str:
    """Name of the picture, from a plain name, an upload, a local storage or a web address."""
    names = _possible_names(_written(field(task, "data", dict)))
    if reading.known is None:
        return reading.name(names[-1])
    places = [[name] for name in names]
    if len(names) == 1 or "/" not in names[0]:
        return reading.known.name(names[-1], places)
    if names[-1] in reading.known:
        # Where the folders of an address are not known, its file name must be that of one picture.
        places[-1] = reading.known.with_base_name(names[-1])
    return reading.known.name(names[0], places)


def size_of_task(task: dict[str, Any], marks: list[Any]) -> tuple[int | None, int | None]:
    """Width and height as a region tells them, or the task's data; None where none does."""
    for mark in marks:
        if isinstance(mark, dict) and "original_width" in mark:
            return whole(mark, "original_width"), whole(mark, "original_height")
    return whole(task["data"], "width"), whole(task["data"], "height")


def _written(data: dict[str, Any]) -> str:
    if isinstance(data.get("image"), str):
        return data["image"]
    for value in data.values():
        if (
            isinstance(value, str)
            and PurePosixPath(_path(value)).suffix.lower() in PICTURE_SUFFIXES
        ):
            return value
    raise ValueError("the task's data name no picture")


def _path(written: str) -> str:
    parts = urlsplit(written) if "://" in written or "?d=" in written else None
    if parts is None:
        return written
    local = parse_qs(parts.query).get("d")
    return local[0] if local else unquote(parts.path)


def _possible_names(written: str) -> list[str]:
    """What the picture may be called, the best guess last."""
    path = _path(written)
    if "://" in written:
        parts = path.lstrip("/").split("/")
        return ["/".join(parts[level:]) for level in range(len(parts))]
    if _UPLOADED.match(path):
        uploaded = unquote(_UPLOADED.sub("", path))
        return [uploaded, _UPLOAD_MARK.sub("", uploaded)]
    return [path]
