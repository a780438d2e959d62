"""JSON files: loaded with a sentence for damage, their fields taken with a check.

XML that cannot harm: no document type, so no entities, nothing fetched, nothing expanded.

Numbers in text: read with a check, written in the fewest digits.
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
    "save_xml",
    "shortest",
    "text_of",
    "whole",
]

_MISSING = object()
_LARGEST = sys.float_info.max  # compared with whole numbers, which know no bound
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


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
    """Return how deeply lists and objects are nested, without making any."""
    # Outside of texts, in which brackets mean nothing and a quotation mark may be escaped.
    outside = text.replace("\\\\", "").replace('\\"', "").split('"')[::2]
    brackets = "".join(outside).encode("utf-8").translate(None, _NO_BRACKETS)
    steps = np.where(np.isin(np.frombuffer(brackets, dtype=np.uint8), list(b"[{")), 1, -1)
    return int(np.cumsum(steps).max(initial=0))


def save_json(path: Path, content: Any) -> None:
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


_LINE = "\0line"  # no XML attribute can have this name
_BEGINNING = 2**16


def parse(path: Path) -> Element:
    """Parse an XML file and return its root; each element knows its line (`line_of`)."""
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
    with _told(path):
        parser.Parse(content, True)
    return builder.close()


def root_tag(path: Path) -> str:
    """Return the name of the root of an XML file, of which no more than its beginning is parsed."""
    content = _content(path)
    found: list[str] = []
    parser = _parser(path)
    parser.StartElementHandler = lambda tag, _: found.append(tag)
    with _told(path):
        for begin in range(0, len(content), _BEGINNING):
            parser.Parse(content[begin : begin + _BEGINNING], False)
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
    """Make a parser that refuses whatever a document type could declare."""
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
def _told(path: Path) -> Iterator[None]:
    """Turn what the parser raises into one sentence."""
    try:
        yield
    except expat.ExpatError as error:
        raise InputError(
            FileName(path),
            f", line {error.lineno}, column {error.offset + 1}: this is not XML "
            f"({expat.ErrorString(error.code)}); the file may be cut short or damaged",
        ) from error
    except (LookupError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(FileName(path), f": the XML cannot be decoded ({error})") from error


def line_of(element: Element) -> str:
    """Words for the place of an element."""
    return f"line {element.get(_LINE)}"


def save_xml(path: Path, root: Element) -> None:
    """Write an XML file, whole, in UTF-8."""
    indent(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as beside:
        ElementTree(root).write(beside, encoding="utf-8", xml_declaration=True)


def read_number(text: str | None, name: str) -> float:
    """Read a finite number; ``name`` says what it is.

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
    """Write a number in the fewest digits that give it back exactly.

    Examples
    --------
    >>> shortest(12.0), shortest(0.1)
    ('12', '0.1')
    """
    return str(int(value)) if value == int(value) else repr(float(value))
