"""The annotate page without a mouse, from the first picture to the last."""

from __future__ import annotations

import json

import pytest
from annotate_browser import (
    AnnotatePage,
    Proposed,
    along,
    annotating,
    make_pictures,
    mask_of,
)
from playwright.sync_api import expect
from web_pages import axe_findings

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

NAMES = [f"frame {number}.png" for number in range(1, 13)]
KEYS = (
    *("Enter", "N", "D", "J", "Page Down", "K", "Page Up", "Home", "End", "/"),
    *("V", "B", "P", "R", "E", "C", "H", "[", "]"),
    *("Space", "Backspace", "Esc", "Tab", "Shift Tab", "Shift Enter", "Delete"),
    *("← → ↑ ↓", "Shift ← → ↑ ↓", "Ctrl Shift ← → ↑ ↓", "1 … 9", "T", "Ctrl Z", "Ctrl Y"),
    *("+", "-", "0", "Z", "?"),
)


@pytest.fixture
def folder(tmp_path):
    return make_pictures(tmp_path / "frames", *NAMES)


def lead_crosshair(page: AnnotatePage, x: int, y: int) -> None:
    """Move the crosshair, from wherever it is, with as few keys as that needs."""
    page.press("ArrowLeft", "ArrowRight")
    crosshair = page.page.locator("#crosshair")
    for name, wanted, back, ahead in (("data-x", x, "Left", "Right"), ("data-y", y, "Up", "Down")):
        way = wanted - int(crosshair.get_attribute(name) or "")
        arrow = f"Arrow{ahead if way > 0 else back}"
        tens, ones = divmod(abs(way), 10)
        page.press(*[f"Shift+{arrow}"] * tens, *[arrow] * ones)
        expect(crosshair).to_have_attribute(name, str(wanted))


def go_by_tabs_to(page: AnnotatePage, id: str) -> None:
    """Press Shift+Tab until something has the focus."""
    for _ in range(40):
        page.press("Shift+Tab")
        if page.page.evaluate("document.activeElement.id") == id:
            return
    raise AssertionError(f"{id} is not reached")


def test_every_picture_is_decided_by_keys_alone(browser, folder):
    proposed = Proposed()
    with annotating(browser, folder, suggestions=proposed, categories=("a", "b")) as page:
        page.press("n")
        page.shows(1)

        # A box between two places of the crosshair, of the second category.
        page.press("b", "2")
        lead_crosshair(page, 70, 50)
        page.press("Space")
        lead_crosshair(page, 91, 62)
        page.press("Space")
        page.has("box")
        page.press("Enter")
        page.shows(2)

        # A proposed region: the crosshair into it, Tab to the larger one, Enter.
        page.press("c")
        lead_crosshair(page, 40, 40)
        hint = page.page.locator("#hint")
        expect(hint).to_contain_text("Region 1 of 2")
        page.press("Tab")
        expect(hint).to_contain_text("Region 2 of 2")
        page.press("Enter")
        page.has("mask")
        page.press("Enter")
        page.shows(3)

        # A polygon, with a corner too many that is taken back.
        page.press("p")
        for corner in ((100, 50), (120, 50), (120, 70), (90, 70)):
            lead_crosshair(page, *corner)
            page.press("Space")
        page.press("Backspace", "Enter")
        page.has("polygons")
        page.press("Enter")
        page.shows(4)

        # One dab of a smaller brush.
        page.press("r", "[")
        lead_crosshair(page, 30, 40)
        page.press("Space")
        page.has("mask")
        page.press("Enter")
        page.shows(5)

        # A box that is resized and moved; and one that is deleted again.
        for key, corners in (("v", ((10, 10), (20, 20))), ("Delete", ((50, 50), (60, 60)))):
            page.press("b")
            for corner in corners:
                lead_crosshair(page, *corner)
                page.press("Space")
            expect(page.objects).to_have_count(1 if key == "v" else 2)
            page.press(key)
            if key == "v":
                page.press("Control+Shift+ArrowRight", "Control+Shift+ArrowUp", "ArrowDown")
        page.has("box")
        page.press("Enter")
        for number in range(6, len(NAMES)):
            page.shows(number)
            page.press("n")
        page.told("Every picture in this list is done.")
        page.is_saved()

        go_by_tabs_to(page, "filter")
        page.page.keyboard.type("To")
        chosen = page.page.locator("#filter option:checked")
        expect(chosen).to_have_text("To do (0)")
        page.counts("12 of 12 done · 5 with objects, 7 verified empty")
        # The picture that is open stays in the list.
        expect(page.page.locator("[data-picture]")).to_have_count(1)
        regions = [page.regions(number) for number in range(len(NAMES))]
        categories = [page.record(number)["objects"][0]["category"] for number in (1, 2)]

    assert regions[1] == [{"type": "box", "x": 70, "y": 50, "width": 21, "height": 12}]
    assert [each["counts"] for each in regions[2]] == [proposed.large["counts"]]
    assert regions[3] == [{"type": "polygons", "parts": [[100, 50, 120, 50, 120, 70]]}]
    (painted,) = regions[4]
    assert (mask_of(painted) == along((30, 40), size=19)).all()
    assert regions[5] == [{"type": "box", "x": 10, "y": 11, "width": 11, "height": 9}]
    assert regions[0] == regions[6] == regions[11] == []
    assert categories == ["b", "b"]
    told = json.loads((folder / "annotations.json").read_text())
    assert [each["file_name"] for each in told["images"]] == NAMES


