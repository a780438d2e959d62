"""The annotate page with a mouse: what is drawn is saved as drawn, and stays through everything."""

from __future__ import annotations

import json

import numpy as np
import pytest
from annotate_browser import (
    BOX,
    BOX_TO,
    BRUSH,
    CORNERS,
    DRAWING,
    STROKE,
    Proposed,
    along,
    annotating,
    coco_masks,
    corners_of,
    draw_box,
    draw_mask,
    draw_polygon,
    filled,
    make_pictures,
    mask_of,
    polygon_mask,
)
from playwright.sync_api import expect
from web_pages import axe_findings

# pycocotools has not followed NumPy 2 in how it hands out its arrays.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


@pytest.fixture
def folder(tmp_path):
    return make_pictures(tmp_path / "frames")


# Drawing ---------------------------------------------------------------------------------------


def test_what_is_drawn_is_found_again_and_exported_pixel_by_pixel(browser, folder, tmp_path):
    with annotating(browser, folder) as page:
        for draw in DRAWING.values():
            draw(page)
        page.has(*DRAWING)
        page.tool("eraser")
        page.drag((30, 100), (40, 100))
        expect(page.page.locator("#undo")).to_be_enabled()
        page.press("Escape")
        page.is_saved()
        drawn = [page.drawn_path(place) for place in range(3)]

        page.page.reload()
        page.shows(0)
        page.has(*DRAWING)
        assert [page.drawn_path(place) for place in range(3)] == drawn
        page.counts("0 of 3 done · 0 with objects, 0 verified empty · 1 in progress")

        exported = tmp_path / "exported.json"
        page.export("coco").save_as(exported)
        box, polygon, mask = coco_masks(exported, "a.png")
        regions = page.regions(0)

    assert exported.read_bytes() == (folder / "annotations.json").read_bytes()
    assert regions[0] == BOX
    assert drawn[0] == "M20 30h40v50h-40Z"
    assert box.sum() == 40 * 50
    assert box[30:80, 20:60].all()

    (corners,) = corners_of(drawn[1])
    assert regions[1]["parts"] == [corners]
    np.testing.assert_allclose(corners, np.ravel(CORNERS), atol=0.3)
    np.testing.assert_array_equal(polygon, polygon_mask(corners))
    assert polygon.sum() == pytest.approx(50 * 50 / 2 - 10 * 30 / 2, rel=0.05)

    np.testing.assert_array_equal(mask, filled(drawn[2]))
    np.testing.assert_array_equal(mask, mask_of(regions[2]))
    expected = along(*STROKE, size=BRUSH) & ~along((30, 100), (40, 100), size=BRUSH)
    border = along(*STROKE, size=BRUSH + 2) & ~along(*STROKE, size=BRUSH - 2)
    rubbed = along((30, 100), (40, 100), size=BRUSH + 2)
    rubbed &= ~along((30, 100), (40, 100), size=BRUSH - 2)
    assert not (mask != expected)[~(border | rubbed)].any()
    assert mask.any()


@pytest.mark.parametrize("kind", DRAWING)
def test_undo_and_redo(browser, folder, kind):
    with annotating(browser, folder) as page:
        DRAWING[kind](page)
        page.has(kind)
        (region,) = page.regions(0)
        page.press("Control+z")
        page.has()
        assert page.record(0)["objects"] == []
        assert page.record(0)["done"] is False
        page.press("Control+y")
        page.has(kind)
        page.open(1)
        page.has()
        page.page.locator("#undo").click()
        page.shows(0)
        page.has()
        page.open(2)
        page.page.locator("#redo").click()
        page.shows(0)
        page.has(kind)
        assert page.regions(0) == [region]


def test_a_second_stroke_adds_to_the_mask_and_erasing_it_all_deletes_it(browser, folder):
    with annotating(browser, folder) as page:
        page.tool("brush")
        page.click(40, 40)
        page.has("mask")
        page.click(90, 40)
        expect(page.objects).to_contain_text(f"mask · {2 * along((40, 40), size=BRUSH).sum()} px")
        page.is_saved()
        mask = mask_of(page.regions(0)[0])
        assert mask[40, 40]
        assert mask[40, 90]
        assert not mask[40, 65]
        page.tool("eraser")
        page.drag((20, 40), (110, 40))
        page.drag((20, 30), (110, 30))
        page.drag((20, 50), (110, 50))
        page.has()
        assert page.regions(0) == []

        # The eraser takes from the mask under it, whichever was drawn last.
        page.tool("brush")
        for place in ((40, 40), (110, 90)):
            page.press("Escape")
            page.click(*place)
        page.has("mask", "mask")
        before = page.regions(0)
        page.tool("eraser")
        page.click(50, 40)
        page.is_saved()
        first, second = page.regions(0)
        assert mask_of(first).sum() < mask_of(before[0]).sum()
        assert second == before[1]
        page.click(10, 110)
        page.told("The stroke erased nothing of object 1.")
        page.click(118, 90)
        page.is_saved()
        assert page.regions(0)[0] == first
        assert mask_of(page.regions(0)[1]).sum() < mask_of(second).sum()


# Editing ---------------------------------------------------------------------------------------


