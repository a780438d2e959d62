"""XML that cannot harm: no document type, so no entities, nothing fetched, nothing expanded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn
from xml.etree.ElementTree import Element, ElementTree, TreeBuilder, indent
from xml.parsers import expat

from groupcm.annotations.limits import DEEPEST, MOST_ELEMENTS, read_bytes
from groupcm.errors import InputError
from groupcm.files import whole_file

__all__ = ["line_of", "parse", "root_tag", "save"]

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
                f"{path}, line {parser.CurrentLineNumber}: the XML is nested too deeply"
            )
        if n_elements > MOST_ELEMENTS:
            raise InputError(
                f"{path}, line {parser.CurrentLineNumber}: the XML has more than "
                f"{MOST_ELEMENTS:,} elements; write the annotations as several files"
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
    raise InputError(f"{path}: the XML has no element")


def _content(path: Path) -> bytes:
    content = read_bytes(path)
    if not content.strip():
        raise InputError(f"{path} is empty; it should hold XML")
    return content


def _parser(path: Path) -> expat.XMLParserType:
    """Make a parser that refuses whatever a document type could declare."""
    parser = expat.ParserCreate()

    def refuse(*_: object) -> NoReturn:
        raise InputError(
            f"{path}, line {parser.CurrentLineNumber}: the XML declares a document type or "
            "entities, which an annotation does not need and which can be an attack; "
            "remove the declaration"
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
            f"{path}, line {error.lineno}, column {error.offset + 1}: this is not XML "
            f"({expat.ErrorString(error.code)}); the file may be cut short or damaged"
        ) from error
    except (LookupError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: the XML cannot be decoded ({error})") from error


def line_of(element: Element) -> str:
    """Words for the place of an element."""
    return f"line {element.get(_LINE)}"


def save(path: Path, root: Element) -> None:
    """Write an XML file, whole, in UTF-8."""
    indent(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as beside:
        ElementTree(root).write(beside, encoding="utf-8", xml_declaration=True)
