"""The unit of benchmark (a): one bare parallel read of an array.

Every element enters a sum, as many threads as cores share the slices, nothing else
happens. It is as fast as the memory delivers, which makes it a strict unit.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

from benchmarks.support.machine import cores

__all__ = ["BareRead"]

# More slices than threads, so that a thread which was held up does not hold up the read.
SLICES_A_THREAD = 8


@nb.njit(nogil=True, fastmath={"reassoc", "contract", "nsz"}, cache=True)
def _sum(values: NDArray[np.float32]) -> np.float32:  # pragma: no cover
    total = np.float32(0)
    for i in range(values.size):
        total += values[i]
    return total


class BareRead:
    """Reads `X` once each time it is called and returns the sum of its elements.

    The threads are started beforehand: starting them is no part of a read.
    """

    def __init__(self, X: NDArray[Any]) -> None:
        flat = X.reshape(-1)
        if not np.shares_memory(flat, X):
            raise ValueError("a bare read needs an array whose elements are contiguous")
        threads = cores()
        self.slices = np.array_split(flat, threads * SLICES_A_THREAD)
        self.pool = ThreadPoolExecutor(threads)
        _sum(flat[:1])
        list(self.pool.map(_sum, [flat[:1]] * threads))

    def __call__(self) -> float:
        return float(sum(self.pool.map(_sum, self.slices)))

    def close(self) -> None:
        """Stop the threads."""
        self.pool.shutdown()
