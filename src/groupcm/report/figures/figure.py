"""A figure with its name, caption and description, and its form as SVG for a page.

The SVG is small, holds no script, and takes its colours from the page, so that it is readable on a
dark background as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from xml.etree import ElementTree

import matplotlib
from matplotlib.figure import Figure

from groupcm.plots.axes import clean
from groupcm.report.figures.style import NAMED_COLOURS, style

__all__ = ["CaptionedFigure", "figure_svg"]

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_FONTS = "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, 'Liberation Sans', sans-serif"
_FONT = re.compile(r"(font: [^;]*?[\d.]+px) [^;]*")
_SIZE = re.compile(r' (?:width|height)="[^"]*"')
_PROLOGUE = '<?xml version="1.0" encoding="UTF-8"?>\n'
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def figure_svg(figure: Figure, *, prefix: str, title: str, description: str) -> str:
    """Write a figure as SVG.

    Text stays text. Ids begin with a prefix, so that several figures fit in one page, and
    each colour is a variable that the page can set.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Its layout is fixed as it is drawn here.
    prefix : str
        The prefix of every id.
    title, description : str
        What the figure is, and what it shows, for screen readers.

    Examples
    --------
    >>> from groupcm.report.figures.style import new_axes
    >>> svg = figure_svg(new_axes()[0], prefix="empty", title="Nothing", description="No curve.")
    >>> "<title>Nothing</title><desc>No curve.</desc>" in svg
    True
    """
    root = _drawn(figure, prefix)
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in {"metadata", "style"}:
                parent.remove(child)
    referenced = _referenced(root)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {_attribute(name): value for name, value in element.attrib.items()}
        _own_id(element, referenced, prefix)
        if "style" in element.attrib:
            element.attrib["style"] = _restyled(element.attrib["style"])
    _describe(root, clean(title), clean(description))
    return f"{_PROLOGUE}{ElementTree.tostring(root, encoding='unicode')}\n"


def _as_inline(svg: str) -> str:
    """Turn an SVG file into a part of a page, which determines its size.

    Examples
    --------
    >>> _as_inline('<svg width="9pt" height="9pt"><g/></svg>')
    '<svg><g/></svg>'
    """
    start, rest = svg.removeprefix(_PROLOGUE).strip().split(">", 1)
    return f"{_SIZE.sub('', start)}>{rest}"


def _drawn(figure: Figure, salt: str) -> ElementTree.Element:
    target = StringIO()
    with style(), matplotlib.rc_context({"svg.hashsalt": salt}):
        figure.savefig(target, format="svg", metadata={"Date": None}, transparent=True)
    figure.set_layout_engine("none")
    return ElementTree.fromstring(target.getvalue())


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _attribute(name: str) -> str:
    return f"xlink:{_local(name)}" if name.startswith(f"{{{_XLINK}}}") else _local(name)


def _referenced(root: ElementTree.Element) -> set[str]:
    """Return the ids that the drawing refers to; the others only take space."""
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


def _describe(root: ElementTree.Element, title: str, description: str) -> None:
    attributes = {"xmlns": _SVG, "xmlns:xlink": _XLINK, **root.attrib}
    attributes |= {"role": "img", "aria-label": title}
    # The drawing's own rule for every line, which must not become the page's.
    attributes["style"] = "stroke-linejoin: round; stroke-linecap: butt"
    root.attrib = attributes
    for place, (tag, text) in enumerate({"title": title, "desc": description}.items()):
        element = ElementTree.Element(tag)
        element.text = text
        root.insert(place, element)


@dataclass(frozen=True)
class CaptionedFigure:
    """A figure with its caption, as a page shows it.

    Attributes
    ----------
    name : str
        Of its files, without an ending.
    title : str
    caption : str
        How to read the figure.
    description : str
        What the figure shows, for screen readers.
    drawing : matplotlib.figure.Figure
    """

    name: str
    title: str
    caption: str
    description: str
    drawing: Figure

    @cached_property
    def svg(self) -> str:
        """The figure as a file of its own."""
        return figure_svg(
            self.drawing, prefix=self.name, title=self.title, description=self.description
        )

    @cached_property
    def inline_svg(self) -> str:
        """The figure as a part of a page."""
        return _as_inline(self.svg)
