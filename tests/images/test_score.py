"""Scores of pictures: the model's own, the winner's place, and what is refused."""

from __future__ import annotations

import pickle
from copy import deepcopy
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from picture_model import (
    FRAMES,
    HEIGHT,
    WIDTH,
    calibrated,
    cheap_recipe,
    fitted,
    saved_model,
    some_frames,
)
from PIL import Image

from groupcm.annotations import AnnotatedObject, Annotations, Box, Mask, Picture, Polygons
from groupcm.cli.commands.images_score import score_rows
from groupcm.data.tables.formats import open_table
from groupcm.errors import InputError
from groupcm.images.overlap import overlap
from groupcm.images.parallel import PictureFile, Unreadable, VideoFrame
from groupcm.images.proposals import PROPOSERS, Proposals
from groupcm.images.reading import read_picture
from groupcm.images.recipe import PictureCandidates, Recipe
from groupcm.images.regions import Regions
from groupcm.images.scoring.folder import score_folder
from groupcm.images.scoring.score import PictureScore, PictureScorer, score_picture
from groupcm.images.scoring.scored_picture import Scoring, ScoringTask, marks_of
from groupcm.images.scoring.table import PictureScores
from groupcm.images.scoring.vote import vote
from groupcm.images.synthetic import write_frames
from groupcm.images.truth import MarkedPicture, Truth


def test_scores_are_those_of_the_model():
    model, recipe = fitted(), cheap_recipe()
    for frame in some_frames(3):
        found = score_picture(model, recipe, frame.pixels, name=frame.picture.name)
        values = recipe.candidates(frame.pixels).values
        with pytest.warns(UserWarning, match="feature names"):
            groups = model.group_scores(values, np.zeros(len(values)))
        assert found.name == frame.picture.name
        assert found.winner == groups.winner[0] == found.located
        assert found.score == pytest.approx(groups.score[0], rel=1e-12)
        assert found.score == found.scores.max()
        assert len(found.scores) == len(found.regions)
        assert (found.probability, found.alarm, found.marked.size) == (None, None, 0)


def test_pictures_with_polyps_score_higher_and_winners_lie_on_them():
    scorer = PictureScorer(fitted(), cheap_recipe())
    with_polyp, without, on = [], [], 0
    for frame in some_frames(16):
        found = scorer(frame.pixels)
        objects = [marked.region for marked in frame.picture.objects]
        (with_polyp if objects else without).append(found.score)
        if objects:
            on += overlap(found.regions.take([found.winner]), objects, "box_iou").max() >= 0.3
    assert min(with_polyp) > max(without)
    assert on >= 0.75 * len(with_polyp)


def test_some_features_by_their_names_in_another_order():
    made = cheap_recipe().feature_names
    some = (made[-1], *made[3:9:2])
    model, pixels = fitted(some), some_frames()[0].pixels
    scorer = PictureScorer(model, cheap_recipe())
    values = cheap_recipe().candidates(pixels).values
    with pytest.warns(UserWarning, match="feature names"):
        expected = model.decision_function(values[:, [made.index(name) for name in some]])
    np.testing.assert_allclose(scorer(pixels).scores, expected, rtol=1e-12)


def test_families_without_a_feature_of_the_model_are_not_measured():
    colour = cheap_recipe().features[0].names[:3]
    scorer = PictureScorer(fitted(tuple(colour)), cheap_recipe())
    assert scorer.recipe.features == cheap_recipe().features[:1]


def test_the_vote_says_where_and_the_winner_how_much():
    frame = some_frames()[0]
    plain = score_picture(fitted(), cheap_recipe(), frame.pixels)
    voted = score_picture(fitted(), cheap_recipe(), frame.pixels, vote=True)
    assert (voted.winner, voted.score) == (plain.winner, plain.score)
    assert voted.located == vote(plain.regions, plain.scores)
    assert any(
        PictureScorer(fitted(), cheap_recipe(), vote=True)(each.pixels).located
        != PictureScorer(fitted(), cheap_recipe())(each.pixels).located
        for each in some_frames()
    )


def test_probabilities_are_those_of_the_calibrated_model():
    model, pixels = calibrated(), some_frames()[0].pixels
    found = score_picture(model, cheap_recipe(), pixels)
    values = cheap_recipe().candidates(pixels).values
    with pytest.warns(UserWarning, match="feature names"):
        expected = model.predict_proba_groups(values, np.zeros(len(values)))
    assert 0 < expected[0, 1] < 1
    assert found.probability == pytest.approx(expected[0, 1], rel=1e-9)


def test_threshold_marks_candidates_best_first():
    boxes = Regions.from_boxes([[0, 0, 2, 2]] * 4, 9, 9)
    found = PictureScore("a", boxes, np.array([0.5, -1.0, 2.0, 0.5]), 2, 2, threshold=0.5)
    assert found.alarm is True
    assert found.marked.tolist() == [2, 0, 3]
    none = PictureScore("a", boxes, np.array([0.5, -1.0, 2.0, 0.5]), 2, 2, threshold=2.1)
    assert none.alarm is False
    assert none.marked.tolist() == []


