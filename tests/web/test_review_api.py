"""The review page's server: scores in the background, truth, explanations, marks, the list."""

from __future__ import annotations

import csv
import io
import json
import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from picture_model import (
    FRAMES,
    HEIGHT,
    WIDTH,
    calibrated,
    cheap_recipe,
    fitted,
    some_frames,
    training_rows,
)
from PIL import Image
from starlette.testclient import TestClient

import groupcm
from groupcm import GroupClassifier
from groupcm.annotations import AnnotatedObject, Annotations, Box, Picture, read, write
from groupcm.annotations.runs import to_mask
from groupcm.errors import InputError
from groupcm.features import Polynomial
from groupcm.images.features import FAMILIES
from groupcm.images.overlap import overlap
from groupcm.images.proposals import PROPOSERS, Proposals
from groupcm.images.recipe import Recipe
from groupcm.images.scoring.score import PictureScorer
from groupcm.images.synthetic import write_frames
from groupcm.images.truth import Truth, read_truth
from groupcm.web.annotate.ordering import routes as ordering_routes
from groupcm.web.review.app import ReviewProject, review_app
from groupcm.web.review.flags import Flag, FlagFile, read_flags
from groupcm.web.review.score_cache import ScoreCache
from groupcm.web.review.session import Review
from groupcm.web.server.background import BackgroundScores
from groupcm.web.server.guarded_file import ChangedOnDisk, GuardedFile
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.scored_pictures import PictureResult

TOKEN, PORT = "secret", 8765
THRESHOLD = 0.25
HEADERS = {"Origin": f"http://127.0.0.1:{PORT}"}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("review été")
    write_frames(home, 6, seed=1, **FRAMES)
    return home


def scorer(model=None, **options) -> PictureScorer:
    options = {"threshold": THRESHOLD} | options
    return PictureScorer(model or fitted(), cheap_recipe(), **options)


def review_of(folder: Path, marks: Path, *, annotations=None, workers=1, **options) -> Review:
    library = PictureLibrary(folder)
    truth = options.pop("truth", None)
    if annotations is not None:
        truth = read_truth(annotations, set(library.names), folder)
    model = options.pop("scorer", None) or scorer()
    return Review(library, model, FlagFile(marks), truth=truth, workers=workers, **options)


@dataclass
class Page:
    """A browser that opened the page."""

    client: TestClient
    review: Review

    def get(self, path: str, status: int = 200):
        answer = self.client.get(path)
        assert answer.status_code == status, answer.text
        return answer.json()

    def meant(self, number: int) -> dict:
        """What a change of a picture's mark must tell."""
        project = self.get("/api/project")["project"]
        return {"project": project, "name": self.review.library.names[number]}

    def mark(self, number: int, **body):
        return self.client.put(
            f"/api/pictures/{number}/mark", json=self.meant(number) | {"note": ""} | body
        )

    def unmark(self, number: int, **body):
        path = f"/api/pictures/{number}/mark"
        return self.client.request("DELETE", path, json=self.meant(number) | body)

    def scored(self) -> dict:
        assert self.review.scores.wait(60)
        return self.get("/api/pictures")


def opened(review: Review) -> TestClient:
    app = review_app(review, model="model.json", token=TOKEN, port=PORT)
    client = TestClient(app, base_url=f"http://127.0.0.1:{PORT}", headers=HEADERS)
    client.get(f"/?token={TOKEN}", follow_redirects=False)
    return client


@pytest.fixture
def page(made, tmp_path):
    review = review_of(
        made / "frames", tmp_path / "review.csv", annotations=made / "annotations.json"
    )
    with opened(review) as client:
        yield Page(client, review)
    assert not review.scores.running


def expected(model=None) -> dict:
    score = scorer(model)
    return {each.picture.name: score(each.pixels) for each in some_frames(6)}


def test_the_project(page, made, tmp_path):
    project = page.get("/api/project")
    assert project.pop("project")
    assert project == {
        "page": "review",
        "folder": "frames",
        "model": "model.json",
        "annotate": [
            *("groupcm", "annotate", str(made / "frames")),
            *("--first", str(tmp_path / "review.csv")),
        ],
        "threshold": THRESHOLD,
        "truth": True,
        "categories": ["polyp"],
        "set_aside": None,
        "version": groupcm.__version__,
    }


