"""Sections of names and values, and their layout as plain text.

Model cards and the diagnosis of an installation consist of them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from groupcm.utils.text import printable

__all__ = ["Section", "sections_as_text"]

_LONGEST = 10_000  # characters of a value, such as a list of features
_WIDTH = 100


@dataclass(frozen=True)
class Section:
    """A heading with names and values; control characters are escaped."""

    title: str
    rows: list[tuple[str, str]]

    def __post_init__(self) -> None:
        shown = [(printable(name), printable(value, _LONGEST)) for name, value in self.rows]
        object.__setattr__(self, "rows", shown)


def sections_as_text(sections: Iterable[Section]) -> str:
    """Return headings with aligned names and values, wrapped to 100 characters.

    Examples
    --------
    >>> parts = [Section("Model", [("classes", "2")]), Section("Alarm", [("threshold", "")])]
    >>> print(sections_as_text(parts))
    Model
      classes    2
    <BLANKLINE>
    Alarm
      threshold  -
    """
    sections = list(sections)
    width = max(len(name) for section in sections for name, _ in section.rows)
    blocks = []
    for section in sections:
        lines = [section.title]
        for name, value in section.rows:
            first = f"  {name:<{width}}  "
            lines.append(
                textwrap.fill(
                    value or "-",
                    _WIDTH,
                    initial_indent=first,
                    subsequent_indent=" " * len(first),
                    break_on_hyphens=False,
                )
            )
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
