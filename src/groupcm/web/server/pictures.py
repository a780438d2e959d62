"""The routes that serve pictures: in full, as previews, and as thumbnails.

Smaller copies are created when they are first requested, and kept in memory.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from groupcm.annotations.pictures import opening, pillow
from groupcm.images.display import DisplayRange, bits_of, default_range, to_screen
from groupcm.images.reading import Pixels
from groupcm.web.server.compute_once import ComputeOnce
from groupcm.web.server.library import PictureLibrary, Stamp
from groupcm.web.server.requests import PICTURE_ROUTE, number_parameter, picture_number

__all__ = [
    "PREVIEW_SIDE",
    "Encoded",
    "PictureRoutes",
    "Renditions",
    "encode_picture",
    "previews_and_thumbnails",
]

PREVIEW_SIDE = 1_600
_THUMBNAIL_SIDE = 192
_MOST_BYTES = 64 * 2**20
_QUALITY = 82
_TYPES = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}
# Browsers display other modes (16 bits, CMYK, transparency) unlike `PictureLibrary.read`.
_PLAIN_MODES = ("1", "L", "P", "RGB")
_DEEP_MODES = ("I", "F")
_EXIF_ORIENTATION = 0x0112


class PictureRoutes:
    """The routes that serve pictures, which are encoded in a few threads of their own."""

    def __init__(self, library: PictureLibrary) -> None:
        self._library = library
        self._previews, self._thumbnails = previews_and_thumbnails(library)
        # The user changes the display range of one picture many times; it is read once.
        self._deep_pixels = ComputeOnce[tuple[int, Stamp], Pixels](
            lambda key: library.read(key[0]), at_most=1
        )
        self._threads = ThreadPoolExecutor(min(4, os.cpu_count() or 1), "pictures")

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route(f"{PICTURE_ROUTE}/pixels", self._pixels),
            Route(f"{PICTURE_ROUTE}/preview", self._preview),
            Route(f"{PICTURE_ROUTE}/thumbnail", self._thumbnail),
            Route(f"{PICTURE_ROUTE}/depth", self._depth),
        ]

    def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _pixels(self, request: Request) -> Response:
        window = _window_of(request)
        return await self._answer(request, lambda number: self._encoded(number, window))

    async def _preview(self, request: Request) -> Response:
        return await self._answer(request, lambda n: Encoded(self._previews(n), "image/jpeg"))

    async def _thumbnail(self, request: Request) -> Response:
        return await self._answer(request, lambda n: Encoded(self._thumbnails(n), "image/jpeg"))

    async def _depth(self, request: Request) -> Response:
        """Answer ``{"bits": 16, "low": 112, "high": 297, "width": 640, "height": 480}``.

        ``low`` and ``high`` are the values that are displayed as black and white by default.
        """
        return await self._answer(
            request, lambda n: Encoded(json.dumps(self._depth_of(n)).encode(), "application/json")
        )

    def _encoded(self, number: int, window: DisplayRange | None) -> Encoded:
        if window is None and not self._is_deep(number):
            return encode_picture(self._library, number)
        return _as_png(self._pixels_of(number), window)

    def _depth_of(self, number: int) -> dict[str, float]:
        width, height = self._library.size(number)
        bits, (low, high) = 8, DisplayRange(0.0, 255.0)
        if self._is_deep(number):
            pixels = self._pixels_of(number)
            bits, (low, high) = bits_of(pixels), default_range(pixels)
        return {"bits": bits, "low": low, "high": high, "width": width, "height": height}

    def _is_deep(self, number: int) -> bool:
        """Return whether a picture has more than 8 bits; for single pictures, from the header."""
        if self._library.page(number) is not None:
            return bits_of(self._pixels_of(number)) > 8
        with opening(self._library.path(number)) as picture:
            return picture.mode.startswith(_DEEP_MODES)

    def _pixels_of(self, number: int) -> Pixels:
        return self._deep_pixels((number, self._library.stamp(number)))

    async def _answer(self, request: Request, make: Callable[[int], Encoded]) -> Response:
        number = picture_number(request, self._library)
        changed, size = self._library.stamp(number)
        headers = {
            "Cache-Control": "private, no-cache",
            "ETag": f'"{number}-{changed:x}-{size:x}"',
            # The cookie changes with each start: the same address may then be another picture.
            "Vary": "Cookie",
        }
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
        loop = asyncio.get_running_loop()
        with self._library.problems.noting(number):
            content, media_type = await loop.run_in_executor(self._threads, make, number)
        return Response(content, media_type=media_type, headers=headers)


def _window_of(request: Request) -> DisplayRange | None:
    """Return the display range of the query, or raise 400."""
    low, high = (number_parameter(request, name, None) for name in ("low", "high"))
    if low is None and high is None:
        return None
    if low is None or high is None or not low < high:
        raise HTTPException(400, "A window needs both low and high, and low below high.")
    return DisplayRange(low, high)


class Encoded(NamedTuple):
    """The bytes of an answer and their media type."""

    content: bytes
    media_type: str


def encode_picture(
    library: PictureLibrary, number: int, window: DisplayRange | None = None
) -> Encoded:
    """Encode a picture so that every browser displays the pixels that `PictureLibrary.read` reads.

    That is the file itself if it is a plain JPEG, PNG or WebP file, and a new PNG file otherwise.

    Parameters
    ----------
    library, number
        The picture.
    window
        The values to display as black and white; by default
        `groupcm.images.display.default_range`.
    """
    media_type = _own_type(library, number) if window is None else None
    if media_type is not None:
        # A browser would display the first part of a truncated file without an error.
        library.check(number)
        return Encoded(library.path(number).read_bytes(), media_type)
    return _as_png(library.read(number), window)


def _as_png(pixels: Pixels, window: DisplayRange | None) -> Encoded:
    written = io.BytesIO()
    pillow().fromarray(to_screen(pixels, window)).save(written, "PNG", compress_level=1)
    return Encoded(written.getvalue(), "image/png")


def _own_type(library: PictureLibrary, number: int) -> str | None:
    """Return the media type of a file that browsers display as it is, else None."""
    if library.page(number) is not None:
        return None
    with opening(library.path(number)) as picture:
        plain = (
            picture.format in _TYPES
            and picture.mode in _PLAIN_MODES
            and getattr(picture, "n_frames", 1) == 1
            and "transparency" not in picture.info
            and picture.getexif().get(_EXIF_ORIENTATION, 1) == 1
        )
        return _TYPES[picture.format] if plain else None


class Renditions:
    """JPEG copies of limited size; the least recently used are dropped first.

    Parameters
    ----------
    library
        The pictures.
    longest_side
        The longest side of a copy, in pixels; a smaller picture keeps its size.
    most_bytes
        The memory that the copies may take.
    larger
        Larger copies, from which these are created if a picture is larger still, so that a large
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
        self._copies: OrderedDict[tuple[int, Stamp], bytes] = OrderedDict()
        self._lock = Lock()

    def __call__(self, number: int) -> bytes:
        """Return the copy of a picture, or raise `InputError` if it cannot be read."""
        key = (number, self._library.stamp(number))
        with self._lock:
            if key in self._copies:
                self._copies.move_to_end(key)
                return self._copies[key]
        copy = self._make(number)
        with self._lock:
            if key not in self._copies:
                self._copies[key] = copy
                self._n_bytes += len(copy)
            while self._n_bytes > self._most_bytes and len(self._copies) > 1:
                self._n_bytes -= len(self._copies.popitem(last=False)[1])
        return copy

    def _make(self, number: int) -> bytes:
        small = self._shrunk_jpeg(number) or self._shrunk_copy(number)
        if small is None:
            small = pillow().fromarray(to_screen(self._library.read(number)))
        small.thumbnail((self._longest_side, self._longest_side))
        written = io.BytesIO()
        small.convert("RGB").save(written, "JPEG", quality=_QUALITY)
        return written.getvalue()

    def _shrunk_jpeg(self, number: int) -> Any:
        """Read a JPEG file at a fraction of its size, which is many times faster."""
        from PIL import ImageOps

        path = self._library.path(number)
        if path.suffix.lower() not in (".jpg", ".jpeg"):
            return None
        with opening(path) as picture:
            if picture.format != "JPEG":
                return None
            # Thumbnails are read twice as large, which looks better.
            side = max(self._longest_side, 2 * _THUMBNAIL_SIDE)
            picture.draft("RGB", (side, side))
            return ImageOps.exif_transpose(picture.convert("RGB"))

    def _shrunk_copy(self, number: int) -> Any:
        """Return the larger copy of a picture, if the picture is larger still."""
        if self._larger is None or max(self._library.size(number)) <= self._larger._longest_side:
            return None
        return pillow().open(io.BytesIO(self._larger(number)))


def previews_and_thumbnails(library: PictureLibrary) -> tuple[Renditions, Renditions]:
    """Return the copies for the main view, and those for lists."""
    previews = Renditions(library, PREVIEW_SIDE)
    return previews, Renditions(library, larger=previews)
