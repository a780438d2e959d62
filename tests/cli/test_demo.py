"""``groupcm demo`` as a user meets it."""

from __future__ import annotations

import json
import re
import shlex
import sys
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from groupcm import load, simulate
from groupcm.cli import main
from groupcm.cli.commands import demo as demo_pictures
from groupcm.metrics import group_roc_auc
from groupcm.report.model_card import model_card


def test_the_demo_on_tables(tmp_path, capsys, monkeypatch):
    real = simulate.capsule

    def small(**options):
        return real(200, n_positive=60, n_patients=50, group_size=30, **options)

    monkeypatch.setattr(simulate, "capsule", small)
    assert main(["demo", "--tables", "-o", str(tmp_path / "made" / "here")]) == 0
    names = ["model.json", "report.html", "report_figures", "scores.parquet"]
    names += ["test.parquet", "train.parquet"]
    assert sorted(path.name for path in (tmp_path / "made" / "here").iterdir()) == names
    out = capsys.readouterr().out
    scores = pq.read_table(tmp_path / "made" / "here" / "scores.parquet")
    assert scores.num_rows == 260
    model, unseen = load(tmp_path / "made" / "here" / "model.json"), small(seed=1)
    assert model.feature_names_in_.tolist() == unseen.feature_names
    del model.feature_names_in_
    auc = group_roc_auc(unseen.y, model.decision_function(unseen.X), unseen.groups)
    assert re.search(rf"group AUC +{auc:.4f}\n", out)
    # Frames are numbered from 0 in order, so a frame's number is its place in the table.
    score, winner = scores["score"].to_numpy(), scores["winner"].to_numpy()
    has_polyp = np.array([unseen.y[unseen.groups == g].any() for g in range(260)])
    found = has_polyp & (score >= model.threshold_)
    assert f"{found.sum()} of 60 frames" in out
    assert f"{unseen.y[winner[found]].sum()} of them by a candidate on the polyp" in out
    best = scores["group"].to_pylist()[int(np.argmax(scores["score"]))]
    assert f"{best:>8}" in out.split("the truth:")[1].splitlines()[2]
    assert json.loads((tmp_path / "made" / "here" / "model.json").read_text())["version"] == 1


def test_the_model_of_the_demo_notes_what_one_by_hand_notes(tmp_path, capsys, monkeypatch):
    real = simulate.capsule

    def small(**options):
        return real(60, n_positive=24, n_patients=40, group_size=10, **options)

    monkeypatch.setattr(simulate, "capsule", small)
    monkeypatch.setattr("groupcm.cli.commands.demo._write_report", lambda *_: False)
    monkeypatch.chdir(tmp_path)
    assert run("demo", "--tables", "-o", "here") == 0
    demo = model_card("here/model.json")
    assert demo.trained_on.tables == ["train.parquet"]
    assert demo.trained_on.n_positive_groups == 24
    by_hand = re.search(r"^  (groupcm fit .*)$", capsys.readouterr().out, flags=re.MULTILINE)
    assert by_hand is not None
    assert run(*shlex.split(by_hand[1])[1:]) == 0
    again = model_card("here/model.json")
    assert again.trained_on == demo.trained_on
    assert again.columns == demo.columns
    assert again.versions == demo.versions
    assert again.held_out is not None
    assert demo.held_out is not None
    assert demo.held_out.drawn == again.held_out.drawn == "patients"


SMALL = demo_pictures.Sizes(
    n_train=20, n_test=12, frames_per_patient=2, height=48, width=64, at_most=12
)
WRITTEN = ["model.json", "report.html", "scores.parquet", "test.parquet", "train.parquet"]


