"""What to say of a name that is not there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["near_name"]


def near_name(name: str, known: Iterable[str]) -> str:
    """Tell the name that may be meant, or all there are.

    Examples
    --------
    >>> near_name("Color", ["shape", "colour"]), near_name("size", ["shape", "colour"])
    ("did you mean 'colour'?", 'there are shape, colour')
    """
    names = list(known)
    near = difflib.get_close_matches(name.lower(), names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"there are {', '.join(names)}" if names else "there are none"
