"""Reading of picture files as arrays of pixels in a few standard forms.

A grey picture is a 2-D array, a picture in colour a 3-D array with red, green and blue last. 8-bit
files give ``uint8`` (0 to 255), 16-bit grey files ``uint16`` (0 to 65,535), and files of
floating-point numbers ``float32`` from 0 to 1. `as_rgb` converts all of them to one form.

- The EXIF rotation is applied.
- Palettes and other colour spaces become RGB; black and white become 0 and 255.
- Transparent pixels are blended with black, the colour around the round view of an endoscope.
- 16-bit colours lose their lower 8 bits, as Pillow reads them.
- Pages of a stack are separate pictures, the first ``stack.tif#1``; see `listing`.
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
from groupcm.utils.typing import Float32

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
_TIFF_SUBFILE_TYPE = 254
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
        The page of a stack, from 1.
    most_pixels
        Larger pictures are an error, raised before their pixels are read; by default 50 million,
        or the value of the environment variable ``GROUPCM_MOST_PIXELS``
        (`groupcm.annotations.limits`). Pillow itself refuses more than
        2 · ``PIL.Image.MAX_IMAGE_PIXELS``.

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
            _seek_page(picture, page, path)
        _check_size(picture.size, most_pixels, path)
        # Without a name it is not memory-mapped, which Pillow does wrongly for rotated TIFFs.
        picture.filename = ""
        picture.load()
        # Read after loading: Pillow rotates TIFF files itself and then removes the tag.
        orientation = picture.getexif().get(_EXIF_ORIENTATION, 1)
        pixels = _standard_pixels(picture, path)
    return np.ascontiguousarray(_rotated(pixels, orientation))


def read_named(
    folder: str | os.PathLike[str], name: str, *, most_pixels: int = MOST_PIXELS
) -> Pixels:
    """Read a picture by its name in `groupcm.images.listing.list_pictures`.

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
    file, sign, page = name.rpartition("#")
    # A file name may contain this sign itself.
    if sign and page.isdecimal() and page.isascii() and not path.exists():
        return read_picture(Path(folder) / file, int(page), most_pixels=most_pixels)
    return read_picture(path, most_pixels=most_pixels)


def as_rgb(pixels: Pixels) -> Float32:
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
    """Return whether a picture of more than 8 bits uses less than 5 % of the possible values.

    The used range is from the 0.5th to the 99.5th percentile. False for a picture of one value.

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
    """Warn of the pictures, if any, for which `has_small_range` is true."""
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
    """Return the number of pages of a stack; 1 for any other picture.

    The smaller copies of a page in a pyramid do not count.
    """
    with opening(path) as picture:
        return len(_pages(picture))


def _pages(picture: Any) -> list[int]:
    """Return the frames of the file that are pages."""
    if picture.format not in _STACKS or getattr(picture, "n_frames", 1) == 1:
        return [0]
    if picture.n_frames > MOST_PAGES:
        raise ValueError(f"it has more than {MOST_PAGES:,} pages")
    frames = list(range(picture.n_frames))
    if picture.format != "TIFF":
        return frames
    pages = []
    for frame in frames:
        picture.seek(frame)
        if not int(picture.tag_v2.get(_TIFF_SUBFILE_TYPE, 0)) & _SMALLER_COPY:
            pages.append(frame)
    return pages or [0]


def _seek_page(picture: Any, page: int, path: str | os.PathLike[str]) -> None:
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


def _standard_pixels(picture: Any, path: str | os.PathLike[str]) -> Pixels:
    """Return the pixels in one of the standard forms of this module."""
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


def _unit_floats(values: Float32, path: str | os.PathLike[str]) -> Float32:
    if not np.isfinite(values).all():
        raise InputError(
            f"the picture {path} has pixels that are not numbers; use values from 0 to 1"
        )
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
    blended = ((rgba[:, :, :3] * alpha + 127) // 255).astype(np.uint8)
    return blended[:, :, 0] if grey else blended


def _rotated(pixels: Pixels, orientation: Any) -> Pixels:
    """Apply an EXIF orientation, 1 to 8; other values are ignored."""
    if orientation in (5, 6, 7, 8):
        pixels = pixels.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return pixels
