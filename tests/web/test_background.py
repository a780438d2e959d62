"""Scores in the background: the same as at once, and processes that end when nobody wants more."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
from picture_model import cheap_recipe, fitted, some_frames
from PIL import Image

from groupcm.errors import InputError
from groupcm.images.parallel import Unreadable
from groupcm.images.scoring.score import PictureScorer
from groupcm.web.server import background
from groupcm.web.server.background import BackgroundScores
from groupcm.web.server.library import PictureLibrary

N_FRAMES = 6


def made_library(folder: Path, n_pictures: int) -> PictureLibrary:
    folder.mkdir()
    for number in range(n_pictures):
        pixels = some_frames(N_FRAMES)[number % N_FRAMES].pixels
        Image.fromarray(pixels).save(folder / f"{number}.png")
    return PictureLibrary(folder)


def scorer() -> PictureScorer:
    return PictureScorer(fitted(), cheap_recipe(), threshold=0.25)


def known_scores(n_pictures: int) -> list[float]:
    known = [scorer()(frame.pixels).score for frame in some_frames(N_FRAMES)]
    return [known[number % N_FRAMES] for number in range(n_pictures)]


@pytest.fixture
def no_process_is_left():
    before = set(multiprocessing.active_children())
    yield
    assert set(multiprocessing.active_children()) <= before


@pytest.mark.usefixtures("no_process_is_left")
def test_processes_give_the_same_scores_until_nobody_wants_more(tmp_path):
    def stop_after_nine(task, result) -> None:
        if task.number == 8:
            scores._stopping.set()

    library = made_library(tmp_path / "frames", 60)
    scores = BackgroundScores(library, scorer(), 2, on_result=stop_after_nine)
    scores.start()
    assert scores.wait(120)
    assert scores.n_scored == 9
    found = [scores.score(number) for number in range(9)]
    assert found == pytest.approx(known_scores(9))
    assert scores.score(30) is None
    assert scores.threshold == 0.25


@pytest.mark.usefixtures("no_process_is_left")
def test_stopping_ends_processes_that_have_hardly_begun(tmp_path):
    scores = BackgroundScores(made_library(tmp_path / "frames", 60), scorer(), 2)
    scores.start()
    scores.stop()
    assert not scores.running
    assert scores.n_scored < 60
    assert scores.n_failed == 0
    scores.start()  # it does not begin again
    assert not scores.running


def test_changes_since_a_revision(tmp_path):
    scores = BackgroundScores(made_library(tmp_path / "frames", 5), scorer())
    assert scores.changed_since(0) == (0, {})
    scores.start()
    assert scores.wait(60)
    known = pytest.approx(dict(enumerate(known_scores(5))))
    assert scores.changed_since(0) == (5, known)
    found = scores.changed_since(0)[1]
    assert scores.changed_since(3) == (5, {3: found[3], 4: found[4]})
    assert scores.changed_since(5) == (5, {})
    assert scores.changed_since(99) == (5, known)


def test_what_is_known_is_not_made_again(tmp_path):
    library = made_library(tmp_path / "frames", 4)
    heard = []
    known = {2: Unreadable("2.png", "as before")}
    scores = BackgroundScores(
        library, scorer(), known=known, on_result=lambda task, _: heard.append(task.number)
    )
    scores.start()
    assert scores.wait(60)
    assert heard == [0, 1, 3]
    assert (scores.n_scored, scores.n_failed) == (3, 1)


class _Fails:
    feature_names_in_ = ("colour_lightness",)

    def decision_function(self, X):
        raise RuntimeError("no such luck")


def test_a_model_that_fails_is_told_of_each_picture(tmp_path):
    library = made_library(tmp_path / "frames", 3)
    scores = BackgroundScores(library, PictureScorer(_Fails(), cheap_recipe()))
    scores.start()
    assert scores.wait(60)
    assert (scores.n_scored, scores.n_failed) == (0, 3)
    result = scores.result(0)
    assert isinstance(result, Unreadable)
    assert "no such luck" in result.reason


def test_when_the_work_breaks_down_the_rest_is_told_why(tmp_path, monkeypatch):
    def broken(work, tasks, **options):
        task = next(tasks)
        yield task, work(task, task.read())
        raise InputError("a process ended by itself")

    monkeypatch.setattr(background, "map_pictures", broken)
    scores = BackgroundScores(made_library(tmp_path / "frames", 3), scorer())
    scores.start()
    assert scores.wait(60)
    assert (scores.n_scored, scores.n_failed) == (1, 2)
    result = scores.result(2)
    assert isinstance(result, Unreadable)
    assert result.reason == "a process ended by itself"


def test_a_picture_that_went_away(tmp_path):
    library = made_library(tmp_path / "frames", 3)
    (tmp_path / "frames" / "1.png").unlink()
    scores = BackgroundScores(library, scorer())
    scores.start()
    assert scores.wait(60)
    assert (scores.n_scored, scores.n_failed) == (2, 1)
