"""From a template and numbers to a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from groupcm.report import words
from groupcm.report.figures.plate import Plate
from groupcm.report.figures.style import NAMED_COLOURS
from groupcm.report.figures.text import clean
from groupcm.report.high_specificity import sensitivity_at, specificities

__all__ = ["render"]

# A line does not end between a number and its unit.
_STAYS_TOGETHER = re.compile(r"\bp [=<] \d|\d (?:%|s|min|h)(?!\w)")


def render(template: str, plates: Sequence[Plate], **numbers: Any) -> str:
    """Fill a template; whatever users named is escaped."""
    environment = Environment(
        loader=PackageLoader("groupcm.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        # No half characters or control characters reach the page, whoever wrote them.
        finalize=_printable,
    )
    environment.globals |= {"specificities": specificities, "sensitivity_at": sensitivity_at}
    environment.filters |= {name: getattr(words, name) for name in words.__all__}
    drawn = {
        plate.name: {
            "name": plate.name,
            "title": plate.title,
            "reading": plate.reading,
            "svg": Markup(plate.inline_svg),
        }
        for plate in plates
    }
    return environment.get_template(template).render(plates=drawn, colours=NAMED_COLOURS, **numbers)


def _printable(value: Any) -> Any:
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return _STAYS_TOGETHER.sub(lambda found: found[0].replace(" ", "\u00a0"), clean(value))
