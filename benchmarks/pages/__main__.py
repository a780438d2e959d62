"""``python -m benchmarks.pages``: the annotate page with many pictures, in Chromium.

How long until something is painted, until the first thumbnail is there, and until one more box is
on the disk, with a file that already holds two boxes of every picture.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from statistics import median

from PIL import Image

from benchmarks.pages.server import browsing, serving
from groupcm.annotations import AnnotatedObject, Annotations, Box, Picture, write

__all__ = ["main"]

_WIDTH, _HEIGHT, _ROUNDS = 384, 288, 5
_PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"


def main(arguments: list[str] | None = None) -> None:
    """Make the folder, open the page again and again, and print the medians."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument("--pictures", type=int, default=10_000)
    n_pictures = parser.parse_args(arguments).pictures
    painted, thumbnail, saved = [], [], []
    with tempfile.TemporaryDirectory() as name:
        folder = make_folder(Path(name), n_pictures)
        with serving("annotate", folder) as address, browsing() as browser:
            for _ in range(_ROUNDS):
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                began = time.perf_counter()
                page.goto(address)
                page.locator("[data-picture] img[src]").first.wait_for()
                thumbnail.append(time.perf_counter() - began)
                painted.append(page.evaluate(_PAINTED))
                saved.append(_save_one(page))
                page.close()
    print(
        f"{n_pictures:,} pictures with {2 * n_pictures:,} boxes, medians of {_ROUNDS}: first paint "
        f"{median(painted):.2f} s, first thumbnail {median(thumbnail):.2f} s, one more change on "
        f"the disk {median(saved):.2f} s"
    )


def make_folder(folder: Path, n_pictures: int) -> Path:
    """One picture under many names, and the file of what is marked in them."""
    Image.new("RGB", (_WIDTH, _HEIGHT), "sienna").save(folder / "frame 1.png")
    names = [f"frame {number}.png" for number in range(1, n_pictures + 1)]
    for name in names[1:]:
        os.link(folder / names[0], folder / name)
    boxes = [AnnotatedObject("polyp", Box(20 + 90 * at, 30, 80, 60)) for at in range(2)]
    pictures = [Picture(name, _WIDTH, _HEIGHT, tuple(boxes)) for name in names]
    write(Annotations(tuple(pictures)), folder / "annotations.json", "coco")
    return folder


def _save_one(page) -> float:
    """Seconds from a key that changes the picture to the word that it is saved."""
    page.locator("#pixels[data-loaded]").wait_for()
    began = time.perf_counter()
    with page.expect_response(lambda answer: answer.request.method == "PUT"):
        page.keyboard.press("d")
    page.locator("#saving[data-state=saved]").wait_for()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
