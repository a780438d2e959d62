"""Uploads put where they can be read: a file as it is, a folder out of its ZIP file."""

from __future__ import annotations

import io
import unicodedata
import zipfile
from collections.abc import Collection
from pathlib import Path

from groupcm.annotations.names import relative_name
from groupcm.errors import InputError

__all__ = ["ENDINGS", "is_packed", "unpacked"]

ENDINGS = {"coco": ".json", "label_studio": ".json", "cvat": ".xml", "csv": ".csv"}
_MOST_UNPACKED = 512 * 2**20
_MOST_FILES = 200_000
_PACKED = b"PK\x03\x04"


def is_packed(path: Path) -> bool:
    """Tell whether a path is a ZIP file."""
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(_PACKED)) == _PACKED


def unpacked(content: bytes, work: Path, format: str | None, folders: Collection[str] = ()) -> Path:
    """Put an upload where it can be read.

    A folder that holds everything else in a ZIP file is opened, unless it is one of ``folders``,
    the names of the folders in which pictures are: then it is part of the pictures' names.
    """
    if not content.strip():
        raise InputError("the file is empty")
    if not content.startswith(_PACKED):
        begins = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        guessed = {b"{": ".json", b"[": ".json", b"<": ".xml"}.get(begins, ".csv")
        path = work / ("file" + ENDINGS.get(format or "", guessed))
        path.write_bytes(content)
        return path
    # Two folders down: some formats look above the folder for more files.
    home = work / "in" / "zip"
    home.mkdir(parents=True)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _unzip(archive, home)
    except InputError:
        raise
    except OSError as error:
        raise InputError(
            f"the ZIP file holds a file that cannot be written: {error.strerror}"
        ) from error
    except Exception as error:  # zipfile raises many kinds for damaged files
        raise InputError("the ZIP file is damaged or locked with a password") from error
    named = {unicodedata.normalize("NFC", name) for name in folders}
    inner = list(home.iterdir())
    while (
        len(inner) == 1
        and inner[0].is_dir()
        and unicodedata.normalize("NFC", inner[0].name) not in named
    ):
        home, inner = inner[0], list(inner[0].iterdir())
    return inner[0] if len(inner) == 1 and inner[0].suffix in ENDINGS.values() else home


def _unzip(archive: zipfile.ZipFile, home: Path) -> None:
    """Unpack plain files within ``home``, and stop where they grow beyond all measure."""
    files = [each for each in archive.infolist() if not each.is_dir()]
    left = _MOST_UNPACKED
    if len(files) > _MOST_FILES:
        raise InputError(f"the ZIP file holds {len(files):,} files; at most {_MOST_FILES:,}")
    for file in files:
        try:
            name = relative_name(file.filename)
        except ValueError as error:
            raise InputError(
                f"the ZIP file holds {file.filename!r}, which leads out of it or is no file name"
            ) from error
        if file.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InputError(
                f"the ZIP file holds {file.filename!r} in a compression that is not read here; "
                "pack it with Deflate"
            )
        if name.startswith("__MACOSX/"):
            continue
        target = home / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(file) as packed, open(target, "wb") as written:
            while block := packed.read(2**20):
                left -= len(block)
                if left < 0:
                    raise InputError(
                        f"the ZIP file holds more than {_MOST_UNPACKED // 2**20} MB of files"
                    )
                written.write(block)
