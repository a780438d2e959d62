"""Picture files: listing those of a folder, distinguishing masks from pictures, and reading sizes.

A mask is never listed as a picture. These files are masks:

- ``a_mask.png`` next to ``a.jpg``, also with ``seg``, ``segmentation``, ``label``, ``gt`` or
  ``groundtruth`` in the place of ``mask``, with ``-`` or a space in the place of ``_``, and with a
  number after it;
- ``masks/a.png`` within the folder of ``a.jpg``, or next to a folder ``images`` (``frames``, …)
  that contains ``a.jpg``;
- every PNG file in a folder with a ``masks.json``, the format in which groupcm writes masks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import NamedTuple

from groupcm.annotations.limits import check_regular, most_pixels
from groupcm.errors import FileName, InputError, SetAsideWarning, warn_user
from groupcm.utils.extras import IMAGES
from groupcm.utils.merged_warnings import ignore_warnings
from groupcm.utils.text import composed, printable

__all__ = [
    "MASK_ENDING",
    "MASK_SIDE_FILE",
    "PICTURE_SUFFIXES",
    "PictureFiles",
    "find_pictures",
    "opening",
    "picture_files",
    "picture_size",
    "pillow",
    "sentence_of_masks",
    "warn_of_masks",
]

_MASK_WORD = "(masks?|seg|segmentations?|labels?|gt|ground[ _-]?truth)"
MASK_ENDING = re.compile(rf"[ _-]{_MASK_WORD}([ _-]?\d+)?$", re.IGNORECASE)
MASK_SIDE_FILE = "masks.json"
_MASK_FOLDER = re.compile(f"{_MASK_WORD}$", re.IGNORECASE)
_PICTURE_FOLDERS = ("images", "image", "imgs", "img", "frames", "pictures", "jpegimages")

PICTURE_SUFFIXES = frozenset(
    [
        ".bmp",
        ".gif",
        ".jpeg",
        ".jpg",
        ".jp2",
        ".pbm",
        ".pgm",
        ".png",
        ".ppm",
        ".tif",
        ".tiff",
        ".webp",
    ]
)
_FORMATS = ("BMP", "DIB", "GIF", "JPEG", "JPEG2000", "PNG", "PPM", "TIFF", "WEBP")
_EXIF_ORIENTATION = 0x0112
_TIFF_WIDTH, _TIFF_HEIGHT = 256, 257


def pillow() -> ModuleType:
    """Import Pillow's ``Image``; the error for a missing Pillow names the extra to install."""
    image = IMAGES.load("PIL.Image")
    # Pillow's own limit must not be stricter than the one that the user set.
    if image.MAX_IMAGE_PIXELS is not None:
        image.MAX_IMAGE_PIXELS = max(image.MAX_IMAGE_PIXELS, most_pixels())
    return image


def find_pictures(folder: str | os.PathLike[str]) -> list[str]:
    """Return the sorted names of all pictures in a folder and its subfolders.

    Names have ``/`` between folders. Hidden files, whose names begin with a dot, and masks of the
    pictures are left out.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("b.PNG", "a.jpg", "a_mask.png", "notes.txt", ".a.jpg.part"):
    ...     (folder / name).touch()
    >>> find_pictures(folder)
    ['a.jpg', 'b.PNG']
    """
    return picture_files(folder).pictures


class PictureFiles(NamedTuple):
    """The pictures of a folder, and the masks among its files."""

    pictures: list[str]
    masks: list[str]


def picture_files(folder: str | os.PathLike[str]) -> PictureFiles:
    """Return the pictures of a folder and the masks stored with them, both sorted."""
    folder = Path(folder)
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise InputError("the folder of pictures ", FileName(folder), f" {what}")
    found: list[str] = []
    described: set[PurePosixPath] = set()
    for here, inner, files in os.walk(folder):
        inner[:] = [name for name in inner if not name.startswith(".")]
        place = PurePosixPath(Path(here).relative_to(folder).as_posix())
        if MASK_SIDE_FILE in files:
            described.add(place)
        found += [
            (place / name).as_posix()
            for name in files
            if not name.startswith(".") and Path(name).suffix.lower() in PICTURE_SUFFIXES
        ]
    stems = {_stem(PurePosixPath(name)) for name in found}
    masks = {name for name in found if _is_mask(PurePosixPath(name), stems, described)}
    return PictureFiles(sorted(set(found) - masks), sorted(masks))