def test_results_are_those_of_the_model(page, made):
    answer, known = page.scored(), expected()
    assert answer["names"] == list(known)
    assert (answer["scored"], answer["failed"]) == (6, 0)
    truth = read(made / "annotations.json")
    for name, result in zip(answer["names"], answer["results"], strict=True):
        found = known[name]
        left, top, right, bottom = found.regions.edges[found.winner]
        assert result["score"] == pytest.approx(found.score)
        assert result["winner"] == pytest.approx([left, top, right - left, bottom - top], abs=1e-3)
        assert (result["width"], result["height"]) == (WIDTH, HEIGHT)
        assert result["truth"] == truth[name].is_positive
        assert (result["probability"], result["mark"], result["error"]) == (None, None, None)
        objects = [each.region for each in truth[name].objects]
        fit = overlap(found.regions, objects, "box_iou")[found.winner] if objects else None
        assert result["on_object"] == (None if fit is None else bool(fit.max() >= 0.3))
    assert {each["on_object"] for each in answer["results"]} >= {None, True}


def test_before_anything_is_scored_there_are_nulls(made, tmp_path):
    review = review_of(made / "frames", tmp_path / "review.csv")
    review.start = lambda: None
    with opened(review) as client:
        answer = client.get("/api/pictures").json()
        assert answer["results"] == [None] * 6
        assert (answer["revision"], answer["scored"]) == (0, 0)
        assert client.get("/api/project").json()["truth"] is False
        # Details are made on demand.
        details = client.get("/api/pictures/2").json()
        assert details["score"] == pytest.approx(expected()[details["name"]].score)
        assert details["objects"] is None
        explanation = client.get("/api/pictures/2/explanation").json()
        total = sum(each["contribution"] for each in explanation["features"])
        assert explanation["base"] + total == pytest.approx(details["score"], abs=1e-9)


def test_changes_tell_what_is_new(page):
    first = page.scored()
    everything = page.get("/api/changes?since=0")
    assert sorted(everything["results"], key=int) == [str(n) for n in range(6)]
    assert everything["results"]["3"] == first["results"][3]
    assert everything["scoring"] is False
    assert everything["revision"] == first["revision"]
    nothing = page.get(f"/api/changes?since={first['revision']}")
    assert nothing["results"] == {}
    some = page.get(f"/api/changes?since={first['revision'] - 2}")
    assert sorted(some["results"]) == ["4", "5"]
    # A revision of another start is answered with everything.
    assert len(page.get("/api/changes?since=10000")["results"]) == 6
    assert "whole number" in page.get("/api/changes?since=x", 400)["error"]


def test_one_picture_with_all_its_candidates(page, made):
    names = page.get("/api/pictures")["names"]
    truth = read(made / "annotations.json")
    number = next(n for n, name in enumerate(names) if truth[name].is_positive)
    details, found = page.get(f"/api/pictures/{number}"), expected()[names[number]]
    assert details["name"] == names[number]
    assert details["threshold"] == THRESHOLD
    scores = [each["score"] for each in details["candidates"]]
    assert scores == pytest.approx(sorted(found.scores, reverse=True))
    assert details["winner"] == 0
    assert details["score"] == pytest.approx(scores[0])
    (marked,) = truth[names[number]].objects
    (shown,) = details["objects"]
    assert shown["category"] == "polyp"
    mask = to_mask(shown["region"]["counts"], HEIGHT, WIDTH)
    np.testing.assert_array_equal(mask, marked.region.mask(HEIGHT, WIDTH))
    assert page.get("/api/pictures/6", 404)["error"]


def test_masks_of_candidates(made, tmp_path):
    recipe = Recipe(Proposals((PROPOSERS["superpixels"](),)), (FAMILIES["colour"](),))
    model = PictureScorer(fitted(recipe.feature_names), recipe)
    review = review_of(made / "frames", tmp_path / "r.csv", scorer=model)
    known = model(some_frames(6)[0].pixels)
    details = review.details(0)
    order = np.argsort(-known.scores, kind="stable")
    masks = 0
    for place, each in zip(order, details["candidates"], strict=True):
        if not known.regions.is_box[place]:
            mask = to_mask(each["counts"], HEIGHT, WIDTH)
            np.testing.assert_array_equal(mask, known.regions.mask(place))
            masks += 1
    assert masks > 3
    assert details["threshold"] is None


