"""One process at a time: a lock that ends with its process, however that ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from groupcm.errors import InputError

__all__ = ["held_alone"]


@contextmanager
def held_alone(lock: Path, refusal: str) -> Iterator[None]:
    """Hold a lock file within the block; where another process holds it, refuse with a sentence.

    Examples
    --------
    >>> import tempfile
    >>> lock = Path(tempfile.mkdtemp()) / ".lock"
    >>> with held_alone(lock, "somebody is at it"), held_alone(lock, "somebody is at it"):
    ...     pass
    Traceback (most recent call last):
    groupcm.errors.InputError: somebody is at it
    >>> lock.exists()
    False
    """
    handle = os.open(lock, os.O_CREAT | os.O_RDWR, 0o666)
    try:
        try:
            _lock(handle)
        except OSError as error:
            raise InputError(refusal) from error
        try:
            yield
        finally:
            with suppress(OSError):
                lock.unlink()
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
