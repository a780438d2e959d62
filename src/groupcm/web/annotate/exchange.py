"""Export and import of annotations in all formats, as downloads and uploads of the page.

A format that is a folder is packed as a ZIP file. An import may name pictures that the library
does not have; they are left out.
"""

from __future__ import annotations

import io
import re
import shutil
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from warnings import WarningMessage

from groupcm.annotations import FORMATS, Annotations, Picture, write
from groupcm.annotations.archives import unzip
from groupcm.annotations.files import ReadingSome, UnknownFormatError, sniff
from groupcm.annotations.known_pictures import KnownPictures, NotThere, Places
from groupcm.annotations.model import StateCounts, relative_name
from groupcm.annotations.reading import AnnotationWarning, Unannotated
from groupcm.errors import Argument, FileName, InputError, Message
from groupcm.utils.merged_warnings import record_warnings
from groupcm.utils.text import composed, printable
from groupcm.web.annotate.store import AnnotationStore
from groupcm.web.server.library import PictureLibrary

__all__ = [
    "ENDINGS",
    "Download",
    "ImportReading",
    "Imported",
    "export",
    "import_bytes",
    "import_file",
    "import_path",
    "is_packed",
    "unpacked",
]

ENDINGS = {"coco": ".json", "label_studio": ".json", "cvat": ".xml", "csv": ".csv"}
_MOST_UNPACKED = 512 * 2**20
_MOST_FILES = 200_000
_PACKED = b"PK\x03\x04"
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")
_ALSO_ONE_FILE = ("labelme", "voc")  # a file names its picture


class Download(NamedTuple):
    """A file to download, and warnings about what the format cannot store."""

    name: str
    content: bytes
    media_type: str
    warnings: tuple[str, ...] = ()


class Imported(NamedTuple):
    """The result of an import, with one sentence for each reason why something was left out.

    ``states`` counts the pictures of the file that are in the folder, except those that kept their
    annotations; ``in_progress`` counts those of them that have objects and are not done.
    """

    pictures: int
    objects: int
    skipped: tuple[str, ...]
    states: StateCounts
    in_progress: int = 0


def export(store: AnnotationStore, format: str, folder: Path) -> Download:
    """Return the annotations in a format; a format that is a folder gives a ZIP file.

    Parameters
    ----------
    store
        The annotations.
    format
        One of `groupcm.annotations.FORMATS`.
    folder
        The folder of pictures, from which the download gets its name.
    """
    _require_format(format)
    name = f"{_plain_name(folder)}-{format}"
    if format == "coco":
        return Download(f"{name}.json", store.to_bytes(), "application/json")
    with _temporary_folder() as work, record_warnings() as recorded:
        path = work / (name + ENDINGS.get(format, ""))
        write(store.annotations(), path, format)
        if FORMATS[format].folder:
            archive = shutil.make_archive(str(work / "packed"), "zip", path)
            content = Path(archive).read_bytes()
            return Download(f"{name}.zip", content, "application/zip", _sentences(recorded, path))
        content = path.read_bytes()
    media_type = {".json": "application/json", ".xml": "application/xml"}.get(path.suffix)
    return Download(path.name, content, media_type or "text/csv", _sentences(recorded, path))


def import_bytes(
    store: AnnotationStore,
    library: PictureLibrary,
    content: bytes,
    format: str | None = None,
    unannotated: Unannotated = "todo",
) -> Imported:
    """Add the objects of an uploaded file; a folder must be packed as a ZIP file.

    Nothing changes if any part of it is damaged. ``unannotated`` is as for
    `groupcm.annotations.read`.
    """
    with _temporary_folder() as work:
        folders = {part for name in library.names for part in PurePosixPath(name).parts[:-1]}
        path = unpacked(content, work, format, folders)
        try:
            return import_path(store, library, path, format, unannotated)
        except InputError as error:
            raise InputError(error.message(_in_upload(path))) from error


def import_file(
    store: AnnotationStore,
    library: PictureLibrary,
    path: Path,
    unannotated: Unannotated = "todo",
) -> Imported:
    """Add the objects of a file or folder, or of a ZIP file that contains one."""
    try:
        if is_packed(path):
            return import_bytes(store, library, path.read_bytes(), unannotated=unannotated)
        return import_path(store, library, path, unannotated=unannotated)
    except InputError as error:
        if error.file is not None:
            raise
        raise InputError(FileName(path), ": ", error) from error


def import_path(
    store: AnnotationStore,
    library: PictureLibrary,
    path: Path,
    format: str | None = None,
    unannotated: Unannotated = "todo",
) -> Imported:
    """Add the objects of a file or folder to the pictures that have no annotations yet.

    A picture that has annotations keeps them. Pictures that are not in the folder, or have
    another size there, are left out and reported.
    """
    name = format or _format_of(path)
    _require_format(name)
    if path.is_dir() and not FORMATS[name].folder:
        raise InputError(
            FileName(path), f" is a folder; annotations of {FORMATS[name].title} are one file"
        )
    if not path.is_dir() and FORMATS[name].folder and name not in _ALSO_ONE_FILE:
        raise InputError(
            f"annotations of {FORMATS[name].title} are a folder; pack it as a ZIP file"
        )
    reading = ImportReading(path, library, not FORMATS[name].folder, unannotated)
    with record_warnings() as recorded:
        read = FORMATS[name].read(reading)
    left_out: dict[str, list[str]] = defaultdict(list)
    for missing in reading.missing:
        left_out["not in the folder"].append(missing)
    fitting = list(_fitting(read, library, left_out))
    merged = store.merge(fitting, read.categories)
    for kept in merged.kept:
        left_out["already done or marked here and kept as they were"].append(kept)
    skipped = (*_left_out_sentences(left_out), *_sentences(recorded, path))
    return Imported(merged.pictures, merged.objects, skipped, merged.states, merged.in_progress)