def test_the_explanation_adds_up(page):
    page.scored()
    details = page.get("/api/pictures/1")
    for candidate in (0, 5):
        answer = page.get(f"/api/pictures/1/explanation?candidate={candidate}")
        contributions = [each["contribution"] for each in answer["features"]]
        score = details["candidates"][candidate]["score"]
        assert answer["score"] == pytest.approx(score, abs=1e-9)
        assert answer["base"] + sum(contributions) == pytest.approx(score, abs=1e-9)
        sizes = np.abs(contributions)
        assert (np.diff(sizes) <= 0).all()
        assert {each["family"] for each in answer["families"]} == {"colour", "contrast"}
        assert sum(each["contribution"] for each in answer["families"]) == pytest.approx(
            sum(contributions), abs=1e-9
        )
        for each in answer["features"]:
            assert each["name"].startswith(each["family"])
    assert (
        "no candidate 10000"
        in page.get("/api/pictures/1/explanation?candidate=10000", 404)["error"]
    )


def test_what_is_typical_is_the_mean_in_training(page):
    means = training_rows()[0].mean(axis=0, dtype=np.float64)
    typical = dict(zip(cheap_recipe().feature_names, means, strict=True))
    answer = page.get("/api/pictures/0/explanation")
    assert answer["baseline"] == "the average training candidate"
    for each in answer["features"]:
        assert each["typical"] == pytest.approx(typical[each["name"]], rel=1e-4, abs=1e-5)


def test_a_model_with_a_map_is_not_explained(made, tmp_path):
    X, y = training_rows()[:2]
    model = GroupClassifier(0.5, feature_map=Polynomial(2), tol=0.1)
    names = cheap_recipe().feature_names[:2]
    model.fit(X[:, :2], y, groups="none")
    model.feature_names_in_ = np.array(names, dtype=object)
    review = review_of(made / "frames", tmp_path / "r.csv", scorer=scorer(model))
    review.start = lambda: None
    with opened(review) as client:
        answer = client.get("/api/pictures/0/explanation")
        assert answer.status_code == 422
        assert "map Polynomial" in answer.json()["error"]


def test_probabilities_of_a_calibrated_model(made, tmp_path):
    review = review_of(made / "frames", tmp_path / "r.csv", scorer=scorer(calibrated()))
    review.start()
    assert review.scores.wait(60)
    known = expected(calibrated())
    for name, result in zip(review.library.names, review.results(), strict=True):
        assert result["probability"] == pytest.approx(known[name].probability)
        assert result["truth"] is None


def test_unreadable_pictures_do_not_stop_the_others(made, tmp_path):
    folder = tmp_path / "frames"
    folder.mkdir()
    Image.fromarray(some_frames(3)[0].pixels).save(folder / "a.png")
    (folder / "b.png").write_bytes(b"")
    Image.fromarray(some_frames(3)[1].pixels).save(folder / "c.png")
    with opened(review := review_of(folder, tmp_path / "r.csv")) as client:
        answer = Page(client, review).scored()
        assert (answer["scored"], answer["failed"]) == (2, 1)
        assert "b.png" in answer["results"][1]["error"]
        assert answer["results"][1]["score"] is None
        assert answer["results"][2]["error"] is None
        refused = client.get("/api/pictures/1")
        assert refused.status_code == 422
        assert "b.png" in refused.json()["error"]


def test_annotations_of_another_picture_are_told(made, tmp_path):
    library = PictureLibrary(made / "frames")
    name = library.names[0]
    wrong = Annotations([Picture(name, 9, 9, [AnnotatedObject("x", Box(1, 1, 3, 3))])])
    review = review_of(made / "frames", tmp_path / "r.csv", truth=Truth(wrong, "marks.json"))
    review.start()
    assert review.scores.wait(60)
    first, second = review.results()[:2]
    assert f"9 × 9 pixels, and it has {WIDTH} × {HEIGHT}" in first["error"]
    assert first["score"] is None
    assert second["error"] is None
    assert second["truth"] is None


