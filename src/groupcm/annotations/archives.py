"""Safe unpacking of ZIP files: names that stay in the folder, bounded number and size of files."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

from groupcm.annotations.model import relative_name
from groupcm.errors import InputError

__all__ = ["unzip"]

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def unzip(
    archive: zipfile.ZipFile,
    home: Path,
    *,
    most_bytes: int,
    most_files: int,
    rename: Callable[[str], str | None] | None = None,
) -> None:
    """Unpack the files of an archive into a folder.

    Parameters
    ----------
    archive
        The open archive.
    home
        The folder, which exists.
    most_bytes, most_files
        The limits on the size of all files together, counted while they are unpacked, and on their
        number.
    rename
        A function from a name in the archive to the name in the folder, or to None for a file that
        is left out; by default all names are kept.

    Raises
    ------
    InputError
        If a name leads out of the folder, or a limit is exceeded.

    Examples
    --------
    >>> import io, tempfile
    >>> packed = io.BytesIO()
    >>> with zipfile.ZipFile(packed, "w") as archive:
    ...     archive.writestr("../outside.txt", "text")
    >>> unzip(zipfile.ZipFile(packed), Path(tempfile.mkdtemp()), most_bytes=100, most_files=5)
    Traceback (most recent call last):
    groupcm.errors.InputError: the ZIP file holds '../outside.txt', which leads out of it or
    is not a file name
    """
    files = [each for each in archive.infolist() if not each.is_dir()]
    left = most_bytes
    if len(files) > most_files:
        raise InputError(f"the ZIP file holds {len(files):,} files; at most {most_files:,}")
    for file in files:
        name = _safe_name(file.filename)
        if file.compress_type not in _METHODS:
            raise InputError(
                f"the ZIP file holds {file.filename!r} in a compression that is not read here; "
                "pack it with Deflate"
            )
        if name.startswith("__MACOSX/"):
            continue
        renamed = name if rename is None else rename(name)
        if renamed is None:
            continue
        target = home / _safe_name(renamed)
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(file) as packed, open(target, "wb") as written:
            while block := packed.read(2**20):
                left -= len(block)
                if left < 0:
                    raise InputError(
                        f"the ZIP file holds more than {most_bytes // 2**20} MB of files"
                    )
                written.write(block)


def _safe_name(name: str) -> str:
    try:
        return relative_name(name)
    except ValueError as error:
        raise InputError(
            f"the ZIP file holds {name!r}, which leads out of it or is not a file name"
        ) from error
