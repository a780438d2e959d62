"""The start and the end of a process that works on pictures.

Only the standard library is imported here, so that the number of threads is limited before any
numerical library is loaded: libraries read that setting once, when they are imported.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from multiprocessing import connection
from typing import Any

__all__ = ["begin", "call"]

_ONE_THREAD = (
    "GROUPCM_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_function: Any = None


def begin(pickled: bytes) -> None:
    """Prepare this process to call the pickled function, with one thread, ignoring Ctrl-C.

    The terminal sends Ctrl-C to all processes; the parent process terminates the others. If the
    parent was killed, they end by themselves.
    """
    global _function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    _function = pickle.loads(pickled)
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)  # of libraries that the program itself loaded before
    _function.prepare()


def call(task: Any) -> Any:
    """Call the function that `begin` received."""
    return _function(task)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
