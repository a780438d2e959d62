"""Opening a page in Chromium, and what it did there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class Visit:
    """A page that is open, and all it said and asked for since."""

    page: Page
    messages: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser, or a test skipped (or failed, where a browser is required)."""
    program = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    if program is None:
        reason = f"none of {', '.join(CHROMIUM)} is installed"
        if os.environ.get("GROUPCM_REQUIRE_BROWSER") == "1":
            pytest.fail(f"GROUPCM_REQUIRE_BROWSER=1, but {reason}")
        pytest.skip(f"needs Chromium: {reason}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def visiting(browser: Browser, path: Path, *, width: int = 1200, **options: Any) -> Iterator[Visit]:
    """Open a file in a browser window of its own."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    page = context.new_page()
    visit = Visit(page)
    page.on("console", lambda message: visit.messages.append(message.text))
    page.on("pageerror", lambda error: visit.errors.append(str(error)))
    context.on("request", lambda request: visit.requests.append(request.url))
    try:
        page.goto(path.as_uri())
        yield visit
    finally:
        context.close()
