"""Work on the annotate page that others change too: tabs, a killed server, names, other files."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from annotate_browser import (
    BOX,
    HEIGHT,
    WIDTH,
    AnnotatePage,
    annotating,
    coco_masks,
    command,
    draw_box,
    draw_mask,
    draw_polygon,
    kill,
    make_pictures,
    mask_of,
)
from playwright.sync_api import Dialog, expect
from web_pages import visiting

from groupcm.annotations import FORMATS

# pycocotools has not followed NumPy 2 in how it hands out its arrays.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


@pytest.fixture
def folder(tmp_path):
    return make_pictures(tmp_path / "frames")


# Two tabs, and a server that is killed ---------------------------------------------------------


def test_an_older_tab_does_not_overwrite(browser, folder):
    with annotating(browser, folder, forgiven=["409"]) as page:
        tab = page.page.context.new_page()
        other = AnnotatePage(tab)
        quiet = {"revision": 0, "summaries": {}, "categories": ["polyp"]}
        quiet |= {"scored": 0, "scoring": False}
        about = page.page.request.get(f"{page.page.url.partition('#')[0]}api/project").json()
        quiet |= {name: about[name] for name in ("project", "list")}
        tab.route("**/api/changes*", lambda route: route.fulfill(json=quiet))
        tab.goto(page.page.url)
        other.shows(0)

        page.page.bring_to_front()
        draw_box(page)
        page.has("box")
        tab.bring_to_front()
        draw_polygon(other)
        other.told("Changed elsewhere; the newer version is shown")
        other.has("box")
        assert page.regions(0) == [BOX]

        # Undo adds what was drawn here to the newer work, and the other tab is told.
        tab.keyboard.press("Control+z")
        other.has("box", "polygons")
        page.told("a.png was changed elsewhere")
        page.has("box", "polygons")  # what one tab changes is seen in the other
        page.page.bring_to_front()
        page.press("v")
        page.objects.nth(0).locator("button").first.click()
        page.press("Delete", "d")
        page.has("polygons")
        # An edit of an object that is unchanged elsewhere is taken; nothing is decided by that.
        tab.bring_to_front()
        other.press("v")
        other.objects.nth(1).locator("button").first.click()
        other.press("ArrowRight")
        other.told("Changed elsewhere; the newer version is shown")
        other.has("polygons")
        (before,) = page.regions(0)
        assert page.record(0)["done"]
        tab.keyboard.press("Control+z")
        other.has("polygons")
        expect(tab.locator("#state")).to_have_text("in progress")
        (after,) = page.regions(0)
        moved = [x + (place % 2 == 0) for place, x in enumerate(before["parts"][0])]
        assert after["parts"] == [moved]

        tab.unroute("**/api/changes*")
        page.page.bring_to_front()
        expect(page.page.locator("#state")).to_have_text("in progress")
        draw_mask(page)
        page.has("polygons", "mask")
        other.has("polygons", "mask")
        expect(tab.locator('[data-picture="0"]')).to_contain_text("2 objects")


@pytest.mark.slow
def test_nothing_confirmed_is_lost_when_the_server_is_killed(browser, folder):
    start = ("annotate", folder, "--no-suggestions")
    refused = ["ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "403", "409"]
    with command(*start, "--port", "0") as (process, address):
        port = urlsplit(address).port
        with visiting(browser, address, forgiven=refused) as tab:
            page = AnnotatePage(tab)
            page.shows(0)
            for place in (30, 60):
                page.tool("brush")
                page.press("Escape")
                page.click(place, 30)
            page.has("mask", "mask")
            confirmed = page.regions(0)
            kill(process)
            page.press("Escape")
            page.click(100, 80)
            expect(tab.locator("#saving")).to_have_attribute("data-state", "failed")
            expect(tab.locator("#saving")).to_contain_text("Not saved")
            expect(page.objects).to_have_count(3)

            saved = coco_masks(folder / "annotations.json", "a.png")
            assert len(saved) == 2
            for mask, region in zip(saved, confirmed, strict=True):
                np.testing.assert_array_equal(mask, mask_of(region))
            assert sorted(each.name for each in folder.iterdir()) == [
                "a.png",
                "annotations.json",
                "b.png",
                "c.png",
            ]

            with command(*start, "--port", port) as (_, opened_again):
                assert opened_again != address
                newer = AnnotatePage(tab.context.new_page())
                newer.page.goto(opened_again)
                newer.page.locator('[data-picture="0"]').click()
                newer.shows(0)
                page.has("mask", "mask", "mask")  # the tab that was left open goes on
                newer.has("mask", "mask", "mask")
                assert newer.regions(0)[:2] == confirmed


# Names, damage, other files --------------------------------------------------------------------


def test_names_are_text_and_a_damaged_picture_stops_nothing(browser, tmp_path):
    names = ["<img src=x onerror=alert(1)>.png", "a picture  of Ünïcödé.png", "z &amp; <b>.png"]
    folder = make_pictures(tmp_path / "<i>frames", *names)
    (folder / "damaged.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")
    ran = []

    def hear(dialog: Dialog) -> None:
        ran.append(dialog.message)
        dialog.dismiss()

    with annotating(browser, folder, forgiven=["422"]) as page:
        page.page.on("dialog", hear)
        assert page.page.locator("#pictures bdi").all_text_contents() == [
            "<img src=x onerror=alert(1)>.png",
            "a picture  of Ünïcödé.png",
            "damaged.png",
            "z &amp; <b>.png",
        ]
        expect(page.page.locator("h1")).to_contain_text("<i>frames")
        draw_box(page)
        page.has("box")
        page.press("j")
        page.shows(1)
        page.press("j")
        expect(page.page.locator(".stage-message")).to_contain_text("damaged.png")
        page.press("j")
        page.shows(3)
        expect(page.page.locator(".stage-message")).to_have_count(0)
        draw_box(page)
        page.has("box")
        assert [page.record(number)["name"] for number in (0, 3)] == [names[0], names[2]]
        assert len(coco_masks(folder / "annotations.json", names[2])) == 1
    assert ran == []


def test_files_are_imported_and_damaged_ones_change_nothing(browser, folder, tmp_path):
    image = {"id": 7, "file_name": "a.png", "width": WIDTH, "height": HEIGHT}
    marked = {"id": 9, "image_id": 7, "category_id": 4, "bbox": [20, 30, 40, 50]}
    coco = {"images": [image], "annotations": [marked], "categories": [{"id": 4, "name": "polyp"}]}
    (tmp_path / "coco.json").write_text(json.dumps(coco))
    (tmp_path / "boxes.csv").write_text(
        "image,x,y,width,height,category,image_width,image_height\n"
        f"a.png,1,2,3,4,bleeding,{WIDTH},{HEIGHT}\n"
        f"b.png,5,6,7,8,bleeding,{WIDTH},{HEIGHT}\n"
    )
    (tmp_path / "damaged.json").write_text('{"images": [{"id"')
    with annotating(browser, folder, forgiven=["400"]) as page:
        page.import_file(tmp_path / "coco.json")
        page.told("Imported 1 object into 1 picture.")
        page.has("box")
        assert page.regions(0) == [BOX]

        page.import_file(tmp_path / "boxes.csv")
        skipped = page.page.get_by_role("dialog", name="Not imported")
        expect(skipped).to_contain_text("1 picture left out, already done or marked here")
        skipped.get_by_role("button", name="Close").click()
        expect(page.page.locator('[data-picture="1"]')).to_contain_text("1 object")
        expect(page.page.locator('[data-category="bleeding"]')).to_be_visible()
        assert page.regions(0) == [BOX]
        assert page.regions(1) == [{"type": "box", "x": 5, "y": 6, "width": 7, "height": 8}]

        before = (folder / "annotations.json").read_bytes()
        page.import_file(tmp_path / "damaged.json")
        page.told("the file")
        expect(page.page.locator(".notice.bad")).to_be_visible()
        assert (folder / "annotations.json").read_bytes() == before
        page.has("box")


def test_every_format_is_exported(browser, folder, tmp_path):
    with annotating(browser, folder) as page:
        draw_box(page)
        page.has("box")
        page.page.locator("#exchange").click()
        offered = page.page.locator("a[data-format]")
        assert [each.get_attribute("data-format") for each in offered.all()] == [*FORMATS]
        page.press("Escape")  # which closes the menu and lets go of nothing
        expect(page.objects.locator("button").first).to_have_attribute("aria-pressed", "true")
        expect(offered).to_have_count(0)
        for name, format in FORMATS.items():
            file = page.export(name)
            file.save_as(tmp_path / name)
            assert Path(file.suggested_filename).stem == f"frames-{name}"
            packed = (tmp_path / name).read_bytes().startswith(b"PK")
            assert packed == format.folder == (Path(file.suggested_filename).suffix == ".zip")


def test_what_a_format_cannot_hold_is_told(browser, folder):
    with annotating(browser, folder) as page:
        draw_polygon(page)
        page.has("polygons")
        page.press("d")
        page.is_saved()
        page.export("coco")
        expect(page.page.locator(".notice")).to_have_count(0)
        page.export("voc")
        expect(page.page.locator(".notice")).to_contain_text("box")


def test_categories_are_added_renamed_and_deleted(browser, folder):
    long = "a category whose name is far too long for the panel that it is listed in"
    # The server gives renamed pictures new versions; a quick undo may come before they are known.
    with annotating(browser, folder, forgiven=["400", "409"]) as page:
        draw_box(page)
        page.has("box")
        listed = page.page.locator("[data-category]")
        for name in (long, " POLYP "):
            page.page.locator("#add-category").click()
            page.page.get_by_label("Name of the new category").fill(name)
            page.press("Enter")
            if name == long:
                expect(listed).to_have_count(2)
        expect(page.page.locator(".notice.bad")).to_contain_text("polyp")
        page.page.locator("#add-category").click()
        page.page.get_by_label("Name of the new category").fill("x" * 101)
        page.press("Enter")
        page.told("The name has 101 characters; a category may have 100.")
        page.press("Escape")
        expect(listed).to_have_count(2)

        entry = page.page.locator(f'[data-category="{long}"]')
        entry.hover()
        expect(entry.get_by_label("Delete category")).to_be_in_viewport(ratio=1)
        entry.get_by_label("Delete category").click()
        expect(listed).to_have_count(1)
        listed.hover()
        listed.get_by_label("Delete category polyp").click()
        expect(page.page.locator(".notice.bad").last).to_contain_text("polyp")
        listed.get_by_label("Rename polyp").click()
        page.page.get_by_label("New name of polyp").fill("lesion")
        page.press("Enter")
        expect(page.objects).to_contain_text("lesion")
        expect(listed).to_have_attribute("data-category", "lesion")
        page.is_saved()
        assert page.record(0)["objects"][0]["category"] == "lesion"
        page.press("Control+z")
        page.has()
        page.press("Control+y")
        page.has("box")
        expect(page.objects).to_contain_text("lesion")
    told = json.loads((folder / "annotations.json").read_text())
    assert [each["name"] for each in told["categories"]] == ["lesion"]
