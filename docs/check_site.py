"""Check the built site: internal links and anchors, and optionally its pages in a browser.

    python docs/check_site.py docs/_build/html
    python docs/check_site.py docs/_build/html --browser --screenshots screenshots

The first reads the HTML files and fails for a link to a file or an anchor that does not exist, and
for a script, style, font or picture of another site. The second opens pages in Chromium, in light
and dark and at the width of a phone; it fails for a request to another site, an error of a script,
content wider than the page, and a serious finding of axe.
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src", "link": "href"}
LOADED_RELATIONS = {"stylesheet", "icon", "preload", "modulepreload", "manifest"}
STYLE_ADDRESS = re.compile(r"""url\(\s*['"]?((?:https?:)?//[^'")]+)""")
CHROMIUM = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
VIEWS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}},
}
WIDTH_OVER = """() => document.documentElement.scrollWidth - document.documentElement.clientWidth"""


class Page(HTMLParser):
    """The anchors, links and loaded files of one page."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        address = values.get(LOADED.get(tag, ""), "")
        relations = set(values.get("rel", "").split())
        if address and (tag != "link" or relations & LOADED_RELATIONS):
            self.loaded.append(address)
        self.loaded += [part.split()[0] for part in values.get("srcset", "").split(",") if part]


def read_page(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def is_foreign(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme in ("http", "https")


def link_errors(root: Path) -> Iterator[str]:
    """Yield a sentence for each broken internal link and each file loaded from elsewhere."""
    pages = {path.resolve(): read_page(path) for path in sorted(root.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(root)
        if "_static" in name.parts:
            continue
        for address in page.loaded:
            if is_foreign(address):
                yield f"{name} loads {address}, which is not part of the site."
        for address in {*page.links, *page.loaded}:
            if is_foreign(address) or urlsplit(address).scheme:
                continue
            file, anchor = urldefrag(address)
            target = (path.parent / unquote(urlsplit(file).path)).resolve() if file else path
            if not target.is_file():
                yield f"{name} links to {address}, a file that does not exist."
            elif anchor and target in pages and unquote(anchor) not in pages[target].anchors:
                yield f"{name} links to {address}, an anchor that does not exist."
    for path in sorted(root.rglob("*.css")):
        for address in STYLE_ADDRESS.findall(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(root)} loads {address}, which is not part of the site."


def sample_pages(root: Path) -> list[str]:
    """Return the pages to open: the start page, and one or two pages of each kind."""
    wanted = (
        "index.html",
        "get_started/index.html",
        "user_guide/certificate.html",
        "user_guide/problem.html",
        "gallery/index.html",
        *sorted(str(path.relative_to(root)) for path in root.glob("gallery/plot_*.html"))[:1],
        "api/index.html",
        "api/metrics.html",
        "api/generated/groupcm.GroupClassifier.html",
        "search.html",
    )
    return [name for name in wanted if (root / name).is_file()]


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


def browser_errors(root: Path, screenshots: Path | None) -> Iterator[str]:
    """Yield a sentence for each fault that shows in a browser."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    handler = functools.partial(QuietHandler, directory=str(root))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}/"
    executable = next((path for path in CHROMIUM if Path(path).exists()), None)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
            for view, options in VIEWS.items():
                page = browser.new_context(**options).new_page()
                events: list[str] = []
                page.on("request", lambda request, to=events: to.append(f"request {request.url}"))
                page.on("pageerror", lambda error, to=events: to.append(f"error {error}"))
                for name in sample_pages(root):
                    events.clear()
                    page.goto(base + name, wait_until="networkidle")
                    yield from page_errors(page, f"{name} ({view})", events, base, Axe())
                    if screenshots is not None:
                        screenshots.mkdir(parents=True, exist_ok=True)
                        file = name.removesuffix(".html").replace("/", "-") + f"-{view}.png"
                        page.screenshot(path=screenshots / file, full_page=view != "phone")
            browser.close()
    finally:
        server.shutdown()
        server.server_close()


def page_errors(page: Any, where: str, events: list[str], base: str, axe: Any) -> Iterator[str]:
    for event in events:
        kind, _, text = event.partition(" ")
        if kind == "error":
            yield f"{where}: a script failed: {text}"
        elif not text.startswith((base, "data:", "blob:")):
            yield f"{where}: a request to {text}, which is not part of the site."
    if (over := page.evaluate(WIDTH_OVER)) > 0:
        yield f"{where}: the page is {over} pixels wider than the window."
    for found in axe.run(page).response["violations"]:
        if found["impact"] in ("serious", "critical"):
            places = "; ".join(node["html"][:120] for node in found["nodes"][:3])
            yield f"{where}: axe: {found['id']} ({len(found['nodes'])} places): {places}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("site", type=Path, help="the folder that Sphinx built")
    parser.add_argument("--browser", action="store_true", help="open pages in Chromium too")
    parser.add_argument("--screenshots", type=Path, help="keep pictures of the pages here")
    chosen = parser.parse_args(arguments)
    root = chosen.site.resolve()
    if not (root / "index.html").is_file():
        parser.error(f"{chosen.site} has no index.html; build the site with make docs.")
    errors = list(link_errors(root))
    if chosen.browser or chosen.screenshots:
        errors += browser_errors(root, chosen.screenshots)
    print("\n".join(errors) or f"{root.name}: no broken link", file=sys.stderr if errors else None)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
