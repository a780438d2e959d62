"""The annotate page in a browser: where its pixels are, what it says and what is in its file."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Browser, Download, Locator, Page, expect
from pycocotools import mask as _mask
from pycocotools.coco import COCO
from web_pages import PATIENCE_MILLISECONDS, serving, visiting

from groupcm.annotations.runs import from_mask
from groupcm.web.annotate.app import annotate_app
from groupcm.web.annotate.store import AnnotationStore
from groupcm.web.server.library import PictureLibrary

WIDTH, HEIGHT = 160, 120
BOX_FROM, BOX_TO = (20, 30), (60, 80)
BOX = {"type": "box", "x": 20, "y": 30, "width": 40, "height": 50}
CORNERS = ((90, 20), (140, 30), (120, 70))
STROKE = ((30, 100), (80, 95), (100, 105))
BRUSH = 24
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\?token=[\w-]+\n")
COMMAND = "import sys; from groupcm.cli._main import main; sys.exit(main())"

# Its types know no runs that are not packed.
coco_mask: Any = _mask

expect.set_options(timeout=PATIENCE_MILLISECONDS)


def make_pictures(folder: Path, *names: str) -> Path:
    """Make pictures with something to see in them."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    for number, name in enumerate(names or ("a.png", "b.png", "c.png")):
        light = 90 + 60 * np.sin(columns / 19 + number) * np.cos(rows / 13)
        pixels = np.stack([light + 60, light, light - 20], axis=2).astype(np.uint8)
        Image.fromarray(pixels).save(folder / name)
    return folder


class AnnotatePage:
    """One tab with the annotate page; points are pixels of the picture."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def shows(self, number: int) -> None:
        """Wait until a picture can be drawn on."""
        expect(self.page.locator(f'#pixels[data-loaded="{number}"] #picture')).to_be_visible()

    def open(self, number: int) -> None:
        self.page.locator(f'[data-picture="{number}"]').click()
        self.shows(number)

    def tool(self, name: str) -> None:
        self.page.locator(f'button[data-tool="{name}"]').click()
        expect(self.page.locator("#stage")).to_have_attribute("data-tool", name)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def on_screen(self, x: float, y: float) -> tuple[float, float]:
        picture = self.page.locator("#picture")
        place = picture.bounding_box()
        assert place is not None
        scale = place["width"] / picture.evaluate("each => each.naturalWidth")
        return place["x"] + x * scale, place["y"] + y * scale

    def hover(self, x: float, y: float) -> None:
        self.page.mouse.move(*self.on_screen(x, y))

    def click(self, x: float, y: float) -> None:
        self.page.mouse.click(*self.on_screen(x, y))

    def drag(self, *points: tuple[float, float]) -> None:
        """Press at the first point, go through the others, let go at the last."""
        self.hover(*points[0])
        self.page.mouse.down()
        for point in points[1:]:
            self.page.mouse.move(*self.on_screen(*point), steps=4)
        self.page.mouse.up()

    def polygon(self, *corners: tuple[float, float]) -> None:
        self.tool("polygon")
        for corner in corners:
            self.click(*corner)
        self.press("Enter")

    @property
    def objects(self) -> Locator:
        return self.page.locator("[data-object]")

    def has(self, *kinds: str) -> None:
        """Wait until objects of just these kinds are listed, and all is saved."""
        expect(self.objects).to_have_count(len(kinds))
        for place, kind in enumerate(kinds):
            expect(self.objects.nth(place)).to_have_attribute("data-kind", kind)
        self.is_saved()

    def is_saved(self) -> None:
        expect(self.page.locator("#saving")).to_have_attribute("data-state", "saved")

    def counts(self, sentence: str) -> None:
        """Wait until the head of the page reports how far the work is."""
        expect(self.page.locator("#counts")).to_have_text(sentence)

    def told(self, sentence: str | re.Pattern[str]) -> None:
        expect(self.page.locator(".notice").filter(has_text=sentence)).to_be_visible()

    def record(self, number: int) -> dict[str, Any]:
        """What the server says of a picture."""
        home = self.page.url.partition("#")[0]
        return self.page.request.get(f"{home}api/pictures/{number}").json()

    def regions(self, number: int) -> list[dict[str, Any]]:
        return [each["region"] for each in self.record(number)["objects"]]

    def drawn_path(self, place: int) -> str:
        """The outline of an object as it is drawn; it must not be selected."""
        path = self.page.locator("[data-drawn]").nth(place).locator(".outline")
        return path.get_attribute("d") or ""

    def export(self, format: str) -> Download:
        self.page.locator("#exchange").click()
        with self.page.expect_download() as begun:
            self.page.locator(f'a[data-format="{format}"]').click()
        return begun.value

    def import_file(self, path: Path, unannotated: str | None = None) -> None:
        """Import a file, with the meaning of its unannotated pictures that the dialog offers."""
        self.page.locator("#import-file").set_input_files(path)
        dialog = self.page.get_by_role("dialog", name=f"Import {path.name}")
        if unannotated is not None:
            dialog.get_by_label(unannotated).check()
        dialog.get_by_role("button", name="Import").click()
        expect(dialog).to_have_count(0)


def draw_box(page: AnnotatePage) -> None:
    page.tool("box")
    page.drag(BOX_FROM, BOX_TO)


def draw_polygon(page: AnnotatePage) -> None:
    page.polygon(*CORNERS)


def draw_mask(page: AnnotatePage) -> None:
    page.tool("brush")
    page.drag(*STROKE)


DRAWING = {"box": draw_box, "polygons": draw_polygon, "mask": draw_mask}


class Proposed:
    """Regions within regions, the same in every picture."""

    def __init__(self) -> None:
        self.small = self._square(30, 30, 20)
        self.large = self._square(25, 25, 50)

    def _square(self, x: int, y: int, side: int) -> dict:
        inside = np.zeros((HEIGHT, WIDTH), bool)
        inside[y : y + side, x : x + side] = True
        inside[y, x] = False  # no box
        counts = from_mask(inside).tolist()
        return {"box": [x, y, side, side], "counts": counts, "score": None}

    def of(self, number: int) -> list[dict]:
        return [self.small, self.large]


@contextmanager
def annotating(
    browser: Browser,
    folder: Path,
    *,
    categories: tuple[str, ...] = ("polyp",),
    suggestions: Any = None,
    scores: Any = None,
    first: Collection[int] = frozenset(),
    shows: int = 0,
    **options: Any,
) -> Iterator[AnnotatePage]:
    """Open the annotate page of a folder, which keeps its work in ``annotations.json``."""
    library = PictureLibrary(folder)
    store = AnnotationStore(library, folder / "annotations.json", categories)
    about = {"suggestions": suggestions, "scores": scores, "first": first}
    with (
        serving(
            lambda token, port: annotate_app(library, store, token=token, port=port, **about)
        ) as address,
        visiting(browser, address, **options) as page,
    ):
        opened = AnnotatePage(page)
        if shows >= 0:
            opened.shows(shows)
        yield opened


@contextmanager
def command(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a command that serves a page, and tell its address; it is killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *map(str, arguments), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if ADDRESS.fullmatch(line):
                break
        else:
            raise AssertionError("".join(said))
        yield process, said[-1].strip()
    finally:
        process.kill()
        process.communicate()


def kill(process: subprocess.Popen[str]) -> None:
    """End a process as a loss of power would."""
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(20) == -signal.SIGKILL


def coco_masks(path: Path, name: str) -> list[NDArray[np.bool_]]:
    """Pixels of the objects of a picture, as pycocotools reads them."""
    coco: Any = COCO(str(path))
    (image,) = (each for each in coco.dataset["images"] if each["file_name"] == name)
    found = sorted(coco.getAnnIds(imgIds=[image["id"]]))
    runs = [
        coco.annToRLE(each) if each["segmentation"] else box_runs(each["bbox"])
        for each in coco.loadAnns(found)
    ]
    return [coco_mask.decode(each).astype(bool) for each in runs]


def box_runs(box: list[float]) -> dict[str, Any]:
    """Pixels of a box by COCO's own rules."""
    return coco_mask.frPyObjects(np.array([box], float), HEIGHT, WIDTH)[0]