def test_marks_are_on_the_disk_at_once_and_read_at_the_next_start(page, made, tmp_path):
    before = page.scored()["revision"]
    answer = page.mark(1, note='a "fold", not\na polyp')
    assert answer.json() == {"revision": before + 1}
    name, result = page.review.library.names[1], page.review.results()[1]
    with open(tmp_path / "review.csv", newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert row["image"] == name
    assert float(row["score"]) == result["score"]
    assert row["truth"] == ("positive" if result["truth"] else "negative")
    right = (result["score"] >= THRESHOLD) == result["truth"]
    assert row["outcome"].split()[0] == ("true" if right else "false")
    assert row["note"] == 'a "fold", not\na polyp'
    changed = page.get(f"/api/changes?since={before}")["results"]
    assert changed["1"]["mark"] == {"kind": "annotation", "note": row["note"]}
    again = review_of(made / "frames", tmp_path / "review.csv")
    assert again.results()[1]["mark"]["note"] == row["note"]
    assert page.unmark(1).json() == {"revision": before + 2}
    assert page.get("/api/pictures")["results"][1]["mark"] is None
    assert read_flags(tmp_path / "review.csv") == {}


def test_a_page_of_something_else_marks_nothing(page, tmp_path):
    other = page.review.library.names[2]
    for answer in (
        page.mark(1, project="another"),
        page.mark(1, name=other),
        page.client.put("/api/pictures/1/mark", json={"note": "of an older page"}),
        page.client.put("/api/pictures/999/mark", json=page.meant(1)),
    ):
        assert answer.status_code == 412
        assert "now shows frames scored by model.json" in answer.json()["error"]
    assert not (tmp_path / "review.csv").exists()
    page.mark(1)
    before = (tmp_path / "review.csv").read_bytes()
    assert page.unmark(1, project="another").status_code == 412
    assert page.unmark(1, name=other).status_code == 412
    assert (tmp_path / "review.csv").read_bytes() == before


def test_the_project_has_an_id_of_its_own(tmp_path):
    (tmp_path / "frames").mkdir()
    model, truth = tmp_path / "model.json", tmp_path / "truth.json"
    model.write_text("{}")
    truth.write_text("{}")
    project = ReviewProject(tmp_path / "frames", model, tmp_path / "r.csv", truth)
    first = project.id(["a.png", "b.png"])
    (tmp_path / "r.csv").write_text("marks change, and the project is the same")
    beside = replace(project, folder=tmp_path / "frames" / ".." / "frames")
    assert beside.id(["a.png", "b.png"]) == first
    others = [
        project.id(["b.png", "a.png"]),
        replace(project, flags=tmp_path / "s.csv").id(["a.png", "b.png"]),
        replace(project, annotations=None).id(["a.png", "b.png"]),
        replace(project, folder=tmp_path).id(["a.png", "b.png"]),
    ]
    model.write_text("{} of another training")
    others.append(project.id(["a.png", "b.png"]))
    assert first not in others
    assert len(set(others)) == len(others)


def test_the_command_that_goes_on_has_the_same_annotations(made, tmp_path):
    folder, marks = tmp_path / "my frames", tmp_path / "r.csv"
    folder.mkdir()
    here = ReviewProject(folder, tmp_path / "m.json", marks)
    first, last = ["groupcm", "annotate", str(folder)], ["--first", str(marks)]
    assert here.annotate_command() == [*first, *last]
    marked = read(made / "annotations.json")
    write(marked, folder / "annotations.json", "coco")
    within = replace(here, annotations=folder / ".." / "my frames" / "annotations.json")
    assert within.annotate_command() == [*first, *last]
    write(marked, tmp_path / "elsewhere.json", "coco")
    coco = replace(here, annotations=tmp_path / "elsewhere.json")
    assert coco.annotate_command() == [
        *(*first, "--annotations", str(tmp_path / "elsewhere.json")),
        *last,
    ]
    for name, path in (("csv", "boxes.csv"), ("label_studio", "tasks.json"), ("voc", "voc")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write(marked, tmp_path / path, name)
        other = replace(here, annotations=tmp_path / path)
        assert other.annotate_command() == [*first, "--import", str(tmp_path / path), *last]


def test_the_outcome_of_a_mark_is_that_of_the_page(page, tmp_path):
    (number, result), *_ = [
        (n, each) for n, each in enumerate(page.scored()["results"]) if each["truth"] is False
    ]
    name = page.review.library.names[number]
    for threshold, outcome in (
        (result["score"] - 1, "false positive"),
        (result["score"] + 1, "true negative"),
    ):
        assert page.mark(number, threshold=threshold).status_code == 200
        assert read_flags(tmp_path / "review.csv")[name].outcome == outcome
    for wrong in ("high", True, 10**400):
        answer = page.mark(number, threshold=wrong)
        assert answer.status_code == 400
        assert "must be a number" in answer.json()["error"]
    assert read_flags(tmp_path / "review.csv")[name].outcome == "true negative"


def test_a_model_without_a_threshold_has_the_outcome_of_the_page_too(made, tmp_path):
    truth = made / "annotations.json"
    model = scorer(threshold=None)
    review = review_of(made / "frames", tmp_path / "r.csv", annotations=truth, scorer=model)
    with opened(review) as client:
        page = Page(client, review)
        page.scored()
        page.mark(0, threshold=-1e6)
        page.mark(1)
    at_page, at_none = read_flags(tmp_path / "r.csv").values()
    assert at_page.outcome.endswith(" positive")
    assert at_none.outcome == ""


def test_a_picture_that_was_replaced_is_scored_again(made, tmp_path):
    folder = tmp_path / "frames"
    folder.mkdir()
    old, new = some_frames(6)[0], some_frames(6)[5]
    for name in ("a.png", "b.png"):
        Image.fromarray(old.pixels).save(folder / name)
    cache = ScoreCache(tmp_path / ".cache", "model")
    with opened(review := review_of(folder, tmp_path / "r.csv", cache=cache)) as client:
        page = Page(client, review)
        before = page.scored()
        first, second = before["results"]
        details = page.get("/api/pictures/0")
        assert details["stamp"] == first["stamp"]
        known = f"/api/pictures/0?known={details['stamp']}"
        assert page.get(known) == {"unchanged": True}
        Image.fromarray(new.pixels).save(folder / "a.png")
        os.utime(folder / "a.png", ns=(1, 1))
        again = page.get(known)
        score = scorer()(new.pixels).score
        assert again["score"] == pytest.approx(score) != first["score"]
        changed = page.get(f"/api/changes?since={before['revision']}")
        (told,) = changed["results"].values()
        assert (told["score"], told["stamp"]) == (again["score"], again["stamp"])
        assert changed["scored"] == 2
        assert page.get("/api/pictures")["results"][1] == second
        page.mark(0)
        (mark,) = read_flags(tmp_path / "r.csv").values()
        assert mark.score == again["score"]
        (folder / "a.png").write_bytes(b"cut off")
        assert "a.png" in page.get("/api/pictures/0", 422)["error"]
        answer = page.get("/api/pictures")
        assert (answer["scored"], answer["failed"]) == (1, 1)
        assert "a.png" in answer["results"][0]["error"]
    second_start = review_of(folder, tmp_path / "r.csv", cache=ScoreCache(cache.path, "model"))
    assert second_start.scores.score(0) is None
    assert second_start.scores.score(1) == second["score"]


@pytest.mark.parametrize("note", [7, None, "x" * 2_001, "\ud800", "\0"])
def test_notes_that_cannot_be_kept(page, tmp_path, note):
    body = json.dumps(page.meant(1) | {"note": note})
    answer = page.client.put("/api/pictures/1/mark", content=body)
    assert answer.status_code == 400
    assert "the note" in answer.json()["error"]
    assert not (tmp_path / "review.csv").exists()


def test_marks_changed_by_somebody_else_are_not_overwritten(page, tmp_path):
    page.mark(1, note="mine")
    theirs = "image,score,truth,outcome,note\nframe.png,,,,theirs\n"
    (tmp_path / "review.csv").write_text(theirs)
    for answer in (page.mark(2, note="mine too"), page.unmark(1)):
        assert answer.status_code == 409
        assert "was changed by another program" in answer.json()["error"]
    assert (tmp_path / "review.csv").read_text() == theirs


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "not a file of marks, whose columns are image, score"),
        (b"a,b\n1,2\n", "not a file of marks, whose columns are image, score"),
        (b"image,score,truth,outcome,note\na.png,1\n", "line 2: there are 2 values"),
        (b"image,score,truth,outcome,note\na.png,high,,,\n", "line 2: the score is 'high'"),
        (b"image,score,truth,outcome,note\na.png,,yes,,\n", "line 2: the truth is 'yes'"),
        (b"image,score,truth,outcome,note\na.png,,,,\na.png,,,,\n", "line 3: a picture is marked"),
        (b"image,score,truth,outcome,note\n,,,,\n", "line 2: a picture has no name"),
        (b'image,score,truth,outcome,note\n"a.png,,,,', "damaged"),
        (b"image,score,truth,outcome,note\n\xff,,,,\n", "damaged"),
    ],
)
def test_damaged_marks_are_kept(tmp_path, text, sentence):
    path = tmp_path / "review.csv"
    path.write_bytes(text)
    with pytest.raises(InputError, match=sentence):
        FlagFile(path)
    assert path.read_bytes() == text


