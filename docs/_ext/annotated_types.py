"""Types from annotations, where a docstring leaves them out.

Signatures are shown without types, which docstrings give in words ("array of shape (n, d)"). A
parameter that a docstring names alone gets the type of its annotation, as the source writes it, and
a signature ends with the type that the function returns.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from sphinx.application import Sphinx

SECTION_END = re.compile(r"^-{3,}$")
LONE_NAME = re.compile(r"^(\w+)$")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-signature", add_return_type)
    app.connect("autodoc-process-docstring", add_parameter_types, priority=200)  # before numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def annotations(found: Any) -> dict[str, str]:
    """Return the annotations of a function, or of the constructor of a class, as texts."""
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return {}
    written = {name: each.annotation for name, each in signature.parameters.items()}
    if not inspect.isclass(found):
        written["return"] = signature.return_annotation
    return {name: text.strip("\"'") for name, text in written.items() if isinstance(text, str)}


def add_return_type(
    _app: Sphinx, kind: str, _name: str, found: Any, _options: Any, signature: str, returned: str
) -> tuple[str, str] | None:
    if kind not in ("function", "method") or returned:
        return None
    written = annotations(found).get("return")
    return None if written in (None, "None", "Self") else (signature, written)


def add_parameter_types(
    _app: Sphinx, _kind: str, _name: str, found: Any, _options: Any, lines: list[str]
) -> None:
    if "Parameters" not in lines:
        return
    types = annotations(found)
    begin = lines.index("Parameters") + 2
    for number in range(begin, len(lines)):
        if SECTION_END.match(lines[number]):
            break
        name = LONE_NAME.match(lines[number])
        if name and name[1] in types:
            lines[number] += f" : {types[name[1]]}"
