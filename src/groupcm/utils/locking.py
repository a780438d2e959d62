"""Lock files that the operating system unlocks when the process ends, however it ends."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from groupcm.errors import InputError

__all__ = ["acquire", "exclusive_lock", "release", "waiting_lock"]

# The errors of the operating system if another process holds the lock.
_HELD = {errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}
_SECONDS_BETWEEN_ATTEMPTS = 0.1


@contextmanager
def exclusive_lock(lock: Path, refusal: str) -> Iterator[None]:
    """Hold a lock file within the block, or raise an `InputError` if another process holds it.

    Examples
    --------
    >>> import tempfile
    >>> lock = Path(tempfile.mkdtemp()) / ".lock"
    >>> with exclusive_lock(lock, "it is in use"), exclusive_lock(lock, "it is in use"):
    ...     pass
    Traceback (most recent call last):
    groupcm.errors.InputError: it is in use
    >>> lock.exists()
    False
    """
    handle = acquire(lock)
    if handle is None:
        raise InputError(refusal)
    try:
        yield
    finally:
        release(lock, handle)


@contextmanager
def waiting_lock(lock: Path) -> Iterator[None]:
    """Hold a lock file within the block, and wait while another process holds it.

    Where the file system has no locks, the block runs without one.

    Examples
    --------
    >>> import tempfile
    >>> lock = Path(tempfile.mkdtemp()) / ".lock"
    >>> with waiting_lock(lock):
    ...     acquire(lock) is None
    True
    """
    try:
        while (handle := acquire(lock)) is None:
            time.sleep(_SECONDS_BETWEEN_ATTEMPTS)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        release(lock, handle)


def acquire(lock: Path) -> int | None:
    """Create a lock file if there is none, and lock it for this process.

    If the process is killed, the file stays, but another process can lock it.

    Returns
    -------
    int or None
        An open file for `release`; None if another process, or this one, holds the lock.

    Raises
    ------
    OSError
        If the file cannot be opened, or the file system has no locks.

    Examples
    --------
    >>> import tempfile
    >>> lock = Path(tempfile.mkdtemp()) / ".lock"
    >>> handle = acquire(lock)
    >>> acquire(lock) is None
    True
    >>> release(lock, handle)
    """
    # Links are not followed: in a folder of several users they may point anywhere.
    flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
    while True:
        handle = os.open(lock, flags, 0o666)
        try:
            _lock(handle)
            if os.path.samestat(os.fstat(handle), os.stat(lock)):
                return handle
        except FileNotFoundError:
            pass  # released between the two calls
        except OSError as error:
            os.close(handle)
            if error.errno in _HELD:
                return None
            with suppress(OSError):
                lock.unlink()
            raise
        os.close(handle)


def release(lock: Path, handle: int) -> None:
    """Remove a lock file and unlock it."""
    if sys.platform == "win32":  # Windows does not remove an open file
        os.close(handle)
    with suppress(OSError):
        lock.unlink()
    if sys.platform != "win32":
        os.close(handle)


def _lock(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
