"""A page of groupcm served by a process of its own, and the browser that opens it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

__all__ = ["browsing", "serving"]


@contextmanager
def serving(command: str, *arguments: str | Path) -> Iterator[str]:
    """Run ``groupcm annotate`` or ``review`` within the block; yield the address that opens it."""
    words = [command, *map(str, arguments), "--port", "0", "--no-browser"]
    with subprocess.Popen(
        [sys.executable, "-c", "from groupcm.cli._main import main; main()", *words],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        try:
            yield next(line.strip() for line in server.stdout if line.startswith("http"))
        finally:
            server.terminate()


@contextmanager
def browsing() -> Iterator[Browser]:
    """Run Chromium without a window within the block."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            yield browser
        finally:
            browser.close()
