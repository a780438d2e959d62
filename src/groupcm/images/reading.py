"""Pixels of picture files, always with the same meaning.

A picture is an array of rows: 2-D where it is grey, 3-D with red, green and blue last where it has
colours. 8-bit files give ``uint8`` (0 to 255), 16-bit grey files ``uint16`` (0 to 65,535), and
files of floating-point numbers ``float32`` from 0 to 1. `as_rgb` brings all of them to one form.

- The rotation that EXIF data ask for is applied: the array is what people look at.
- Palettes and other colour spaces become RGB; black and white become 0 and 255.
- What is transparent is laid on black, as around the round view of an endoscope.
- 16-bit colours lose their lower 8 bits, since Pillow reads them so.
- Pages of a stack are pictures of their own, ``stack.tif#1`` the first; see `listing`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.limits import MOST_PAGES, most_pixels
from groupcm.annotations.pictures import opening
from groupcm.errors import Argument, InputError, SmallRangeWarning, warn_user
from groupcm.utils.text import printable

__all__ = [
    "MOST_PIXELS",
    "as_rgb",
    "has_small_range",
    "page_count",
    "read_named",
    "read_picture",
    "warn_of_small_ranges",
]

MOST_PIXELS = most_pixels()
_SMALL_RANGE = 0.05
_PIXELS_LOOKED_AT = 100_000
_STACKS = ("TIFF", "GIF", "WEBP")
_EXIF_ORIENTATION = 0x0112
_TIFF_KIND_OF_PAGE = 254
_SMALLER_COPY = 1
_FULL = {"uint8": 255, "uint16": 65_535, "float32": 1}
Pixels = NDArray[np.uint8 | np.uint16 | np.float32]


def read_picture(
    path: str | os.PathLike[str], page: int = 1, *, most_pixels: int = MOST_PIXELS
) -> Pixels:
    """Read the pixels of a picture file.

    Parameters
    ----------
    path
        The file.
    page
        Which page of a stack, from 1.
    most_pixels
        Larger pictures are refused before their pixels are read; by default 50 million, or what
        the environment variable ``GROUPCM_MOST_PIXELS`` says (`groupcm.annotations.limits`).
        Pillow itself refuses more than 2 · ``PIL.Image.MAX_IMAGE_PIXELS``.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> path = Path(tempfile.mkdtemp()) / "red.png"
    >>> Image.new("RGB", (2, 1), "red").save(path)
    >>> read_picture(path)
    array([[[255,   0,   0],
            [255,   0,   0]]], dtype=uint8)
    >>> with Image.open(path) as picture:
    ...     picture.convert("P").resize((1, 1)).save(path)
    >>> read_picture(path)
    array([[[255,   0,   0]]], dtype=uint8)
    """
    with opening(path) as picture:
        if page != 1:
            _turn_to(picture, page, path)
        _check_size(picture.size, most_pixels, path)
        # Without a name it is not mapped into memory, which Pillow does wrongly for turned TIFFs.
        picture.filename = ""
        picture.load()
        # Asked for after loading: Pillow turns TIFF files itself and then takes the mark away.
        orientation = picture.getexif().get(_EXIF_ORIENTATION, 1)
        pixels = _plain(picture, path)
    return np.ascontiguousarray(_turned(pixels, orientation))


def read_named(
    folder: str | os.PathLike[str], name: str, *, most_pixels: int = MOST_PIXELS
) -> Pixels:
    """Read a picture by the name that `groupcm.images.listing.list_pictures` gives it.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> folder = Path(tempfile.mkdtemp())
    >>> pages = [Image.new("L", (1, 1), grey) for grey in (10, 20)]
    >>> pages[0].save(folder / "stack.tif", save_all=True, append_images=pages[1:])
    >>> read_named(folder, "stack.tif#2")
    array([[20]], dtype=uint8)
    """
    path = Path(folder) / name
    file, mark, page = name.rpartition("#")
    # A file may have such a sign in its own name.
    if mark and page.isdecimal() and page.isascii() and not path.exists():
        return read_picture(Path(folder) / file, int(page), most_pixels=most_pixels)
    return read_picture(path, most_pixels=most_pixels)


def as_rgb(pixels: Pixels) -> NDArray[np.float32]:
    """Return red, green and blue from 0 to 1, shape (height, width, 3).

    Examples
    --------
    >>> as_rgb(np.array([[0, 255]], dtype=np.uint8))
    array([[[0., 0., 0.],
            [1., 1., 1.]]], dtype=float32)
    """
    full = _FULL.get(str(pixels.dtype))
    if full is None:
        raise ValueError(f"pixels are {pixels.dtype}; they must be uint8, uint16 or float32")
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] != 3):
        raise ValueError(f"pixels have the shape {pixels.shape}; they must be grey or RGB")
    unit = pixels.astype(np.float32) / np.float32(full)
    return unit if unit.ndim == 3 else np.repeat(unit[:, :, None], 3, axis=2)


def has_small_range(pixels: Pixels) -> bool:
    """Return whether a picture of more than 8 bits uses less than 5 % of its range.

    The range is that from the 0.5th to the 99.5th percentile. A picture of one value has none.

    Examples
    --------
    >>> values = np.arange(1000, 1300, dtype=np.uint16).reshape(15, 20)
    >>> has_small_range(values), has_small_range(values * 50)
    (True, False)
    >>> has_small_range(values.astype(np.uint8) // 100)
    False
    """
    if pixels.dtype == np.uint8:
        return False
    step = 1 + int((pixels.size / _PIXELS_LOOKED_AT) ** 0.5)
    low, high = np.percentile(pixels[::step, ::step], [0.5, 99.5])
    return bool(0 < high - low < _SMALL_RANGE * _FULL[str(pixels.dtype)])


def warn_of_small_ranges(names: Sequence[str]) -> None:
    """Warn, where there are any, of pictures for which `has_small_range` is true."""
    if names:
        count = "1 picture" if len(names) == 1 else f"{len(names):,} pictures"
        warn_user(
            printable(
                f"{count} of more than 8 bits, such as {min(names)}, "
                f"{'uses' if len(names) == 1 else 'use'} less than {_SMALL_RANGE:.0%} of the "
                "possible values, so that few candidates are found there; stretch all pictures "
                "by one factor, or convert them to 8 bits."
            ),
            SmallRangeWarning,
        )


def page_count(path: str | os.PathLike[str]) -> int:
    """Return how many pages a stack has; 1 for any other picture.

    Smaller copies of a page, as pyramids have them, do not count.
    """
    with opening(path) as picture:
        return len(_pages(picture))


def _pages(picture: Any) -> list[int]:
    """Frames of the file that are pages of their own."""
    if picture.format not in _STACKS or getattr(picture, "n_frames", 1) == 1:
        return [0]
    if picture.n_frames > MOST_PAGES:
        raise ValueError(f"it has more than {MOST_PAGES:,} pages")
    frames = list(range(picture.n_frames))
    if picture.format != "TIFF":
        return frames
    kept = []
    for frame in frames:
        picture.seek(frame)
        if not int(picture.tag_v2.get(_TIFF_KIND_OF_PAGE, 0)) & _SMALLER_COPY:
            kept.append(frame)
    return kept or [0]


def _turn_to(picture: Any, page: int, path: str | os.PathLike[str]) -> None:
    pages = _pages(picture)
    if not 1 <= page <= len(pages):
        raise InputError(f"the picture {path} has no page {page}; it has 1 to {len(pages)}")
    picture.seek(pages[page - 1])


def _check_size(size: tuple[int, int], most_pixels: int, path: str | os.PathLike[str]) -> None:
    width, height = size
    if width * height > most_pixels:
        raise InputError(
            f"the picture {path} has {width} × {height} pixels, {width * height / 1e6:,.1f} "
            f"million; at most {most_pixels / 1e6:,.1f} million are read unless ",
            Argument("most_pixels"),
            " allows more",
            file=path,
        )


def _plain(picture: Any, path: str | os.PathLike[str]) -> Pixels:
    """Pixels in one of the forms that this module promises."""
    mode = picture.mode
    if mode == "F":
        return _unit_floats(np.asarray(picture, dtype=np.float32), path)
    if mode.startswith("I"):
        return _sixteen_bits(np.asarray(picture), path)
    if mode in ("1", "L"):
        return np.asarray(picture.convert("L"))
    if mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in picture.info:
        return _on_black(np.asarray(picture.convert("RGBA")), grey=mode in ("LA", "La"))
    return np.asarray(picture.convert("RGB"))


def _unit_floats(values: NDArray[np.float32], path: str | os.PathLike[str]) -> NDArray[np.float32]:
    if not np.isfinite(values).all():
        raise InputError(f"the picture {path} has pixels that are no numbers; give 0 to 1")
    if values.min() < 0 or values.max() > 1:
        raise InputError(
            f"the picture {path} has pixels from {values.min():g} to {values.max():g}; "
            "pictures of floating-point numbers must lie between 0 and 1"
        )
    return values


def _sixteen_bits(values: NDArray[Any], path: str | os.PathLike[str]) -> NDArray[np.uint16]:
    if values.min() < 0 or values.max() > 65_535:
        raise InputError(
            f"the picture {path} has pixels from {values.min()} to {values.max()}; "
            "pictures of whole numbers must have 8 or 16 bits, 0 to 65535"
        )
    return values.astype(np.uint16)


def _on_black(rgba: NDArray[np.uint8], grey: bool) -> NDArray[np.uint8]:
    alpha = rgba[:, :, 3:].astype(np.uint32)
    laid = ((rgba[:, :, :3] * alpha + 127) // 255).astype(np.uint8)
    return laid[:, :, 0] if grey else laid


def _turned(pixels: Pixels, orientation: Any) -> Pixels:
    """Apply an orientation of EXIF, 1 to 8; others mean nothing."""
    if orientation in (5, 6, 7, 8):
        pixels = pixels.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return pixels