@pytest.fixture
def small(tmp_path, monkeypatch) -> Path:
    """The folder of a demo of a few tiny frames, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo_pictures, "Sizes", lambda: SMALL)
    monkeypatch.setattr("groupcm.images.parallel.n_threads", lambda: 1)
    # Curves take most of the time of a report, and other tests look at them.
    monkeypatch.setattr("groupcm.report.evaluation.evaluation_figures", lambda _: [])
    return tmp_path / "a demo"


def run(*arguments: str) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such small data is no reason to trust intervals
        return main(list(arguments))


@pytest.mark.slow
def test_the_demo_on_pictures_is_made_of_commands_that_work(small, capsys):
    assert run("demo", "-o", "a demo") == 0
    out = capsys.readouterr().out
    assert "Drew 20 frames of 10 patients, 8 of them with a polyp: a demo/train/frames" in out
    assert "Drew 12 frames of 6 patients, 5 of them with a polyp: a demo/test/frames" in out
    assert "of the global optimum" in out
    assert re.search(r"group AUC +[01]\.\d{4} \((95 %|interval not known)", out)
    assert re.search(r"winner on the object +[01]\.\d{4} .*of 5 positive groups", out)
    page = (small / "report.html").read_text(encoding="utf-8")
    first, cases = page.split('id="cases"')
    assert 1 <= first.count("<img") <= 3
    assert cases.count("<img") == 5 + 5 + 7
    names = {path.name for path in (small / "test" / "frames").iterdir()}
    assert {path.name for path in (small / "overlays").iterdir()} == names
    before = numbers_of(small)
    commands = re.findall(r"^\$ (groupcm .*)$", out, flags=re.MULTILINE)
    assert len(commands) == 5
    for name in WRITTEN:
        (small / name).unlink()
    for command in commands:
        program, *arguments = shlex.split(command)
        assert (program, run(*arguments)) == ("groupcm", 0)
    assert sorted(path.name for path in small.iterdir() if path.is_file()) == WRITTEN
    # Sums round otherwise where arrays lie elsewhere in memory: bits may differ, digits not.
    for now, then in zip(numbers_of(small), before, strict=True):
        np.testing.assert_allclose(now, then, rtol=1e-9, atol=1e-12)


def numbers_of(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    scores = pq.read_table(folder / "scores.parquet")["score"].to_numpy()
    return load(folder / "model.json").coef_.ravel(), scores


@pytest.fixture
def frames_alone(small, monkeypatch) -> Path:
    """A demo that makes frames and does nothing with them."""
    monkeypatch.setattr(demo_pictures, "_steps", lambda *_: [])
    return small


def frames_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "frames").iterdir()}


def test_another_seed_is_other_frames_and_the_test_has_its_own(frames_alone):
    made = []
    for seed in (0, 1, 0):
        assert run("demo", "-o", "a demo", "--seed", str(seed)) == 0
        made += [frames_in(frames_alone / part) for part in ("train", "test")]
    assert [len(frames) for frames in made] == [20, 12] * 3
    pixels = [set(frames.values()) for frames in made]
    assert all(pixels[0].isdisjoint(others) for others in pixels[1:4])
    assert pixels[:2] == pixels[4:]


def test_only_frames_of_an_earlier_demo_are_replaced(frames_alone, capsys):
    assert run("demo", "-o", "a demo") == 0
    mine = frames_alone / "train" / "frames" / "mine.png"
    mine.write_bytes(b"mine")
    before = frames_in(frames_alone / "train")
    assert run("demo", "-o", "a demo", "--seed", "1") == 2
    told = capsys.readouterr().err
    assert "mine.png was not written by the demo; choose another folder with -o" in told
    assert frames_in(frames_alone / "train") == before
    (frames_alone.parent / "other").mkdir()
    (frames_alone.parent / "other" / "train").write_text("mine")
    assert run("demo", "-o", "other") == 2
    assert "cannot write other/train: it is a file" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["PIL", "skimage", "jinja2"])
def test_a_missing_extra_names_the_demo_that_needs_less(small, monkeypatch, capsys, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert run("demo", "-o", "a demo") == 2
    told = capsys.readouterr().err
    assert 'pip install "groupcm[images,report]", or run groupcm demo --tables' in told
    assert len(told.splitlines()) == 1
    assert not small.exists()


def test_a_step_that_fails_ends_the_demo(small, monkeypatch, capsys):
    monkeypatch.setattr(demo_pictures, "ANNOTATION_FILE", "no such.json")
    assert run("demo", "-o", "a demo") == 2
    shown = capsys.readouterr()
    assert shown.out.count("\n$ ") == 1
    assert "no such.json" in shown.err
