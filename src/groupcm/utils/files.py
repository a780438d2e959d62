"""Atomic writing of files and folders: they appear complete or not at all.

An output has a temporary name next to its final one, ``.NAME.TOKEN.part``, until it is complete.
A run that is killed cannot remove it, so the next run that writes the same output does:

1. While it writes, a run holds a lock on the file ``.NAME.0.lock`` (or ``1``, ``2``, ... where
   several runs write the same output at once), which contains the temporary name.
2. The operating system unlocks the file when the run ends, however it ends.
3. Before it writes, a run takes every such lock that is not held and removes what it names.

A temporary file that no lock names, or whose lock is held, is never removed. Where the file system
has no locks, nothing is removed. On a shared file system the locks must hold between machines, as
they do on NFS and Lustre unless they are mounted with local locks; otherwise two machines that
write the same output at once may remove each other's temporary file, and one of them ends with an
error.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from groupcm.errors import FileName, InputError, NotWritableError
from groupcm.utils.locking import acquire, release

__all__ = [
    "check_output",
    "naming",
    "remove_abandoned",
    "temporary_name",
    "whole_file",
    "whole_folder",
]

_MOST_LOCKS = 8  # runs that write the same output at once, each with a lock of its own


def check_output(path: str | os.PathLike[str], *, endings: Sequence[str] = ()) -> Path:
    """Return ``path`` as a `Path` if a file can be written there, or raise `InputError`.

    Call it before long work, so that a mistake costs a second and not an hour. A folder that does
    not exist is created when the file is written.

    Parameters
    ----------
    path : path
        The file to write.
    endings : sequence of str
        The endings that its name may have, such as ``(".html",)``; by default any.

    Examples
    --------
    >>> check_output("reports/new/one.html", endings=[".html"]).name
    'one.html'
    >>> check_output("one.pdf", endings=[".html"])
    Traceback (most recent call last):
    groupcm.errors.InputError: cannot write one.pdf: end its name in .html
    """
    path = Path(path)
    if endings and not path.name.lower().endswith(tuple(endings)):
        named = " or ".join(filter(None, [", ".join(endings[:-1]), endings[-1]]))
        raise InputError(f"cannot write {path}: end its name in {named}")
    folder = path.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise InputError(f"cannot write {path}: {folder} is not a folder; choose another place")
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder; give the name of a file")
    if path.exists() and not path.is_file():
        raise InputError(f"cannot write {path}: it is not a regular file; give another name")
    if not os.access(folder, os.W_OK):
        raise NotWritableError(
            "cannot write ",
            FileName(path),
            f": no permission to write in the folder {folder}",
        )
    return path


@contextmanager
def _created_folder(folder: Path) -> Iterator[None]:
    """Create a folder and its parents; remove those that are empty after the block."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
    try:
        yield
    finally:
        for each in missing:
            with suppress(OSError):  # it is not empty
                each.rmdir()


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the name of a temporary file that replaces ``path`` when the block ends.

    The temporary file is new, empty, and in the same folder. If the block ends without an
    exception, it is flushed to the disk and replaces ``path`` in one step; otherwise it is removed
    and ``path`` is not changed. A folder that does not exist is created. An error of the operating
    system, such as a full disk, names ``path``.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole_file(folder / "note.txt") as temporary:
    ...     _ = temporary.write_text("done")
    >>> [(file.name, file.read_text()) for file in folder.iterdir()]
    [('note.txt', 'done')]
    """
    # Links are kept: their target is replaced.
    target = Path(os.path.realpath(check_output(path)))
    with temporary_name(target) as temporary, naming(path, instead_of=temporary):
        # Not tempfile: it would give the finished file private permissions.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield temporary
        _flush(temporary)
        os.replace(temporary, target)
    if os.name == "posix":
        _flush(target.parent)


@contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary folder that replaces ``path`` when the block ends without an exception.

    ``path`` must be new or empty, so that no old file stays among the new ones.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "notes"
    >>> with whole_folder(folder) as temporary:
    ...     _ = (temporary / "first.txt").write_text("done")
    >>> [file.name for file in folder.iterdir()], [file.name for file in folder.parent.iterdir()]
    (['first.txt'], ['notes'])
    """
    path = Path(path)
    target = Path(os.path.realpath(path))
    if not target.is_dir() and target.exists():
        raise InputError(f"cannot write {path}: it is a file; give the name of a folder")
    if target.is_dir() and any(target.iterdir()):
        raise InputError(
            f"cannot write {path}: the folder is not empty; empty it or choose another"
        )
    if not target.is_dir():
        check_output(path)
    with temporary_name(target) as temporary:
        temporary.mkdir()
        yield temporary
        if target.is_dir():
            target.rmdir()
        os.rename(temporary, target)


