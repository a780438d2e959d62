"""Writing files and folders that appear whole or not at all.

What is written has a temporary name next to its final one, ``.NAME.TOKEN.part``, until it is
complete. A run that is killed cannot remove it, so the next run does that writes the same output:

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
from groupcm.utils.locking import give_back, take

__all__ = [
    "check_output",
    "naming",
    "remove_abandoned",
    "temporary_name",
    "whole_file",
    "whole_folder",
]

_MOST_LOCKS = 8  # runs that write the same output at once and can be told apart


def check_output(path: str | os.PathLike[str], *, endings: Sequence[str] = ()) -> Path:
    """Return ``path`` as a `Path` if a file can be written there, and say why not otherwise.

    Long work asks this first, so that a mistake costs a second and not an hour. A folder that does
    not exist is no mistake: it is made when the file is written.

    Parameters
    ----------
    path : path
        The file to write.
    endings : sequence of str
        How its name may end, such as ``(".html",)``; left out, in any way.

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
def _made_folder(folder: Path) -> Iterator[None]:
    """Make a folder and those around it; they go again if nothing is in them after the block."""
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
    """Write next to ``path``, and give the file its name only when the block ends well.

    The block gets the name of a new, empty file in the same folder. When it
    ends without an exception, that file is flushed to the disk and replaces
    ``path`` in one step; otherwise it is removed and ``path`` stays as it was. A folder
    that does not exist is made. An error of the operating system, such as a full disk,
    names ``path``.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole_file(folder / "note.txt") as beside:
    ...     _ = beside.write_text("done")
    >>> [(file.name, file.read_text()) for file in folder.iterdir()]
    [('note.txt', 'done')]
    """
    # A link keeps pointing where it did: its target is what gets replaced.
    target = Path(os.path.realpath(check_output(path)))
    with temporary_name(target) as beside, naming(path, instead_of=beside):
        # Not tempfile: that would give the finished file its private permissions.
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield beside
        _flush(beside)
        os.replace(beside, target)
    if os.name == "posix":
        _flush(target.parent)


@contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Fill a folder next to ``path``, and give it its name only when the block ends well.

    The folder must be new or empty, so that nothing old stays among the new files.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "notes"
    >>> with whole_folder(folder) as beside:
    ...     _ = (beside / "first.txt").write_text("done")
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
    with temporary_name(target) as beside:
        beside.mkdir()
        yield beside
        if target.is_dir():
            target.rmdir()
        os.rename(beside, target)


@contextmanager
def temporary_name(target: Path) -> Iterator[Path]:
    """Reserve a name next to ``target``, for a file or a folder that lives as long as the block.

    What killed runs have left under such names of the same target is removed first.

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
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    with _made_folder(target.parent):
        held = _take_locks(target, beside)
        try:
            yield beside
        finally:
            _remove(beside)
            if held is not None:
                give_back(*held)


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


def _take_locks(target: Path, beside: Path | None) -> tuple[Path, int] | None:
    """Take the locks that are free, remove what they name, and keep one for ``beside``."""
    kept = None
    for number in range(_MOST_LOCKS):
        lock = target.with_name(f".{target.name}.{number}.lock")
        name = beside.name if beside is not None and kept is None else None
        if name is None and not lock.exists():
            continue
        try:
            handle = take(lock)
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
            give_back(lock, handle)
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
    except OSError:  # the disk is full, say: the file to come is safe without a lock
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
    """Name what could not be written, where the error tells no file or a temporary one.

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
        told = error.filename if error.filename is None else os.fspath(error.filename)
        temporary = None if instead_of is None else os.fspath(instead_of)
        # Without a number it is no error of the operating system, and says what it is itself.
        if error.errno is None or told not in (None, temporary):
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error


def _flush(path: Path) -> None:
    """Make the operating system put a file (or a folder's listing) on the disk."""
    handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
