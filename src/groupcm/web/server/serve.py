"""A local server that runs until Ctrl-C and that no other computer reaches."""

from __future__ import annotations

import errno
import secrets
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import uvicorn
from starlette.applications import Starlette

from groupcm.errors import Argument, InputError

__all__ = ["listening", "serve", "serve_at"]

_HERE = "127.0.0.1"
_SECONDS_FOR_LAST_ANSWERS = 5


def serve(
    make_app: Callable[[str, int], Starlette],
    *,
    port: int,
    open_browser: bool,
    say: Callable[[str], object],
) -> None:
    """Serve a page until Ctrl-C or SIGTERM.

    Parameters
    ----------
    make_app
        Builds the application from the token that opens it and its port.
    port
        The port to listen at; 0 takes any free one.
    open_browser
        Whether to open the page.
    say
        Prints a line; the address of the page is one line.
    """
    with listening(port) as door:
        serve_at(door, make_app, open_browser=open_browser, say=say)


def serve_at(
    door: socket.socket,
    make_app: Callable[[str, int], Starlette],
    *,
    open_browser: bool,
    say: Callable[[str], object],
) -> None:
    """Serve a page at a port that is already open, as `serve` does."""
    token, port = secrets.token_urlsafe(24), door.getsockname()[1]
    server = uvicorn.Server(
        uvicorn.Config(
            make_app(token, port),
            access_log=False,
            log_level="warning",
            server_header=False,
            proxy_headers=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=_SECONDS_FOR_LAST_ANSWERS,
        )
    )
    address = f"http://{_HERE}:{port}/?token={token}"
    say(address)
    if open_browser:
        # Some browsers block their caller.
        threading.Thread(target=_open, args=(address,), daemon=True).start()
    with _end_on_signals():
        server.run(sockets=[door])


@contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """Open a port that no other computer reaches.

    Examples
    --------
    >>> with listening(0) as door:
    ...     door.getsockname()[0]
    '127.0.0.1'
    """
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # On systems other than Windows this reuses a port that was just closed, never one in use.
        alone = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
        door.setsockopt(socket.SOL_SOCKET, alone, 1)
        try:
            door.bind((_HERE, port))
            door.listen(128)
        except OSError as error:
            raise _refused(port, error) from error
        yield door
    finally:
        door.close()


def _refused(port: int, error: OSError) -> InputError:
    other = port + 1 if port < 65_535 else port - 1
    problem = f"cannot be used ({(error.strerror or str(error)).lower()})"
    if error.errno == errno.EADDRINUSE:
        problem = "is in use by another program"
    return InputError(
        f"port {port} {problem}; choose another, such as ",
        Argument("port", other),
        ", or let the computer choose with ",
        Argument("port", 0),
    )


@contextmanager
def _end_on_signals() -> Iterator[None]:
    """Treat Ctrl-C and SIGTERM as the regular end of the block."""
    # uvicorn shuts down on both, and then raises the same signal again.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _open(address: str) -> None:
    with suppress(webbrowser.Error, OSError):
        webbrowser.open(address)