def mask_of(region: dict[str, Any]) -> NDArray[np.bool_]:
    """Pixels of a mask as the page speaks of it, read by pycocotools."""
    size = [region["height"], region["width"]]
    runs = coco_mask.frPyObjects({"size": size, "counts": region["counts"]}, *size)
    return coco_mask.decode(runs).astype(bool)


def polygon_mask(corners: list[float]) -> NDArray[np.bool_]:
    """Pixels of a polygon by COCO's own rules."""
    return coco_mask.decode(coco_mask.frPyObjects([corners], HEIGHT, WIDTH))[:, :, 0].astype(bool)


def corners_of(path: str) -> list[list[float]]:
    """Corners of each loop of a path of straight lines between places."""
    loops = [each for each in path.split("M") if each]
    return [[float(each) for each in re.findall(r"-?[\d.]+", loop)] for loop in loops]


def filled(path: str) -> NDArray[np.bool_]:
    """Pixels whose centre lies inside a path: a ray to the right crosses it an odd number of times.

    The path's sides are upright or level.
    """
    inside = np.zeros((HEIGHT, WIDTH), bool)
    for loop in corners_of(path):
        points = np.reshape(loop, (-1, 2))
        for (x0, y0), (x1, y1) in zip(points, np.roll(points, -1, axis=0), strict=True):
            assert x0 == x1 or y0 == y1
            if x0 == x1:
                top, bottom = sorted((int(y0), int(y1)))
                inside[top:bottom, : int(x0)] ^= True
    return inside


def along(*points: tuple[float, float], size: float) -> NDArray[np.bool_]:
    """Pixels whose centre a round brush touches on its way from point to point."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    touched = np.zeros((HEIGHT, WIDTH), bool)
    for (x0, y0), (x1, y1) in zip(points, [*points[1:], points[-1]], strict=True):
        way = np.hypot(x1 - x0, y1 - y0)
        for share in np.linspace(0, 1, 4 * int(way) + 2):
            x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
            touched |= np.hypot(columns - x, rows - y) <= size / 2
    return touched
