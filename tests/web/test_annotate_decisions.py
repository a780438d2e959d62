"""Whatever the annotate page decides about a picture, the user decided it."""

from __future__ import annotations

import json
import re

import pytest
from annotate_browser import (
    CORNERS,
    HEIGHT,
    WIDTH,
    AnnotatePage,
    Proposed,
    annotating,
    draw_box,
    draw_polygon,
    make_pictures,
)
from playwright.sync_api import Route, expect
from web_pages import axe_findings


@pytest.fixture
def folder(tmp_path):
    return make_pictures(tmp_path / "frames", *(f"{name}.png" for name in "abcd"))


def row(page: AnnotatePage, number: int):
    return page.page.locator(f'[data-picture="{number}"]')


def is_in(page: AnnotatePage, state: str) -> None:
    expect(page.page.locator("#state")).to_have_text(state)


def test_only_the_user_finishes_a_picture(browser, folder):
    with annotating(browser, folder) as page:
        undecided = "0 of 4 done · 0 with objects, 0 verified empty"
        done = page.page.locator("#done")
        # Enter decides nothing on a picture without objects, nor does the button of the same name.
        page.press("Enter")
        page.told("No object is marked here")
        page.page.locator("#done-next").click()
        page.press("Enter")
        page.counts(undecided)
        expect(page.page.locator('#pixels[data-loaded="0"]')).to_have_count(1)
        is_in(page, "to do")

        # The first object leaves the picture in progress; deleting it says nothing about the rest.
        draw_box(page)
        page.has("box")
        expect(done).not_to_be_checked()
        is_in(page, "in progress")
        expect(row(page, 0)).to_contain_text("1 object, in progress")
        page.counts(f"{undecided} · 1 in progress")
        assert page.record(0)["done"] is False
        page.press("d")
        expect(row(page, 0)).to_contain_text("1 object, done")
        page.counts("1 of 4 done · 1 with objects, 0 verified empty")
        page.press("Delete")
        page.has()
        is_in(page, "to do")
        assert page.record(0)["done"] is False

        # Enter closes the polygon, Enter finishes the picture; one more does not label the next.
        draw_polygon(page)
        page.has("polygons")
        page.press("Enter", "Enter")
        page.shows(1)
        page.press("Enter")
        page.told("No object is marked here")
        page.counts("1 of 4 done · 1 with objects, 0 verified empty")

        # Nor does it finish a picture in which something was marked before.
        draw_box(page)
        page.has("box")
        page.open(3)
        draw_polygon(page)
        page.press("Enter")
        page.shows(1)
        page.press("Enter")
        page.told("Press Enter again if all objects of b.png are marked.")
        page.counts("2 of 4 done · 2 with objects, 0 verified empty · 1 in progress")
        page.press("Enter")
        page.shows(2)
        page.press("n")
        page.told("Every picture in this list is done.")
        page.counts("4 of 4 done · 3 with objects, 1 verified empty")
        page.open(2)
        is_in(page, "verified empty")
        expect(row(page, 2)).to_contain_text("verified empty")
        # An object contradicts it.
        draw_box(page)
        page.has("box")
        is_in(page, "in progress")
        assert [page.record(number)["done"] for number in range(4)] == [True, True, False, True]

        choices = page.page.locator("#filter option").all_text_contents()
        assert choices == [
            *("All (4)", "To do (0)", "In progress (1)", "Done (3)"),
            *("With objects (4)", "Verified empty (0)"),
        ]