def test_candidates_of_a_detector():
    recipe = Recipe(Proposals((PROPOSERS["given"](),)), cheap_recipe().features)
    given = [Box(5, 5, 20, 20), Box(30, 10, 12, 16)]
    found = score_picture(fitted(), recipe, some_frames()[0].pixels, given=given)
    assert found.regions.edges[:2].tolist() == [[5, 5, 25, 25], [30, 10, 42, 26]]


class Odd:
    """A model in a few lines, of which some are changed."""

    def __init__(self, scores: Any = None, **attributes):
        self.scores = scores
        vars(self).update(attributes)

    def decision_function(self, X):
        return self.scores(X)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (Odd(feature_names_in_=["colour_of_money", "x"]), "'colour_of_money' and 1 more"),
        (Odd(n_features_in_=3), "3 features without names"),
        (Odd(lambda X: np.zeros((len(X), 3))), "the model has 3 classes"),
    ],
)
def test_models_that_do_not_fit(model, sentence):
    with pytest.raises(InputError, match=sentence):
        score_picture(model, cheap_recipe(), some_frames()[0].pixels)


def test_a_model_without_names_takes_all_features_in_their_order():
    model = Odd(lambda X: X[:, 2].astype(float), n_features_in_=len(cheap_recipe().feature_names))
    pixels = some_frames()[0].pixels
    found = score_picture(model, cheap_recipe(), pixels)
    np.testing.assert_allclose(found.scores, cheap_recipe().candidates(pixels).values[:, 2])


def test_the_first_of_equal_candidates_wins():
    model = Odd(lambda X: np.zeros(len(X)))
    assert score_picture(model, cheap_recipe(), some_frames()[0].pixels).winner == 0


@pytest.mark.parametrize(
    ("recipe", "sentence"),
    [
        (None, "trained on a table without pictures; make the table with groupcm images propose"),
        ({"version": 1}, "is damaged"),
        ({"version": 99}, "cannot be followed: the recipe has the form 99"),
    ],
)
def test_recipes_of_models_that_do_not_fit(recipe, sentence):
    saved = saved_model(recipe=recipe)
    with pytest.raises(InputError, match=rf"m\.json .*{sentence}|in m\.json {sentence}"):
        PictureScorer.of_saved(saved, "m.json")


def test_the_threshold_is_that_of_the_model():
    saved = saved_model(deepcopy(fitted()).set_threshold(0.25))
    assert PictureScorer.of_saved(saved).threshold == 0.25
    assert PictureScorer.of_saved(saved, threshold=0.5).threshold == 0.5
    assert PictureScorer.of_saved(saved_model()).threshold == 0.0


def test_a_folder_in_the_order_of_its_names(tmp_path):
    write_frames(tmp_path / "made", 4, **FRAMES)
    folder = tmp_path / "made" / "frames"
    found = score_folder(saved_model(), folder, workers=1).scores.table().to_pylist()
    assert [row["image"] for row in found] == sorted(path.name for path in folder.iterdir())
    alone = score_picture(fitted(), cheap_recipe(), read_picture(folder / found[2]["image"]))
    assert (found[2]["score"], found[2]["winner"]) == (alone.score, alone.winner)
    assert not list(tmp_path.glob("*.parquet"))


def test_a_scorer_can_be_sent_to_another_process():
    work = Scoring(PictureScorer(fitted(), cheap_recipe()))
    marked = MarkedPicture((Box(1, 1, 9, 9),))
    task = ScoringTask(VideoFrame("a", some_frames()[0].pixels), marked)
    sent = pickle.loads(pickle.dumps(work))
    one, two = (each(task, task.read()) for each in (work, sent))
    assert (one.score, one.winner_overlap) == (two.score, two.winner_overlap)
    assert one.is_positive


