"""``python -m docs.pictures.pages DEMO``: both pages, on frames of ``groupcm demo -o DEMO``."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.pages.server import browsing, serving
from PIL import Image
from playwright.sync_api import Page

HERE = Path(__file__).parent
SIZE = {"width": 1440, "height": 900}


def main(demo: Path) -> None:
    """Take a picture of each page."""
    frames, marks = demo / "test" / "frames", demo / "test" / "annotations.json"
    with browsing() as browser, tempfile.TemporaryDirectory() as own:
        page = browser.new_page(viewport=SIZE, color_scheme="dark")
        work = shutil.copy(marks, Path(own) / "annotations.json")
        with serving("annotate", frames, "--annotations", work) as address:
            show_annotating(page, address)
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        truth = ("--annotations", marks, "--marks", Path(own) / "review.csv")
        with serving("review", demo / "model.json", frames, *truth) as address:
            show_reviewing(page, address)


def show_annotating(page: Page, address: str) -> None:
    """A frame with its polyp, and a candidate under the pointer."""
    page.goto(address)
    page.locator("#filter").select_option("positive")
    page.locator("[data-picture]").nth(4).click()
    page.locator("[data-object]").first.click()
    page.locator("#pixels[data-loaded]").wait_for()
    page.keyboard.press("c")
    stage = page.locator("#picture").bounding_box()
    assert stage is not None
    page.mouse.move(stage["x"] + 0.62 * stage["width"], stage["y"] + 0.45 * stage["height"])
    page.wait_for_load_state("networkidle")
    keep(page, "annotate.jpg")


def show_reviewing(page: Page, address: str) -> None:
    """The wall, and one picture large."""
    page.goto(address)
    page.locator("#wall [data-outcome]").first.wait_for(timeout=600_000)
    page.locator("#progress progress").wait_for(state="detached", timeout=600_000)
    page.wait_for_load_state("networkidle")
    keep(page, "review.jpg")
    page.locator("[data-outcome='true positive']").last.click()
    page.locator("#families").wait_for()
    page.wait_for_load_state("networkidle")
    keep(page, "review_large.jpg")


def keep(page: Page, name: str) -> None:
    """Write what is on the page."""
    Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(HERE / name, quality=85)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
