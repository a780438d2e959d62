"""Files of pictures: which there are, and how large they are."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from groupcm.annotations.limits import check_regular, most_pixels
from groupcm.errors import InputError
from groupcm.extras import required

__all__ = ["PICTURE_SUFFIXES", "find_pictures", "opening", "picture_size", "pillow"]

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
    """Import Pillow's ``Image``, and say how to install it where it is missing."""
    image = required("PIL.Image", "images", "pictures are read with Pillow")
    # Pillow has a limit of its own, which is no stricter than the one that a user asked for.
    if image.MAX_IMAGE_PIXELS is not None:
        image.MAX_IMAGE_PIXELS = max(image.MAX_IMAGE_PIXELS, most_pixels())
    return image


def find_pictures(folder: str | os.PathLike[str]) -> list[str]:
    """Names of all pictures in a folder and the folders in it, sorted, with ``/`` between.

    What begins with a dot is hidden and left out.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("b.PNG", "a.jpg", "notes.txt", ".a.jpg.part"):
    ...     (folder / name).touch()
    >>> find_pictures(folder)
    ['a.jpg', 'b.PNG']
    """
    folder = Path(folder)
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(f"the folder of pictures {folder} {what}")
    found = []
    for here, inner, files in os.walk(folder):
        inner[:] = [name for name in inner if not name.startswith(".")]
        found += [
            (Path(here) / name).relative_to(folder).as_posix()
            for name in files
            if not name.startswith(".") and Path(name).suffix.lower() in PICTURE_SUFFIXES
        ]
    return sorted(found)


def picture_size(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Width and height as the picture is looked at, without reading its pixels."""
    with opening(path) as picture:
        # Of a TIFF file, newer versions of Pillow tell the size already turned.
        stored = picture.tag_v2 if picture.format == "TIFF" else dict(enumerate(picture.size, 256))
        width, height = int(stored[_TIFF_WIDTH]), int(stored[_TIFF_HEIGHT])
        turned = picture.getexif().get(_EXIF_ORIENTATION, 1) in (5, 6, 7, 8)
    return (height, width) if turned else (width, height)


@contextmanager
def opening(path: str | os.PathLike[str]) -> Iterator:
    """Open a picture with Pillow; what Pillow cannot read is told in a sentence naming the file."""
    image = pillow()
    try:
        check_regular(path)
        with warnings.catch_warnings():
            # Large pictures are wanted here, and odd metadata does not change the pixels.
            warnings.simplefilter("ignore")
            with image.open(path, formats=_formats(image)) as picture:
                yield picture
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"the picture {path} does not exist") from error
    except Exception as error:  # Pillow raises many kinds for damaged files
        raise InputError(f"the picture {path} cannot be read: {_clause(error, path)}") from error


def _formats(image: ModuleType) -> list[str]:
    """Kinds of pictures that are read, as far as Pillow has them; another could run a program."""
    if any(name not in image.OPEN for name in _FORMATS):
        image.init()
    return [name for name in _FORMATS if name in image.OPEN]


def _clause(error: Exception, path: str | os.PathLike[str]) -> str:
    if os.path.isfile(path) and os.path.getsize(path) == 0:
        return "the file is empty"
    if type(error).__name__ == "UnidentifiedImageError":
        return "it is not a picture of a known kind, or is damaged"
    return str(error) or type(error).__name__
