"""From a folder of frames to winners on polyps, as a user goes: annotate, train, review."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from annotate_browser import AnnotatePage, command
from browser import chromium
from playwright.sync_api import Browser, Locator, expect
from web_pages import visiting

from groupcm.annotations import Annotations
from groupcm.cli._main import main
from groupcm.images.synthetic import write_frames

pytestmark = pytest.mark.slow

FRAMES = 30
ON_THE_POLYP = 0.3
LEAST_SHARE = 0.6
RECIPE = ["--proposals=merging,windows", "--features=shape,colour,contrast", "--at-most=80"]

Box = tuple[float, float, float, float]


def polyps(truth: Annotations) -> dict[str, Box]:
    """Left, top, width and height of the polyp of each frame that has one."""
    boxes = {each.name: marked.region.box for each in truth for marked in each.objects}
    return {name: (box.x, box.y, box.width, box.height) for name, box in boxes.items()}


def overlap(one: Box, other: Box) -> float:
    (x0, y0, w0, h0), (x1, y1, w1, h1) = one, other
    width = min(x0 + w0, x1 + w1) - max(x0, x1)
    height = min(y0 + h0, y1 + h1) - max(y0, y1)
    common = max(0, width) * max(0, height)
    return common / (w0 * h0 + w1 * h1 - common)


def annotate(browser: Browser, frames: Path, truth: dict[str, Box]) -> None:
    """Say of every frame what is in it: regions proposed here, boxes there, or no object."""
    options = ("--categories", "polyp", "--port", 0)
    with command("annotate", frames, *options) as (_, address), visiting(browser, address) as tab:
        page = AnnotatePage(tab)
        page.shows(0)
        n_accepted = 0
        for number in range(FRAMES):
            page.shows(number)
            name = page.record(number)["name"]
            if name not in truth:
                page.press("n")
                continue
            if n_accepted < 2 and accept_proposed(page, truth[name]):
                n_accepted += 1
            else:
                left, top, width, height = truth[name]
                page.press("b")
                page.drag((left, top), (left + width, top + height))
            expect(page.objects).to_have_count(1)
            page.press("Enter")
        page.counts(
            f"{FRAMES} of {FRAMES} done · {len(truth)} with objects, "
            f"{FRAMES - len(truth)} verified empty"
        )
        page.is_saved()
        assert n_accepted == 2


def accept_proposed(page: AnnotatePage, polyp: Box) -> bool:
    """Go through the regions at the middle of a polyp, and take the first that fits."""
    left, top, width, height = polyp
    page.press("c")
    page.hover(left + width / 2, top + height / 2)
    hint, shown = page.page.locator("#hint"), page.page.locator(".outline.dashed")
    expect(hint).not_to_contain_text("Finding")
    while hint.inner_text().startswith("Region"):
        if overlap(box_of(shown), polyp) > 0.5:
            page.click(left + width / 2, top + height / 2)
            return True
        here, _, of = hint.inner_text().split()[1:4]
        if here == of:
            break
        page.press("Tab")
        expect(hint).to_contain_text(f"Region {int(here) + 1} of")
    return False


def box_of(drawn: Locator) -> Box:
    """Left, top, width and height of what is drawn, in pixels of the picture."""
    box = drawn.evaluate(
        "each => { const b = each.getBBox(); return [b.x, b.y, b.width, b.height] }"
    )
    return tuple(box)


def test_from_frames_to_winners_on_polyps(tmp_path, capsys):
    made = write_frames(tmp_path, FRAMES, share_with_polyps=0.5, height=120, width=160, seed=3)
    truth, frames, hidden = polyps(made), tmp_path / "frames", tmp_path / "truth.json"
    (tmp_path / "annotations.json").rename(hidden)
    marked, table, model = frames / "annotations.json", tmp_path / "c.parquet", tmp_path / "m.json"
    with chromium() as browser:
        annotate(browser, frames, truth)
        told = json.loads(marked.read_text())
        assert len(told["images"]) == FRAMES
        assert len(told["annotations"]) == len(truth) == 15

        work = ["--annotations", str(marked), "--workers=1", "-o", str(table)]
        assert main(["images", "propose", str(frames), *RECIPE, *work]) == 0
        assert f"{FRAMES}, of them {len(truth)} with an object" in capsys.readouterr().out
        assert main(["fit", str(table), "--background=negative", "-o", str(model)]) == 0

        options = ("--annotations", hidden, "--workers", 1, "--port", 0)
        with (
            command("review", model, frames, *options) as (_, address),
            visiting(browser, address, width=1600, height=1800) as tab,
        ):
            winners = {}
            for number, name in enumerate(sorted_names(tab)):
                tile = tab.locator(f'[data-picture="{number}"]')
                winners[name] = box_of(tile.locator(".winner-box rect").last)
            fits = {name: overlap(winners[name], polyp) for name, polyp in truth.items()}
            hits = [name for name, fit in fits.items() if fit >= ON_THE_POLYP]
            assert len(hits) >= LEAST_SHARE * len(truth), fits

            tab.get_by_title(hits[0], exact=True).click()
            expect(tab.locator("#name")).to_have_text(hits[0])
            assert overlap(box_of(tab.locator(".candidates .winner .line")), winners[hits[0]]) > 0.9
            assert overlap(box_of(tab.locator(".candidates .truth .line")), truth[hits[0]]) > 0.9


def sorted_names(tab) -> list[str]:
    """Names of all pictures in the order of their numbers, once each has its score."""
    expect(tab.locator(".winner-box")).to_have_count(FRAMES)
    tiles = tab.locator("a[data-picture]")
    told = tiles.evaluate_all("all => all.map(each => [Number(each.dataset.picture), each.title])")
    return [name for _, name in sorted(told)]