def test_nothing_is_decided_or_left_while_something_is_drawn(browser, folder):
    with annotating(browser, folder, suggestions=Proposed()) as page:
        undecided = "0 of 4 done · 0 with objects, 0 verified empty"
        corners = page.page.locator(".corner")
        unfinished = "The polygon is not closed yet"
        page.tool("polygon")
        for corner in CORNERS:
            page.click(*corner)
        for act in (
            lambda: page.press("n"),
            page.page.locator("#no-object").click,
            page.page.locator("#done-next").click,
            lambda: page.press("d"),
            lambda: page.press("j"),
            row(page, 2).click,
        ):
            act()
            page.told(unfinished)
            expect(corners).to_have_count(3)
        expect(page.page.locator("#done")).not_to_be_checked()
        page.counts(undecided)
        page.press("Control+z", "Enter")
        page.told("A polygon needs three corners")
        expect(corners).to_have_count(2)
        page.press("Escape")

        # The first corner of a box set by keys, and a stroke of the brush under way.
        page.tool("box")
        page.press("ArrowLeft", "Space", "n", "d")
        page.told("The box is not finished yet")
        page.press("Escape")
        page.tool("brush")
        page.hover(30, 100)
        page.page.mouse.down()
        page.press("n", "d", "j", "Enter")
        page.told("The stroke is not finished yet")
        page.page.mouse.up()
        page.has("mask")
        page.counts(f"{undecided} · 1 in progress")
        assert [page.record(number)["done"] for number in range(4)] == [False] * 4

        # Enter accepts a proposed region only where the pointer was moved to in this picture.
        page.press("Enter")
        page.shows(1)
        page.press("c")
        page.hover(40, 40)
        expect(page.page.locator("#hint")).to_contain_text("Region 1 of 2")
        page.press("Enter", "Enter")
        page.shows(2)
        expect(page.page.locator("#hint")).to_contain_text("Region 1 of 2")
        page.press("Enter", "Enter")
        page.told("No object is marked here")
        page.has()
        is_in(page, "to do")
        page.counts("2 of 4 done · 2 with objects, 0 verified empty")
        page.hover(41, 41)
        page.press("Enter")
        page.has("mask")
        assert [len(page.regions(number)) for number in range(4)] == [1, 1, 1, 0]


def test_a_picture_that_is_not_shown_is_not_decided(browser, folder):
    with annotating(browser, folder) as page:
        held: list[Route] | None = []

        def hold(route: Route) -> None:
            if held is None:
                route.continue_()
            else:
                held.append(route)

        page.page.route(re.compile("pictures/3/pixels"), hold)
        row(page, 3).click()
        expect(row(page, 3)).to_have_attribute("aria-selected", "true")
        page.press("n", "d", "Enter")
        page.told("d.png is not shown yet")
        page.counts("0 of 4 done · 0 with objects, 0 verified empty")
        kept, held = held, None
        for route in kept:
            route.continue_()
        page.shows(3)
        page.press("n")
        page.shows(0)
        page.counts("1 of 4 done · 0 with objects, 1 verified empty")


def test_undo_goes_to_the_picture_that_it_changes(browser, folder):
    with annotating(browser, folder) as page:
        undo, redo = page.page.locator("#undo"), page.page.locator("#redo")
        expect(undo).to_be_disabled()
        draw_box(page)
        page.has("box")
        page.press("Enter")
        page.shows(1)
        page.press("n")
        page.shows(2)
        page.press("Control+z")
        page.told("Undone in b.png.")
        page.shows(1)
        is_in(page, "to do")
        page.press("Control+z")
        page.shows(0)
        page.told("Undone in a.png.")
        expect(page.page.locator(".notice")).to_have_count(1)  # they do not pile up
        page.has("box")
        is_in(page, "in progress")
        undo.click()
        page.has()
        expect(undo).to_be_disabled()
        assert [page.record(number)["done"] for number in (0, 1)] == [False, False]
        page.open(3)
        page.press("Control+y")
        page.shows(0)
        page.has("box")
        page.press("Control+y")
        redo.click()
        page.told("Redone in b.png.")
        page.shows(1)
        is_in(page, "verified empty")
        expect(redo).to_be_disabled()
        page.is_saved()
        assert [page.record(number)["done"] for number in (0, 1)] == [True, True]

        # While something is being drawn, undo takes its last corner back and stays here.
        page.tool("polygon")
        for corner in CORNERS:
            page.click(*corner)
        expect(page.page.locator(".corner")).to_have_count(3)
        page.press("Control+z")
        expect(page.page.locator(".corner")).to_have_count(2)
        page.shows(1)
        is_in(page, "verified empty")


