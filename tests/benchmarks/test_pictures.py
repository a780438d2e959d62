"""The pieces of the benchmark on pictures, on made frames: no real picture is read."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.pictures.__main__ import main
from benchmarks.pictures.candidates import SetCandidates, candidates_of
from benchmarks.pictures.measures import equal_size_auc, measures, share_on_object, size_class
from benchmarks.pictures.models import scores_of_folds
from benchmarks.pictures.sets import PICTURE_SETS, RealPicture
from PIL import Image

from groupcm.images.features import FAMILIES
from groupcm.images.proposals import Proposals, Windows
from groupcm.images.recipe import Recipe
from groupcm.images.synthetic import make_frames

RECIPE = Recipe(Proposals((Windows(),), at_most=25), (FAMILIES["colour"](), FAMILIES["contrast"]()))


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> list[RealPicture]:
    folder = tmp_path_factory.mktemp("frames")
    made = []
    for frame in make_frames(24, share_with_polyps=0.5, n_patients=12, height=48, width=64):
        file = folder / frame.picture.name
        Image.fromarray(frame.pixels).save(file)
        boxes = []
        for each in frame.picture.objects:
            rows, columns = np.nonzero(each.region.mask(48, 64))
            edges = columns.min(), rows.min(), columns.max() + 1, rows.max() + 1
            boxes.append(tuple(float(edge) for edge in edges))
        made.append(RealPicture(file.name, file, bool(boxes), frame.patient, tuple(boxes)))
    return made


@pytest.fixture(scope="module")
def candidates(pictures: list[RealPicture]) -> SetCandidates:
    return candidates_of(pictures, RECIPE)


def _by_hand(**changes: np.ndarray) -> SetCandidates:
    """Two pictures of two candidates; the first shows an object that its second one fits."""
    plain = {
        "values": np.zeros((4, 1), np.float32),
        "picture": np.array([0, 0, 1, 1]),
        "edges": np.array([[0, 0, 2, 2], [4, 4, 8, 8], [0, 0, 2, 2], [0, 0, 9, 9]], np.float32),
        "overlap": np.array([0.1, 0.6, 0.0, 0.0], np.float32),
        "positive": np.array([True, False]),
        "cluster": np.array(["a", "b"]),
        "height": np.array([9, 9]),
        "width": np.array([9, 9]),
        "found": np.array([0.6], np.float32),
    }
    return SetCandidates(**(plain | changes))


def test_only_candidates_on_an_object_are_positive() -> None:
    assert _by_hand().y.tolist() == [0, 1, 0, 0]


def test_the_best_candidate_stands_for_an_object_that_all_miss() -> None:
    missed = _by_hand(overlap=np.array([0.1, 0.2, 0.0, 0.0], np.float32))
    assert missed.y.tolist() == [0, 1, 0, 0]


def test_the_whole_picture_is_the_last_candidate(candidates: SetCandidates) -> None:
    whole = candidates.whole_pictures()
    assert len(whole.values) == len(candidates.positive)
    assert np.unique(whole.edges, axis=0).tolist() == [[0, 0, 64, 48]]


def test_kept_candidates_are_those_that_were_made(
    pictures: list[RealPicture], candidates: SetCandidates, tmp_path: Path
) -> None:
    candidates_of(pictures[:4], RECIPE, tmp_path)
    (file,) = tmp_path.iterdir()
    again = candidates_of(pictures[:4], RECIPE, tmp_path)
    rows = len(again.values)
    assert list(tmp_path.iterdir()) == [file]
    np.testing.assert_array_equal(again.values, candidates.values[:rows])
    np.testing.assert_array_equal(again.overlap, candidates.overlap[:rows])


def test_another_recipe_has_a_file_of_its_own(pictures: list[RealPicture], tmp_path: Path) -> None:
    for at_most in (5, 6):
        recipe = Recipe(Proposals((Windows(),), at_most=at_most), RECIPE.features)
        candidates_of(pictures[:2], recipe, tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_winner_beside_the_object_does_not_count() -> None:
    data = _by_hand()
    assert share_on_object(data, np.array([0.0, 1, 5, 5])) == 1.0
    assert share_on_object(data, np.array([1.0, 0, 5, 5])) == 0.0


def test_pairs_of_unequal_size_are_left_out() -> None:
    positive = np.array([True, False, True, False])
    scores, fold = np.array([3.0, 2, 0, 9]), np.zeros(4, dtype=np.int64)
    sizes = size_class(np.array([100, 100, 100, 400]), np.array([100, 100, 100, 400]))
    assert equal_size_auc(positive, scores, fold, sizes) == 0.5


def test_every_picture_is_scored_by_a_model_that_saw_none_of_its_cluster(
    candidates: SetCandidates,
) -> None:
    scores, fold = scores_of_folds(candidates, ("SVM", "GCM"), seed=0, n_folds=3, n_settings=2)
    of_picture = fold[candidates.ptr[:-1]]
    for cluster in np.unique(candidates.cluster):
        assert len(np.unique(of_picture[candidates.cluster == cluster])) == 1
    for each in scores.values():
        assert np.isfinite(each).all()
        found = measures(candidates, each, fold)
        assert len(found.fold_aucs) == 3
        assert 0 <= found.on_object <= 1


def test_windows_are_cut_and_their_boxes_moved(tmp_path: Path) -> None:
    folder = tmp_path / "cvc_clinicdb"
    (folder / "images").mkdir(parents=True)
    pixels = np.arange(40 * 30 * 3, dtype=np.uint32).reshape(30, 40, 3).astype(np.uint8)
    Image.fromarray(pixels).save(folder / "images" / "001.jpg")
    _write(folder / "boxes.csv", ["image", "x0", "y0", "x1", "y1"], ["001", 12, 8, 20, 15])
    header = ["image", "sequence", "x0", "y0", "x1", "y1", "positive"]
    _write(folder / "tiles.csv", header, ["001", 7, 10, 5, 30, 25, 1])
    (window,) = PICTURE_SETS["cvc_clinicdb"].pictures(tmp_path)
    assert window.read().shape == (20, 20, 3)
    assert window.objects(20, 20).edges.tolist() == [[2, 3, 10, 10]]
    assert (window.positive, window.cluster) == (True, "7")


def test_absent_data_is_told_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(tmp_path), "--sets", "wce_bleedgen"]) == 2
    told = "".join(capsys.readouterr())
    assert "wce_bleedgen/groups.csv" in told
    assert "--data DIR" in told


def _write(file: Path, *rows: Sequence[object]) -> None:
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)


def test_components_of_embeddings_join_the_features_of_each_fold(
    candidates: SetCandidates,
) -> None:
    rng = np.random.default_rng(0)
    known = np.repeat(candidates.positive, np.diff(candidates.ptr)) & (candidates.y > 0)
    embeddings = rng.normal(size=(len(candidates.y), 6)).astype(np.float16)
    embeddings[:, 2] += 3 * known
    noise = rng.normal(size=(len(candidates.y), 3)).astype(np.float16)
    given: dict[str, Any] = {"seed": 0, "n_folds": 2, "n_settings": 1}
    scores, fold = scores_of_folds(candidates, ["GCM"], embeddings=[noise, embeddings], **given)
    plain, same = scores_of_folds(candidates, ["GCM"], embeddings=[noise], **given)
    assert (fold == same).all()
    found = measures(candidates, scores["GCM"], fold)
    assert found.auc > measures(candidates, plain["GCM"], same).auc
