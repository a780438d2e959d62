"""Slow answers, each worked out once however many ask for it, the last few of them kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

__all__ = ["WorkedOutOnce"]

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