def test_all_keys_are_shown_and_none_acts_meanwhile(browser, folder):
    with annotating(browser, folder, suggestions=Proposed()) as page:
        help = page.page.get_by_role("dialog", name="Keys")
        expect(help).to_have_count(0)
        page.press("?", "n")
        expect(help).to_be_visible()
        shown = help.locator("kbd").all_text_contents()
        assert [key for key in KEYS if key not in shown] == []
        single = [key for key in shown if len(key) == 1]
        assert sorted(set(single)) == sorted(single)  # no key has two meanings
        page.press("n", "b", "Delete")
        page.press("Escape")
        expect(help).to_have_count(0)
        expect(page.page.locator("dialog[open]")).to_have_count(0)  # which would take the keys
        expect(page.page.locator("#counts")).to_contain_text("0 of 12 done")
        page.press("n")
        page.shows(1)
        expect(page.page.locator("#counts")).to_contain_text("1 of 12 done")


def test_going_about_zooming_and_searching(browser, folder):
    with annotating(browser, folder) as page:
        for key, number in (("End", 11), ("k", 10), ("PageUp", 9), ("Home", 0), ("j", 1)):
            page.press(key)
            page.shows(number)
        zoom = page.page.locator("#zoom")
        fitted = zoom.inner_text()
        page.press("z")
        expect(zoom).to_have_text("100 %")
        page.press("+")
        expect(zoom).to_have_text("125 %")
        page.press("0")
        expect(zoom).to_have_text(fitted)

        page.press("/")
        page.page.keyboard.type("frame 12")
        expect(page.page.locator("[data-picture]")).to_have_count(2)  # with the one that is open
        page.press("Enter", "j")
        page.shows(11)
        page.press("d")
        expect(page.page.locator("#done")).to_be_checked()
        page.press("d")
        expect(page.page.locator("#done")).not_to_be_checked()
        page.is_saved()
        assert page.record(11)["done"] is False


