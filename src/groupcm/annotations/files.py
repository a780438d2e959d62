"""Reading and writing annotations in any format.

Which format a file or a folder has, by looking into it.

Annotations of more pictures than are there, such as those of a test set within a larger file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groupcm.annotations.formats import (
    coco,
    csv_boxes,
    cvat,
    label_studio,
    labelme,
    masks,
    voc,
    yolo,
)
from groupcm.annotations.formats.masks import SIDE_FILE
from groupcm.annotations.formats.yolo import NAME_FILES
from groupcm.annotations.known_pictures import KnownPictures, NotThere, Places
from groupcm.annotations.model import Annotations, Picture, relative_name
from groupcm.annotations.parsing import load, root_tag
from groupcm.annotations.pictures import (
    PICTURE_SUFFIXES,
    picture_files,
    picture_size,
    warn_of_masks,
)
from groupcm.annotations.reading import Reading, Unannotated
from groupcm.annotations.writing import Writing
from groupcm.errors import FileName, InputError, PythonNote

__all__ = [
    "FORMATS",
    "Format",
    "ReadingSome",
    "UnknownFormatError",
    "read",
    "read_some",
    "sniff",
    "with_folder",
    "write",
]

_ROOTS = {"annotation": "voc", "annotations": "cvat"}


class UnknownFormatError(InputError):
    """A file or a folder whose format is not known, or which holds several."""


def sniff(path: Path) -> str:
    """Return the name of the format, or raise a sentence where it is not known."""
    if not path.exists():
        raise InputError("there is no file or folder ", FileName(path))
    found = _of_folder(path) if path.is_dir() else _of_file(path)
    if found is None:
        raise UnknownFormatError(
            FileName(path),
            " is of no known format of annotations",
            PythonNote(
                "; name it (format=...), or see the formats in the documentation of "
                "groupcm.annotations"
            ),
        )
    return found


def _of_file(path: Path) -> str | None:
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        return "csv"
    if suffix == ".xml":
        return _ROOTS.get(root_tag(path))
    if suffix == ".json":
        return _of_json(load(path))
    return None


def _of_json(content: Any) -> str | None:
    if isinstance(content, dict):
        if "images" in content:
            return "coco"
        if "shapes" in content:
            return "labelme"
    tasks = content if isinstance(content, list) else [content]
    if tasks and isinstance(tasks[0], dict) and "data" in tasks[0]:
        return "label_studio"
    return None


def _of_folder(path: Path) -> str | None:
    """Format by the endings of a folder's files; pictures may lie among annotations."""
    if (path / SIDE_FILE).is_file():
        return "masks"
    files = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")]
    suffixes = {file.suffix.lower() for file in files if file.name not in NAME_FILES}
    formats = {".xml": "voc", ".json": "labelme", ".txt": "yolo"}
    found = [name for suffix, name in formats.items() if suffix in suffixes]
    if len(found) > 1:
        raise UnknownFormatError(
            FileName(path),
            f" holds files of several formats ({', '.join(found)})",
            PythonNote("; name the one to read (format=...)"),
        )
    if found:
        return found[0]
    return "masks" if suffixes & PICTURE_SUFFIXES else None


@dataclass(frozen=True)
class Format:
    """A format: how people call it, whether it is a folder, its reader and its writer."""

    title: str
    folder: bool
    read: Callable[..., Annotations]
    write: Callable[..., None]


FORMATS: dict[str, Format] = {
    "coco": Format("COCO", False, coco.read, coco.write),
    "voc": Format("Pascal VOC", True, voc.read, voc.write),
    "yolo": Format("YOLO", True, yolo.read, yolo.write),
    "labelme": Format("labelme", True, labelme.read, labelme.write),
    "label_studio": Format("Label Studio", False, label_studio.read, label_studio.write),
    "cvat": Format("CVAT", False, cvat.read, cvat.write),
    "masks": Format("PNG masks", True, masks.read, masks.write),
    "csv": Format("CSV", False, csv_boxes.read, csv_boxes.write),
}


def read(
    path: str | os.PathLike[str],
    images: str | os.PathLike[str] | Annotations | None = None,
    format: str | None = None,
    *,
    skip_damaged: bool = False,
    unannotated: Unannotated = "todo",
    **options: Any,
) -> Annotations:
    """Read annotations of any format.

    Parameters
    ----------
    path
        The file, or the folder for formats of many files.
    images
        The folder of the pictures, or annotations of the same pictures. Names are then looked up
        there (also without their ending), and sizes taken where the file has none; a picture that
        is not there is an error.
    format
        One of `FORMATS`; found by looking into the file where it is left out.
    skip_damaged
        Leave out what cannot be read, counted in a warning, instead of stopping. A picture that
        lost an object so is to do.
    unannotated
        What a picture is that the file lists without objects and without saying that it was
        looked at: ``"todo"``, or ``"negative"`` for "verified empty". What each format can say
        is in the table of `groupcm.annotations`.
    options
        Of the format: ``values``, ``categories``, ``separate`` and ``min_pixels`` of masks.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "boxes.csv"
    >>> _ = path.write_text(
    ...     "image,x,y,width,height,category,image_width,image_height\\n"
    ...     "a.jpg,10,20,30,40,polyp,384,288\\n"
    ...     "b.jpg,,,,,,384,288\\n"
    ... )
    >>> marked = read(path)
    >>> [(picture.name, picture.state) for picture in marked]
    [('a.jpg', 'annotated'), ('b.jpg', 'verified empty')]
    """
    path = Path(path)
    name = _known(format) if format is not None else sniff(path)
    if not path.exists():
        raise InputError("there is no file or folder ", FileName(path))
    if path.is_dir() and not FORMATS[name].folder:
        raise InputError(
            FileName(path), f" is a folder; annotations of {FORMATS[name].title} are one file"
        )
    if images is None or isinstance(images, Annotations):
        known = None if images is None else KnownPictures(images)
    else:
        known = KnownPictures(Path(images))
    return FORMATS[name].read(Reading(path, known, skip_damaged, unannotated), **options)


