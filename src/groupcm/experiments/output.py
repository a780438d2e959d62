"""The folder that an experiment writes into."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from groupcm.errors import InputError
from groupcm.utils.files import check_output, whole_file

__all__ = ["check_folder", "synthetic_data_in", "write_text"]


def check_folder(path: str | os.PathLike[str]) -> Path:
    """Raise, before long work begins, where a folder cannot be written into.

    Examples
    --------
    >>> check_folder("no/such/place").name
    'place'
    """
    folder = Path(path)
    if folder.is_dir():
        if not os.access(folder, os.W_OK):
            raise InputError(f"cannot write into {folder}: no permission to write there")
        return folder
    if folder.exists():
        raise InputError(f"cannot write into {folder}: it is a file, not a folder")
    return check_output(folder)


@contextmanager
def synthetic_data_in(folder: Path, *, keep: bool, again: bool = False) -> Iterator[Path]:
    """Provide a place for large synthetic data, which is removed after the block unless kept.

    The folder is removed, too, if it was created for this and is empty. With ``again``, the place
    may be there already, with the complete files of a run that was killed; its incomplete ones are
    removed.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "paper"
    >>> with synthetic_data_in(folder, keep=False) as place:
    ...     place.is_dir()
    True
    >>> folder.exists()
    False
    """
    was_there = folder.exists()
    place = folder / "data"
    if place.exists() and not again:
        raise InputError(f"{place} exists already; move it or choose another folder")
    place.mkdir(parents=True, exist_ok=True)
    for file in place.iterdir():
        if file.suffix != ".parquet":
            file.unlink()
    try:
        yield place
    finally:
        if not keep:
            shutil.rmtree(place, ignore_errors=True)
        if not was_there:
            with suppress(OSError):
                folder.rmdir()


def write_text(path: Path, text: str) -> Path:
    """Write a file that appears whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
