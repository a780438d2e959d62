"""Independent calls shared among processes, one a core, each of which computes on one thread."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from benchmarks.support.machine import cores

__all__ = ["in_processes"]

Result = TypeVar("Result")


def in_processes(
    call: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
) -> Iterator[tuple[tuple[Any, ...], Result]]:
    """Yield the arguments and the result of each call, in the order they end."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(cores(), mp_context=context, initializer=_one_thread) as pool:
        waiting = {pool.submit(call, *each): each for each in arguments}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _one_thread() -> None:
    os.environ["GROUPCM_NUM_THREADS"] = "1"
    threadpool_limits(1)
    warnings.simplefilter("ignore")
