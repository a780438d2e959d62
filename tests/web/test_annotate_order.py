"""Which picture the annotate page shows first, and which next."""

from __future__ import annotations

import pytest
from annotate_browser import BOX_FROM, BOX_TO, AnnotatePage, annotating, draw_box, make_pictures
from playwright.sync_api import expect


class Scores:
    """Scores that become known when a test says so."""

    threshold = 0.0

    def __init__(self, known: dict[int, float], running: bool = False) -> None:
        self.known, self.running = known, running

    @property
    def n_scored(self):
        return len(self.known)

    def score(self, number):
        return self.known.get(number)

    def changed_since(self, revision):
        return len(self.known), dict([*self.known.items()][revision:])

    def start(self):
        pass

    stop = start


@pytest.fixture
def folder(tmp_path):
    return make_pictures(tmp_path / "frames", *(f"{name}.png" for name in "abcdef"))


def listed(page: AnnotatePage) -> list[int]:
    rows = page.page.locator("[data-picture]").all()
    return [int(row.get_attribute("data-picture") or "") for row in rows]


@pytest.mark.parametrize(("width", "height"), [(1400, 800), (1024, 700)])
def test_nothing_runs_over_an_edge(browser, folder, width, height):
    scores = Scores({0: 0.5}, running=True)
    reason = " ".join(["annotations.json was changed by another program"] * 3)
    failing = {"status": 500, "json": {"error": reason}}
    size = {"width": width, "height": height}
    with annotating(browser, folder, scores=scores, forgiven=["500"], **size) as page:
        widest = page.page.locator("#pictures").bounding_box()
        assert widest is not None
        for id in ("search", "filter", "order"):
            place = page.page.locator(f"#{id}").bounding_box()
            assert place is not None
            assert place["x"] + place["width"] < widest["x"] + widest["width"]
        page.page.route("**/api/pictures/0", lambda route: route.fulfill(**failing))
        draw_box(page)
        problem = page.page.locator(".saving-problem .notice")
        expect(problem).to_have_text(f"Not saved: {reason}")
        for whole in (problem, page.page.locator("#hint"), page.page.locator("#exchange")):
            expect(whole).to_be_in_viewport(ratio=1)
            assert whole.evaluate("each => each.scrollWidth <= each.clientWidth")
        page.page.unroute_all()
        page.has("box")
        expect(problem).to_have_count(0)


@pytest.mark.parametrize("scores", [None, Scores({number: number - 5 for number in range(6)})])
def test_pictures_to_correct_come_first(browser, folder, scores):
    with annotating(browser, folder) as page:
        page.open(3)
        page.press("n")
        page.is_saved()
    notes = {1: "a <second> polyp, top left", 3: ""}
    with annotating(browser, folder, scores=scores, first=notes, shows=1) as page:
        assert listed(page)[:2] == [1, 3]
        flags = page.page.locator(".to-correct")
        expect(flags).to_have_count(2)
        expect(flags.first).to_have_attribute("title", f"To correct: {notes[1]}")
        note = page.page.locator("#to-correct")
        expect(note).to_have_text(f"⚑ To correct: {notes[1]}")
        page.press("n")
        page.shows(3)
        expect(note).to_have_text("⚑ To correct")
        expect(flags).to_have_count(1)
        page.press("n")  # it was done, and is right as it is
        page.shows(0 if scores is None else 5)
        expect(flags).to_have_count(0)
        page.is_saved()
        assert listed(page)[:2] == [1, 3]
        page.page.reload()
        page.shows(0 if scores is None else 5)
        expect(flags).to_have_count(0)


@pytest.mark.slow
def test_with_a_model_the_most_useful_come_first(browser, folder):
    scores = Scores({}, running=True)
    with annotating(browser, folder, scores=scores) as page:
        expect(page.page.locator("#order")).to_have_value("useful")
        assert listed(page) == [0, 1, 2, 3, 4, 5]
        draw_box(page)
        page.has("box")
        page.hover(*BOX_FROM)
        page.press("Escape")
        page.page.mouse.down()
        page.page.mouse.move(*page.on_screen(*BOX_TO))
        scores.known.update({number: float(number - 5) for number in range(6)})
        scores.running = False
        expect(page.page.locator('[data-picture="4"]')).to_contain_text("-1.00")
        assert listed(page) == [0, 1, 2, 3, 4, 5]
        page.page.mouse.up()
        expect(page.page.locator("[data-picture]").first).to_have_attribute("data-picture", "5")
        page.shows(0)  # what was open stays open
        assert listed(page) == [5, 4, 3, 2, 1, 0]
        page.press("Enter")
        page.shows(5)
