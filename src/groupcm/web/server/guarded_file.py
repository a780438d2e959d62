"""Files that are replaced only while no other program has changed them."""

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
    """Another program changed the file after it was read or written here."""


def stamp_of(path: str | os.PathLike[str]) -> Stamp | None:
    """Return a stamp that changes when the file is written, or None if there is no file.

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
    """A file that is replaced only if it is still the one that was last read or written here.

    Parameters
    ----------
    path
        The file, which need not exist yet.

    Examples
    --------
    >>> import tempfile
    >>> file = GuardedFile(Path(tempfile.mkdtemp()) / "note.txt")
    >>> file.look()
    False
    >>> with file.replacing() as temporary:
    ...     _ = temporary.write_text("mine")
    >>> _ = file.path.write_text("theirs, longer")
    >>> with file.replacing() as temporary:
    ...     _ = temporary.write_text("mine again")
    Traceback (most recent call last):
    groupcm.web.server.guarded_file.ChangedOnDisk: ...note.txt was changed by another program, ...
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = check_output(path)
        self._stamp: Stamp | None = None

    def look(self) -> bool:
        """Remember the stamp of the file before it is read; return whether the file exists."""
        self._stamp = stamp_of(self.path)
        return self._stamp is not None

    @contextmanager
    def replacing(self) -> Iterator[Path]:
        """Yield the name of a temporary file to write, which then replaces this one.

        If another program has changed this one, `ChangedOnDisk` is raised and nothing is replaced.
        """
        with _folder_lock(self.path.parent):
            self._check_unchanged()
            with whole_file(self.path) as temporary:
                yield temporary
                if self._stamp is not None:
                    shutil.copymode(self.path, temporary)
                written = stamp_of(temporary)
                self._check_unchanged()
            self._stamp = written

    def changed_elsewhere(self) -> str | None:
        """Return what another program did to the file: removed, written or changed; or None."""
        now = stamp_of(self.path)
        if now == self._stamp:
            return None
        return "removed" if now is None else "written" if self._stamp is None else "changed"

    def _check_unchanged(self) -> None:
        what = self.changed_elsewhere()
        if what is not None:
            raise ChangedOnDisk(
                f"{self.path} was {what} by another program, so this change is not saved and "
                "nothing is overwritten; stop groupcm and start it again to continue with that file"
            )


@contextmanager
def _folder_lock(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder, where the system has locks, so that only one groupcm writes."""
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
