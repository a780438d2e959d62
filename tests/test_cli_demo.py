"""``groupcm demo`` as a user meets it."""

from __future__ import annotations

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from groupcm import load, simulate
from groupcm.cli import main
from groupcm.metrics import group_roc_auc
from groupcm.persistence import read


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
    scores = pa.parquet.read_table(tmp_path / "made" / "here" / "scores.parquet")
    assert scores.num_rows == 260
    model, unseen = load(tmp_path / "made" / "here" / "model.json"), small(seed=1)
    assert model.feature_names_in_.tolist() == unseen.feature_names
    del model.feature_names_in_
    auc = group_roc_auc(unseen.y, model.decision_function(unseen.X), unseen.groups)
    assert re.search(rf"group AUC +{auc:.4f}\n", out)
    # Frames are numbered from 0 in order, so a frame's number is its place in the table.
    score, winner = scores["score"].to_numpy(), scores["winner"].to_numpy()
    has_polyp = np.array([unseen.y[unseen.groups == g].any() for g in range(260)])
    noted = read(tmp_path / "made" / "here" / "model.json").notes["operating_point"]
    found = has_polyp & (score >= noted["threshold"])
    assert f"{found.sum()} of 60 frames" in out
    assert f"{unseen.y[winner[found]].sum()} of them by a candidate on the polyp" in out
    best = scores["group"].to_pylist()[int(np.argmax(scores["score"]))]
    assert f"{best:>8}" in out.split("the truth:")[1].splitlines()[2]
    assert json.loads((tmp_path / "made" / "here" / "model.json").read_text())["version"] == 1
