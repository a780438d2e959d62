"""A cache in front of a slow function that several threads call."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

__all__ = ["ComputeOnce"]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class ComputeOnce(Generic[Key, Value]):
    """A function that keeps its most recent results; several threads may call it.

    Calls for a result that is being computed wait for it. An exception is raised in all calls that
    wait, and is not kept.

    Parameters
    ----------
    compute
        The slow function.
    at_most
        The number of results to keep; the least recently used are dropped first.

    Examples
    --------
    >>> computed = []
    >>> squared = ComputeOnce(lambda n: computed.append(n) or n * n, at_most=2)
    >>> [squared(n) for n in (3, 4, 3, 5, 4)], computed
    ([9, 16, 9, 25, 16], [3, 4, 5, 4])
    """

    def __init__(self, compute: Callable[[Key], Value], at_most: int) -> None:
        self._compute, self._at_most = compute, at_most
        self._lock = threading.Lock()
        self._results: OrderedDict[Key, Future[Value]] = OrderedDict()

    def __call__(self, key: Key) -> Value:
        with self._lock:
            result = self._results.get(key)
            if is_new := result is None:
                result = self._results[key] = Future()
                if len(self._results) > self._at_most:
                    self._results.popitem(last=False)
            else:
                self._results.move_to_end(key)
        if is_new:
            try:
                result.set_result(self._compute(key))
            except BaseException as error:
                with self._lock:
                    if self._results.get(key) is result:
                        del self._results[key]
                result.set_exception(error)
        return result.result()