def test_list_counts_and_search_field_agree(browser, folder):
    empty = {"id": 1, "file_name": "d.png", "width": WIDTH, "height": HEIGHT, "done": True}
    coco = {"images": [empty], "annotations": [], "categories": [{"id": 1, "name": "polyp"}]}
    (folder / "annotations.json").write_text(json.dumps(coco))
    with annotating(browser, folder, first=frozenset({3}), shows=3) as page:
        rows, search = page.page.locator("[data-picture]"), page.page.locator("#search")
        chosen = page.page.locator("#filter option:checked")
        restriction = page.page.locator("#restriction")
        page.press("/")
        page.page.keyboard.type("b.p")
        expect(rows).to_have_count(2)
        expect(chosen).to_have_text("All (1)")
        expect(restriction).to_contain_text("1 of 4, and the open picture")
        page.press("Escape")
        expect(search).to_have_value("")
        expect(rows).to_have_count(4)
        expect(chosen).to_have_text("All (4)")
        expect(restriction).to_have_count(0)
        expect(page.page.locator("#stage")).to_be_focused()

        # Enter opens the first match and keeps what is sought; once more finishes neither picture.
        for number in (0, 1):
            page.open(number)
            draw_box(page)
            page.has("box")
        page.press("/")
        page.page.keyboard.type("no such")
        page.press("Enter", "Enter")
        page.told("No picture in this list matches.")
        search.fill("a.p")
        page.press("Enter")
        page.shows(0)
        page.press("Enter")
        page.told("Press Enter again if all objects of a.png are marked.")
        assert [page.record(number)["done"] for number in (0, 1)] == [False, False]
        page.press("Control+z", "Control+z")
        page.shows(0)
        page.has()
        expect(search).to_have_value("a.p")
        expect(rows).to_have_count(1)
        restriction.get_by_role("button", name="Show all").click()
        expect(search).to_have_value("")
        expect(rows).to_have_count(4)

        # A filter that shows nothing any more is still the one that is named.
        page.open(3)
        page.page.locator("#filter").select_option("correct")
        page.press("Enter")
        page.told("d.png is verified empty and flagged to be corrected.")
        page.press("n")
        page.is_saved()
        expect(chosen).to_have_text("To correct (0)")
        expect(restriction).to_contain_text("0 of 4, and the open picture")


def test_an_import_asks_what_unannotated_pictures_mean(browser, folder, tmp_path):
    size = {"width": WIDTH, "height": HEIGHT}
    coco = {
        "images": [{"id": name, "file_name": f"{name}.png"} | size for name in "abcd"],
        "annotations": [{"id": 1, "image_id": "b", "category_id": 1, "bbox": [20, 30, 40, 50]}],
        "categories": [{"id": 1, "name": "polyp"}],
    }
    path = tmp_path / "some.json"
    path.write_text(json.dumps(coco))
    with annotating(browser, folder) as page:
        dialog = page.page.get_by_role("dialog", name="Import some.json")
        page.page.locator("#import-file").set_input_files(path)
        expect(dialog.get_by_label("still to do")).to_be_checked()
        assert axe_findings(page.page) == []
        page.press("n", "Escape")
        expect(dialog).to_have_count(0)
        page.counts("0 of 4 done · 0 with objects, 0 verified empty")
        assert not (folder / "annotations.json").exists()

        draw_box(page)
        page.has("box")
        page.import_file(path)
        page.told("Its pictures: 1 annotated, 0 verified empty, 2 to do.")
        page.page.get_by_role("button", name="Close").click()  # what was marked here is kept
        page.counts("1 of 4 done · 1 with objects, 0 verified empty · 1 in progress")
        # A step back from before the import would take back a part of it.
        expect(page.page.locator("#undo")).to_be_disabled()

        page.import_file(path, "verified empty")
        page.told("Its pictures: 0 annotated, 2 verified empty, 0 to do.")
        page.page.get_by_role("button", name="Close").click()
        page.counts("3 of 4 done · 1 with objects, 2 verified empty · 1 in progress")
