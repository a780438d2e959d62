"""A process that works on pictures: how it begins, and when it ends.

Only the standard library is imported here, so that nothing heavy is loaded before a new process
knows how many threads it may have: libraries read that once, when they are loaded.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from multiprocessing import connection
from typing import Any

__all__ = ["begin", "outcome_of"]

_ONE_THREAD = (
    "GROUPCM_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_handle: Any = None


def begin(pickled: bytes) -> None:
    """Prepare this process to call what is pickled, with one thread, deaf to Ctrl-C.

    The terminal sends Ctrl-C to all processes; the one that started the others ends them. Where
    it was killed, they end by themselves.
    """
    global _handle
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    _handle = pickle.loads(pickled)
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)  # of libraries that the program itself had loaded before


def outcome_of(task: Any) -> Any:
    """Call what `begin` was given."""
    return _handle(task)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
