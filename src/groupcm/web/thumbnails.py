"""Small copies of pictures, made when they are first asked for."""

from __future__ import annotations

import io
from collections import OrderedDict
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.pictures import opening, pillow
from groupcm.errors import InputError
from groupcm.images.reading import Pixels
from groupcm.web.library import PictureLibrary, Stamp

__all__ = ["Thumbnails", "eight_bits"]

_LONGEST_SIDE = 192
_MOST_BYTES = 64 * 2**20
_QUALITY = 82


class Thumbnails:
    """JPEG copies, 192 pixels at their longest side; the least wanted are forgotten first.

    Parameters
    ----------
    library
        The pictures.
    most_bytes
        How much memory the copies may take.
    """

    def __init__(self, library: PictureLibrary, most_bytes: int = _MOST_BYTES) -> None:
        self._library = library
        self._most_bytes = most_bytes
        self._n_bytes = 0
        self._made: OrderedDict[tuple[int, Stamp], bytes] = OrderedDict()
        self._lock = Lock()

    def __call__(self, number: int) -> bytes:
        """Return the copy of a picture, or raise `InputError` where it cannot be read."""
        key = (number, self._library.stamp(number))
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        made = self._make(number)
        with self._lock:
            if key not in self._made:
                self._made[key] = made
                self._n_bytes += len(made)
            while self._n_bytes > self._most_bytes and len(self._made) > 1:
                self._n_bytes -= len(self._made.popitem(last=False)[1])
        return made

    def _make(self, number: int) -> bytes:
        small = self._shrunk_jpeg(number)
        if small is None:
            small = pillow().fromarray(eight_bits(self._library.read(number)))
        small.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
        written = io.BytesIO()
        small.convert("RGB").save(written, "JPEG", quality=_QUALITY)
        return written.getvalue()

    def _shrunk_jpeg(self, number: int):
        """Return a JPEG file as read at a fraction of its size, which is many times faster."""
        from PIL import ImageOps

        path = self._library.path(number)
        if path.suffix.lower() not in (".jpg", ".jpeg"):
            return None
        with opening(path) as picture:
            if picture.format != "JPEG":
                return None
            picture.draft("RGB", (2 * _LONGEST_SIDE, 2 * _LONGEST_SIDE))
            return ImageOps.exif_transpose(picture.convert("RGB"))


def eight_bits(pixels: Pixels) -> NDArray[np.uint8]:
    """Return pixels as a screen shows them, 0 to 255.

    Examples
    --------
    >>> eight_bits(np.array([[0, 65_535]], dtype=np.uint16))
    array([[  0, 255]], dtype=uint8)
    """
    if pixels.dtype == np.uint8:
        return pixels.astype(np.uint8, copy=False)
    if pixels.dtype == np.uint16:
        return np.round(pixels / 257.0).astype(np.uint8)
    if pixels.dtype == np.float32:
        return np.round(pixels * 255.0).astype(np.uint8)
    raise InputError(f"pixels of the kind {pixels.dtype} cannot be shown")
