"""The same work on every block, by our threads or by those of BLAS, not both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from groupcm.parallel import thread_map

__all__ = ["over_blocks"]

Item = TypeVar("Item")
Result = TypeVar("Result")


# Fewer blocks than this are not worth several threads.
_FEW_BLOCKS = 4


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()


def over_blocks(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Return ``function`` of each block: many blocks by our threads, each with one of BLAS.

    The results come in the order of the blocks, so that sums do not depend on the threads.
    """
    if len(items) < _FEW_BLOCKS:
        return [function(item) for item in items]
    with _threadpools().limit(limits=1, user_api="blas"):
        return thread_map(function, items)
