"""Numbers in text: read with a check, written in the fewest digits."""

from __future__ import annotations

import math

__all__ = ["read_number", "read_whole", "shortest"]


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
