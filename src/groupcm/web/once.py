"""Slow answers, each worked out once however many ask for it, the last few of them kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

__all__ = ["WorkedOutOnce"]

Answer = TypeVar("Answer")


class WorkedOutOnce(Generic[Answer]):
    """A function of a number that remembers its last answers; several threads may call it.

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

    def __init__(self, work_out: Callable[[int], Answer], at_most: int) -> None:
        self._work_out, self._at_most = work_out, at_most
        self._lock = threading.Lock()
        self._answers: OrderedDict[int, Future[Answer]] = OrderedDict()

    def __contains__(self, number: int) -> bool:
        """Whether the answer is known or being worked out."""
        with self._lock:
            return number in self._answers

    def __call__(self, number: int) -> Answer:
        with self._lock:
            answer = self._answers.get(number)
            is_new = answer is None
            if answer is None:
                answer = self._answers[number] = Future()
                if len(self._answers) > self._at_most:
                    self._answers.popitem(last=False)
            else:
                self._answers.move_to_end(number)
        if is_new:
            self._enter(number, answer)
        return answer.result()

    def _enter(self, number: int, answer: Future[Answer]) -> None:
        try:
            answer.set_result(self._work_out(number))
        except BaseException as error:
            with self._lock:
                if self._answers.get(number) is answer:
                    del self._answers[number]
            answer.set_exception(error)
