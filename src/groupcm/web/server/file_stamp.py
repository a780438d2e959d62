"""A file that is kept up to date, and never written over what somebody else wrote."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from groupcm.errors import InputError
from groupcm.utils.files import check_output, whole_file

__all__ = ["ChangedOnDisk", "GuardedFile", "Stamp", "stamp_of"]

Stamp = tuple[int, int, int]


class ChangedOnDisk(InputError):
    """Somebody else wrote the file since it was read or written here."""


def stamp_of(path: str | os.PathLike[str]) -> Stamp | None:
    """Return what changes when somebody writes the file; None where there is none.

    Examples
    --------
    >>> stamp_of("no such file") is None, stamp_of(__file__) == stamp_of(__file__)
    (True, True)
    """
    try:
        about = os.stat(path)
    except FileNotFoundError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino


class GuardedFile:
    """A file that was read, to be replaced as long as it is still the one that was read.

    Parameters
    ----------
    path
        Where it is, or will be.

    Examples
    --------
    >>> import tempfile
    >>> file = GuardedFile(Path(tempfile.mkdtemp()) / "note.txt")
    >>> file.look()
    False
    >>> with file.replacing() as beside:
    ...     _ = beside.write_text("mine")
    >>> _ = file.path.write_text("theirs, longer")
    >>> with file.replacing() as beside:
    ...     _ = beside.write_text("mine again")
    Traceback (most recent call last):
    groupcm.web.server.file_stamp.ChangedOnDisk: ...note.txt was changed by another program, ...
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = check_output(path)
        self._stamp: Stamp | None = None

    def look(self) -> bool:
        """Take the file as it is now for ours, and say whether there is one; read it after."""
        self._stamp = stamp_of(self.path)
        return self._stamp is not None

    @contextmanager
    def replacing(self) -> Iterator[Path]:
        """Give the name of a file to write, which then replaces this one.

        `ChangedOnDisk` is raised, and nothing replaced, where this one is no longer ours.
        """
        with _one_at_a_time(self.path.parent):
            self._check_ours()
            with whole_file(self.path) as beside:
                yield beside
                if self._stamp is not None:
                    shutil.copymode(self.path, beside)
                written = stamp_of(beside)
                self._check_ours()
            self._stamp = written

    def changed_elsewhere(self) -> str | None:
        """Return what another program did to it since: removed, written or changed; or None."""
        now = stamp_of(self.path)
        if now == self._stamp:
            return None
        return "removed" if now is None else "written" if self._stamp is None else "changed"

    def _check_ours(self) -> None:
        what = self.changed_elsewhere()
        if what is not None:
            raise ChangedOnDisk(
                f"{self.path} was {what} by another program, so this change is not saved and "
                "nothing is overwritten; stop groupcm and start it again to go on with that file"
            )


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Let another groupcm that writes in the same folder wait, where the system can."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
