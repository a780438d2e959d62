"""Smaller copies of pictures, made when they are first asked for."""

from __future__ import annotations

import io
from collections import OrderedDict
from threading import Lock
from typing import Any

from groupcm.annotations.pictures import opening, pillow
from groupcm.images.display import to_screen
from groupcm.web.library import PictureLibrary, Stamp

__all__ = ["PREVIEW_SIDE", "Renditions", "previews_and_thumbnails"]

PREVIEW_SIDE = 1_600
_THUMBNAIL_SIDE = 192
_MOST_BYTES = 64 * 2**20
_QUALITY = 82


class Renditions:
    """JPEG copies of at most a given size; the least recently used are forgotten first.

    Parameters
    ----------
    library
        The pictures.
    longest_side
        The longest side of a copy, in pixels; a smaller picture keeps its size.
    most_bytes
        How much memory the copies may take.
    larger
        Larger copies, from which these are made where a picture is larger still, so that a large
        file is decoded once.
    """

    def __init__(
        self,
        library: PictureLibrary,
        longest_side: int = _THUMBNAIL_SIDE,
        most_bytes: int = _MOST_BYTES,
        *,
        larger: Renditions | None = None,
    ) -> None:
        self._library = library
        self._longest_side = longest_side
        self._most_bytes = most_bytes
        self._larger = larger
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
            small = self._shrunk_copy(number)
        if small is None:
            small = pillow().fromarray(to_screen(self._library.read(number)))
        small.thumbnail((self._longest_side, self._longest_side))
        written = io.BytesIO()
        small.convert("RGB").save(written, "JPEG", quality=_QUALITY)
        return written.getvalue()

    def _shrunk_jpeg(self, number: int) -> Any:
        """Return a JPEG file as read at a fraction of its size, which is many times faster."""
        from PIL import ImageOps

        path = self._library.path(number)
        if path.suffix.lower() not in (".jpg", ".jpeg"):
            return None
        with opening(path) as picture:
            if picture.format != "JPEG":
                return None
            # Twice as large for a thumbnail, which looks better; that pays for small copies only.
            side = max(self._longest_side, 2 * _THUMBNAIL_SIDE)
            picture.draft("RGB", (side, side))
            return ImageOps.exif_transpose(picture.convert("RGB"))

    def _shrunk_copy(self, number: int) -> Any:
        """Return the larger copy of a picture that is larger still."""
        if self._larger is None or max(self._library.size(number)) <= self._larger._longest_side:
            return None
        return pillow().open(io.BytesIO(self._larger(number)))


def previews_and_thumbnails(library: PictureLibrary) -> tuple[Renditions, Renditions]:
    """Return copies that fill a stage, and small ones for lists."""
    previews = Renditions(library, PREVIEW_SIDE)
    return previews, Renditions(library, larger=previews)