def test_a_digit_is_for_the_next_object_unless_one_is_selected(browser, folder):
    with annotating(browser, folder, categories=("a", "b", "c")) as page:
        title = page.page.locator("#categories h2")
        following = page.page.locator("#next-category")

        def next_is(name: str) -> None:
            expect(title).to_have_text("Category of the next object")
            pressed = page.page.locator("[data-category]").filter(
                has=page.page.locator('[aria-pressed="true"]')
            )
            expect(pressed).to_have_attribute("data-category", name)
            expect(following).to_have_attribute("data-category-of-next", name)

        next_is("a")
        page.tool("box")
        page.drag((10, 10), (40, 40))
        page.has("box")
        # The box just drawn can be edited, and stays what it is.
        next_is("a")
        page.press("2")
        next_is("b")
        expect(page.objects.nth(0)).to_contain_text("a")
        page.drag((50, 50), (90, 90))
        page.has("box", "box")
        page.press("3")
        next_is("c")

        # One that is selected takes the digit, and the next object keeps its own category.
        page.press("v")
        expect(title).to_have_text("Category of the selected object")
        page.press("1")
        expect(page.objects.nth(1)).to_contain_text("a")
        expect(following).to_have_attribute("data-category-of-next", "c")
        page.objects.nth(0).locator("button").first.click()
        page.press("2")
        expect(page.objects.nth(0)).to_contain_text("b")
        page.press("Escape")
        next_is("c")

        # A stroke of the brush adds to the mask just drawn, unless a digit asked for another.
        page.press("r")
        for x, key in ((120, "3"), (130, "1"), (20, "2")):
            page.click(x, 100)
            page.press(key)
        page.has("box", "box", "mask", "mask")
        categories = [each["category"] for each in page.record(0)["objects"]]
        assert categories == ["b", "a", "c", "a"]


def test_every_category_has_a_colour_and_is_found_by_the_keyboard(browser, folder):
    long = "a name " * 14
    names = (*(f"kind {number}" for number in range(1, 31)), f"{long.strip()}.")
    with annotating(browser, folder, categories=names) as page:
        colours = page.page.locator("#categories .chip").evaluate_all(
            "all => all.map(each => getComputedStyle(each).backgroundColor)"
        )
        assert len(set(colours)) == len(colours) == len(names)
        entry = page.page.locator("[data-category] .clip").last
        expect(entry).to_have_attribute("title", names[-1])
        assert entry.evaluate("each => each.scrollWidth > each.clientWidth")  # an ellipsis

        picker = page.page.get_by_role("dialog", name="Choose a category")
        following = page.page.locator("#next-category")
        for typed, keys, found in (
            ("12", (), "kind 12"),
            ("KIND 2", ("ArrowDown",), "kind 20"),
            ("name", (), names[-1]),
            ("", ("ArrowDown", "ArrowUp", "ArrowUp"), "kind 30"),
        ):
            # What is typed at once is for the picker alone, though "k" and "n" are keys too.
            page.press("t")
            page.page.keyboard.type(typed)
            expect(picker).to_contain_text("Category of the next object")
            page.press(*keys, "Enter")
            expect(picker).to_have_count(0)
            expect(following).to_have_attribute("data-category-of-next", found)
        page.press("b")
        expect(page.page.locator("#stage")).to_be_focused()
        page.counts("0 of 12 done · 0 with objects, 0 verified empty")

        page.drag((10, 10), (40, 40))
        page.has("box")
        page.press("v", "t")
        expect(picker).to_contain_text("Category of the selected object")
        assert axe_findings(page.page) == []
        page.page.keyboard.type("no such")
        expect(picker).to_contain_text("No category matches.")
        page.press("Enter", "Escape")
        expect(picker).to_have_count(0)
        page.press("t")
        page.page.keyboard.type("kind 11")
        page.press("Enter")
        expect(page.objects).to_contain_text("kind 11")
        expect(following).to_have_attribute("data-category-of-next", "kind 30")
        page.is_saved()
        assert page.record(0)["objects"][0]["category"] == "kind 11"


def test_no_object_is_not_said_of_a_picture_with_objects(browser, folder):
    with annotating(browser, folder) as page:
        page.tool("box")
        page.drag((10, 10), (40, 40))
        page.has("box")
        page.press("n")
        page.told("This picture has objects.")
        page.has("box")
        page.shows(0)