def saved_boxes(folder) -> list[list[float]]:
    told = json.loads((folder / "annotations.json").read_text())
    return [each["bbox"] for each in told["annotations"]]


@pytest.mark.parametrize("tool", ["select", "box"])
def test_a_handle_is_dragged(browser, folder, tool):
    with annotating(browser, folder) as page:
        draw_box(page)
        page.has("box")
        if tool == "select":
            page.tool(tool)
        page.drag(BOX_TO, (100, 90))
        expect(page.objects).to_contain_text("4,800 px")
        page.has("box")
        assert saved_boxes(folder) == [[20, 30, 80, 60]]
        page.press("Control+z")
        expect(page.objects).to_contain_text("2,000 px")
        page.has("box")
        assert saved_boxes(folder) == [[20, 30, 40, 50]]


def test_shapes_are_selected_moved_and_deleted(browser, folder):
    with annotating(browser, folder, categories=("polyp", "bleeding")) as page:
        draw_box(page)
        draw_polygon(page)
        page.has("box", "polygons")
        page.tool("select")
        page.click(40, 50)
        expect(page.objects.nth(0).locator("button").first).to_have_attribute(
            "aria-pressed", "true"
        )
        page.drag((40, 50), (50, 55))
        page.is_saved()
        assert page.regions(0)[0] == BOX | {"x": 30, "y": 35}
        page.press("ArrowRight", "ArrowDown", "ArrowDown", "Shift+ArrowLeft")
        page.is_saved()
        assert page.regions(0)[0] == BOX | {"x": 21, "y": 37}
        page.press("2")
        expect(page.objects.nth(0)).to_contain_text("bleeding")
        page.is_saved()
        told = json.loads((folder / "annotations.json").read_text())
        names = {each["id"]: each["name"] for each in told["categories"]}
        assert [names[each["category_id"]] for each in told["annotations"]] == [
            "bleeding",
            "polyp",
        ]
        page.press("Delete")
        page.has("polygons")
        assert len(saved_boxes(folder)) == 1
        page.press("Control+z")
        page.has("box", "polygons")
        assert page.regions(0)[0] == BOX | {"x": 21, "y": 37}


def test_a_mask_is_dragged(browser, folder):
    with annotating(browser, folder) as page:
        draw_mask(page)
        page.has("mask")
        before = mask_of(page.regions(0)[0])
        page.tool("select")
        page.drag((60, 97), (70, 87))
        page.is_saved()
        moved = mask_of(page.regions(0)[0])
    np.testing.assert_array_equal(moved, np.roll(before, (-10, 10), (0, 1)))


# Looking ---------------------------------------------------------------------------------------


def test_what_is_drawn_lands_where_it_is_seen_also_after_zoom_and_pan(browser, folder):
    with annotating(browser, folder) as page:
        zoom = page.page.locator("#zoom")
        fitted = zoom.inner_text()
        page.hover(50, 50)
        page.page.mouse.wheel(0, -300)
        expect(zoom).not_to_have_text(fitted)
        page.tool("hand")
        page.drag((50, 50), (60, 55))
        draw_box(page)
        page.has("box")
        assert page.regions(0) == [BOX]
        page.page.locator("#window").fill("50")
        expect(page.page.locator("#picture")).to_have_css("filter", "brightness(1) contrast(2)")
        zoom.click()
        expect(zoom).to_have_text(fitted)


# Candidates ------------------------------------------------------------------------------------


def test_a_candidate_is_shown_and_accepted_with_a_click(browser, folder):
    proposed = Proposed()
    with annotating(browser, folder, suggestions=proposed) as page:
        shown = page.page.locator(".outline.dashed")
        page.tool("candidate")
        page.hover(5, 5)
        expect(page.page.locator("#hint")).to_contain_text("2 regions proposed")
        expect(shown).to_have_count(0)
        page.hover(40, 40)
        expect(shown).to_have_count(1)
        outline = shown.get_attribute("d") or ""
        page.click(40, 40)
        page.has("mask")
        page.hover(60, 60)
        page.click(60, 60)
        page.has("mask", "mask")
        page.click(60, 60)  # taken already
        page.has("mask", "mask")
        regions = page.regions(0)
    assert [each["counts"] for each in regions] == [
        proposed.small["counts"],
        proposed.large["counts"],
    ]
    np.testing.assert_array_equal(mask_of(regions[0]), filled(outline))
    masks = coco_masks(folder / "annotations.json", "a.png")
    assert [int(each.sum()) for each in masks] == [399, 2499]


# For everyone ----------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser, folder, scheme):
    options = {"color_scheme": scheme, "categories": ("polyp", "bleeding")}
    with annotating(browser, folder, suggestions=Proposed(), **options) as page:
        for draw in DRAWING.values():
            draw(page)
        page.has(*DRAWING)
        page.tool("select")
        page.click(40, 50)  # the handles of a box
        page.page.locator("#exchange").click()
        assert axe_findings(page.page) == []
        page.page.locator("#exchange").click()
        page.press("?")
        expect(page.page.get_by_role("dialog", name="Keys")).to_be_visible()
        assert axe_findings(page.page) == []