def test_marks_of_pictures_elsewhere_are_kept(tmp_path):
    first = FlagFile(tmp_path / "r.csv")
    first.flag("gone.png", Flag(0.1, "positive", "false negative", "look"))
    second = FlagFile(tmp_path / "r.csv")
    second.flag("here, ü.png", Flag(note="x"))
    assert list(read_flags(tmp_path / "r.csv")) == ["gone.png", "here, ü.png"]
    with pytest.raises(ChangedOnDisk):
        first.unflag("gone.png")


def test_two_programs_that_mark_at_the_same_time_lose_nothing(tmp_path):
    ours, theirs = FlagFile(tmp_path / "r.csv"), FlagFile(tmp_path / "r.csv")
    theirs.flag("b.png", Flag(note="theirs"))
    for change in (lambda: ours.flag("a.png", Flag(note="ours")), lambda: ours.flag("c", Flag())):
        with pytest.raises(ChangedOnDisk, match="was written by another program"):
            change()
    assert list(read_flags(tmp_path / "r.csv")) == ["b.png"]
    assert ours.flags == {}
    (tmp_path / "r.csv").unlink()
    with pytest.raises(ChangedOnDisk, match="was removed by another program"):
        theirs.flag("a.png", Flag())
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_comes_while_ours_is_written_is_kept(tmp_path):
    file = GuardedFile(tmp_path / "r.csv")
    file.look()

    def replace_too_late() -> None:
        with file.replacing() as beside:
            beside.write_text("ours")
            (tmp_path / "r.csv").write_text("theirs")

    with pytest.raises(ChangedOnDisk):
        replace_too_late()
    assert (tmp_path / "r.csv").read_text() == "theirs"
    assert [each.name for each in tmp_path.iterdir()] == ["r.csv"]


