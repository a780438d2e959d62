"""Numbers in what a page asks for.

Numbers in the paths of routes, as ``Route("/api/pictures/{number:short}", …)``.

Starlette's own ``int`` takes any number of digits and fails on thousands of them; a path with so
many names nothing here, and is answered with 404.

Slow answers, each worked out once however many ask for it, the last few of them kept.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException as Refusal
from starlette.requests import Request

__all__ = [
    "ONE_PICTURE",
    "ShortNumber",
    "WorkedOutOnce",
    "finite_number",
    "number_asked",
    "whole_asked",
]


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


ONE_PICTURE = "/api/pictures/{number:short}"


class ShortNumber(Convertor[int]):
    """A whole number of at most 18 digits."""

    regex = "[0-9]{1,18}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("short", ShortNumber())


Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")


class WorkedOutOnce(Generic[Question, Answer]):
    """A function that remembers its last answers; several threads may call it.

    Those who ask for an answer that is being worked out wait for it. An error goes to all who
    wait, and is not remembered.

    Parameters
    ----------
    work_out
        The slow function.
    at_most
        How many answers are kept; those that nobody asked for the longest go first.

    Examples
    --------
    >>> asked = []
    >>> squared = WorkedOutOnce(lambda n: asked.append(n) or n * n, at_most=2)
    >>> [squared(n) for n in (3, 4, 3, 5, 4)], asked
    ([9, 16, 9, 25, 16], [3, 4, 5, 4])
    """

    def __init__(self, work_out: Callable[[Question], Answer], at_most: int) -> None:
        self._work_out, self._at_most = work_out, at_most
        self._lock = threading.Lock()
        self._answers: OrderedDict[Question, Future[Answer]] = OrderedDict()

    def __call__(self, question: Question) -> Answer:
        with self._lock:
            answer = self._answers.get(question)
            is_new = answer is None
            if answer is None:
                answer = self._answers[question] = Future()
                if len(self._answers) > self._at_most:
                    self._answers.popitem(last=False)
            else:
                self._answers.move_to_end(question)
        if is_new:
            self._enter(question, answer)
        return answer.result()

    def _enter(self, question: Question, answer: Future[Answer]) -> None:
        try:
            answer.set_result(self._work_out(question))
        except BaseException as error:
            with self._lock:
                if self._answers.get(question) is answer:
                    del self._answers[question]
            answer.set_exception(error)