def test_a_folder_with_a_picture_that_cannot_be_read(tmp_path):
    Image.new("RGB", (20, 20), "red").save(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(b"")
    Image.new("L", (20, 20)).save(tmp_path / "c.png")
    with pytest.raises(InputError, match=r"b\.png cannot be read: the file is empty.*; skip_unr"):
        score_folder(saved_model(), tmp_path)
    found = score_folder(saved_model(), tmp_path, skip_unreadable=True)
    assert [type(each) for each in found.skipped] == [Unreadable]
    assert found.scores.table()["image"].to_pylist() == ["a.png", "c.png"]


@pytest.mark.parametrize("size", [(1, 1), (1, 2), (40, 1), (3, 200)])
def test_tiny_pictures(size):
    found = score_picture(fitted(), cheap_recipe(), np.full(size, 80, dtype=np.uint8), vote=True)
    assert np.isfinite(found.score)


def scored(pixels: np.ndarray, *pictures: Picture, **options):
    """Score a picture with the truth in these pictures."""
    truth = Truth(Annotations(pictures, ("polyp",)), "truth.json")
    work = Scoring(PictureScorer(fitted(), cheap_recipe(), **options), keep_marks=True)
    return work(ScoringTask(VideoFrame("a", pixels), truth.of("a")), pixels)


def picture_with(*regions: Box | Mask | Polygons, done: bool = True) -> Picture:
    objects = [AnnotatedObject("polyp", region) for region in regions]
    return Picture("a", WIDTH, HEIGHT, tuple(objects), done=done)


def test_what_is_kept_of_a_picture():
    frame = next(each for each in some_frames() if each.picture.objects)
    objects = tuple(marked.region for marked in frame.picture.objects)
    whole = score_picture(fitted(), cheap_recipe(), frame.pixels, vote=True)
    threshold = float(np.sort(whole.scores)[-5])
    kept = scored(frame.pixels, picture_with(*objects), threshold=threshold, vote=True)
    assert (kept.height, kept.width) == (HEIGHT, WIDTH)
    assert (kept.score, kept.winner, kept.located) == (whole.score, whole.winner, whole.located)
    assert kept.place.edges.tolist() == [whole.regions.edges[whole.located].tolist()]
    assert (kept.alarm, kept.n_marked, kept.n_candidates) == (True, 5, len(whole.scores))
    assert kept.marks is not None
    assert kept.mark_scores is not None
    assert kept.mark_scores.tolist() == sorted(whole.scores, reverse=True)[:5]
    assert kept.marks.edges[0].tolist() == whole.regions.edges[whole.winner].tolist()
    fit = overlap(whole.regions, objects, "box_iou").max(axis=1)
    assert kept.is_positive is True
    assert kept.winner_overlap == pytest.approx(fit[whole.winner])
    assert kept.vote_overlap == pytest.approx(fit[whole.located])
    assert len(pickle.dumps(kept)) < len(pickle.dumps(whole))


def test_a_picture_in_which_nothing_was_proposed(tmp_path):
    frame = next(each for each in some_frames() if each.picture.objects)
    objects = tuple(marked.region for marked in frame.picture.objects)

    class ProposesNothing(Recipe):
        def candidates(self, pixels, given=None):
            found = super().candidates(pixels, given)
            return PictureCandidates(found.regions.take([]), found.values[:0])

    recipe = ProposesNothing(cheap_recipe().proposals, cheap_recipe().features)
    scores = PictureScores(probability=True, threshold=-np.inf, vote=True, category=None)
    scorer = PictureScorer(calibrated(), recipe, threshold=-np.inf, vote=True)
    scorer.recipe = recipe
    truth = Truth(Annotations((picture_with(*objects),), ("polyp",)), "truth.json")
    task = ScoringTask(
        VideoFrame("a", frame.pixels), truth.of("a"), overlay=tmp_path / "overlays" / "a.png"
    )
    scores.add(Scoring(scorer)(task, frame.pixels))
    (row,) = scores.table().to_pylist()
    found = {name: row[name] for name in ("score", "probability", "alarm", "winner", "located")}
    assert list(found.values()) == [-np.inf, 0.0, False, -1, -1]
    assert (row["n_candidates"], row["n_marked"], row["left"], row["mask"]) == (0, 0, None, None)
    assert (tmp_path / "overlays" / "a.png").exists()
    assert ("winner on object", "0.000, 0 of 1 positive pictures (box IoU 0.3 or more)") in (
        score_rows(scores)
    )
    for suffix in (".parquet", ".csv", ".arrow"):
        scores.write(tmp_path / f"s{suffix}", None)
        table = pa.Table.from_batches(list(open_table(tmp_path / f"s{suffix}").batches(["score"])))
        assert table["score"].to_pylist() == [-np.inf]


def test_truth_that_nobody_knows_is_not_taken_for_negative():
    pixels = some_frames()[0].pixels
    assert scored(pixels).is_positive is None
    assert scored(pixels, picture_with(done=False)).is_positive is None
    negative = scored(pixels, picture_with())
    assert (negative.is_positive, negative.winner_overlap) == (False, None)


def test_mistakes_in_candidates_given_name_the_picture():
    recipe = Recipe(Proposals((PROPOSERS["given"](),)), cheap_recipe().features)
    work, pixels = Scoring(PictureScorer(fitted(), recipe)), some_frames()[0].pixels
    task = ScoringTask(VideoFrame("day/a.png", pixels), given=(Box(99, 99, 5, 5),))
    with pytest.raises(InputError, match=r"the picture day/a\.png: given candidate 0 .* nothing"):
        work(task, pixels)


def test_a_task_can_be_sent_to_another_process(tmp_path):
    boxes = (Box(1, 1, 2, 2),)
    marked, file = MarkedPicture(boxes, (9, 9)), PictureFile(tmp_path, "a.png")
    task = ScoringTask(file, marked, boxes, tmp_path / "o.png")
    assert pickle.loads(pickle.dumps(task)) == task


def test_marks_carry_scores_and_are_to_do():
    regions = Regions.from_masks([[[1, 1, 0], [0, 1, 0]], [[0, 0, 1], [0, 0, 1]]])
    picture = marks_of("a.png", regions, np.array([0.5, 0.25]), "polyp")
    assert not picture.done
    assert [each.score for each in picture.objects] == [0.5, 0.25]
    assert picture.objects[1].region.box == Box(2, 0, 1, 2)
    assert picture.objects[0].category == "polyp"