def test_the_list(page):
    results = page.scored()["results"]
    page.mark(3, note="=1")
    answer = page.client.get("/api/export?threshold=-0.5")
    assert answer.headers["content-type"].startswith("text/csv")
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["image"] for row in rows] == list(page.review.library.names)
    for row, result in zip(rows, results, strict=True):
        assert float(row["score"]) == result["score"]
        alarm = result["score"] >= -0.5
        assert (row["threshold"], row["alarm"]) == ("-0.5", str(alarm))
        word = "positive" if alarm else "negative"
        assert row["outcome"] == f"{'true' if alarm == result['truth'] else 'false'} {word}"
        assert [float(row[f"winner_{side}"]) for side in ("x", "y", "width", "height")] == (
            result["winner"]
        )
    assert [row["marked"] for row in rows] == [str(n == 3) for n in range(6)]
    assert rows[3]["note"] == "=1"
    assert "must be a number" in page.get("/api/export?threshold=nan", 400)["error"]


def test_the_list_of_some_pictures_in_their_order(page):
    page.scored()
    names = page.review.library.names
    answer = page.client.post("/api/export", json={"pictures": [4, 1], "threshold": -3})
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["image"] for row in rows] == [names[4], names[1]]
    assert {row["threshold"] for row in rows} == {"-3.0"}
    no_threshold = page.client.post("/api/export", json={"pictures": [0]})
    (row,) = csv.DictReader(io.StringIO(no_threshold.text))
    assert (row["threshold"], row["alarm"], row["outcome"]) == ("", "", "")
    for wrong in ({}, {"pictures": [6]}, {"pictures": [True]}, {"pictures": [0], "threshold": "1"}):
        assert page.client.post("/api/export", json=wrong).status_code == 400


