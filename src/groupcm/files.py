"""Writing files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from groupcm.errors import InputError

__all__ = ["check_output", "naming", "whole_file"]


def check_output(path: str | os.PathLike[str]) -> Path:
    """Return ``path`` as a `Path` if a file can be written there, and say why not otherwise.

    Long work asks this first, so that a mistyped folder costs a second and
    not an hour.

    Examples
    --------
    >>> check_output("no/such/folder/model.json")
    Traceback (most recent call last):
    groupcm.errors.InputError: cannot write no/such/folder/model.json: the folder no/such/folder
    does not exist; make it first or choose another place
    """
    path = Path(path)
    folder = path.parent
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(
            f"cannot write {path}: the folder {folder} {what}; "
            "make it first or choose another place"
        )
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder; give the name of a file")
    if path.exists() and not path.is_file():
        raise InputError(f"cannot write {path}: it is not a regular file; give another name")
    if not os.access(folder, os.W_OK):
        raise InputError(f"cannot write {path}: no permission to write in the folder {folder}")
    return path


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write beside ``path``, and put the file in its place only when the block ends well.

    The block gets the name of a new, empty file in the same folder. When it
    ends without an exception, that file is flushed to the disk and replaces
    ``path`` in one step; otherwise it is removed and ``path`` stays as it was. An error of
    the operating system, such as a full disk, names ``path``.

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
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    # Not tempfile: that would give the finished file its private permissions.
    os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        with naming(path, instead_of=beside):
            yield beside
            _flush(beside)
            os.replace(beside, target)
    except BaseException:
        with suppress(FileNotFoundError):
            beside.unlink()
        raise
    if os.name == "posix":
        _flush(target.parent)


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
