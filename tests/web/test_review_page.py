"""The review page in a browser: wall, threshold, one picture large, marks, keys, many pictures."""

from __future__ import annotations

import csv
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from picture_model import HEIGHT, WIDTH, cheap_recipe, fitted, some_frames
from PIL import Image
from playwright.sync_api import Page, expect
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route
from web_pages import Fingers, axe_findings, serving, sideways, small_targets, visiting

from groupcm.annotations import Annotations
from groupcm.annotations.runs import to_mask
from groupcm.images.scoring.score import PictureScorer
from groupcm.images.synthetic import SyntheticFrame
from groupcm.images.truth import Truth
from groupcm.metrics import at_threshold
from groupcm.web.review.app import review_app
from groupcm.web.review.flags import FlagFile, read_flags
from groupcm.web.review.session import Review
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.scored_pictures import PictureResult

THRESHOLD = -7.0
N_FRAMES = 14
MARKUP = "<img src=x onerror=alert(1)>&amp;.png"
BROKEN = "<b>broken<!--.png"
MANY = 10_000


@dataclass
class Folder:
    """Made frames of all four outcomes; one that nobody annotated, and one that cannot be read."""

    path: Path
    truth: Truth


def frames() -> list[SyntheticFrame]:
    """Frames that the model does not know, after one with a polyp that it was fitted to."""
    known = next(each for each in some_frames(16) if each.picture.objects)
    return [known, *some_frames(N_FRAMES - 1, seed=5)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Folder:
    path = tmp_path_factory.mktemp("frames of today")
    pictures = []
    for number, frame in enumerate(frames()):
        name = MARKUP if number == 3 else f"{number:02}_{frame.picture.name}"
        Image.fromarray(frame.pixels).save(path / name, "PNG")
        pictures.append(replace(frame.picture, name=name))
    (path / BROKEN).write_bytes(b"")
    return Folder(path, Truth(Annotations(tuple(pictures[:-1])), "annotations.json"))


def scorer() -> PictureScorer:
    return PictureScorer(fitted(), cheap_recipe(), threshold=THRESHOLD)


def app_of(review: Review) -> Callable[[str, int], Starlette]:
    def make_app(token: str, port: int) -> Starlette:
        return review_app(review, model="model.json", token=token, port=port)

    return make_app


@contextmanager
def reviewing(review: Review) -> Iterator[str]:
    """Serve a review whose scores are all there."""
    with serving(app_of(review)) as address:
        assert review.scores.wait(60)
        yield address


@dataclass
class Shown:
    """A review, and its page."""

    review: Review
    page: Page

    def api(self, path: str) -> Any:
        return self.page.request.get(path_of(self.page, path)).json()

    @property
    def results(self) -> list[dict[str, Any]]:
        found = [each for each in self.review.results() if each is not None]
        assert len(found) == N_FRAMES + 1
        return found

    def number(self, name: str) -> int:
        return self.review.library.names.index(name)

    def open(self, number: int) -> None:
        self.page.locator(f'#wall a[data-picture="{number}"]').click()
        expect(self.page.locator(f'#detail[data-picture="{number}"]')).to_be_visible()


def path_of(page: Page, path: str) -> str:
    return page.url.split("#")[0].rstrip("/") + path


@pytest.fixture(scope="module")
def served(folder, tmp_path_factory):
    marks = tmp_path_factory.mktemp("marks") / "review.csv"
    review = Review(
        PictureLibrary(folder.path), scorer(), FlagFile(marks), truth=folder.truth, workers=1
    )
    with reviewing(review) as address:
        yield review, address
    assert not marks.exists()


@pytest.fixture
def shown(browser, served):
    """A page whose pictures no test marks."""
    review, address = served
    with visiting(browser, address) as page:
        expect(page.locator("#wall a[data-picture]")).to_have_count(N_FRAMES + 1)
        yield Shown(review, page)


@pytest.fixture
def served_to_mark(folder, tmp_path):
    marks = FlagFile(tmp_path / "to correct.csv")
    review = Review(PictureLibrary(folder.path), scorer(), marks, truth=folder.truth, workers=1)
    with reviewing(review) as address:
        yield review, address


@pytest.fixture
def to_mark(browser, served_to_mark):
    """A page with marks of its own."""
    review, address = served_to_mark
    with visiting(browser, address) as page:
        expect(page.locator("#wall a[data-picture]")).to_have_count(N_FRAMES + 1)
        yield Shown(review, page)


def outcome(result: dict[str, Any], threshold: float) -> str:
    if result["score"] is None:
        return "unreadable"
    is_alarm = result["score"] >= threshold
    if result["truth"] is None:
        return "alarm" if is_alarm else "no alarm"
    right = "true" if is_alarm == result["truth"] else "false"
    return f"{right} {'positive' if is_alarm else 'negative'}"


def outcomes(results: list[dict[str, Any]], threshold: float) -> dict[int, str]:
    return {number: outcome(each, threshold) for number, each in enumerate(results)}


def tiles(page: Page) -> dict[int, str]:
    """Pictures of the wall in their order, and their outcomes."""
    found = page.locator("#wall a[data-picture]").evaluate_all(
        "all => all.map(each => [Number(each.dataset.picture), each.dataset.outcome])"
    )
    return dict(found)


def worst_first(results: list[dict[str, Any]], threshold: float) -> list[int]:
    """Pictures of known truth, by how far their scores lie on the wrong side."""

    def wrong_by(number: int) -> float:
        by = results[number]["score"] - threshold
        return -by if results[number]["truth"] else by

    known = [number for number, each in enumerate(results) if each["truth"] is not None]
    return sorted(known, key=wrong_by, reverse=True)


def number_in(text: str) -> float:
    return float(text.replace("−", "-"))


def test_the_worst_errors_come_first(shown):
    wall, results = tiles(shown.page), shown.results
    known = outcomes(results, THRESHOLD)
    assert wall == known
    assert {"true positive", "true negative"} < set(wall.values())
    words = list(wall.values())
    n_errors = sum(word in ("false positive", "false negative") for word in words)
    assert set(words[:n_errors]) == {"false positive", "false negative"}
    assert words[n_errors:-2] == [w for w in words if w in ("true positive", "true negative")]
    assert words[-1] == "unreadable"
    assert list(wall)[:-2] == worst_first(results, THRESHOLD)
    # The picture that nobody annotated follows those whose truth is known.
    assert results[list(wall)[-2]]["truth"] is None


def test_other_orders(shown):
    page, results = shown.page, shown.results
    page.locator("#order").select_option("score")
    best = max(range(N_FRAMES + 1), key=lambda n: results[n]["score"] or -np.inf)
    expect(page.locator("#wall a").first).to_have_attribute("data-picture", str(best))
    scores = [results[number]["score"] for number in tiles(page)][:-1]
    assert scores == sorted(scores, reverse=True)
    page.locator("#order").select_option("name")
    expect(page.locator("#wall a").first).to_have_attribute("data-picture", "0")
    assert list(tiles(page)) == list(range(N_FRAMES + 1))


def counts(results: list[dict[str, Any]], threshold: float) -> dict[str, str]:
    tally = Counter(outcomes(results, threshold).values())
    detected, false_alarms = tally["true positive"], tally["false positive"]
    positives = detected + tally["false negative"]
    negatives = false_alarms + tally["true negative"]
    told = [each["on_object"] for each in results if outcome(each, threshold) == "true positive"]
    per_hundred = 100 * false_alarms / (positives + negatives)
    lines = {
        "#alarms": f"{detected + false_alarms + tally['alarm']} of {N_FRAMES}",
        "#sensitivity": f"{detected} of {positives}",
        "#false-alarms": f"{false_alarms} of {negatives} · {per_hundred:.1f} per 100 pictures",
    }
    return lines | ({"#on-object": f"{sum(told)} of {len(told)}"} if told else {})


def check_counts(shown: Shown, threshold: float) -> dict[str, str]:
    page, known = shown.page, counts(shown.results, threshold)
    for line, told in known.items():
        expect(page.locator(f"{line} dd").first).to_have_text(told)
    tally = Counter(outcomes(shown.results, threshold).values())
    for word in ("positive", "negative"):
        number = page.locator(f'[data-filter="false {word}s"] .filter-number')
        expect(number).to_have_text(str(tally[f"false {word}"]))
    return known


def test_the_threshold_by_keyboard(shown):
    page = shown.page
    first = check_counts(shown, THRESHOLD)
    assert not first["#on-object"].startswith("0 ")
    left_out = "1 of these is unannotated and left out of sensitivity and false alarms."
    expect(page.locator("#without-truth")).to_have_text(left_out)
    page.keyboard.press("s")
    expect(page.locator("#threshold")).to_be_focused()
    seen, at = [first], THRESHOLD
    ways = {"ArrowRight": 1, "PageUp": 1, "Shift+ArrowRight": 1, "PageDown": -1, "ArrowDown": -1}
    for key, way in ways.items():
        before = at
        page.keyboard.press(key)
        expect(page.locator("#threshold-number")).not_to_have_value(f"{before:g}")
        at = float(page.locator("#threshold-number").input_value())
        assert way * (at - before) > 0
        seen.append(check_counts(shown, at))
    assert len({tuple(each.items()) for each in seen}) > 2
    page.keyboard.press("End")
    expect(page.locator("#alarms dd").first).to_have_text(f"0 of {N_FRAMES}")
    page.keyboard.press("Home")
    expect(page.locator("#alarms dd").first).to_have_text(f"{N_FRAMES} of {N_FRAMES}")
    expect(page.locator('#wall a[data-outcome="false negative"]')).to_have_count(0)
    page.locator("#reset-threshold").click()
    assert check_counts(shown, THRESHOLD) == first
    expect(page.locator("#reset-threshold")).to_be_disabled()


def test_a_score_equal_to_the_threshold_is_an_alarm(shown):
    known = [each for each in shown.results if None not in (each["truth"], each["score"])]
    score, truth = ([each[name] for each in known] for name in ("score", "truth"))
    for threshold in (min(score), float(np.sort(score)[len(score) // 2]), max(score)):
        shown.page.locator("#threshold-number").fill(repr(threshold))
        point = at_threshold(truth, score, threshold=threshold)
        told = check_counts(shown, threshold)
        assert told["#sensitivity"] == f"{point.true_positives} of {sum(truth)}"
        assert told["#false-alarms"].startswith(f"{point.false_positives} of ")
        # What is shown once nothing is typed any more raises the same alarms.
        shown.page.locator("#threshold-number").blur()
        rounded = float(shown.page.locator("#threshold-number").input_value())
        assert check_counts(shown, rounded) == told
        note = shown.page.locator("#export-note").inner_text().replace("−", "-")
        assert check_counts(shown, float(note.split()[-2])) == told
    shown.page.locator("#reset-threshold").click()


def test_a_threshold_that_is_typed_outlives_a_reload(shown):
    page = shown.page
    page.locator("#threshold-number").fill("-7.5")
    check_counts(shown, -7.5)
    order = worst_first(shown.results, -7.5)
    assert order != worst_first(shown.results, THRESHOLD)
    page.reload()
    check_counts(shown, -7.5)
    expect(page.locator("#wall a[data-picture]")).to_have_count(N_FRAMES + 1)
    assert tiles(page) == outcomes(shown.results, -7.5)
    assert list(tiles(page))[:-2] == order


def test_filters_and_search(shown):
    page, known = shown.page, outcomes(shown.results, THRESHOLD)
    wanted = {
        "false positives": {"false positive"},
        "false negatives": {"false negative"},
        "alarms": {"true positive", "false positive", "alarm"},
    }
    for name, words in wanted.items():
        button = page.locator(f'[data-filter="{name}"]')
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        there = {number: word for number, word in known.items() if word in words}
        expect(page.locator("#wall a")).to_have_count(len(there))
        assert tiles(page) == there
        assert len(there) > 1
    page.locator('[data-filter="marked"]').click()
    expect(page.locator("#empty")).to_contain_text("Nothing is marked yet")
    page.locator("#empty button").click()
    page.locator("#search").fill("FRAME1")
    names = [name for name in shown.review.library.names if "frame1" in name]
    expect(page.locator("#wall a")).to_have_count(len(names))
    assert {shown.review.library.names[number] for number in tiles(page)} == set(names)
    page.locator("#search").fill("nowhere")
    expect(page.locator("#empty")).to_contain_text("“nowhere”")


IN_PICTURE = """line => {
    const { x, y, width, height } = line.getBBox();
    return [x, y, width, height];
}"""
ON_SCREEN = """line => {
    const { x, y, width, height } = line.getBBox(), to = line.getScreenCTM();
    const from = new DOMPoint(x, y).matrixTransform(to);
    const end = new DOMPoint(x + width, y + height).matrixTransform(to);
    return [from.x, from.y, end.x - from.x, end.y - from.y];
}"""


def positive(shown: Shown) -> int:
    return next(number for number, each in enumerate(shown.results) if each["truth"])


MIDDLE_OF_IMAGE = """image => image.decode().then(() => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const brush = canvas.getContext("2d");
    brush.drawImage(image, 0, 0);
    return [...brush.getImageData(canvas.width / 2, canvas.height / 2, 4, 4).data];
})"""


def test_one_picture_large_with_winner_and_truth(shown):
    page, number = shown.page, positive(shown)
    shown.open(number)
    told = shown.api(f"/api/pictures/{number}")
    expect(page.locator("#name")).to_have_text(told["name"])
    expect(page.locator("path.candidate")).to_have_count(len(told["candidates"]))
    expect(page.locator("#fact-score")).to_have_text(f"{told['score']:.2f}".replace("-", "−"))
    box = told["candidates"][told["winner"]]["box"]
    assert box == pytest.approx(shown.results[number]["winner"])
    winner = page.locator("#stage .sheet g.winner path.line")
    expect(page.locator("#stage .sheet g.chosen")).to_have_count(1)
    expect(winner).to_have_attribute(
        "d", page.locator('[data-candidate="0"]').first.get_attribute("d")
    )
    assert winner.evaluate(IN_PICTURE) == pytest.approx(box, abs=0.5)
    # On the screen it lies over the same pixels of the picture.
    image = page.locator("#stage img").bounding_box()
    scale = image["width"] / WIDTH
    assert scale == pytest.approx(image["height"] / HEIGHT, rel=1e-3)
    expected = [
        image["x"] + scale * box[0],
        image["y"] + scale * box[1],
        *(scale * v for v in box[2:]),
    ]
    assert winner.evaluate(ON_SCREEN) == pytest.approx(expected, abs=scale / 2)
    assert (
        page.locator("#stage img").evaluate(
            "image => image.decode().then(() => image.naturalWidth)"
        )
        == WIDTH
    )
    (marked,) = told["objects"]
    truth = page.locator("#stage .sheet g.truth path.line")
    rows, columns = np.nonzero(to_mask(marked["region"]["counts"], HEIGHT, WIDTH))
    around = [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1]
    assert truth.evaluate(IN_PICTURE) == pytest.approx(around, abs=0.5)
    assert truth.evaluate("line => getComputedStyle(line).strokeDasharray") == "6px, 4px"
    assert winner.evaluate("line => getComputedStyle(line).strokeDasharray") == "none"
    page.keyboard.press("t")
    expect(truth).to_have_count(0)
    page.keyboard.press("c")
    expect(page.locator("path.candidate")).to_have_count(0)
    expect(winner).to_be_visible()


def test_contributions_add_up_to_the_score(shown):
    page, number = shown.page, positive(shown)
    shown.open(number)
    why = shown.api(f"/api/pictures/{number}/explanation")
    total = why["base"] + sum(each["contribution"] for each in why["features"])
    assert total == pytest.approx(shown.results[number]["score"], abs=1e-9)
    expect(page.locator("#sentence")).to_contain_text("aised most by")
    adds = page.locator("#features .adds")
    expect(adds).to_have_count(12)
    page.get_by_role("button", name=f"Show all {len(why['features'])} features").click()
    expect(adds).to_have_count(len(why["features"]))
    shown_adds = [number_in(text) for text in adds.all_inner_texts()]
    assert shown_adds == pytest.approx(
        [each["contribution"] for each in why["features"]], abs=0.006
    )
    assert sum(value > 0 for value in shown_adds) > 0
    # The names are the model's own, as in a report.
    names = page.locator("#features .feature-name").all_inner_texts()
    assert names == [each["name"] for each in why["features"]]
    expect(page.get_by_text(f"Baseline ({why['baseline']})")).to_be_visible()
    families = [number_in(text) for text in page.locator("#families .adds").all_inner_texts()]
    assert len(families) == len(why["families"]) == 2
    score = number_in(page.locator("#fact-score").inner_text())
    assert why["base"] + sum(families) == pytest.approx(score, abs=0.02)


NOT_THE_WINNER = """stage => {
    const { left, top, width, height } = stage.querySelector("img").getBoundingClientRect();
    for (let part = 1; part < 20; part++) {
        const at = [left + (part / 20) * width, top + (part / 20) * height];
        const candidate = document.elementFromPoint(...at)?.dataset.candidate;
        if (candidate !== undefined && candidate !== "0") return [...at, Number(candidate)];
    }
}"""


def test_candidates_under_the_pointer(shown):
    page, number = shown.page, positive(shown)
    shown.open(number)
    expect(page.locator("#selected")).to_have_attribute("data-candidate", "0")
    expect(page.locator("path.candidate:not([d=''])")).not_to_have_count(0)
    told = shown.api(f"/api/pictures/{number}")["candidates"]
    expect(page.locator("path.candidate:not([d=''])")).to_have_count(len(told))
    x, y, candidate = page.locator("#stage").evaluate(NOT_THE_WINNER)
    page.mouse.move(x, y)
    note = page.locator("#hover-note")
    score = f"{told[candidate]['score']:.2f}".replace("-", "−")
    expect(note).to_contain_text(f"Candidate {candidate + 1} · {score}")
    expect(page.locator("g.chosen.hovered")).to_have_count(1)
    page.mouse.click(x, y)
    expect(page.locator("#selected")).to_have_attribute("data-candidate", str(candidate))
    expect(page.locator("#selected")).to_contain_text(score)
    why = shown.api(f"/api/pictures/{number}/explanation?candidate={candidate}")
    assert why["score"] == pytest.approx(told[candidate]["score"], abs=1e-9)
    family = page.locator("#families .adds").first
    expect(family).to_have_text(signed(why["families"][0]["contribution"]))
    selected = page.locator("#stage .sheet g.selected path.line")
    assert selected.evaluate(IN_PICTURE) == pytest.approx(told[candidate]["box"], abs=0.5)
    page.mouse.move(1, 1)
    expect(note).to_have_count(0)
    page.keyboard.press("w")
    expect(page.locator("#selected")).to_have_attribute("data-candidate", "0")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#selected")).to_have_attribute("data-candidate", "1")


def signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def save_note(shown: Shown, note: str) -> None:
    """Type a note and wait until the server has it."""
    shown.page.locator("#note").fill(note)
    with shown.page.expect_response(lambda answer: answer.request.method == "PUT") as answer:
        shown.page.keyboard.press("Enter")
    assert answer.value.ok


def test_a_mark_with_a_note_is_there_after_a_reload_and_on_the_disk(to_mark):
    page, number = to_mark.page, positive(to_mark)
    name, note = to_mark.review.library.names[number], 'a "fold", <i>not</i> a polyp'
    expect(page.locator("#marked-count")).to_have_text("0")
    to_mark.open(number)
    page.locator("#mark").click()
    expect(page.locator("#mark")).to_have_attribute("aria-pressed", "true")
    save_note(to_mark, note)
    result = to_mark.results[number]
    (kept,) = read_flags(to_mark.review.flags.path).items()
    assert kept[0] == name
    assert kept[1].note == note
    assert kept[1].score == result["score"]
    assert kept[1].outcome == outcome(result, THRESHOLD)
    page.reload()
    expect(page.locator(f'#detail[data-picture="{number}"]')).to_be_visible()
    expect(page.locator("#note")).to_have_value(note)
    expect(page.locator("#mark")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#marked-count")).to_have_text("1")
    command = shlex.split(page.locator("#annotate-command").inner_text())
    assert command == [
        *("groupcm", "annotate", str(to_mark.review.library.folder)),
        *("--first", str(to_mark.review.flags.path)),
    ]
    page.keyboard.press("Escape")
    expect(page.locator("#wall a[data-marked]")).to_have_attribute("data-picture", str(number))
    page.locator('[data-filter="marked"]').click()
    expect(page.locator("#wall a")).to_have_count(1)
    page.locator("#wall a").click()
    page.locator("#mark").click()
    expect(page.locator("#mark")).to_have_attribute("aria-pressed", "false")
    assert read_flags(to_mark.review.flags.path) == {}


def test_a_refused_mark_is_told(browser, served_to_mark):
    review, address = served_to_mark
    with visiting(browser, address, forgiven=["409"]) as page:
        Shown(review, page).open(0)
        review.flags.path.write_text("image,score,truth,outcome,note\n")
        page.keyboard.press("m")
        expect(page.locator(".notice.bad")).to_contain_text("by another program")
        expect(page.locator("#mark")).to_have_attribute("aria-pressed", "false")


def test_a_tab_of_another_start_marks_nothing(browser, served_to_mark, tmp_path):
    review, address = served_to_mark
    with visiting(browser, address, forgiven=["412"]) as page:
        Shown(review, page).open(0)
        fewer = tmp_path / "others"
        fewer.mkdir()
        Image.fromarray(frames()[0].pixels).save(fewer / "another.png")
        other = Review(PictureLibrary(fewer), scorer(), FlagFile(tmp_path / "o.csv"), workers=1)
        with serving(app_of(other)) as there:
            home, elsewhere = (each.partition("/?")[0] for each in (address, there))
            assert page.request.get(there).ok  # whose cookie is in the browser from now on

            def answered_there(route):
                asked = route.request
                answer = page.request.fetch(
                    asked.url.replace(home, elsewhere),
                    method=asked.method,
                    data=asked.post_data,
                    headers={"Origin": elsewhere, "Content-Type": "application/json"},
                )
                route.fulfill(response=answer)

            page.route(f"{home}/api/pictures/0/mark", answered_there)
            page.keyboard.press("m")
            bar = page.locator("#outdated")
            expect(bar).to_contain_text("now shows others scored by model.json")
            expect(page.locator("#mark")).to_have_attribute("aria-pressed", "false")
            assert not (tmp_path / "o.csv").exists()
            assert not review.flags.path.exists()
            assert axe_findings(page) == []
            page.unroute_all()
            bar.get_by_role("button", name="Reload").click()
            expect(bar).to_have_count(0)
            expect(page.locator('#detail[data-picture="0"]')).to_be_visible()


@pytest.mark.slow
def test_a_tab_that_hears_of_another_project_keeps_what_it_shows(browser, served_to_mark):
    review, address = served_to_mark
    with visiting(browser, address) as page:
        expect(page.locator("#wall a[data-picture]")).to_have_count(N_FRAMES + 1)
        before = tiles(page)

        def of_another(route):
            told = route.fetch().json()
            result = review.results()[0]
            route.fulfill(json=told | {"project": "another", "results": {"1": result}})

        page.route("**/api/changes*", of_another)
        expect(page.locator("#outdated")).to_contain_text("reload the page")
        assert tiles(page) == before


def test_a_mark_has_the_outcome_that_is_shown(to_mark):
    page, number = to_mark.page, positive(to_mark)
    name, score = to_mark.review.library.names[number], to_mark.results[number]["score"]
    to_mark.open(number)
    for threshold, word in ((score - 0.5, "true positive"), (score + 0.5, "false negative")):
        page.locator("#threshold-number").fill(f"{threshold:.2f}")
        expect(page.locator("#detail")).to_have_attribute("data-outcome", word)
        save_note(to_mark, f"seen as {word}")
        kept = read_flags(to_mark.review.flags.path)[name]
        assert (kept.outcome, kept.note) == (word, f"seen as {word}")


def test_a_picture_that_was_replaced_is_shown_as_it_is_now(browser, tmp_path):
    folder = tmp_path / "frames"
    folder.mkdir()
    old, new = some_frames(2, seed=5)
    for name in ("a.png", "b.png"):
        Image.fromarray(old.pixels).save(folder / name)
    marks = FlagFile(tmp_path / "r.csv")
    review = Review(PictureLibrary(folder), scorer(), marks, workers=1)
    with reviewing(review) as address, visiting(browser, address) as page:
        shown, score = Shown(review, page), page.locator("#fact-score")
        shown.open(0)
        expect(page.locator("path.candidate")).not_to_have_count(0)
        before = score.inner_text()
        shade = page.locator("#stage img").evaluate(MIDDLE_OF_IMAGE)
        page.keyboard.press("Escape")
        Image.fromarray(new.pixels).transpose(Image.Transpose.ROTATE_90).save(folder / "a.png")
        shown.open(0)
        expect(score).not_to_have_text(before)
        told = shown.api("/api/pictures/0")
        expect(score).to_have_text(f"{told['score']:.3f}".replace("-", "−"))
        expect(page.locator("path.candidate")).to_have_count(len(told["candidates"]))
        assert (told["width"], told["height"]) == (HEIGHT, WIDTH)
        image = page.locator("#stage img")
        size = image.evaluate(
            "image => image.decode().then(() => [image.naturalWidth, image.naturalHeight])"
        )
        assert size == [HEIGHT, WIDTH]
        assert image.evaluate(MIDDLE_OF_IMAGE) != shade
        page.keyboard.press("Escape")
        tile = page.locator('#wall a[data-picture="0"] .tile-line .number')
        expect(tile).to_have_text(f"{told['score']:.3f}".replace("-", "−"))


def explanation_of(contributions: dict[str, float]) -> dict[str, Any]:
    features = [
        {"name": name, "family": name.split("_")[0], "value": 1, "typical": 0, "contribution": part}
        for name, part in sorted(contributions.items(), key=lambda item: -abs(item[1]))
    ]
    families: dict[str, float] = {}
    for each in features:
        families[each["family"]] = families.get(each["family"], 0) + each["contribution"]
    return {
        "score": sum(contributions.values()),
        "baseline": "the average training candidate",
        "base": 0,
        "features": features,
        "families": [{"family": name, "contribution": part} for name, part in families.items()],
    }


@pytest.mark.parametrize(
    ("contributions", "sentence"),
    [
        (
            {"colour_lightness": 0.9, "colour_green_red": -0.23, "shape_extent": -0.01},
            "Raised most by colour (lightness); lowered most by redness.",
        ),
        (
            {"colour_lightness": 0.9, "shape_extent": -0.05},
            "Raised most by colour (lightness); lowered little, most by share of its box filled.",
        ),
        (
            {"colour_lightness": 0.9},
            "Raised most by colour (lightness); not lowered by any feature.",
        ),
        (
            {"colour_lightness": -0.9, "colour_green_red": 0.3},
            "Lowered most by colour (lightness); raised most by redness.",
        ),
        (
            {"colour_lightness": 0.9, "shape_extent": -0.5},
            "Raised most by colour (lightness); lowered most by shape (share of its box filled).",
        ),
        ({"colour_lightness": 0.0}, "Nothing sets it apart from an average candidate."),
    ],
)
def test_the_sentence_agrees_with_the_list(shown, contributions, sentence):
    explanation = explanation_of(contributions)
    shown.page.route("**/explanation*", lambda route: route.fulfill(json=explanation))
    shown.open(positive(shown))
    expect(shown.page.locator("#sentence")).to_have_text(sentence)


def test_the_exported_list_agrees_with_the_wall(to_mark):
    page, number = to_mark.page, positive(to_mark)
    to_mark.open(number)
    page.keyboard.press("m")
    expect(page.locator("#marked-count")).to_have_text("1")
    page.keyboard.press("Escape")
    page.locator("#threshold-number").fill("-6.7")
    check_counts(to_mark, -6.7)
    expect(page.locator("#export")).to_have_text(f"Export all {N_FRAMES + 1} pictures")
    expect(page.locator("#export-note")).to_contain_text("−6.70")
    rows, wall, names = exported(page), tiles(page), to_mark.review.library.names
    assert [row["image"] for row in rows] == [names[each] for each in wall]
    words = [row["outcome"] or None for row in rows]
    known = {"true positive", "false positive", "true negative", "false negative"}
    assert words == [each if each in known else None for each in wall.values()]
    assert known == {word for word in words if word}
    assert [row["marked"] for row in rows] == [str(each == number) for each in wall]
    assert {row["threshold"] for row in rows} == {"-6.7"}
    for row in rows:
        assert row["alarm"] == (str(float(row["score"]) >= -6.7) if row["score"] else "")

    page.locator('[data-filter="alarms"]').click()
    expect(page.locator('#wall a[data-outcome^="true neg"]')).to_have_count(0)
    alarms = [names[each] for each in tiles(page)]
    expect(page.locator("#export")).to_have_text(f"Export the {len(alarms)} pictures shown")
    rows = exported(page)
    assert [row["image"] for row in rows] == alarms
    assert {row["alarm"] for row in rows} == {"True"}


def exported(page: Page) -> list[dict[str, str]]:
    with page.expect_download() as download:
        page.locator("#export").click()
    assert download.value.suggested_filename == "review-list.csv"
    with open(download.value.path(), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_by_keyboard_alone(to_mark):
    page, names = to_mark.page, to_mark.review.library.names
    order = list(tiles(page))
    detail, current = page.locator("#detail"), page.locator("#wall a[aria-current]")
    expect(current).to_have_attribute("data-picture", str(order[0]))
    expect(current).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(current).to_have_attribute("data-picture", str(order[1]))
    page.keyboard.press("ArrowDown")
    expect(current).to_have_attribute("data-picture", str(order[6]))
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(detail).to_have_attribute("data-picture", str(order[0]))
    expect(page.locator("#name")).to_have_text(names[order[0]])
    for key, place in (("j", 1), ("ArrowRight", 2), ("k", 1)):
        page.keyboard.press(key)
        expect(detail).to_have_attribute("data-picture", str(order[place]))
    page.keyboard.press("m")
    expect(page.locator("#mark")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("n")
    expect(page.locator("#note")).to_be_focused()
    page.keyboard.type("jk? m")
    with page.expect_response(lambda answer: answer.request.method == "PUT"):
        page.keyboard.press("Enter")
    assert read_flags(to_mark.review.flags.path)[names[order[1]]].note == "jk? m"
    help_sheet = page.locator("dialog.key-help")
    page.keyboard.press("?")
    expect(help_sheet).to_be_visible()
    for words in ("Next picture", "Mark to correct", "Back to the wall", "Search by name"):
        expect(help_sheet.get_by_text(words).first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(help_sheet).to_be_hidden()
    expect(detail).to_have_attribute("data-picture", str(order[1]))
    page.keyboard.press("Escape")
    expect(detail).to_have_count(0)
    expect(current).to_have_attribute("data-picture", str(order[1]))
    expect(current).to_have_attribute("data-marked", "")
    page.keyboard.press("m")
    expect(page.locator("#marked-count")).to_have_text("0")
    assert read_flags(to_mark.review.flags.path) == {}
    page.keyboard.press("f")
    expect(page.locator('[data-filter="false positives"]')).to_have_attribute(
        "aria-pressed", "true"
    )
    page.keyboard.press("/")
    page.keyboard.type("10_")
    page.keyboard.press("Enter")
    expect(page.locator("#wall a")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("#name")).to_have_text("10_patient1_frame10.png")


def test_the_way_back_of_the_browser(shown):
    page, number = shown.page, positive(shown)
    shown.open(number)
    page.keyboard.press("j")
    page.go_back()
    expect(page.locator("#detail")).to_have_count(0)
    expect(page.locator("#wall a").first).to_be_visible()


def test_names_with_markup_are_text(shown):
    page, number = shown.page, shown.number(MARKUP)
    tile = page.locator(f'#wall a[data-picture="{number}"]')
    expect(tile.locator(".tile-name")).to_have_text(MARKUP)
    shown.open(number)
    expect(page.locator("#name")).to_have_text(MARKUP)
    expect(page.locator("#stage img")).to_have_attribute("alt", MARKUP)
    expect(page.locator("[onerror], #name *, .tile-name *")).to_have_count(0)


def test_a_picture_that_cannot_be_read(shown):
    page, number = shown.page, shown.number(BROKEN)
    sentence = shown.results[number]["error"]
    assert BROKEN in sentence
    expect(page.locator("#progress")).to_have_text(f"{N_FRAMES} pictures · 1 unreadable")
    tile = page.locator(f'#wall a[data-picture="{number}"]')
    expect(tile).to_contain_text(sentence)
    # The whole of it can be read, though the path in it has no place to break.
    assert tile.locator(".tile-error").evaluate("told => told.scrollWidth - told.clientWidth") == 0
    page.locator('[data-filter="unreadable"]').click()
    expect(page.locator("#wall a")).to_have_count(1)
    expect(page.locator("#wall a")).to_contain_text(sentence)
    expect(page.locator("#wall b")).to_have_count(0)
    page.locator("#wall a").click()
    expect(page.locator("#stage")).to_have_text(sentence)


def test_scores_appear_as_they_are_made(browser, folder, tmp_path):
    library = PictureLibrary(folder.path)
    review = Review(library, scorer(), FlagFile(tmp_path / "r.csv"), workers=1)
    begin, review.start = review.start, lambda: None
    with serving(app_of(review)) as address, visiting(browser, address, forgiven=["422"]) as page:
        expect(page.locator('#wall a[data-outcome="waiting"]')).to_have_count(N_FRAMES + 1)
        expect(page.locator("#progress")).to_contain_text(f"Scored 0 of {N_FRAMES + 1}")
        begin()
        expect(page.locator('#wall a[data-outcome="waiting"]')).to_have_count(0)
        expect(page.locator("#progress")).to_contain_text(f"{N_FRAMES} pictures")
        # Without truth there is nothing to be right or wrong about.
        expect(page.locator("#alarms")).to_be_visible()
        expect(page.locator("#sensitivity, #false-alarms, [data-filter^=false]")).to_have_count(0)
        assert set(tiles(page).values()) == {"alarm", "no alarm", "unreadable"}


class ManyPictures(PictureLibrary):
    """Ten thousand names of one small picture."""

    def __init__(self, picture: Path) -> None:
        super().__init__(picture.parent)
        self.names = [f"frame {number:05}.png" for number in range(MANY)]
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self._picture = picture

    def path(self, number: int) -> Path:
        return self._picture

    def stamp(self, number: int) -> tuple[int, int]:
        return number, 1


class KnownScores:
    """Stands for the cache of an earlier start that scored everything."""

    def open(self, stamps: dict[str, str]) -> dict[str, PictureResult]:
        box = (8.0, 6.0, 20.0, 16.0)
        return {
            name: PictureResult(-9 + 3 * place / MANY, None, box, WIDTH, HEIGHT)
            for place, name in enumerate(stamps)
        }


@pytest.fixture
def many(browser, tmp_path):
    Image.fromarray(some_frames(1)[0].pixels).save(tmp_path / "one.png")
    known: Any = KnownScores()
    library = ManyPictures(tmp_path / "one.png")
    review = Review(library, scorer(), FlagFile(tmp_path / "r.csv"), cache=known, workers=1)
    with reviewing(review) as address, visiting(browser, address) as page:
        yield page


# Every frame is looked at just before it is painted, after the page has answered to the scrolling.
LOOK_AT_EVERY_FRAME = """grid => {
    const seen = (window.seen = { frames: 0, places: new Set(), blank: [], tiles: 0 });
    const look = () => {
        const { left, top, right, bottom } = grid.getBoundingClientRect();
        for (let x = left + 24; x < right - 24; x += 100) {
            for (let y = top + 12; y < bottom - 12; y += 60) {
                const cell = document.elementFromPoint(x, y)?.closest(".cell");
                if (!cell?.textContent.includes("frame ")) seen.blank.push([grid.scrollTop, x, y]);
            }
        }
        seen.frames++;
        seen.places.add(grid.scrollTop);
        seen.tiles = Math.max(seen.tiles, document.querySelectorAll("a[data-picture]").length);
        requestAnimationFrame(look);
    };
    look();
}"""
WHAT_WAS_SEEN = """() => {
    const { frames, places, blank, tiles } = window.seen;
    return { frames, places: places.size, blank: blank.slice(0, 3), tiles };
}"""


@pytest.mark.slow
def test_ten_thousand_pictures(many):
    page = many
    first = page.locator("#wall a[data-picture]").first
    expect(first).to_have_attribute("data-picture", str(MANY - 1))
    expect(page.locator("#progress")).to_have_text("10,000 pictures")
    expect(page.locator('[data-filter="alarms"] .filter-number')).to_have_text("3,333")
    width = first.locator("img[src]").evaluate(
        "image => image.decode().then(() => image.naturalWidth)"
    )
    assert width == WIDTH
    grid = page.locator("#wall .virtual-grid")
    grid.evaluate(LOOK_AT_EVERY_FRAME)
    grid.hover()
    for _ in range(12):
        page.mouse.wheel(0, 700)
    for _ in range(3):
        page.mouse.wheel(0, 20_000)
    far = grid.evaluate("grid => grid.scrollTop")
    assert far > 20_000
    page.keyboard.press("End")
    last = page.locator('#wall a[data-picture="0"]')
    expect(last).to_be_in_viewport()
    expect(last).to_have_attribute("aria-current", "true")
    expect(last).to_be_focused()
    page.keyboard.press("PageUp")
    page.keyboard.press("PageUp")
    expect(page.locator("#wall a[aria-current]")).to_be_in_viewport()
    page.keyboard.press("Home")
    expect(first).to_be_in_viewport()
    seen = page.evaluate(WHAT_WAS_SEEN)
    assert seen["blank"] == []
    assert seen["places"] > 10
    assert 20 < seen["tiles"] < 300


def test_a_wall_of_many_comes_back_to_its_place(many):
    page = many
    expect(page.locator("#wall a[data-picture]").first).to_be_visible()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.locator("#name")).to_have_text("frame 00000.png")
    page.keyboard.press("Escape")
    expect(page.locator('#wall a[data-picture="0"]')).to_be_in_viewport()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(browser, served, scheme):
    review, address = served
    with visiting(browser, address, color_scheme=scheme) as page:
        expect(page.locator("#wall a[data-picture]")).to_have_count(N_FRAMES + 1)
        lightness = page.locator("body").evaluate(
            "body => Number(getComputedStyle(body).backgroundColor.match(/\\d+/)[0])"
        )
        assert (lightness < 100) == (scheme == "dark")
        assert axe_findings(page) == []
        Shown(review, page).open(positive(Shown(review, page)))
        expect(page.locator("#families")).to_be_visible()
        assert axe_findings(page) == []
        page.keyboard.press("?")
        expect(page.locator("dialog.key-help")).to_be_visible()
        assert axe_findings(page) == []


BAD_PAGE = """<!doctype html><p style="color:#ccc;background:#fff">hard to read</p>
<script>console.error("told"); setTimeout(() => { throw new Error("thrown") })</script>
<img src="http://127.0.0.1:1/elsewhere.png">"""


def test_a_bad_page_is_found_out(browser):
    def make_app(_token: str, _port: int) -> Starlette:
        return Starlette(routes=[Route("/", lambda _request: HTMLResponse(BAD_PAGE))])

    findings = []
    with (
        serving(make_app) as address,
        pytest.raises(AssertionError) as complaint,
        visiting(browser, address) as page,
    ):
        findings = axe_findings(page)
    assert any(each.startswith("color-contrast") for each in findings)
    for sign in (
        "error: told",
        "error: thrown",
        "asks elsewhere: http://127.0.0.1:1/elsewhere.png",
    ):
        assert sign in str(complaint.value)


# The stage, and small windows ------------------------------------------------------------------


def test_the_stage_is_never_blank_and_its_window_is_moved(shown):
    page, number = shown.page, positive(shown)
    held: list[Any] = []
    page.route(f"**/api/pictures/{number}/pixels*", lambda route: held.append(route))
    page.route(f"**/api/pictures/{number}", lambda route: held.append(route))
    shown.open(number)
    placeholder = page.locator(".placeholder")
    expect(placeholder).to_be_visible()
    assert f"/api/pictures/{number}/thumbnail" in (placeholder.get_attribute("style") or "")
    expect(page.locator(".hover-note")).to_have_text("Looking for candidates …")
    while held:
        held.pop().continue_()
    page.unroute_all()
    expect(page.locator("#families")).to_be_visible()

    page.locator("#level").fill("30")
    expect(page.locator("#picture")).to_have_css("filter", "contrast(0.714286) brightness(1.4)")
    page.locator("#stage").click(position={"x": 5, "y": 5})
    page.keyboard.press("x")
    expect(page.locator("#picture")).to_have_css("filter", "none")
    page.keyboard.press("i")
    expect(page.locator("#detail-panel")).to_be_hidden()
    page.locator("#toggle-left").click()
    expect(page.locator("#left-panel")).to_be_hidden()
    page.reload()
    expect(page.locator("#picture")).to_be_visible()
    expect(page.locator("#detail-panel")).to_be_hidden()
    expect(page.locator("#left-panel")).to_be_hidden()
    page.locator("#toggle-right").click()
    page.keyboard.press("l")
    expect(page.locator("#detail-panel")).to_be_visible()
    expect(page.locator("#threshold-number")).to_be_visible()


@pytest.mark.parametrize(("width", "height"), [(390, 844), (820, 1180)])
def test_a_phone_and_a_tablet_do(browser, served, width, height):
    size = {"width": width, "height": height, "has_touch": True, "is_mobile": True}
    with visiting(browser, served[1], **size) as page:
        tile = page.locator('#wall a[data-outcome="true positive"]').first
        expect(tile).to_be_visible()
        assert (sideways(page), small_targets(page)) == (0, [])
        expect(page.locator("#left-panel")).to_be_hidden()
        page.locator("#toggle-left").click()
        expect(page.locator("#threshold-number")).to_be_in_viewport(ratio=1)
        page.locator("#threshold-number").fill("-6.7")
        expect(page.locator("#export")).to_be_visible()
        assert (sideways(page), small_targets(page)) == (0, [])
        assert axe_findings(page) == []
        page.locator("#reset-threshold").click()
        page.locator("#toggle-left").click()

        tile.click()
        expect(page.locator("#families")).to_be_visible()
        for name in ("#stage", "#mark", "#window", "#detail-panel"):
            expect(page.locator(name)).to_be_in_viewport()
        assert (sideways(page), small_targets(page)) == (0, [])
        assert axe_findings(page) == []
        before = page.locator("#picture").bounding_box()
        selected = page.locator("#selected").get_attribute("data-candidate")
        assert before is not None
        x, y = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
        Fingers(page).go(*([(x - d, y), (x + d, y)] for d in (20, 30, 40)))
        after = page.locator("#picture").bounding_box()
        assert after is not None
        assert after["width"] == pytest.approx(2 * before["width"], rel=0.02)
        assert after["x"] + after["width"] / 2 == pytest.approx(x, abs=2)
        expect(page.locator("#selected")).to_have_attribute("data-candidate", selected or "")