def test_marks_whose_column_has_the_old_name_are_read_and_written_anew(tmp_path):
    path = tmp_path / "review.csv"
    path.write_text("picture,score,truth,outcome,note\na.png,0.5,,,look\n")
    marks = FlagFile(path)
    assert marks.flags == {"a.png": Flag(0.5, note="look")}
    marks.flag("b.png", Flag())
    assert path.read_text().startswith("image,score,truth,outcome,note\na.png,0.5,,,look\n")


def test_without_the_token_nothing_is_told(made, tmp_path):
    review = review_of(made / "frames", tmp_path / "r.csv")
    app = review_app(review, model="m", token=TOKEN, port=PORT)
    client = TestClient(app, base_url=f"http://127.0.0.1:{PORT}")
    for path in ("/api/pictures", "/api/pictures/0", "/api/export"):
        assert client.get(path).status_code == 403


def test_a_second_start_scores_only_what_is_new(made, tmp_path):
    folder = tmp_path / "frames"
    folder.mkdir()
    for number, frame in enumerate(some_frames(3)):
        Image.fromarray(frame.pixels).save(folder / f"{number}.png")

    def started(key: str = "model") -> tuple[Review, int]:
        cache = ScoreCache(tmp_path / ".review-cache", key)
        review = review_of(folder, tmp_path / "r.csv", cache=cache)
        known = review.scores.n_scored
        review.start()
        assert review.scores.wait(60)
        return review, known

    first, known = started()
    assert known == 0
    second, known = started()
    assert known == 3
    assert second.results() == first.results()
    Image.fromarray(some_frames(6)[5].pixels).save(folder / "1.png")
    os.utime(folder / "1.png", ns=(1, 1))
    third, known = started()
    assert known == 2
    assert third.results()[1]["score"] != first.results()[1]["score"]
    assert third.results()[0] == first.results()[0]
    # A line that was cut short costs one picture, and one of nonsense none.
    text = (tmp_path / ".review-cache").read_text()
    (tmp_path / ".review-cache").write_text(text[:-30] + "\n[1]\n")
    assert started()[1] == 2
    assert started()[1] == 3
    assert started("another model")[1] == 0
    assert started("another model")[1] == 3


def test_a_file_that_is_no_cache_is_left_alone(tmp_path):
    path = tmp_path / ".review-cache"
    path.write_text("my notes\n")
    cache = ScoreCache(path, "model")
    assert cache.open({"a.png": "1"}) == {}
    cache.add("a.png", "1", PictureResult(1.0, None, (0, 0, 1, 1), 2, 2))
    assert path.read_text() == "my notes\n"


@dataclass
class _Store:
    done: set[int]
    revision: int = 10

    def summary(self, number: int) -> dict:
        return {"done": number in self.done, "objects": 0, "version": 10 + (number == 1)}


def test_the_order_is_told(made):
    from starlette.applications import Starlette

    library = PictureLibrary(made / "frames")
    scores = BackgroundScores(library, scorer(threshold=-5.0))
    scores.start()
    assert scores.wait(60)
    app = Starlette(routes=list(ordering_routes(library, _Store({0, 1}), scores)))
    order = TestClient(app).get("/api/order").json()["order"]
    known = [found.score for found in expected().values()]
    wanted = sorted(range(2, 6), key=lambda number: abs(known[number] + 5))
    assert [each["picture"] for each in order if each["why"] == "uncertain"] == wanted
    # Picture 1 was confirmed since the start.
    assert [each["picture"] for each in order if each["why"] == "high-scoring negative"] == [0]