def is_packed(path: Path) -> bool:
    """Return whether a path is a ZIP file."""
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(_PACKED)) == _PACKED


def unpacked(content: bytes, work: Path, format: str | None, folders: Collection[str] = ()) -> Path:
    """Write an upload to a folder, unpacked, and return the path to read.

    A single folder in a ZIP file is opened, unless it is one of ``folders``, the names of the
    folders that contain pictures: then it is part of the names of the pictures.
    """
    if not content.strip():
        raise InputError("the file is empty")
    if not content.startswith(_PACKED):
        begins = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        guessed = {b"{": ".json", b"[": ".json", b"<": ".xml"}.get(begins, ".csv")
        path = work / ("file" + ENDINGS.get(format or "", guessed))
        path.write_bytes(content)
        return path
    # Two levels down: some formats look for more files in the parent folder.
    home = work / "in" / "zip"
    home.mkdir(parents=True)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unzip(archive, home, most_bytes=_MOST_UNPACKED, most_files=_MOST_FILES)
    except InputError:
        raise
    except OSError as error:
        raise InputError(
            f"the ZIP file holds a file that cannot be written: {error.strerror}"
        ) from error
    except Exception as error:  # zipfile raises many kinds for damaged files
        raise InputError("the ZIP file is damaged or locked with a password") from error
    named = {composed(name) for name in folders}
    inner = list(home.iterdir())
    while len(inner) == 1 and inner[0].is_dir() and composed(inner[0].name) not in named:
        home, inner = inner[0], list(inner[0].iterdir())
    return inner[0] if len(inner) == 1 and inner[0].suffix in ENDINGS.values() else home


class _LibraryPictures(KnownPictures):
    """The pictures of a library; their sizes are read when they are needed."""

    def __init__(self, library: PictureLibrary, tolerant: bool) -> None:
        super().__init__(Annotations(tuple(Picture(name, 1, 1) for name in library.names)))
        self.folder = library.folder
        self._library = library
        self._tolerant = tolerant

    def name(self, written: str, places: Places | None = None) -> str:
        try:
            return super().name(written, places)
        except ValueError as error:
            if self._tolerant:
                return relative_name(written)
            raise NotThere(str(error), written) from error

    def size(self, name: str) -> tuple[int, int]:
        number = self._library.number(name)
        # A picture that the library does not have is left out later.
        return (1000, 1000) if number is None else self._library.size(number)


class ImportReading(ReadingSome):
    """Reading that skips pictures that a library does not have."""

    def __init__(
        self, path: Path, library: PictureLibrary, tolerant: bool, unannotated: Unannotated = "todo"
    ) -> None:
        super().__init__(path, _LibraryPictures(library, tolerant), unannotated)


def _require_format(format: str) -> None:
    if format not in FORMATS:
        raise InputError(f"there is no format {format!r}; choose from {', '.join(FORMATS)}")


def _format_of(path: Path) -> str:
    """Return the format of a file; an import has no option to name it."""
    try:
        return sniff(path)
    except UnknownFormatError as error:
        titles = ", ".join(each.title for each in FORMATS.values())
        raise InputError(error, f"; it may be of {titles}") from error


def _fitting(
    read: Annotations, library: PictureLibrary, left_out: dict[str, list[str]]
) -> Iterator[Picture]:
    """Yield the pictures that are in the folder and have the same size there."""
    for picture in read:
        number = library.number(picture.name)
        if number is None:
            left_out["not in the folder"].append(picture.name)
            continue
        try:
            same = library.size(number) == (picture.width, picture.height)
        except InputError:
            left_out["not readable"].append(picture.name)
            continue
        if same:
            yield picture
        else:
            left_out["of another size there"].append(picture.name)


def _left_out_sentences(left_out: Mapping[str, list[str]]) -> list[str]:
    """Return one sentence per reason why pictures were left out."""
    return [
        f"{len(names)} picture{'' if len(names) == 1 else 's'} left out, {reason}"
        f" (the first: {names[0]})."
        for reason, names in left_out.items()
    ]


def _plain_name(folder: Path) -> str:
    """Return a name that is a valid file name on every system."""
    plain = _NOT_PLAIN.sub("-", folder.resolve().name).strip("-.")
    return plain or "annotations"


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="groupcm-") as folder:
        yield Path(folder)


def _sentences(recorded: Sequence[WarningMessage], path: Path) -> tuple[str, ...]:
    """Return warnings as sentences that do not name the file, which they are all about."""
    return tuple(_sentence(each.message, path) for each in recorded)


def _sentence(warning: Warning | str, path: Path) -> str:
    if isinstance(warning, AnnotationWarning):
        return printable(warning.sentence)
    if isinstance(warning, Message):
        return warning.message(_in_upload(path))
    return printable(" ".join(str(warning).split()))


def _in_upload(path: Path) -> Callable[[Argument | FileName], str]:
    """Return a function that writes the name of an uploaded file without its temporary folder."""

    def spell(part: Argument | FileName) -> str:
        file = Path(str(part.path)) if isinstance(part, FileName) else None
        if file is None or not file.is_relative_to(path):
            return str(part)
        return "the file" if file == path else file.relative_to(path).as_posix()

    return spell
