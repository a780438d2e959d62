"""A figure as SVG that can stand in a page with others: small, safe, readable in the dark."""

from __future__ import annotations

import re
from io import StringIO
from xml.etree import ElementTree

import matplotlib

from groupcm.report.figures.plate import Plate
from groupcm.report.figures.style import NAMED_COLOURS, style
from groupcm.report.figures.text import clean

__all__ = ["plate_svg"]

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_FONTS = "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, 'Liberation Sans', sans-serif"
_FONT = re.compile(r"(font: [^;]*?[\d.]+px) [^;]*")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def plate_svg(plate: Plate, *, inline: bool = False) -> str:
    """Write a plate as SVG.

    Text stays text. Ids begin with the plate's name, so that several plates fit in one page,
    and each colour has a name that the page may give another value.

    Parameters
    ----------
    plate : Plate
    inline : bool, default=False
        Whether it stands in a page (and takes its size from there) or in a file of its own.

    Examples
    --------
    >>> from groupcm.report.figures.style import new_axes
    >>> svg = plate_svg(Plate("empty", "Nothing", "", "No curve.", new_axes()[0]), inline=True)
    >>> svg[:58]
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http:'
    """
    root = _drawn(plate)
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in {"metadata", "style"}:
                parent.remove(child)
    referenced = _referenced(root)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {_attribute(name): value for name, value in element.attrib.items()}
        _own_id(element, referenced, plate.name)
        if "style" in element.attrib:
            element.attrib["style"] = _restyled(element.attrib["style"])
    _describe(root, plate)
    if inline:
        for size in ("width", "height"):
            root.attrib.pop(size, None)
    written = ElementTree.tostring(root, encoding="unicode")
    return written if inline else f'<?xml version="1.0" encoding="UTF-8"?>\n{written}\n'


def _drawn(plate: Plate) -> ElementTree.Element:
    target = StringIO()
    with style(), matplotlib.rc_context({"svg.hashsalt": plate.name}):
        plate.figure.savefig(target, format="svg", metadata={"Date": None}, transparent=True)
    return ElementTree.fromstring(target.getvalue())


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _attribute(name: str) -> str:
    return f"xlink:{_local(name)}" if name.startswith(f"{{{_XLINK}}}") else _local(name)


def _referenced(root: ElementTree.Element) -> set[str]:
    """The ids that something in the drawing points to; the others only take space."""
    found = set()
    for element in root.iter():
        for value in element.attrib.values():
            found |= set(_REFERENCE.findall(value))
            if value.startswith("#"):
                found.add(value[1:])
    return found


def _own_id(element: ElementTree.Element, referenced: set[str], prefix: str) -> None:
    own = element.attrib.pop("id", None)
    if own in referenced:
        element.attrib["id"] = f"{prefix}-{own}"
    for name, value in element.attrib.items():
        if name == "xlink:href" and value.startswith("#"):
            element.attrib[name] = f"#{prefix}-{value[1:]}"
        elif "url(#" in value:
            element.attrib[name] = _REFERENCE.sub(rf"url(#{prefix}-\1)", value)


def _restyled(css: str) -> str:
    css = _FONT.sub(rf"\1 {_FONTS}", css)
    for name, colour in NAMED_COLOURS.items():
        css = css.replace(colour, f"var(--{name}, {colour})")
    return css


def _describe(root: ElementTree.Element, plate: Plate) -> None:
    attributes = {"xmlns": _SVG, "xmlns:xlink": _XLINK, **root.attrib}
    attributes |= {"role": "img", "aria-label": clean(plate.title)}
    # The drawing's own rule for every line, which must not become the page's.
    attributes["style"] = "stroke-linejoin: round; stroke-linecap: butt"
    root.attrib = attributes
    title, description = ElementTree.Element("title"), ElementTree.Element("desc")
    title.text, description.text = clean(plate.title), clean(plate.shows)
    root[:0] = [title, description]
