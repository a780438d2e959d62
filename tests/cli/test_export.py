"""``groupcm export``: from a model's file to a graph, or one sentence why not."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pyarrow.parquet as pq
import pytest
from capsule_table import as_plain_table

from groupcm import GroupClassifier, load, save
from groupcm.cli._main import main
from groupcm.simulate import capsule

ROLES = ["--group", "frame", "--label", "polyp", "--overlap", "overlap", "--patient", "patient"]


@pytest.fixture(scope="module")
def made():
    return capsule(60, seed=4, n_positive=24, n_patients=40, group_size=10)


@pytest.fixture
def here(tmp_path, monkeypatch, made) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUPCM_NUM_THREADS", "1")
    save(GroupClassifier().fit(made.X, made.y, made.groups), "m.json")
    return tmp_path


def names_of(path: str) -> tuple[list[str], list[str]]:
    session = onnxruntime.InferenceSession(path)
    inputs, outputs = session.get_inputs(), session.get_outputs()
    return [value.name for value in inputs], [value.name for value in outputs]


def test_the_graph_scores_as_the_model(here, capsys, made):
    assert main(["export", "m.json", "-o", "m.onnx"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Wrote m.onnx.",
        "Threshold, the default: it was not tuned: 0; a group whose score is at least this raises "
        "an alarm.",
    ]
    session = onnxruntime.InferenceSession("m.onnx")
    X = made.X.astype(np.float32)
    given = {"X": X, "groups": np.asarray(made.groups, np.int64)}
    scores: Any = session.run(["scores"], given)[0]
    np.testing.assert_allclose(scores, load("m.json").decision_function(X), atol=1e-4)


def test_a_graph_without_groups(here):
    assert main(["export", "m.json", "-o", "m.onnx", "--no-groups"]) == 0
    assert names_of("m.onnx") == (["X"], ["scores"])
    assert main(["export", "m.json", "-o", "m.onnx"]) == 0
    assert names_of("m.onnx") == (["X", "groups"], ["scores", "group_scores", "winners"])


def test_the_noted_threshold_is_told(here, capsys, made):
    pq.write_table(as_plain_table(made), "train.parquet")
    folds = ["--cv", "--folds", "3", "--lams", "2", "--specificity", "0.8"]
    assert main(["fit", "train.parquet", *ROLES, *folds, "-o", "m.json"]) == 0
    capsys.readouterr()
    assert main(["export", "m.json", "-o", "m.onnx"]) == 0
    told = capsys.readouterr().out.splitlines()[-1]
    assert told.startswith("Threshold, chosen for a specificity of 0.8 on 84 groups")
    assert told.endswith("a group whose score is at least this raises an alarm.")


def test_mistakes_end_in_one_sentence(here, capsys):
    (here / "cut.json").write_bytes((here / "m.json").read_bytes()[:-40])
    (here / "other.json").write_text("[]")
    (here / "m.onnx").write_bytes((here / "m.json").read_bytes())
    (here / "folder.onnx").mkdir()
    before = (here / "m.onnx").read_bytes()
    for model, output, sentence in (
        ("none.json", "x.onnx", "none.json: no such file"),
        ("none.json", "m.onnx", "none.json: no such file"),
        ("cut.json", "x.onnx", "cut.json is damaged or cut short"),
        ("other.json", "x.onnx", "other.json is not a model that groupcm saved"),
        (".", "x.onnx", ". is a folder; give the file of a model"),
        ("m.json", "x.json", "cannot write x.json: end its name in .onnx"),
        ("m.json", "m.json", "cannot write m.json: end its name in .onnx"),
        ("m.json", "m.json/x.onnx", "m.json is not a folder"),
        ("m.json", "folder.onnx", "folder.onnx: it is a folder"),
        ("m.onnx", "m.onnx", "m.onnx is the model; write the ONNX file elsewhere"),
    ):
        assert main(["export", model, "-o", output]) == 2
        told = capsys.readouterr().err
        assert sentence in told
        assert len(told.splitlines()) == 1
        assert not (here / "x.onnx").exists()
    assert (here / "m.onnx").read_bytes() == before


def test_a_folder_that_nobody_may_write_to_is_told(here, capsys, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert main(["export", "m.json", "-o", "m.onnx"]) == 2
    assert "no permission to write in the folder" in capsys.readouterr().err


def test_without_onnx_the_command_that_installs_it(here, capsys, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "onnx"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert main(["export", "m.json", "-o", "m.onnx"]) == 2
    assert 'pip install "groupcm[onnx]"' in capsys.readouterr().err
    assert not (here / "m.onnx").exists()


def test_a_fit_writes_no_model_under_the_name_of_a_graph(here, capsys, made):
    pq.write_table(as_plain_table(made), "train.parquet")
    assert main(["fit", "train.parquet", *ROLES, "-o", "new.onnx"]) == 2
    told = capsys.readouterr().err
    assert "groupcm export new.json -o new.onnx" in told
    assert "groupcm.export_onnx" in told
    assert not (here / "new.onnx").exists()


def test_the_help_is_for_people(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["export", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "Write a model as an ONNX file." in told
    assert "file to write: .onnx" in told