def warn_of_masks(folder: str | os.PathLike[str], masks: list[str]) -> None:
    """Warn that the masks of a folder, if there are any, are not listed as pictures."""
    if masks:
        warn_user(SetAsideWarning(FileName(folder), f": {sentence_of_masks(masks)}"))


def sentence_of_masks(masks: list[str]) -> str:
    """Return the sentence that counts the masks not listed as pictures and names one.

    Examples
    --------
    >>> sentence_of_masks(["a_mask.png"])
    '1 mask is stored with the pictures and set aside, such as a_mask.png; a mask is never taken
    for a picture.'
    """
    count = "1 mask is" if len(masks) == 1 else f"{len(masks):,} masks are"
    return printable(
        f"{count} stored with the pictures and set aside, such as {masks[0]}; a mask is never "
        "taken for a picture."
    )


def _stem(name: PurePosixPath) -> str:
    """Return the name without its suffix, normalised for comparison."""
    stem = str(name.with_suffix("")) if name.name else str(name)
    return composed(stem).casefold()


def _is_mask(name: PurePosixPath, stems: set[str], described: set[PurePosixPath]) -> bool:
    if name.suffix.lower() == ".png" and not described.isdisjoint(name.parents):
        return True
    plain = name.with_name(MASK_ENDING.sub("", name.stem) + name.suffix)
    if plain != name and plain.stem and _stem(plain) in stems:
        return True
    for level, part in enumerate(name.parts[:-1]):
        if not _MASK_FOLDER.match(part):
            continue
        before, inside = name.parts[:level], plain.parts[level + 1 :]
        folders = [before, *((*before, other) for other in _PICTURE_FOLDERS)]
        if any(_stem(PurePosixPath(*folder, *inside)) in stems for folder in folders):
            return True
    return False


def picture_size(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Return width and height after the EXIF rotation, without reading the pixels.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> path = Path(tempfile.mkdtemp()) / "frame.png"
    >>> Image.new("RGB", (64, 48)).save(path)
    >>> picture_size(path)
    (64, 48)
    """
    with opening(path) as picture:
        # For TIFF files, newer versions of Pillow return the size after the rotation.
        stored = picture.tag_v2 if picture.format == "TIFF" else dict(enumerate(picture.size, 256))
        width, height = int(stored[_TIFF_WIDTH]), int(stored[_TIFF_HEIGHT])
        turned = picture.getexif().get(_EXIF_ORIENTATION, 1) in (5, 6, 7, 8)
    return (height, width) if turned else (width, height)


@contextmanager
def opening(path: str | os.PathLike[str]) -> Iterator:
    """Open a picture with Pillow; raise `InputError` where Pillow cannot read it."""
    image = pillow()
    try:
        check_regular(path)
        # Large pictures are allowed here, and odd metadata does not change the pixels.
        with ignore_warnings(), image.open(path, formats=_formats(image)) as picture:
            yield picture
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError("the picture ", FileName(path), " does not exist") from error
    except Exception as error:  # Pillow raises many classes for damaged files
        raise InputError(
            "the picture ", FileName(path), f" cannot be read: {_reason(error, path)}"
        ) from error


def _formats(image: ModuleType) -> list[str]:
    """Return the allowed formats that Pillow supports; others could run a program."""
    if any(name not in image.OPEN for name in _FORMATS):
        image.init()
    return [name for name in _FORMATS if name in image.OPEN]


def _reason(error: Exception, path: str | os.PathLike[str]) -> str:
    if os.path.isfile(path) and os.path.getsize(path) == 0:
        return "the file is empty"
    if type(error).__name__ == "UnidentifiedImageError":
        return "it is not a picture of a known kind, or is damaged"
    return str(error) or type(error).__name__
