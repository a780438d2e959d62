"""``groupcm plan``: columns or models as scores, files written, one sentence for each mistake."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from groupcm import GroupClassifier, fit_tables, save
from groupcm.cli import main
from groupcm.data.tables.formats import write_table
from groupcm.evaluation import plan_tables
from groupcm.metrics import sample_size
from groupcm.simulate import capsule

QUICK = ["--studies", "40"]


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    data = capsule(90, n_positive=60, n_polyps=40, n_patients=60, group_size=4, seed=3)
    rng = np.random.default_rng(0)
    columns = {"frame": data.groups, "who": data.patient, "polyp": data.y}
    columns |= {"a": data.y + rng.standard_normal(len(data)), "b": rng.standard_normal(len(data))}
    columns |= {f"f{j}": data.X[:, j] for j in range(3)}
    write_table(pa.table(columns), folder / "pilot.csv")
    fit = fit_tables(
        GroupClassifier(),
        folder / "pilot.csv",
        group="frame",
        label="polyp",
        patient="who",
        exclude=["a", "b"],
    )
    save(fit.model, folder / "m.json")
    return folder, columns


def test_a_plan_is_that_of_the_metric_and_is_written_whole(pilot, capsys):
    folder, columns = pilot
    command = ["plan", str(folder / "pilot.csv"), "--score", "a", "--label", "polyp", "--group"]
    command += ["frame", "--patient", "who", "--width", "0.2", *QUICK]
    files = ["-o", str(folder / "plan.json"), "--plot", str(folder / "plan.png")]
    assert main([*command, *files]) == 0
    expected = sample_size(
        columns["polyp"],
        columns["a"],
        columns["frame"],
        clusters=columns["who"],
        width=0.2,
        n_studies=40,
    )
    assert json.loads((folder / "plan.json").read_text()) == expected.to_dict()
    assert (folder / "plan.png").read_bytes()[:4] == b"\x89PNG"
    out = capsys.readouterr().out
    assert f"{expected.n_patients:,}, for a width of 0.2" in out


def test_a_model_scores_the_pilot_with_its_own_columns_and_threshold(pilot):
    folder, _ = pilot
    options = {"n_studies": 40, "width": 0.3}
    model = str(folder / "m.json")
    found = plan_tables(folder / "pilot.csv", score=model, metric="sensitivity", **options)
    assert found.metric == "sensitivity_at_threshold(threshold=0.0)"
    assert found.n_pilot == 60


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--score", "a", "--width", "0.1"], "name it with --label"),
        (["--score", "a", "--label", "polyp"], "give one goal: --width"),
        (["--score", "a", "--label", "polyp", "--power", "0.8"], "as --other"),
        (["--score", "z", "--label", "polyp", "--width", "0.1"], "no column 'z'"),
        (["--score", "a", "--label", "who", "--width", "0.1"], "holds 60 values"),
        (
            ["--score", "a", "--label", "polyp", "--width", "0.1", "--metric", "specificity"],
            "give it with --threshold",
        ),
        (["--score", "a", "--label", "polyp", "--width", "2"], "--width 2 is not valid"),
        (["--score", "m.json", "--other", "a", "--power", "0.8"], "both be columns of scores"),
    ],
)
def test_mistakes_are_one_sentence(pilot, options, message, capsys, monkeypatch):
    monkeypatch.chdir(pilot[0])
    options = [*options, "--label", "polyp"] if "m.json" in options else options
    assert main(["plan", "pilot.csv", *options, *QUICK, "-o", "none.json"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert not (pilot[0] / "none.json").exists()
