"""Synthetic videos: levels nested, polyps in several frames, reproducible, and their command."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from groupcm import GroupClassifier
from groupcm.cli import main
from groupcm.metrics import group_roc_auc, level_scores, read_levels
from groupcm.simulate import FEATURE_NAMES, videos


@pytest.fixture(scope="module")
def data():
    return videos(30, frames_per_video=20, group_size=8, seed=2)


def test_frames_are_nested_in_videos_and_videos_in_patients(data):
    found = read_levels({"frame": data.groups, **data.levels})
    assert [index.n_groups for index in found.indexes] == [1200, 60, 30]
    np.testing.assert_array_equal(data.video // 2, data.patient)


def test_a_polyp_is_seen_in_several_frames_of_one_video(data):
    polyps = np.unique(data.polyp[data.y == 1])
    np.testing.assert_array_equal(polyps, np.arange(len(polyps)))
    assert set(data.polyp.tolist()) == {-1, *polyps.tolist()}
    lengths = []
    for each in polyps:
        rows = data.polyp == each
        frames = np.unique(data.groups[rows])
        assert len(np.unique(data.video[rows])) == 1
        assert len(frames) >= 2
        lengths.append(len(frames))
        # A positive candidate is on the polyp in each frame that shows it.
        assert set(data.groups[rows & (data.y == 1)].tolist()) == set(frames.tolist())
    assert 3 < np.mean(lengths) < 9
    ill = np.unique(data.patient[data.y == 1])
    assert 8 <= len(ill) <= 12
    assert np.all((data.overlap > 0) == (data.y == 1))


def test_the_same_seed_gives_the_same_bits_and_another_other_videos(data):
    again = videos(30, frames_per_video=20, group_size=8, seed=2)
    for name in ("X", "y", "groups", "overlap", "polyp", "video", "patient"):
        np.testing.assert_array_equal(getattr(data, name), getattr(again, name))
    assert len(videos(30, frames_per_video=20, group_size=8, seed=3)) != len(data)


def test_frames_of_a_polyp_resemble_each_other(data):
    """The means of a polyp's frames vary more between polyps than within."""
    hits = data.y == 1
    means = {}
    for p, g in {*zip(data.polyp[hits].tolist(), data.groups[hits].tolist(), strict=True)}:
        means.setdefault(p, []).append(data.X[hits & (data.groups == g), 1].mean())
    within = np.mean([np.var(each, ddof=1) for each in means.values()])
    between = np.var([np.mean(each) for each in means.values()], ddof=1)
    assert between > within / 6


def test_a_model_finds_patients_by_their_frames(data):
    train = videos(30, frames_per_video=20, group_size=8, seed=4)
    model = GroupClassifier(0.5).fit(train.X, train.y, train.groups, train.overlap)
    scores = model.decision_function(data.X)
    assert group_roc_auc(data.y, scores, data.groups) > 0.8
    patients = level_scores(data.y, scores, {"frame": data.groups, **data.levels})["patient"]
    assert len(patients.ids) == 30
    assert patients.is_positive.sum() == len(np.unique(data.patient[data.y == 1]))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_patients": 1}, "n_patients must be a whole number at least 2"),
        ({"share_with_polyps": 1.5}, "share_with_polyps=1.5 is not a share"),
        ({"frames_per_polyp": 1}, "at least 2"),
        ({"frames_per_video": 1}, "frames_per_video must be"),
    ],
)
def test_bad_sizes_are_one_sentence(wrong, message):
    with pytest.raises(ValueError, match=message):
        videos(**wrong)


def test_the_command_writes_the_videos(tmp_path, capsys):
    path = tmp_path / "v.parquet"
    options = ["--patients", "6", "--videos", "1", "--frames", "12", "--group-size", "4"]
    assert main(["simulate", *options, "-o", str(path)]) == 0
    table = pq.read_table(path)
    assert table.column_names == [
        *FEATURE_NAMES,
        "frame",
        "label",
        "overlap",
        "polyp",
        "video",
        "patient",
    ]
    same = videos(6, videos_per_patient=1, frames_per_video=12, group_size=4, world=1)
    assert table.equals(same.to_table())
    assert "72 of 6 videos" in capsys.readouterr().out
    assert main(["simulate", *options, "--positives", "5", "-o", str(path)]) == 2
    assert "leave one" in capsys.readouterr().err
