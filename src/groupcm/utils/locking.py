"""One process at a time: a lock that ends with its process, however that ends."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from groupcm.errors import InputError

__all__ = ["give_back", "held_alone", "take"]

# What the operating system answers where another process holds the lock.
_HELD = {errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}


@contextmanager
def held_alone(lock: Path, refusal: str) -> Iterator[None]:
    """Hold a lock file within the block; where another process holds it, refuse with a sentence.

    Examples
    --------
    >>> import tempfile
    >>> lock = Path(tempfile.mkdtemp()) / ".lock"
    >>> with held_alone(lock, "another run holds it"), held_alone(lock, "another run holds it"):
    ...     pass
    Traceback (most recent call last):
    groupcm.errors.InputError: another run holds it
    >>> lock.exists()
    False
    """
    handle = take(lock)
    if handle is None:
        raise InputError(refusal)
    try:
        yield
    finally:
        give_back(lock, handle)


def take(lock: Path) -> int | None:
    """Create a lock file where there is none, and lock it for this process.

    The operating system unlocks the file when the process ends, also when it is killed. Then the
    file stays, but it can be taken.

    Returns
    -------
    int or None
        An open file for `give_back`; None where another process, or this one, holds the lock.

    Raises
    ------
    OSError
        Where the file cannot be opened, or the file system has no locks.

    Examples
    --------
    >>> import tempfile
    >>> lock = Path(tempfile.mkdtemp()) / ".lock"
    >>> handle = take(lock)
    >>> take(lock) is None
    True
    >>> give_back(lock, handle)
    """
    # A link is not followed: in a folder of several users it may point anywhere.
    flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
    while True:
        handle = os.open(lock, flags, 0o666)
        try:
            _lock(handle)
            if os.path.samestat(os.fstat(handle), os.stat(lock)):
                return handle
        except FileNotFoundError:
            pass  # given back between the two calls
        except OSError as error:
            os.close(handle)
            if error.errno in _HELD:
                return None
            with suppress(OSError):
                lock.unlink()
            raise
        os.close(handle)


def give_back(lock: Path, handle: int) -> None:
    """Remove a lock file and unlock it."""
    if sys.platform == "win32":  # which does not remove an open file
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
