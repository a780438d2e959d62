"""Threads for work that releases the GIL."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

__all__ = ["n_threads", "one_blas_thread", "slices", "thread_map", "thread_stream", "work_alone"]

# The largest number of pieces that work is divided into.
_MOST_PIECES = 64

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads() -> int:
    """Return the number of cores of this process, or ``GROUPCM_NUM_THREADS`` if it is set.

    Examples
    --------
    >>> n_threads() >= 1
    True
    """
    wanted = os.environ.get("GROUPCM_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Within the block, compute products of matrices in one thread, which is faster for small ones.

    Examples
    --------
    >>> with one_blas_thread():
    ...     print((np.eye(2) @ np.ones(2)).tolist())
    [1.0, 1.0]
    """
    return _blas().limit(limits=1, user_api="blas")


_here = threading.local()


def work_alone() -> None:
    """Make this thread start no other threads, because the other cores are in use."""
    _here.in_pool = True


@cache
def _pool(process: int, workers: int) -> ThreadPoolExecutor:
    # One pool per process: the threads of a parent do not survive a fork.
    return ThreadPoolExecutor(workers, thread_name_prefix="groupcm", initializer=work_alone)


def thread_map(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return ``[function(item) for item in items]``, computed in several threads.

    Examples
    --------
    >>> thread_map(abs, [-1, 2])
    [1, 2]
    """
    items = list(items)
    # A thread of the pool that waited for the pool would never end.
    if len(items) < 2 or n_threads() == 1 or getattr(_here, "in_pool", False):
        return [function(item) for item in items]
    return list(_pool(os.getpid(), n_threads()).map(function, items))


def thread_stream(function: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result]:
    """Yield ``function(item)`` for each item in order; a few are computed ahead.

    If the generator is closed or interrupted, only calls that have begun are waited for.

    Examples
    --------
    >>> list(thread_stream(abs, [-1, 2]))
    [1, 2]
    """
    if n_threads() == 1 or getattr(_here, "in_pool", False):
        yield from map(function, items)
        return
    pool = _pool(os.getpid(), n_threads())
    under_way: deque[Future[Result]] = deque()
    try:
        for item in items:
            under_way.append(pool.submit(function, item))
            if len(under_way) > 2 * n_threads():
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        wait([future for future in under_way if not future.cancel()])


def slices(n: int, at_least: int) -> list[tuple[int, int]]:
    """Divide ``range(n)`` into equal pieces of ``at_least`` items or more, for many threads.

    The pieces do not depend on the number of threads, and so neither do sums over them.

    Examples
    --------
    >>> slices(10, 100)
    [(0, 10)]
    """
    pieces = max(1, min(_MOST_PIECES, n // max(1, at_least)))
    edges = np.linspace(0, n, pieces + 1).astype(np.int64)
    return [(int(lo), int(hi)) for lo, hi in pairwise(edges)]
