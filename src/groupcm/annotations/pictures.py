"""Picture files: listing those of a folder, distinguishing masks from pictures, and reading sizes.

A mask is never listed as a picture. These files are masks:

- ``a_mask.png`` next to ``a.jpg``, also with ``seg``, ``segmentation``, ``label``, ``gt`` or
  ``groundtruth`` in the place of ``mask``, with ``-`` or a space in the place of ``_``, and with a
  number after it;
- ``masks/a.png`` within the folder of ``a.jpg``, or next to a folder ``images`` (``frames``, …)
  that contains ``a.jpg``, and ``plates_masks/a.png`` next to ``plates/a.jpg``;
- every PNG file in a folder with a ``masks.json``, the format in which groupcm writes masks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
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
    "PICTURE_FOLDERS",
    "PICTURE_SUFFIXES",
    "PictureFiles",
    "find_pictures",
    "is_mask_folder",
    "opening",
    "picture_files",
    "picture_size",
    "pictures_of_masks",
    "pillow",
    "sentence_of_masks",
    "warn_of_masks",
]

_MASK_WORD = "(masks?|seg|segmentations?|labels?|gt|ground[ _-]?truth)"
MASK_ENDING = re.compile(rf"[ _-]{_MASK_WORD}([ _-]?\d+)?$", re.IGNORECASE)
MASK_SIDE_FILE = "masks.json"
_MASK_FOLDER = re.compile(rf"(?P<of>.+[ _-])?{_MASK_WORD}", re.IGNORECASE)
#: What people call a folder of pictures, in small letters.
PICTURE_FOLDERS = (
    *("images", "image", "imgs", "img", "frames", "pictures", "photos", "scans", "jpegimages"),
    *("originals", "original", "raw", "input", "inputs"),
)

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
    files = _Files(Path(folder))
    pictures, masks = [], []
    for place, name in files.found:
        kind = masks if files.is_mask(place, name) else pictures
        kind.append("/".join((*place, name)))
    return PictureFiles(sorted(pictures), sorted(masks))


def pictures_of_masks(folder: str | os.PathLike[str]) -> dict[str, str]:
    """Return the picture of each mask that is stored with the pictures of a folder."""
    files = _Files(Path(folder))
    of_stem = {
        _stem(*place, os.path.splitext(name)[0]): "/".join((*place, name))
        for place, name in files.found
        if not files.is_mask(place, name)
    }
    pairs = {
        "/".join((*place, name)): next(
            (of_stem[stem] for stem in files.stems_of_picture(place, name) if stem in of_stem), None
        )
        for place, name in files.found
    }
    return {mask: picture for mask, picture in pairs.items() if picture is not None}


class _Files:
    """The files of a folder that are pictures or masks by their suffix."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            what = "is not a folder" if folder.exists() else "does not exist"
            raise InputError("the folder of pictures ", FileName(folder), f" {what}")
        self.found: list[tuple[tuple[str, ...], str]] = []  # folders, and the name of the file
        self._described: set[tuple[str, ...]] = set()
        for here, inner, files in os.walk(folder):
            inner[:] = [name for name in inner if not name.startswith(".")]
            place = Path(here).relative_to(folder).parts
            if MASK_SIDE_FILE in files:
                self._described.add(place)
            self.found += [(place, name) for name in files if _is_listed(name)]
        self._stems = {_stem(*place, os.path.splitext(name)[0]) for place, name in self.found}

    def is_mask(self, place: tuple[str, ...], name: str) -> bool:
        """Return whether a file is a mask of another one."""
        is_png = name.lower().endswith(".png")
        if is_png and any(place[: len(each)] == each for each in self._described):
            return True
        return any(stem in self._stems for stem in self.stems_of_picture(place, name))

    def stems_of_picture(self, place: tuple[str, ...], name: str) -> Iterator[str]:
        """Yield where the picture of a mask may be; nothing for what is not called like a mask."""
        stem = os.path.splitext(name)[0]
        plain = MASK_ENDING.sub("", stem) or stem
        if plain != stem:
            yield _stem(*place, plain)
        for level, part in enumerate(place):
            if (called := _MASK_FOLDER.fullmatch(part)) is not None:
                before, inside = place[:level], (*place[level + 1 :], plain)
                of_this_name = (called["of"] or "").rstrip(" _-")
                for other in dict.fromkeys(("", of_this_name, *PICTURE_FOLDERS)):
                    yield _stem(*before, other, *inside)


def _is_listed(name: str) -> bool:
    suffix = os.path.splitext(name)[1].lower()
    return not name.startswith(".") and suffix in PICTURE_SUFFIXES


def is_mask_folder(name: str) -> bool:
    """Return whether a folder is called like one of masks.

    Examples
    --------
    >>> [is_mask_folder(name) for name in ("Masks", "photos_gt", "labels", "unmasked")]
    [True, True, True, False]
    """
    return _MASK_FOLDER.fullmatch(name) is not None


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


def _stem(*parts: str) -> str:
    """Return a path without its suffix, normalised for comparison."""
    return composed("/".join(filter(None, parts))).casefold()


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
        # Pillow decodes a PNG to look for EXIF behind its pixels.
        may_turn = picture.format != "PNG" or _has_exif(Path(path).read_bytes())
        turned = may_turn and picture.getexif().get(_EXIF_ORIENTATION, 1) in (5, 6, 7, 8)
    return (height, width) if turned else (width, height)


def _has_exif(content: bytes) -> bool:
    return b"eXIf" in content or b"Raw profile type exif" in content


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
