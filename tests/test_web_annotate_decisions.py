"""Whatever the annotate page decides about a picture, the user decided it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from annotate_browser import (
    CORNERS,
    HEIGHT,
    WIDTH,
    AnnotatePage,
    annotating,
    draw_box,
    draw_polygon,
    make_pictures,
)
from groupcm.annotations import AnnotatedObject, Annotations, Box, Picture, write
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


def test_a_picture_that_is_not_shown_is_not_decided(browser, folder):
    with annotating(browser, folder) as page:
        held = []
        page.page.route(re.compile("pictures/3/pixels"), lambda route: held.append(route))
        row(page, 3).click()
        expect(row(page, 3)).to_have_attribute("aria-selected", "true")
        page.press("n", "d", "Enter")
        page.told("d.png is not shown yet")
        page.counts("0 of 4 done · 0 with objects, 0 verified empty")
        for route in held:
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
    with annotating(browser, folder, first=frozenset({0})) as page:
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

        # Enter keeps what is sought, and both stay in sight.
        page.press("/")
        page.page.keyboard.type("c.p")
        page.press("Enter")
        expect(search).to_have_value("c.p")
        expect(rows).to_have_count(2)
        restriction.get_by_role("button", name="Show all").click()
        expect(search).to_have_value("")
        expect(rows).to_have_count(4)

        # A filter that shows nothing any more is still the one that is named.
        page.page.locator("#filter").select_option("correct")
        page.press("n")
        page.is_saved()
        expect(chosen).to_have_text("To correct (0)")
        expect(restriction).to_contain_text("0 of 4, and the open picture")


def test_an_import_asks_what_unannotated_pictures_mean(browser, folder, tmp_path):
    box = AnnotatedObject("polyp", Box(20, 30, 40, 50))
    pictures = [Picture(f"{name}.png", WIDTH, HEIGHT) for name in "bcd"]
    marked = Picture("a.png", WIDTH, HEIGHT, (box,))
    path = tmp_path / "some.json"
    write(Annotations((marked, *pictures)), path, "coco")
    sent = []

    def answer(route) -> None:
        sent.append(route.request.url.partition("?")[2])
        counts = {"annotated": 1, "verified_empty": 0, "todo": 3}
        route.fulfill(json={"pictures": 1, "objects": 1, "skipped": []} | counts)

    with annotating(browser, folder) as page:
        page.page.route("**/api/import*", answer)
        dialog = page.page.get_by_role("dialog", name="Import some.json")
        page.page.locator("#import-file").set_input_files(path)
        expect(dialog.get_by_label("still to do")).to_be_checked()
        assert axe_findings(page.page) == []
        page.press("n", "Escape")
        expect(dialog).to_have_count(0)
        assert sent == []
        page.counts("0 of 4 done · 0 with objects, 0 verified empty")

        page.import_file(path)
        page.told("Its pictures: 1 annotated, 0 verified empty, 3 to do.")
        page.import_file(path, "verified empty")
        page.told("Imported 1 object into 1 picture.")
        assert sent == ["format=auto&unannotated=todo", "format=auto&unannotated=negative"]
