"""Parsing and writing of the JSON and XML files of annotations, with errors that name the place.

Fields and numbers are checked when they are read. XML may declare no document type and therefore no
entities, so that parsing fetches and expands nothing.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, ElementTree, TreeBuilder, indent
from xml.parsers import expat

import numpy as np

from groupcm.annotations.limits import DEEPEST, MOST_ELEMENTS, read_bytes
from groupcm.errors import FileName, InputError
from groupcm.utils.files import whole_file

__all__ = [
    "field",
    "line_of",
    "load",
    "number",
    "parse",
    "read_number",
    "read_whole",
    "root_tag",
    "save_json",
    "save_text",
    "save_xml",
    "shortest",
    "text_of",
    "whole",
]

_MISSING = object()
_LARGEST = sys.float_info.max  # integers of Python may be larger
_LINE = "\0line"  # no XML attribute can have this name
_CHUNK = 2**16
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
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


def text_of(path: Path) -> str:
    """Read a text file in UTF-8, with or without a byte order mark."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            FileName(path), f": byte {error.start + 1} is not UTF-8 text; save the file in UTF-8"
        ) from error


def load(path: Path) -> Any:
    """Load a JSON file."""
    text = text_of(path)
    if not text.strip():
        raise InputError(FileName(path), " is empty; it should hold JSON")
    if _depth(text) > DEEPEST:
        raise InputError(FileName(path), ": the JSON is nested too deeply to be an annotation")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            FileName(path),
            f", line {error.lineno}, column {error.colno}: this is not JSON "
            f"({error.msg}); the file may be cut short or damaged",
        ) from error
    except ValueError as error:
        raise InputError(FileName(path), ": the JSON holds a number that is too long") from error


def _depth(text: str) -> int:
    """Return how deeply lists and objects are nested, without creating them."""
    # Brackets count outside of strings, in which a quotation mark may be escaped.
    outside = text.replace("\\\\", "").replace('\\"', "").split('"')[::2]
    brackets = "".join(outside).encode("utf-8").translate(None, _NO_BRACKETS)
    steps = np.where(np.isin(np.frombuffer(brackets, dtype=np.uint8), list(b"[{")), 1, -1)
    return int(np.cumsum(steps).max(initial=0))


def save_json(path: Path, content: Any) -> None:
    """Write a JSON file atomically."""
    # Converted before the file is opened, so that an error leaves no file behind.
    try:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise InputError(
            f"cannot write {path}: an attribute is not a finite number, which JSON cannot hold"
        ) from error
    save_text(path, text + "\n")


def save_text(path: Path, text: str) -> None:
    """Write a text file atomically in UTF-8."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def field(record: Any, name: str, kind: type | tuple[type, ...], default: Any = _MISSING) -> Any:
    """Return a field of a JSON object, checked for its type; null counts as absent.

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
        raise ValueError(f"found {_short(record)} where an object with fields must be")
    value = record.get(name)
    if value is None:
        if default is _MISSING:
            raise ValueError(f"{name!r} is missing")
        return default
    if (isinstance(value, bool) and kind is not bool) or not isinstance(value, kind):
        raise ValueError(f"{name!r} is {_short(value)}; it must be {_KINDS[kind]}")
    return value


def number(record: Any, name: str) -> float:
    """Return a field that is a finite number.

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
    """Return a field that is a whole number (2.0 counts as 2), or None where it is absent."""
    value = field(record, name, (int, float), None)
    if value is None:
        return None
    if not -_LARGEST <= value <= _LARGEST or value != int(value):
        raise ValueError(f"{name!r} is {_short(value)}; it must be a whole number")
    return int(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def parse(path: Path) -> Element:
    """Parse an XML file and return its root; `line_of` returns the line of an element."""
    content = _content(path)
    builder = TreeBuilder()
    parser = _parser(path)
    depth = n_elements = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, n_elements
        depth += 1
        n_elements += 1
        if depth > DEEPEST:
            raise InputError(
                FileName(path), f", line {parser.CurrentLineNumber}: the XML is nested too deeply"
            )
        if n_elements > MOST_ELEMENTS:
            raise InputError(
                FileName(path),
                f", line {parser.CurrentLineNumber}: the XML has more than "
                f"{MOST_ELEMENTS:,} elements; write the annotations as several files",
            )
        builder.start(tag, {**attributes, _LINE: str(parser.CurrentLineNumber)})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    with _parser_errors(path):
        parser.Parse(content, True)
    return builder.close()


def root_tag(path: Path) -> str:
    """Return the name of the root of an XML file; only its beginning is parsed."""
    content = _content(path)
    found: list[str] = []
    parser = _parser(path)
    parser.StartElementHandler = lambda tag, _: found.append(tag)
    with _parser_errors(path):
        for begin in range(0, len(content), _CHUNK):
            parser.Parse(content[begin : begin + _CHUNK], False)
            if found:
                return found[0]
        parser.Parse(b"", True)
    raise InputError(FileName(path), ": the XML has no element")


def _content(path: Path) -> bytes:
    content = read_bytes(path)
    if not content.strip():
        raise InputError(FileName(path), " is empty; it should hold XML")
    return content


def _parser(path: Path) -> expat.XMLParserType:
    """Return a parser that raises for every declaration of a document type."""
    parser = expat.ParserCreate()

    def refuse(*_: object) -> NoReturn:
        raise InputError(
            FileName(path),
            f", line {parser.CurrentLineNumber}: the XML declares a document type or "
            "entities, which an annotation does not need and which can be an attack; "
            "remove the declaration",
        )

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    return parser


@contextmanager
def _parser_errors(path: Path) -> Iterator[None]:
    """Raise `InputError` for errors of the parser."""
    try:
        yield
    except expat.ExpatError as error:
        raise InputError(
            FileName(path),
            f", line {error.lineno}, column {error.offset + 1}: this is not XML "
            f"({expat.ErrorString(error.code)}); the file may be cut short or damaged",
        ) from error
    except InputError:
        raise
    except (LookupError, ValueError) as error:
        raise InputError(FileName(path), f": the XML cannot be decoded ({error})") from error


def line_of(element: Element) -> str:
    """Return the place of an element, for an error."""
    return f"line {element.get(_LINE)}"


def save_xml(path: Path, root: Element) -> None:
    """Write an XML file atomically in UTF-8, with its folders."""
    indent(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as temporary:
        ElementTree(root).write(temporary, encoding="utf-8", xml_declaration=True)


def read_number(text: str | None, name: str) -> float:
    """Read a finite number; ``name`` is its name in an error.

    Examples
    --------
    >>> read_number(" 12.5 ", "xtl")
    12.5
    >>> read_number("nan", "xtl")
    Traceback (most recent call last):
    ValueError: 'xtl' is 'nan'; it must be a number
    """
    if text is None or not text.strip():
        raise ValueError(f"{name!r} is missing")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{name!r} is {text.strip()!r}; it must be a number")
    return value


def read_whole(text: str | None, name: str) -> int | None:
    """Read a whole number, or None where there is none.

    Examples
    --------
    >>> read_whole("384", "width"), read_whole("", "width")
    (384, None)
    """
    if text is None or not text.strip():
        return None
    value = read_number(text, name)
    if value != int(value):
        raise ValueError(f"{name!r} is {text.strip()!r}; it must be a whole number")
    return int(value)


def shortest(value: float) -> str:
    """Return the shortest text that reads back as exactly this number.

    Examples
    --------
    >>> shortest(12.0), shortest(0.1)
    ('12', '0.1')
    """
    return str(int(value)) if value == int(value) else repr(float(value))
