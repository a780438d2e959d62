"""What both pages share: static files, pictures, JSON in and out, and the guard around it all.

`page_app` makes the whole application from a page's own routes. The rest is for those routes:

- ``return Answer({...})`` answers with JSON; a number that is not finite is an error, not ``NaN``.
- ``raise Refusal(400, "One sentence.")`` answers ``{"error": "One sentence."}`` with that status;
  an `InputError` does so with 422 and an `OSError` with 500.
- ``picture_number(request, library)`` is the number in the path of
  ``Route("/api/pictures/{number:int}", …)``, or a refusal with 404.
- ``await json_body(request)`` is the body as an object, or a refusal with 400.

A plain ``def`` route runs in a thread, an ``async def`` route must not block.
"""

from __future__ import annotations

import json
import mimetypes
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from groupcm.errors import InputError
from groupcm.utils.text import printable
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.pictures import PictureRoutes
from groupcm.web.server.security import Guard

__all__ = ["STATIC", "Answer", "Refusal", "json_body", "page_app", "picture_number"]

STATIC = Path(__file__).parents[1] / "static"
Refusal = HTTPException

# Some systems know no type for scripts, and a browser runs none without it.
mimetypes.add_type("text/javascript", ".js")


class Answer(Response):
    """JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(
            content, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        ).encode("utf-8")


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
    """Make the application of a page.

    Parameters
    ----------
    page
        ``static/{page}.html`` is served at ``/``, and all of ``static`` below ``/static/``.
    routes
        The page's own, all below ``/api/``. Those of pixels and thumbnails are added here.
    library
        The pictures.
    token, port
        What the guard asks for; see `security.Guard`.
    on_start, on_stop
        Called when the server starts and when it stops.
    static
        Where the built pages are.
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
            raise Refusal(404, f"The page is not built: {file.name} is missing.")
        return FileResponse(file, headers={"Cache-Control": "no-cache"})

    shared: list[BaseRoute] = [Route("/", index), *pictures.routes()]
    if static.is_dir():
        shared.append(Mount("/static", _Revalidated(directory=static)))
    return Starlette(
        routes=[*routes, *shared],
        middleware=[Middleware(Guard, token=token, port=port)],
        exception_handlers={
            HTTPException: _refused,
            InputError: _mistaken,
            OSError: _failed,
        },
        lifespan=lifespan,
    )


def picture_number(request: Request, library: PictureLibrary) -> int:
    """Return the picture that the path names, or refuse with 404."""
    number = request.path_params["number"]
    if not 0 <= number < len(library):
        raise Refusal(404, f"There is no picture {number}; the last is {len(library) - 1}.")
    return number


async def json_body(request: Request) -> dict[str, Any]:
    """Return the body of a request as an object, or refuse with 400."""
    try:
        content = json.loads(await request.body(), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, "The body of the request is not JSON.") from error
    if not isinstance(content, dict):
        raise Refusal(400, "The body of the request must be an object with fields.")
    return content


class _Revalidated(StaticFiles):
    """Files that the browser asks for again: another version of groupcm may serve others."""

    def file_response(self, *args: Any, **options: Any) -> Response:
        response = super().file_response(*args, **options)
        response.headers["Cache-Control"] = "no-cache"
        return response


def _no_constant(name: str) -> float:
    raise ValueError(name)


def _error(status: int, sentence: str) -> Answer:
    return Answer({"error": sentence}, status)


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    answer = _error(error.status_code, error.detail)
    answer.headers.update(error.headers or {})
    return answer


async def _mistaken(_request: Request, error: Exception) -> Response:
    return _error(422, " ".join(str(error).split()))


async def _failed(_request: Request, error: Exception) -> Response:
    assert isinstance(error, OSError)
    where = f"{error.filename}: " if error.filename is not None else ""
    return _error(500, printable(f"{where}{(error.strerror or str(error)).lower()}"))
