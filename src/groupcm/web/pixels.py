"""The pictures as a browser gets them: whole, and as thumbnails."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from groupcm.annotations.pictures import opening, pillow
from groupcm.web.library import PictureLibrary
from groupcm.web.path_numbers import ONE_PICTURE
from groupcm.web.thumbnails import Thumbnails, eight_bits

__all__ = ["PictureRoutes", "Shown", "shown"]

_TYPES = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}
# Others (16 bits, CMYK, transparency) look different in a browser than in `PictureLibrary.read`.
_PLAIN_MODES = ("1", "L", "P", "RGB")
_EXIF_ORIENTATION = 0x0112


class Shown(NamedTuple):
    """Bytes of a picture file and their media type."""

    content: bytes
    media_type: str


def shown(library: PictureLibrary, number: int) -> Shown:
    """Return a picture in a form that every browser shows with the pixels that we read.

    That is the file itself where it is a plain JPEG, PNG or WebP file, else a PNG file made of it.
    """
    media_type = _own_type(library, number)
    if media_type is not None:
        # A browser shows what there is of a file that is cut off, without a word.
        library.check(number)
        return Shown(library.path(number).read_bytes(), media_type)
    written = io.BytesIO()
    pillow().fromarray(eight_bits(library.read(number))).save(written, "PNG", compress_level=1)
    return Shown(written.getvalue(), "image/png")


def _own_type(library: PictureLibrary, number: int) -> str | None:
    """Media type of a file that a browser shows as we read it, else None."""
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


class PictureRoutes:
    """Routes that serve pictures, made in a few threads of their own."""

    def __init__(self, library: PictureLibrary) -> None:
        self._library = library
        self._thumbnails = Thumbnails(library)
        self._threads = ThreadPoolExecutor(min(4, os.cpu_count() or 1), "pictures")

    def routes(self) -> list[Route]:
        """Return the routes of pixels and thumbnails."""
        return [
            Route(f"{ONE_PICTURE}/pixels", self._pixels),
            Route(f"{ONE_PICTURE}/thumbnail", self._thumbnail),
        ]

    def close(self) -> None:
        """Make no more pictures."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _pixels(self, request: Request) -> Response:
        return await self._answer(request, lambda number: shown(self._library, number))

    async def _thumbnail(self, request: Request) -> Response:
        return await self._answer(
            request, lambda number: Shown(self._thumbnails(number), "image/jpeg")
        )

    async def _answer(self, request: Request, make: Callable[[int], Shown]) -> Response:
        number = request.path_params["number"]
        if not 0 <= number < len(self._library):
            raise HTTPException(404, f"There is no picture {number}.")
        changed, size = self._library.stamp(number)
        headers = {
            "Cache-Control": "private, no-cache",
            "ETag": f'"{number}-{changed:x}-{size:x}"',
            # The cookie is new with each start: the same address may then be another picture.
            "Vary": "Cookie",
        }
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
        loop = asyncio.get_running_loop()
        with self._library.problems.noting(number):
            content, media_type = await loop.run_in_executor(self._threads, make, number)
        return Response(content, media_type=media_type, headers=headers)
