"""The guard in front of every request: it admits only the page that was opened with the token.

- The ``Host`` must be this computer (another name that resolves to it is DNS rebinding).
- ``Origin`` and ``Sec-Fetch-Site``, if the browser sends them, must be those of the page itself;
  a request that changes something must have one of them.
- ``GET /?token=…`` with the right token sets a cookie and redirects to ``/``; all other requests
  need the cookie.
- A body may not be larger than a limit, whatever its ``Content-Length``.
- Every answer has a content security policy and related headers.
"""

from __future__ import annotations

import hmac
import logging

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["BODY_LIMIT", "IMPORT_LIMIT", "Guard", "cookie_name"]

IMPORT_LIMIT = 32 * 2**20
BODY_LIMIT = 16 * 2**20
_IMPORT = "/api/import"
_OPEN_AGAIN = "Open the address that groupcm printed in the terminal."
_SAFE = ("GET", "HEAD")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "style-src-attr 'unsafe-inline'; img-src 'self' blob: data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_log = logging.getLogger(__name__)


def cookie_name(port: int) -> str:
    """Return the name of the cookie of a server; browsers share cookies between ports.

    Examples
    --------
    >>> cookie_name(8765)
    'groupcm_8765'
    """
    return f"groupcm_{port}"


class Guard:
    """ASGI middleware with the rules above.

    Parameters
    ----------
    app
        The application to guard.
    token
        The token that the opened address must contain.
    port
        The port of the server.
    """

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._port = port
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})
        guarded = _GuardedSend(scope["path"], send)
        answer = self._answer_at_once(scope)
        if answer is not None:
            return await answer(scope, receive, guarded)
        try:
            await self._app(scope, _limited(receive, _limit(scope)), guarded)
        except Exception:
            if guarded.began:
                raise
            _log.exception("an error in the server")
            sentence = "Something went wrong in the server; see the terminal."
            await _refusal(scope["path"], 500, sentence)(scope, receive, guarded)

    def _answer_at_once(self, scope: Scope) -> Response | None:
        """Return a refusal, or the redirect for the right token; None admits the request."""
        headers, path = Headers(scope=scope), scope["path"]
        host = headers.getlist("host")
        if len(host) != 1 or host[0].lower() not in self._hosts:
            return _refusal(path, 403, f"This server answers only to 127.0.0.1:{self._port}.")
        token = QueryParams(scope["query_string"]).get("token")
        site = headers.get("sec-fetch-site")
        foreign = site not in (None, "same-origin", "none")
        if scope["method"] == "GET" and path == "/" and token is not None:
            if not _same(token, self._token):
                return _refusal(
                    path, 403, f"This is the address of an earlier start. {_OPEN_AGAIN}"
                )
            return self._welcome(foreign)
        origins = headers.getlist("origin")
        if foreign or any(origin.lower() != f"http://{host[0].lower()}" for origin in origins):
            return _refusal(path, 403, "Requests from other sites are refused.")
        if scope["method"] not in _SAFE and not origins and site != "same-origin":
            return _refusal(path, 403, "A change must come from the page itself.")
        cookies = cookie_parser("; ".join(headers.getlist("cookie")))
        if not _same(cookies.get(cookie_name(self._port), ""), self._token):
            return _refusal(path, 403, _OPEN_AGAIN)
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > _limit(scope):
            return _refusal(path, 413, _too_large(_limit(scope)))
        return None

    def _welcome(self, foreign: bool) -> Response:
        if foreign:
            # After a redirect the browser would still send the foreign site as the origin.
            answer: Response = HTMLResponse('<meta http-equiv="refresh" content="0;url=/">')
        else:
            answer = RedirectResponse("/", 303)
        answer.set_cookie(
            cookie_name(self._port), self._token, path="/", httponly=True, samesite="strict"
        )
        answer.headers["Cache-Control"] = "no-store"
        return answer


class _GuardedSend:
    """Send an answer with the headers of the guard, and remember whether it has begun."""

    def __init__(self, path: str, send: Send) -> None:
        self._private = path.startswith("/api")
        self._send = send
        self.began = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.began = True
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            if self._private:
                headers.setdefault("Cache-Control", "no-store")
        await self._send(message)


def _limit(scope: Scope) -> int:
    return IMPORT_LIMIT if scope["path"] == _IMPORT else BODY_LIMIT


def _limited(receive: Receive, limit: int) -> Receive:
    """Limit the size of the body, counted while it is received."""
    n_bytes = 0

    async def counted() -> Message:
        nonlocal n_bytes
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if n_bytes > limit:
            raise HTTPException(413, _too_large(limit))
        return message

    return counted


def _too_large(limit: int) -> str:
    return f"This is too large; at most {limit // 2**20} MB are taken."


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())


def _refusal(path: str, status: int, sentence: str) -> Response:
    if path.startswith("/api"):
        return JSONResponse({"error": sentence}, status)
    return PlainTextResponse(sentence + "\n", status)
