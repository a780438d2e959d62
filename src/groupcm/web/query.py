"""Numbers in what a page asks for."""

from __future__ import annotations

import math
from typing import Any

from starlette.exceptions import HTTPException as Refusal
from starlette.requests import Request

__all__ = ["finite_number", "number_asked", "whole_asked"]


def whole_asked(request: Request, name: str, default: int) -> int:
    """Return a whole number of the address, or refuse with 400."""
    told = request.query_params.get(name, str(default))
    try:
        return int(told)
    except ValueError:
        raise Refusal(400, f"{name} is {told!r}; it must be a whole number.") from None


def number_asked(request: Request, name: str, default: float | None) -> float | None:
    """Return a number of the address, or refuse with 400."""
    told = request.query_params.get(name)
    if told is None:
        return default
    try:
        return finite_number(float(told), name)
    except ValueError:
        raise Refusal(400, f"{name} is {told!r}; it must be a number.") from None


def finite_number(told: Any, name: str) -> float:
    """Return a number that came as JSON, or refuse with 400."""
    is_number = isinstance(told, (int, float)) and not isinstance(told, bool)
    try:
        value = float(told) if is_number else math.nan
    except OverflowError:
        value = math.nan
    if not math.isfinite(value):
        raise Refusal(400, f"{name} is {told!r}; it must be a number.")
    return value
