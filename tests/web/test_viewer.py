"""How the annotate page shows pictures: deep ones, large ones, by touch, in windows of any size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from annotate_browser import (
    BOX,
    CORNERS,
    AnnotatePage,
    Proposed,
    annotating,
    draw_box,
    make_pictures,
)
from PIL import Image
from playwright.sync_api import Page, Route, expect
from web_pages import Fingers, axe_findings, sideways, small_targets

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}
TABLET = {"width": 820, "height": 1180, "has_touch": True, "is_mobile": True}
LIGHT = """(image, points) => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const context = canvas.getContext("2d");
  context.filter = getComputedStyle(image).filter;
  context.drawImage(image, 0, 0);
  return points.map(([x, y]) => context.getImageData(x, y, 1, 1).data[0]);
}"""

IS_WHOLE = """({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
  scrollWidth <= clientWidth && scrollHeight <= clientHeight"""


def light_at(page: Page, *points: tuple[int, int], image: str = "#picture") -> list[int]:
    """How bright pixels of an image are as they are shown, 0 to 255."""
    return page.locator(image).evaluate(LIGHT, points)


def region_of(page: AnnotatePage, number: int = 0) -> dict:
    (region,) = page.regions(number)
    return region


# Depth -----------------------------------------------------------------------------------------


def test_a_deep_picture_of_low_range_is_seen_and_its_window_is_moved(browser, tmp_path):
    make_pictures(tmp_path, "b.png")
    scene = np.full((120, 160), 100, np.uint16)
    scene[:60] = 200
    scene[20:40, 20:40] = 300
    scene[0, 0] = 60_000
    Image.fromarray(scene).save(tmp_path / "a.png")
    grey, bright, dark = (100, 30), (30, 30), (100, 100)
    with annotating(browser, tmp_path) as page:
        tab, picture = page.page, page.page.locator("#picture")
        assert light_at(tab, grey, bright, dark) == [128, 255, 0]
        row = tab.locator('[data-picture="0"] img')
        expect(row).to_have_js_property("complete", True)
        assert light_at(tab, (150, 100), image='[data-picture="0"] img')[0] < 20
        assert light_at(tab, (30, 30), image='[data-picture="0"] img')[0] > 235

        draw_box(page)
        page.has("box")
        # Values above those that are shown at first: only the server has them.
        tab.locator("#level").fill("150")
        expect(picture).to_have_attribute("src", "/api/pictures/0/pixels?low=300&high=500")
        expect(picture).to_have_css("filter", "none")
        assert light_at(tab, grey, bright) == [0, 0]
        tab.locator("#level").fill("50")
        tab.locator("#window").fill("400")
        expect(picture).to_have_attribute("src", "/api/pictures/0/pixels?low=-200&high=600")
        expect(tab.locator(".window-controls")).to_have_attribute(
            "title", "black at -200, white at 600"
        )
        # The selected shape is still edited in the pixels of the picture.
        page.tool("select")
        page.drag((40, 55), (50, 60))
        expect.soft(page.objects).to_have_count(1)
        page.is_saved()
        assert region_of(page) == BOX | {"x": 30, "y": 35}
        page.press("x")
        expect(picture).to_have_attribute("src", "/api/pictures/0/pixels")
        expect(tab.locator("#reset-window")).to_be_disabled()

        # Pictures of 8 bits by a filter alone, exact on both sides of the middle.
        page.open(1)
        plain = np.asarray(Image.open(tmp_path / "b.png"))[..., 0].astype(float)
        points = [(x, 60) for x in range(0, 160, 16)]
        for window, level in ((60, 30), (60, 80), (150, 40), (150, 70)):
            tab.locator("#window").fill(str(window))
            tab.locator("#level").fill(str(level))
            low = 255 * (level - window / 2) / 100
            shown = np.clip((plain - low) / (2.55 * window), 0, 1) * 255
            wanted = [shown[y, x] for x, y in points]
            np.testing.assert_allclose(light_at(tab, *points), wanted, atol=3)
        assert "low=" not in (picture.get_attribute("src") or "")


# Large pictures --------------------------------------------------------------------------------


def large_picture(path: Path) -> None:
    """24 megapixels, bright to the right."""
    columns = np.linspace(40, 220, 6000).astype(np.uint8)
    Image.fromarray(np.broadcast_to(columns, (4000, 6000))).save(path, quality=70)


def test_a_large_picture_is_there_at_once_and_drawn_on_in_its_own_pixels(browser, tmp_path):
    make_pictures(tmp_path, "a.png")
    large_picture(tmp_path / "b.jpg")
    with annotating(browser, tmp_path) as page:
        tab, held = page.page, list[Route]()
        tab.route("**/api/pictures/1/pixels", lambda route: held.append(route))
        tab.locator('[data-picture="1"]').click()
        preview = tab.locator('#pixels[data-preview="1"] #preview')
        expect(preview).to_be_visible()
        assert preview.evaluate("each => each.naturalWidth") == 1600
        dark, bright = light_at(tab, (100, 500), (1500, 500), image="#preview")
        assert dark < 70
        assert bright > 190
        place = preview.bounding_box()
        assert place is not None

        def at(x: float, y: float) -> tuple[float, float]:
            scale = place["width"] / 6000
            return place["x"] + x * scale, place["y"] + y * scale

        tab.mouse.move(*at(1500, 1000))
        tab.mouse.down()
        tab.mouse.move(*at(3000, 2000), steps=3)
        tab.mouse.up()
        page.has("box")
        expect(tab.locator("[data-drawn] .outline")).to_have_count(1)
        drawn = region_of(page, 1)
        assert [drawn[each] for each in ("x", "y", "width", "height")] == pytest.approx(
            [1500, 1000, 1500, 1000], abs=8
        )
        assert held
        for each in held:
            each.continue_()
        page.shows(1)
        assert tab.locator("#picture").evaluate("each => each.naturalWidth") == 6000
        assert tab.locator("#picture").bounding_box() == pytest.approx(place, abs=1)
        expect(tab.locator(".a9s-annotation.selected")).to_be_visible()
        assert region_of(page, 1) == drawn


# Touch -----------------------------------------------------------------------------------------


def test_two_fingers_zoom_and_change_nothing(browser, tmp_path):
    make_pictures(tmp_path)
    with annotating(browser, tmp_path, has_touch=True) as page:
        tab, fingers, zoom = page.page, Fingers(page.page), page.page.locator("#zoom")
        draw_box(page)
        page.has("box")

        def spread(*tools: str, start: tuple[float, float]) -> None:
            """Spread two fingers, the first on a point of the picture, in each of the tools."""
            for tool in tools:
                if tool != "as it is":
                    page.tool(tool)
                tab.locator("#zoom").click()
                before = zoom.inner_text()
                x, y = page.on_screen(*start)
                # The first finger moves before the second one is there.
                first = [((x - d, y),) for d in (0, 4, 12)]
                both = [((x - d, y), (x + 90 + d, y + d)) for d in (12, 20, 40)]
                fingers.go(*first, *both)
                expect(zoom).not_to_have_text(before)
                assert region_of(page) == BOX

        # On a handle of the selected box, within it, and beside it.
        spread("as it is", "select", start=(60, 80))
        spread("as it is", start=(40, 50))
        spread("polygon", "brush", "box", "hand", start=(100, 90))
        expect(tab.locator(".layer .corner")).to_have_count(0)
        page.has("box")

        # A finger draws: boxes by a stroke, corners by taps, also around a pinch.
        tab.locator("#zoom").click()
        page.tool("polygon")
        for number, corner in enumerate(CORNERS):
            fingers.go([page.on_screen(*corner)])
            if number == 1:
                x, y = page.on_screen(100, 90)
                fingers.go([(x, y), (x + 50, y)], [(x - 9, y), (x + 59, y)])
                tab.locator("#zoom").click()
        expect(tab.locator(".layer .corner")).to_have_count(3)
        page.press("Enter")
        page.has("box", "polygons")
        page.press("Escape")
        page.tool("box")
        fingers.go(*([page.on_screen(*each)] for each in ((70, 90), (80, 95), (100, 110))))
        page.has("box", "polygons", "box")
        wanted = {"type": "box", "x": 70, "y": 90, "width": 30, "height": 20}
        assert page.regions(0)[2] == wanted


# Windows ---------------------------------------------------------------------------------------


def test_panels_close_by_button_and_key_and_stay_so(browser, tmp_path):
    make_pictures(tmp_path)
    with annotating(browser, tmp_path) as page:
        tab = page.page
        left, right = tab.locator("#pictures"), tab.locator("#right-panel")
        stage = tab.locator("#stage")
        before = stage.bounding_box()
        page.press("l")
        expect(left).to_be_hidden()
        tab.locator("#toggle-right").click()
        expect(right).to_be_hidden()
        expect(tab.locator("#toggle-right")).to_have_attribute("aria-expanded", "false")
        expect(tab.locator("#done-next")).to_be_in_viewport(ratio=1)
        wider = stage.bounding_box()
        assert before is not None
        assert wider is not None
        assert wider["width"] == before["width"] + 2 * 256
        assert axe_findings(tab) == []
        tab.reload()
        page.shows(0)
        expect(left).to_be_hidden()
        expect(right).to_be_hidden()
        tab.locator("#toggle-left").click()
        page.press("i")
        expect(left).to_be_visible()
        expect(right).to_be_visible()


def test_no_hint_is_cut_off(browser, tmp_path):
    make_pictures(tmp_path)
    with annotating(browser, tmp_path, suggestions=Proposed(), width=1440, height=900) as page:
        tab, hint = page.page, page.page.locator("#hint")
        for width, height in ((1440, 900), (1280, 720)):
            tab.set_viewport_size({"width": width, "height": height})
            heights = set()
            for button in tab.locator("button[data-tool]").all():
                button.click()
                page.hover(40, 40)
                box = tab.locator("#stage").bounding_box()
                assert box is not None
                heights.add(box["height"])
                assert hint.evaluate(IS_WHOLE), hint.inner_text()
                expect(hint).to_be_in_viewport(ratio=1)
            expect(tab.locator("#window")).to_be_in_viewport(ratio=1)
            assert len(heights) == 1  # The stage stays as it is.
            assert sideways(tab) == 0


@pytest.mark.parametrize("size", [PHONE, TABLET], ids=["phone", "tablet"])
def test_a_phone_and_a_tablet_do(browser, tmp_path, size):
    make_pictures(tmp_path)
    with annotating(browser, tmp_path, suggestions=Proposed(), **size) as page:
        tab, fingers = page.page, Fingers(page.page)
        controls = ("#no-object", "#done-next", "#done", "#undo", "#zoom", "#window", "#exchange")
        for name in (*controls, "#open-name", "#state"):
            expect(tab.locator(name)).to_be_in_viewport(ratio=1)
        stage = tab.locator("#stage").bounding_box()
        assert stage is not None
        assert stage["height"] > size["height"] / 2
        fingers.go(*([page.on_screen(*each)] for each in ((20, 30), (40, 50), (60, 80))))
        page.has("box")
        assert region_of(page) == BOX
        expect(tab.locator("#open-name")).to_have_text("a.png")
        expect(tab.locator("#state")).to_have_text("in progress")
        page.tool("polygon")
        (x, y), *others = (page.on_screen(*corner) for corner in CORNERS)
        for place in ((x, y), *others, (x + 10, y + 10)):
            fingers.go([place])
        page.has("box", "polygons")
        assert (sideways(tab), small_targets(tab)) == (0, [])
        for side, panel in (("left", "#pictures"), ("right", "#right-panel")):
            expect(tab.locator(panel)).to_be_hidden()
            tab.locator(f"#toggle-{side}").click()
            expect(tab.locator(panel)).to_be_in_viewport(ratio=1)
            assert (sideways(tab), small_targets(tab)) == (0, [])
            assert axe_findings(tab) == []
        tab.locator("#toggle-left").click()
        expect(tab.locator("#right-panel")).to_be_hidden()
        tab.locator('[data-picture="2"]').click()
        page.shows(2)
        expect(tab.locator("#pictures")).to_be_hidden()
        tab.get_by_label("Previous picture").click()
        page.shows(1)
        tab.locator("#exchange").click()
        assert (sideways(tab), small_targets(tab)) == (0, [])
