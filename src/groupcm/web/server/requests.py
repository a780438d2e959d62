"""What routes read from a request: the number of a picture, other numbers, and a JSON body.

A request that is wrong raises an `HTTPException` with one sentence.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request

from groupcm.errors import InputError
from groupcm.web.server.guarded_file import ChangedOnDisk
from groupcm.web.server.library import PictureLibrary

__all__ = [
    "PICTURE_ROUTE",
    "ShortNumber",
    "finite_number",
    "input_errors_refused",
    "integer_parameter",
    "json_body",
    "number_parameter",
    "picture_number",
]

PICTURE_ROUTE = "/api/pictures/{number:short}"


class ShortNumber(Convertor[int]):
    """A whole number of at most 18 digits in the path of a route.

    Starlette's own ``int`` accepts any number of digits, and fails on thousands of them. A path
    with so many digits names nothing here: it is answered with 404.
    """

    regex = "[0-9]{1,18}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("short", ShortNumber())


def picture_number(request: Request, library: PictureLibrary) -> int:
    """Return the number of the picture in the path of a `PICTURE_ROUTE`, or raise 404."""
    number = request.path_params["number"]
    if not 0 <= number < len(library):
        raise HTTPException(404, f"There is no picture {number}; the last is {len(library) - 1}.")
    return number


async def json_body(request: Request) -> dict[str, Any]:
    """Return the body of a request as a dictionary, or raise 400."""
    try:
        content = json.loads(await request.body(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "The body of the request is not JSON.") from error
    if not isinstance(content, dict):
        raise HTTPException(400, "The body of the request must be an object with fields.")
    return content


def integer_parameter(request: Request, name: str, default: int | None = None) -> int:
    """Return a whole number from 0 of the query, or raise 400; without a default it is required."""
    text = request.query_params.get(name, "" if default is None else str(default))
    if not re.fullmatch("[0-9]{1,16}", text):
        raise HTTPException(400, f"{name} is {text!r}; it must be a whole number.")
    return int(text)


def number_parameter(request: Request, name: str, default: float | None) -> float | None:
    """Return a finite number of the query, or raise 400."""
    text = request.query_params.get(name)
    if text is None:
        return default
    try:
        return finite_number(float(text), name)
    except ValueError:
        raise HTTPException(400, f"{name} is {text!r}; it must be a number.") from None


@contextmanager
def input_errors_refused() -> Iterator[None]:
    """Turn an `InputError` of the block into an answer with 400, or 409 if a file has changed."""
    try:
        yield
    except InputError as error:
        status = 409 if isinstance(error, ChangedOnDisk) else 400
        raise HTTPException(status, " ".join(str(error).split())) from error


def finite_number(value: Any, name: str) -> float:
    """Return a JSON value that is a finite number, or raise 400."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else math.nan
    except OverflowError:
        number = math.nan
    if not math.isfinite(number):
        raise HTTPException(400, f"{name} is {value!r}; it must be a number.")
    return number


def _refuse_constant(name: str) -> float:
    raise ValueError(name)
