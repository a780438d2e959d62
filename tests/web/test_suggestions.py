"""Regions for annotators: few and clean, small to send, worked out once."""

from __future__ import annotations

import json
import os
import threading
from contextlib import ExitStack

import numpy as np
import pytest
from picture_model import FRAMES, HEIGHT, WIDTH, cheap_recipe, fitted, some_frames
from PIL import Image

from groupcm.annotations.runs import to_mask
from groupcm.errors import InputError
from groupcm.images.overlap import overlap
from groupcm.images.proposals.base import distinct
from groupcm.images.recipe import Recipe
from groupcm.images.regions import Regions
from groupcm.images.scoring.score import PictureScorer
from groupcm.images.synthetic import make_frames, write_frames
from groupcm.web.annotate.suggestions import Suggestions, suggested_regions
from groupcm.web.server.compute_once import ComputeOnce
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.scored_pictures import candidates_to_json, runs_of


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> PictureLibrary:
    home = tmp_path_factory.mktemp("suggestions")
    write_frames(home, 4, seed=1, **FRAMES)
    return PictureLibrary(home / "frames")


@pytest.fixture
def suggesting():
    """Make suggestions of a library, whose thread has ended when the test does."""
    with ExitStack() as ends:

        def make(*given, **options) -> Suggestions:
            made = Suggestions(*given, **options)
            assert made._ahead is not None
            ends.callback(made._ahead.shutdown, wait=True, cancel_futures=True)
            return made

        yield make


def as_regions(found: list[dict], height: int, width: int) -> Regions:
    edges = [(x, y, x + w, y + h) for x, y, w, h in (each["box"] for each in found)]
    return Regions.from_boxes(edges, height, width)


def test_runs_are_those_of_the_mask():
    rng = np.random.default_rng(2)
    masks = rng.random((30, 7, 5)) < rng.uniform(0.1, 1, size=(30, 1, 1))
    masks[0], masks[1, :, 2:] = True, True
    masks = masks[masks.any(axis=(1, 2))]
    regions = Regions.from_masks(masks)
    for place, mask in enumerate(masks):
        np.testing.assert_array_equal(to_mask(runs_of(regions, place), 7, 5), mask)


def test_without_a_model_outlines_come_smallest_first(library, suggesting):
    found = suggesting(library).of(0)
    assert 5 <= len(found) <= 300
    assert all(each["score"] is None for each in found)
    areas = []
    for each in found:
        mask = to_mask(each["counts"], HEIGHT, WIDTH)
        rows, columns = np.nonzero(mask)
        box = [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1]
        assert each["box"] == box
        areas.append(mask.sum())
    assert areas == sorted(areas)
    assert max(areas) <= 0.8 * HEIGHT * WIDTH


def test_near_duplicates_are_left_out(library, suggesting):
    found = suggesting(library).of(1)
    regions = as_regions(found, HEIGHT, WIDTH)
    areas = np.array([sum(each["counts"][1::2]) for each in found], dtype=float)
    likeness = overlap(regions, regions, "box_iou")
    sides = np.sqrt(areas)
    alike = np.minimum(sides[:, None], sides) / np.maximum(sides[:, None], sides)
    assert np.minimum(likeness, alike)[~np.eye(len(found), dtype=bool)].max() < 0.7


def test_what_is_sent_of_a_frame_is_small_and_covers_the_polyp():
    (frame,) = make_frames(1, seed=4, share_with_polyps=1.0, height=288, width=384)
    regions = suggested_regions(Recipe(), frame.pixels)
    sent = candidates_to_json(regions, range(len(regions)))
    assert len(json.dumps(sent)) < 1_000_000
    objects = [marked.region for marked in frame.picture.objects]
    assert overlap(regions, objects, "iou").max() > 0.8


def test_masks_beyond_the_limit_are_sent_as_boxes():
    rng = np.random.default_rng(0)
    regions = Regions.from_masks(rng.random((8, 40, 40)) < 0.5)
    sent = candidates_to_json(regions, range(8), most_runs=2_000)
    sizes = [len(each["counts"] or ()) for each in sent]
    assert 0 < sum(sizes) <= 2_000
    assert sizes[0] > 0
    assert sizes[-1] == 0
    assert sent[-1]["box"] == [0, 0, 40, 40]


def test_with_a_model_the_best_come_first(library, suggesting):
    scorer = PictureScorer(fitted(), cheap_recipe())
    found = suggesting(library, scorer=scorer).of(0)
    known = scorer(library.read(0))
    scores = [each["score"] for each in found]
    assert scores == sorted(scores, reverse=True)
    assert all(each["counts"] is None for each in found)
    inner = known.regions.areas < HEIGHT * WIDTH
    assert scores[0] == pytest.approx(known.scores[inner].max())
    regions = as_regions(found, HEIGHT, WIDTH)
    assert len(distinct(regions.edges, regions.areas, 0.7, 300)) == len(found)
    assert len(found) < len(known.scores)


def test_an_unreadable_picture_says_so_every_time(tmp_path, suggesting):
    Image.fromarray(some_frames(3)[0].pixels).save(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(b"")
    suggestions = suggesting(PictureLibrary(tmp_path))
    assert suggestions.of(0)  # prepares the next one in silence
    for _ in range(2):
        with pytest.raises(InputError, match=r"b\.png"):
            suggestions.of(1)
    suggestions.stop()
    assert suggestions.of(0)


def test_those_who_ask_at_once_share_the_work():
    asked, begun, may_end = [], threading.Event(), threading.Event()

    def slow(number: int) -> int:
        asked.append(number)
        begun.set()
        assert may_end.wait(10)
        return number * 10

    answers = ComputeOnce(slow, at_most=3)
    found = []
    threads = [threading.Thread(target=lambda: found.append(answers(7))) for _ in range(6)]
    for thread in threads:
        thread.start()
    assert begun.wait(10)
    may_end.set()
    for thread in threads:
        thread.join(10)
    assert found == [70] * 6
    assert asked == [7]


def test_an_error_reaches_all_who_ask_and_is_forgotten():
    fails = [True]

    def work_out(number: int) -> int:
        if fails.pop():
            raise InputError("no")
        return number

    answers = ComputeOnce(work_out, at_most=3)
    with pytest.raises(InputError):
        answers(1)
    fails.append(False)
    assert answers(1) == 1


def test_the_next_picture_is_prepared(library, suggesting, monkeypatch):
    import groupcm.web.annotate.suggestions as module

    prepared, find = threading.Event(), Suggestions._find

    def heard(self, picture):
        found = find(self, picture)
        if picture[0] == 1:
            prepared.set()
        return found

    monkeypatch.setattr(module.Suggestions, "_find", heard)
    suggestions = suggesting(library)
    suggestions.of(0)
    assert prepared.wait(20)
    suggestions.stop()


def test_a_picture_that_was_replaced_is_looked_at_again(tmp_path, suggesting):
    path = tmp_path / "a.png"
    Image.fromarray(some_frames(2)[0].pixels).save(path)
    suggestions = suggesting(PictureLibrary(tmp_path))
    before = suggestions.of(0)
    assert suggestions.of(0) is before
    Image.fromarray(some_frames(2)[1].pixels).save(path)
    os.utime(path, ns=(1, 1))
    now = suggestions.of(0)
    assert now == suggesting(PictureLibrary(tmp_path)).of(0) != before
    path.unlink()
    with pytest.raises(InputError, match="no longer exists"):
        suggestions.of(0)
    suggestions.stop()
