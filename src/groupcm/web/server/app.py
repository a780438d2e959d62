"""The application of a page: its own routes, pictures, static files, and the guard around them.

`page_app` builds the application from the routes of a page. In a route,

- ``return JSONResponse({...})`` answers with JSON; a number that is not finite is an error;
- ``raise HTTPException(400, "One sentence.")`` answers ``{"error": "One sentence."}``; an
  `InputError` does so with the status 422, and an `OSError` with 500;
- `groupcm.web.server.requests` reads numbers and JSON from the request.

A plain ``def`` route runs in a thread; an ``async def`` route must not block.
"""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from groupcm.errors import InputError
from groupcm.utils.text import printable
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.pictures import PictureRoutes
from groupcm.web.server.security import Guard

__all__ = ["STATIC", "page_app"]

STATIC = Path(__file__).parents[1] / "static"

# Some systems have no media type for scripts, and browsers run none without it.
mimetypes.add_type("text/javascript", ".js")


def page_app(
    page: Literal["annotate", "review"],
    routes: Sequence[BaseRoute],
    library: PictureLibrary,
    *,
    token: str,
    port: int,
    on_start: Callable[[], None] | None = None,
    on_stop: Callable[[], None] | None = None,
    static: Path = STATIC,
) -> Starlette:
    """Build the application of a page.

    Parameters
    ----------
    page
        ``static/{page}.html`` is served at ``/``, and all of ``static`` below ``/static/``.
    routes
        The routes of the page, all below ``/api/``. Those of pixels and thumbnails are added.
    library
        The pictures.
    token, port
        See `security.Guard`.
    on_start, on_stop
        Called when the server starts and when it stops.
    static
        The folder of the built pages.
    """
    pictures = PictureRoutes(library)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        if on_start is not None:
            on_start()
        try:
            yield
        finally:
            pictures.close()
            if on_stop is not None:
                on_stop()

    def index(_request: Request) -> Response:
        file = static / f"{page}.html"
        if not file.is_file():
            raise HTTPException(404, f"The page is not built: {file.name} is missing.")
        return FileResponse(file, headers={"Cache-Control": "no-cache"})

    shared: list[BaseRoute] = [Route("/", index), *pictures.routes()]
    if static.is_dir():
        shared.append(Mount("/static", _RevalidatedFiles(directory=static)))
    return Starlette(
        routes=[*routes, *shared],
        middleware=[Middleware(Guard, token=token, port=port)],
        exception_handlers={
            HTTPException: _http_error,
            InputError: _input_error,
            OSError: _system_error,
        },
        lifespan=lifespan,
    )


class _RevalidatedFiles(StaticFiles):
    """Files that the browser requests again: another version of groupcm may serve others."""

    def file_response(self, *args: Any, **options: Any) -> Response:
        response = super().file_response(*args, **options)
        response.headers["Cache-Control"] = "no-cache"
        return response


async def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


async def _input_error(_request: Request, error: Exception) -> Response:
    return JSONResponse({"error": " ".join(str(error).split())}, 422)


async def _system_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, OSError)
    where = f"{error.filename}: " if error.filename is not None else ""
    sentence = printable(f"{where}{(error.strerror or str(error)).lower()}")
    return JSONResponse({"error": sentence}, 500)
