"""The built pages: fresh, with the licences of what is in them, and without foreign addresses."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from groupcm.web.server.app import STATIC

SOURCES = Path(__file__).parents[2] / "web"
PAGES = ("annotate", "review")
LOADS = re.compile(
    r"""(?:\bsrc|\bhref|\bimport|\bfrom|url|fetch|open|Worker|Scripts|Source|WebSocket|Beacon)
        (?:\s|=|:|\(|,|["'`]GET["'`])*["'`]?
        (?:(?:https?|wss?):)?//[\w\[]""",
    re.VERBOSE,
)

needs_sources = pytest.mark.skipif(
    not SOURCES.is_dir(), reason="the sources of the pages are not in an installed package"
)


def digest_of_sources() -> str:
    """The same as in web/build.mjs."""
    files = [path for path in (SOURCES / "src").rglob("*") if path.is_file()]
    files += [SOURCES / "build.mjs", SOURCES / "package-lock.json"]
    digest = hashlib.sha256()
    for name, path in sorted((path.relative_to(SOURCES).as_posix(), path) for path in files):
        digest.update(f"{name}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@needs_sources
def test_the_pages_are_built_of_their_sources():
    built = (STATIC / "sources.sha256").read_text().strip()
    assert built == digest_of_sources(), "cd web && npm ci && npm run build"


@needs_sources
def test_every_package_in_the_pages_has_its_licence():
    lock = json.loads((SOURCES / "package-lock.json").read_text())
    bundled = {
        f"{place.removeprefix('node_modules/')} {about['version']}"
        for place, about in lock["packages"].items()
        if place and not about.get("dev")
    }
    text = (STATIC / "licences.txt").read_text()
    _, *parts = re.split(r"^(\S+ \S+)\n-+\n", text, flags=re.MULTILINE)
    licences = dict(zip(parts[::2], parts[1::2], strict=True))
    assert set(licences) == bundled
    for package, words in licences.items():
        assert re.search(r"permission|redistribution", words, re.IGNORECASE), package


@pytest.mark.parametrize("page", PAGES)
def test_a_page_loads_its_own_files_alone(page):
    html = (STATIC / f"{page}.html").read_text()
    loaded = re.findall(r"""(?:src|href)\s*=\s*["']?([^"'\s>]*)""", html)
    assert sorted(loaded) == [f"/static/{page}.css", f"/static/{page}.js", "data:,"]
    assert (STATIC / f"{page}.css").is_file()
    assert (STATIC / f"{page}.js").is_file()
    assert "<style" not in html


@pytest.mark.parametrize(
    "file", [f"{page}.{kind}" for page in PAGES for kind in ("html", "css", "js")]
)
def test_no_file_names_a_foreign_address_to_load(file):
    assert LOADS.findall((STATIC / file).read_text()) == []


@pytest.mark.parametrize(
    "code",
    [
        '<script src="https://cdn.example/a.js">',
        "<link href=//fonts.example/a.css>",
        "@import 'http://a.example/b.css'",
        "a{background:url(https://a.example/b.png)}",
        'import x from"https://a.example/b.js"',
        "await import(`https://a.example/b.js`)",
        'fetch("https://a.example")',
        'image.src="//a.example/b.png"',
        'request.open("GET","https://a.example")',
        'new WebSocket("wss://a.example")',
    ],
)
def test_foreign_addresses_would_be_found(code):
    assert LOADS.search(code)
