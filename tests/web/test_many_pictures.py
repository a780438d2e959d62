"""Ten thousand pictures on the annotate page: rows wherever one looks, and few in all."""

from __future__ import annotations

import os

import pytest
from annotate_browser import annotating, make_pictures
from browser import chromium
from playwright.sync_api import Page, expect

COUNT = 10_000
MOST_ELEMENTS = 2_000

# At every frame, before it is painted: is there a row at each height of the list?
WATCH = """
() => {
  const list = document.querySelector("#pictures .virtual-grid");
  const seen = (window.seenFrames = { frames: 0, blank: 0, moved: 0 });
  let before = list.scrollTop;
  const look = () => {
    const { left, top, width, height } = list.getBoundingClientRect();
    seen.frames++;
    seen.moved += list.scrollTop !== before;
    before = list.scrollTop;
    for (let y = top + 2; y < top + height - 2; y += 20) {
      if (!document.elementFromPoint(left + width / 2, y)?.closest("[data-picture]")) seen.blank++;
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}
"""
SEEN = "() => window.seenFrames"
PICTURE_AT = """
([x, y]) => Number(document.elementFromPoint(x, y).closest("[data-picture]").dataset.picture)
"""
ELEMENTS = "() => document.getElementsByTagName('*').length"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = make_pictures(tmp_path_factory.mktemp("many"), "frame 1.png")
    for number in range(2, COUNT + 1):
        os.link(folder / "frame 1.png", folder / f"frame {number}.png")
    return folder


def first_in_sight(page: Page) -> int:
    place = page.locator("#pictures .virtual-grid").bounding_box()
    assert place is not None
    return page.evaluate(PICTURE_AT, [place["x"] + 9, place["y"] + 9])


def test_rows_are_wherever_one_looks(folder):
    with chromium() as browser, annotating(browser, folder) as annotate:
        page = annotate.page
        rows = page.locator("[data-picture]")
        expect(rows.first).to_contain_text("frame 1.png")
        expect(page.locator("#counts")).to_contain_text(f"0 of {COUNT} done")
        expect(page.locator('[data-picture="0"] img')).to_have_js_property("naturalWidth", 160)

        page.evaluate(WATCH)
        page.locator("#pictures .virtual-grid").hover()
        for _ in range(12):
            page.mouse.wheel(0, 700)
        expect(page.locator('[data-picture="150"]')).to_be_visible()
        assert 100 <= first_in_sight(page) <= 160
        page.mouse.wheel(0, 200_000)
        expect(page.locator('[data-picture="3860"]')).to_be_visible()
        assert page.evaluate(ELEMENTS) < MOST_ELEMENTS

        page.locator("#stage").focus()
        page.keyboard.press("End")
        annotate.shows(COUNT - 1)
        expect(rows.last).to_contain_text(f"frame {COUNT}.png")
        expect(rows.last).to_be_in_viewport(ratio=0.9)
        expect(rows.last.locator("img")).to_have_js_property("naturalWidth", 160)
        page.keyboard.press("n")  # the one before the first is the next that is to do
        annotate.shows(0)
        expect(page.locator('[data-picture="0"]')).to_be_in_viewport(ratio=0.9)
        annotate.is_saved()
        assert annotate.record(COUNT - 1)["done"] is True
        assert page.evaluate(ELEMENTS) < MOST_ELEMENTS
        assert rows.count() < 100

        seen = page.evaluate(SEEN)
        assert seen["moved"] >= 4
        assert seen["blank"] == 0

        page.locator("#search").fill("99")
        expect(rows.nth(1)).to_contain_text("frame 99.png")
        page.locator("#search").fill("")
        page.locator("#filter").select_option("done")
        expect(rows).to_have_count(2)  # with the one that is open
