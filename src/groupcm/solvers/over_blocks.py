"""The same work on every block, by our threads or by those of BLAS, not both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from groupcm.parallel import n_threads, thread_map

__all__ = ["over_blocks"]

Item = TypeVar("Item")
Result = TypeVar("Result")


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()


def over_blocks(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Many blocks by our threads, each with one of BLAS; few by one of ours with all of BLAS."""
    if len(items) < 2 * n_threads():
        return [function(item) for item in items]
    with _threadpools().limit(limits=1, user_api="blas"):
        return thread_map(function, items)