@contextmanager
def temporary_name(target: Path) -> Iterator[Path]:
    """Reserve a name next to ``target`` for a file or folder that is removed after the block.

    Temporary files of the same target that killed runs have left are removed first.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with temporary_name(folder / "sorted.parquet") as buckets:
    ...     buckets.mkdir()
    ...     sorted(path.suffix for path in folder.iterdir())
    ['.lock', '.part']
    >>> list(folder.iterdir())
    []
    """
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    with _created_folder(target.parent):
        held = _take_locks(target, temporary)
        try:
            yield temporary
        finally:
            _remove(temporary)
            if held is not None:
                release(*held)


def remove_abandoned(target: Path) -> None:
    """Remove the temporary files that killed runs have left next to ``target``.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / ".model.json.01234567.part").touch()
    >>> _ = (folder / ".model.json.0.lock").write_text(".model.json.01234567.part")
    >>> remove_abandoned(folder / "model.json")
    >>> list(folder.iterdir())
    []
    """
    _take_locks(target, None)


def _take_locks(target: Path, temporary: Path | None) -> tuple[Path, int] | None:
    """Take the locks that are free, remove what they name, and keep one for ``temporary``."""
    kept = None
    for number in range(_MOST_LOCKS):
        lock = target.with_name(f".{target.name}.{number}.lock")
        name = temporary.name if temporary is not None and kept is None else None
        if name is None and not lock.exists():
            continue
        try:
            handle = acquire(lock)
        except PermissionError:  # of a run of another user
            continue
        except OSError:  # the file system has no locks
            return kept
        if handle is None:
            continue
        _remove_named(handle, target)
        if name is not None and _write_name(handle, name):
            kept = lock, handle
        else:
            release(lock, handle)
    return kept


def _remove_named(handle: int, target: Path) -> None:
    """Remove the file or folder that a lock names, if it is a temporary one of this target."""
    with suppress(OSError):
        name = os.fsdecode(os.read(handle, 4096))
        if re.fullmatch(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}\.part", name):
            _remove(target.with_name(name))


def _write_name(handle: int, name: str) -> bool:
    content = os.fsencode(name)
    try:
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        return os.write(handle, content) == len(content)
    except OSError:  # such as a full disk: the file is safe without a lock, too
        return False


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


@contextmanager
def naming(
    path: str | os.PathLike[str], instead_of: str | os.PathLike[str] | None = None
) -> Iterator[None]:
    """Name ``path`` in an `OSError` of the block that names no file, or a temporary one.

    Examples
    --------
    >>> import errno
    >>> with naming("model.json"):
    ...     raise OSError(errno.EFBIG, "File too large")
    Traceback (most recent call last):
    OSError: [Errno 27] File too large: 'model.json'
    """
    try:
        yield
    except OSError as error:
        named = error.filename if error.filename is None else os.fspath(error.filename)
        temporary = None if instead_of is None else os.fspath(instead_of)
        # Without a number it is not an error of the operating system.
        if error.errno is None or named not in (None, temporary):
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error


def _flush(path: Path) -> None:
    """Flush a file, or the listing of a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
