"""A page served by this process and opened in Chromium, with a watch on all it says and asks for.

    with serving(lambda token, port: review_app(…, token=token, port=port)) as address:
        with visiting(browser, address) as page:
            …

At its end a visit fails if the page wrote an error to the console, threw one, broke its content
security policy, or asked any other server for anything. It watches every tab of its context, so
that a second one (``page.context.new_page()``) is watched too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect
from starlette.applications import Starlette

from groupcm.web.server.serve import listening

TOKEN = "token-of-the-test"
PATIENCE_SECONDS = 60
PATIENCE_MILLISECONDS = 60_000
GRAVE = ("serious", "critical")
TELL_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy ${event.violatedDirective} refuses ${event.blockedURI}`));
"""

# A busy computer is slow; who waits for what never comes fails all the same.
expect.set_options(timeout=PATIENCE_MILLISECONDS)


class _ServerThatTells(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.has_begun = threading.Event()

    async def startup(self, sockets: Any = None) -> None:
        try:
            await super().startup(sockets)
        finally:
            self.has_begun.set()


@contextmanager
def serving(make_app: Callable[[str, int], Starlette]) -> Iterator[str]:
    """Serve an application in a thread, and tell the address that opens its page."""
    with listening(0) as door:
        port = door.getsockname()[1]
        config = uvicorn.Config(
            make_app(TOKEN, port),
            log_config=None,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=5,
        )
        server = _ServerThatTells(config)
        thread = threading.Thread(target=server.run, args=([door],))
        thread.start()
        try:
            assert server.has_begun.wait(PATIENCE_SECONDS)
            assert server.started
            yield f"http://127.0.0.1:{port}/?token={TOKEN}"
        finally:
            server.should_exit = True
            thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()


@dataclass
class Watch:
    """What the pages of a context did that they should not."""

    home: str
    forgiven: Sequence[str] = ()
    seen: list[str] = field(default_factory=list)

    def keep(self, context: BrowserContext) -> None:
        """Begin to watch."""
        context.add_init_script(TELL_VIOLATIONS)
        context.on("console", lambda told: self._hear(told.text, _is_grave(told)))
        context.on("weberror", lambda raised: self._hear(str(raised.error), True))
        context.on("request", lambda request: self._see(request.url))

    def _hear(self, text: str, is_error: bool) -> None:
        if is_error and not any(each in text for each in self.forgiven):
            self.seen.append(f"error: {text}")

    def _see(self, url: str) -> None:
        address = urlsplit(url)
        if address.scheme not in ("data", "blob") and address.netloc != self.home:
            self.seen.append(f"asks elsewhere: {url}")


def _is_grave(told: ConsoleMessage) -> bool:
    """Whether a message is an error, or says that the page asked for the focus in vain."""
    return told.type == "error" or "Autofocus processing was blocked" in told.text


@contextmanager
def visiting(
    browser: Browser,
    address: str,
    *,
    width: int = 1280,
    height: int = 800,
    forgiven: Sequence[str] = (),
    **options: Any,
) -> Iterator[Page]:
    """Open an address in a context of its own.

    Parameters
    ----------
    browser, address
        Where, and what.
    width, height
        Of the window.
    forgiven
        Parts of messages that the console may show, such as ``"409"`` where a test makes the
        server refuse something.
    options
        Of the context, such as ``color_scheme="dark"``.
    """
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    watch = Watch(urlsplit(address).netloc, forgiven)
    watch.keep(context)
    try:
        page = context.new_page()
        page.goto(address)
        yield page
    finally:
        context.close()
    assert not watch.seen, "\n".join(watch.seen)


def axe_findings(page: Page) -> list[str]:
    """What keeps people from using the page as it is now: serious and critical findings alone."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in found
        if each["impact"] in GRAVE
        for node in each["nodes"]
    ]


Points = Sequence[tuple[float, float]]


class Fingers:
    """Fingers on a touch screen, as Chromium's own protocol sends them."""

    def __init__(self, page: Page) -> None:
        self._protocol = page.context.new_cdp_session(page)

    def go(self, *places: Points) -> None:
        """Move fingers from places to places, with one more wherever there are more; lift them."""
        n_down = 0
        for points in places:
            for n in range(n_down + 1, len(points) + 1):
                self._send("touchStart", points[:n])
            if n_down == len(points):
                self._send("touchMove", points)
            n_down = len(points)
        self._send("touchEnd", ())

    def _send(self, kind: str, points: Points) -> None:
        touches = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(points)]
        self._protocol.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})


def small_targets(page: Page) -> list[str]:
    """What can be pressed on the page as it is now, and is smaller than 40 × 40 pixels."""
    return page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, a, label:has(input)")]
          .filter((each) => each.checkVisibility() && !each.closest("label:has(input) *, dialog"))
          .map((each) => [each, each.getBoundingClientRect()])
          .filter(([each, { width, height }]) => width > 0 && (width < 40 || height < 40))
          .map(([each, { width, height }]) => `${each.outerHTML}: ${width} × ${height}`)"""
    )


def sideways(page: Page) -> int:
    """By how many pixels the page is wider than its window; a phone would zoom out to show it."""
    size = page.viewport_size
    assert size is not None
    return page.evaluate("document.documentElement.scrollWidth") - size["width"]
