"""JSON files: loaded with a sentence for damage, their fields taken with a check."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from groupcm.annotations.limits import DEEPEST, read_bytes
from groupcm.errors import InputError
from groupcm.files import whole_file

__all__ = ["field", "load", "number", "save", "text_of", "whole"]

_MISSING = object()
_LARGEST = sys.float_info.max  # compared with whole numbers, which know no bound
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def text_of(path: Path) -> str:
    """Read a text file in UTF-8, with or without a byte order mark."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: byte {error.start + 1} is not UTF-8 text; save the file in UTF-8"
        ) from error


def load(path: Path) -> Any:
    """Load a JSON file."""
    text = text_of(path)
    if not text.strip():
        raise InputError(f"{path} is empty; it should hold JSON")
    if _depth(text) > DEEPEST:
        raise InputError(f"{path}: the JSON is nested too deeply to be an annotation")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}, line {error.lineno}, column {error.colno}: this is not JSON "
            f"({error.msg}); the file may be cut short or damaged"
        ) from error
    except ValueError as error:
        raise InputError(f"{path}: the JSON holds a number that is too long") from error


def _depth(text: str) -> int:
    """Return how deeply lists and objects are nested, without making any."""
    # Outside of texts, in which brackets mean nothing and a quotation mark may be escaped.
    outside = text.replace("\\\\", "").replace('\\"', "").split('"')[::2]
    brackets = "".join(outside).encode("utf-8").translate(None, _NO_BRACKETS)
    steps = np.where(np.isin(np.frombuffer(brackets, dtype=np.uint8), list(b"[{")), 1, -1)
    return int(np.cumsum(steps).max(initial=0))


def save(path: Path, content: Any) -> None:
    """Write a JSON file, whole."""
    # Converted before a file is opened: what cannot be written then costs nothing.
    try:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise InputError(
            f"cannot write {path}: an attribute is no finite number, which JSON cannot hold"
        ) from error
    with whole_file(path) as beside:
        beside.write_text(text + "\n", encoding="utf-8")


def field(record: Any, name: str, kind: type | tuple[type, ...], default: Any = _MISSING) -> Any:
    """Take a field of a JSON object and check its type; null counts as absent.

    Examples
    --------
    >>> field({"id": 3}, "id", int)
    3
    >>> field({}, "id", int)
    Traceback (most recent call last):
    ValueError: 'id' is missing
    >>> field({"id": "3"}, "id", int)
    Traceback (most recent call last):
    ValueError: 'id' is '3'; it must be a whole number
    """
    if not isinstance(record, dict):
        raise ValueError(f"{_short(record)} stands where an object with fields must be")
    value = record.get(name)
    if value is None:
        if default is _MISSING:
            raise ValueError(f"{name!r} is missing")
        return default
    if (isinstance(value, bool) and kind is not bool) or not isinstance(value, kind):
        raise ValueError(f"{name!r} is {_short(value)}; it must be {_KINDS[kind]}")
    return value


def number(record: Any, name: str) -> float:
    """Take a field that is a finite number.

    Examples
    --------
    >>> number({"x": float("nan")}, "x")
    Traceback (most recent call last):
    ValueError: 'x' is nan; it must be a finite number
    """
    value = field(record, name, (int, float))
    if not -_LARGEST <= value <= _LARGEST:
        raise ValueError(f"{name!r} is {_short(value)}; it must be a finite number")
    return float(value)


def whole(record: Any, name: str) -> int | None:
    """Take a field that is a whole number (2.0 counts as 2), or None where it is absent."""
    value = field(record, name, (int, float), None)
    if value is None:
        return None
    if not -_LARGEST <= value <= _LARGEST or value != int(value):
        raise ValueError(f"{name!r} is {_short(value)}; it must be a whole number")
    return int(value)


def _short(value: Any) -> str:
    words = repr(value)
    return words if len(words) <= 40 else f"{words[:37]}..."


_KINDS: dict[Any, str] = {
    int: "a whole number",
    str: "a text",
    list: "a list",
    dict: "an object with fields",
    bool: "true or false",
    (int, float): "a number",
    (int, str): "a number or a text",
    (dict, list): "an object or a list",
    (list, str): "a list or a text",
}
