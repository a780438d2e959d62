"""Reading and writing annotations in any format, which is detected from the content of a file.

`read_some` reads a file that annotates more pictures than a folder holds, such as one file for the
training and the test set.
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
from groupcm.annotations.formats.yolo import NAME_FILES
from groupcm.annotations.known_pictures import KnownPictures, NotThere, Places
from groupcm.annotations.model import Annotations, Picture, relative_name
from groupcm.annotations.parsing import load, root_tag
from groupcm.annotations.pictures import (
    MASK_SIDE_FILE,
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

_PLACEHOLDER_SIZE = (60_000, 60_000)  # of pictures that are left out afterwards


@dataclass(frozen=True)
class Format:
    """A format: its title, whether it is a folder of files, its reader and its writer.

    Examples
    --------
    >>> from groupcm.annotations import FORMATS
    >>> FORMATS["voc"].title
    'Pascal VOC'
    """

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
        there (also without their suffix), which also provides sizes that the file does not state;
        a picture that is not found is an error.
    format
        One of `FORMATS`; by default it is detected from the content.
    skip_damaged
        Leave out objects that cannot be read and count them in a warning, instead of raising an
        error. A picture that lost an object is to do.
    unannotated
        The state of a picture that the file lists without objects and without stating that it was
        annotated: ``"todo"``, or ``"negative"`` for "verified empty". The table of
        `groupcm.annotations` lists what each format can state.
    options
        Options of the format: ``values``, ``categories``, ``separate`` and ``min_pixels`` of
        masks.

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
    found = FORMATS[sniff(path)] if format is None else _format_named(format)
    if not path.exists():
        raise InputError("there is no file or folder ", FileName(path))
    if path.is_dir() and not found.folder:
        raise InputError(FileName(path), f" is a folder; annotations of {found.title} are one file")
    known = None if images is None else KnownPictures(images)
    return found.read(Reading(path, known, skip_damaged, unannotated), **options)


def write(
    annotations: Annotations, path: str | os.PathLike[str], format: str, **options: Any
) -> None:
    """Write annotations atomically; a warning counts what the format cannot represent.

    Parameters
    ----------
    path
        The file, or a new or empty folder for formats of many files.
    format
        One of `FORMATS`.
    options
        Options of the format: ``compressed`` of COCO, ``prefix`` of Label Studio.

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
    chosen = _format_named(format)
    writing = Writing(Path(path), chosen.title)
    try:
        chosen.write(annotations, writing, **options)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"cannot write {path}: {error}") from error
    writing.tally.warn()


def with_folder(
    annotations: Annotations, folder: str | os.PathLike[str], *, done: bool = False
) -> Annotations:
    """Return the annotations with the other pictures of a folder added.

    Parameters
    ----------
    done
        Whether the added pictures count as verified empty, as for a file that lists positive
        pictures alone, or as to do.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> folder = Path(tempfile.mkdtemp())
    >>> Image.new("RGB", (64, 48)).save(folder / "frame.png")
    >>> [picture.name for picture in with_folder(Annotations([], []), folder).pictures]
    ['frame.png']
    """
    folder = Path(folder)
    found = picture_files(folder)
    warn_of_masks(folder, found.masks)
    new = [
        Picture(name, *picture_size(folder / name), done=done)
        for name in found.pictures
        if name not in annotations
    ]
    return Annotations((*annotations.pictures, *new), annotations.categories, annotations.extra)


class UnknownFormatError(InputError):
    """A file or a folder whose format is not known, or which holds several."""


def sniff(path: Path) -> str:
    """Return the name of the format of a file or folder."""
    if not path.exists():
        raise InputError("there is no file or folder ", FileName(path))
    found = _folder_format(path) if path.is_dir() else _file_format(path)
    if found is None:
        raise UnknownFormatError(
            FileName(path),
            " is in no known annotation format",
            PythonNote(
                "; name it (format=...), or see the formats in the documentation of "
                "groupcm.annotations"
            ),
        )
    return found


def _file_format(path: Path) -> str | None:
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        return "csv"
    if suffix == ".xml":
        return {"annotation": "voc", "annotations": "cvat"}.get(root_tag(path))
    if suffix != ".json":
        return None
    content: Any = load(path)
    if isinstance(content, dict):
        if "images" in content:
            return "coco"
        if "shapes" in content:
            return "labelme"
    tasks = content if isinstance(content, list) else [content]
    is_task = bool(tasks) and isinstance(tasks[0], dict) and "data" in tasks[0]
    return "label_studio" if is_task else None


def _folder_format(path: Path) -> str | None:
    """Return the format by the suffixes of the files; pictures may be among the annotations."""
    if (path / MASK_SIDE_FILE).is_file():
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
    return found[0] if found else "masks" if suffixes & PICTURE_SUFFIXES else None


def _format_named(name: str) -> Format:
    if name not in FORMATS:
        raise InputError(f"there is no format {name!r}; choose from {', '.join(FORMATS)}")
    return FORMATS[name]


def read_some(
    path: str | os.PathLike[str],
    images: str | os.PathLike[str] | Annotations,
    unannotated: Unannotated = "todo",
) -> tuple[Annotations, list[str]]:
    """Read annotations, and list which of their pictures are not in the folder of pictures.

    Formats of one file per picture leave those pictures out. Other formats keep them, so that the
    caller removes them by these names.

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
    known = _SomeKnown(images, keeps_others=not format.folder)
    reading = ReadingSome(path, known, unannotated)
    read = format.read(reading)
    others = [picture.name for picture in read if picture.name not in known]
    return read, reading.missing + others


class _SomeKnown(KnownPictures):
    """Known pictures; others keep the name that the file gives them, or raise `NotThere`."""

    def __init__(self, images: str | os.PathLike[str] | Annotations, keeps_others: bool) -> None:
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
        return super().size(name) if name in self else _PLACEHOLDER_SIZE


class ReadingSome(Reading):
    """A reading that skips pictures that do not exist, and raises every other error."""

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
