"""A model card on paper: plain text, and Markdown."""

from __future__ import annotations

import textwrap

from groupcm.model_card.card import ModelCard
from groupcm.model_card.sections import sections_of

__all__ = ["as_markdown", "as_text"]

_WIDTH = 100


def as_text(card: ModelCard) -> str:
    """Headings, and below each the values under each other.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.model_card import model_card
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> as_text(model_card(model)).splitlines()[3].split(maxsplit=1)
    ['tells', '1 (positive) from 0 (negative)']
    """
    sections = sections_of(card)
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


def as_markdown(card: ModelCard) -> str:
    """A table a section.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.model_card import model_card
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> print(as_markdown(model_card(model)).splitlines()[0])
    # Model card
    """
    lines = ["# Model card"]
    for section in sections_of(card):
        lines += ["", f"## {section.title}", "", "| | |", "|---|---|"]
        lines += [f"| {name} | {_in_cell(value)} |" for name, value in section.rows]
    return "\n".join(lines) + "\n"


def _in_cell(text: str) -> str:
    for sign in "\\|`*_<>[]":
        text = text.replace(sign, f"\\{sign}")
    return text
