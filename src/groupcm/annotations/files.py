"""Reading and writing annotations in any format."""

from __future__ import annotations

import os
from collections.abc import Callable
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
from groupcm.annotations.known_pictures import KnownPictures
from groupcm.annotations.model import Annotations, Picture
from groupcm.annotations.pictures import picture_files, picture_size, warn_of_masks
from groupcm.annotations.reading import Reading, Unannotated
from groupcm.annotations.sniffing import sniff
from groupcm.annotations.writing import Writing
from groupcm.errors import InputError

__all__ = ["FORMATS", "Format", "read", "with_folder", "write"]


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
        raise InputError(f"there is no file or folder {path}")
    if path.is_dir() and not FORMATS[name].folder:
        raise InputError(f"{path} is a folder; annotations of {FORMATS[name].title} are one file")
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