def write(
    annotations: Annotations, path: str | os.PathLike[str], format: str, **options: Any
) -> None:
    """Write annotations, whole or not at all; what the format cannot carry is counted in a warning.

    Parameters
    ----------
    path
        The file, or a new or empty folder for formats of many files.
    format
        One of `FORMATS`.
    options
        Of the format: ``compressed`` of COCO, ``prefix`` of Label Studio.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm.annotations import AnnotatedObject, Box
    >>> path = Path(tempfile.mkdtemp()) / "marked.json"
    >>> box = AnnotatedObject("polyp", Box(10, 20, 30, 40), id=1)
    >>> marked = Annotations([Picture("a.jpg", 384, 288, [box])])
    >>> write(marked, path, "coco")
    >>> read(path)["a.jpg"].objects == marked["a.jpg"].objects
    True
    """
    name = _known(format)
    writing = Writing(Path(path), FORMATS[name].title)
    try:
        FORMATS[name].write(annotations, writing, **options)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot write {path}: {error}") from error
    writing.tally.warn(stacklevel=3)


def with_folder(
    annotations: Annotations, folder: str | os.PathLike[str], *, done: bool = False
) -> Annotations:
    """Add the pictures of a folder that the annotations do not know.

    Parameters
    ----------
    done
        Whether they count as looked at and without object, as in a list that names positive
        pictures alone, or are to do.
    """
    folder = Path(folder)
    found = picture_files(folder)
    warn_of_masks(folder, found.masks, stacklevel=2)
    new = [
        Picture(name, *picture_size(folder / name), done=done)
        for name in found.pictures
        if name not in annotations
    ]
    return Annotations((*annotations.pictures, *new), annotations.categories, annotations.extra)


def _known(format: str) -> str:
    if format not in FORMATS:
        raise InputError(f"there is no format {format!r}; there are {', '.join(FORMATS)}")
    return format


_SIZE_OF_NO_INTEREST = (60_000, 60_000)


def read_some(
    path: str | os.PathLike[str],
    images: str | os.PathLike[str] | Annotations,
    unannotated: Unannotated = "todo",
) -> tuple[Annotations, list[str]]:
    """Read annotations, and tell which of their pictures are not in the folder of pictures.

    Those are left out where each picture has a file of annotations of its own. Other formats keep
    them, so that whoever wants them left out does so by these names.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> home = Path(tempfile.mkdtemp())
    >>> Image.new("L", (9, 6)).save(home / "a.png")
    >>> path = home / "boxes.csv"
    >>> _ = path.write_text(
    ...     "image,x,y,width,height,category\\na.png,1,2,3,4,polyp\\nb.png,10,20,30,40,polyp\\n"
    ... )
    >>> read_some(path, home)[1]
    ['b.png']
    """
    path, format = Path(path), FORMATS[sniff(Path(path))]
    pictures = images if isinstance(images, Annotations) else Path(images)
    known = _SomeKnown(pictures, keeps_others=not format.folder)
    reading = ReadingSome(path, known, unannotated)
    read = format.read(reading)
    others = [picture.name for picture in read if picture.name not in known]
    return read, reading.missing + others


class _SomeKnown(KnownPictures):
    """Known pictures; others go by the name they are written with, or raise `NotThere`."""

    def __init__(self, images: Path | Annotations, keeps_others: bool) -> None:
        super().__init__(images)
        self._keeps_others = keeps_others

    def name(self, written: str, places: Places | None = None) -> str:
        try:
            return super().name(written, places)
        except NotThere:
            if self._keeps_others:
                return relative_name(written)
            raise

    def size(self, name: str) -> tuple[int, int]:
        return super().size(name) if name in self else _SIZE_OF_NO_INTEREST


class ReadingSome(Reading):
    """Reading that goes on after pictures that are not there, and after nothing else."""

    def __init__(self, path: Path, known: KnownPictures, unannotated: Unannotated = "todo") -> None:
        super().__init__(path, known, unannotated=unannotated)
        self.missing: list[str] = []

    @contextmanager
    def perhaps(self, place: str) -> Iterator[None]:
        with super().perhaps(place):
            try:
                yield
            except NotThere as error:
                self.missing.append(error.written)
