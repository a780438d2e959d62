"""``--level``, ``--by`` and ``--prevalence`` of fit, evaluate, score and compare."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from groupcm import simulate
from groupcm.cli import main
from groupcm.data.tables.formats import write_table
from groupcm.evaluation import evaluate_tables
from groupcm.persistence.model_file import read

LEVELS = ("--level", "video", "--level", "patient=who")
COLUMNS = ("--group", "frame", "--label", "polyp", "--exclude", "site")


def columns(seed: int) -> dict[str, np.ndarray]:
    data = simulate.capsule(60, n_positive=40, n_polyps=25, n_patients=40, group_size=8, seed=seed)
    features = {f"f{j}": data.X[:, j] for j in range(5)}
    video = np.array([f"v{p}_{g % 2}" for p, g in zip(data.patient, data.groups, strict=True)])
    site = np.where(data.patient % 2 == 0, "Bern", "Oslo")
    return {
        "frame": data.groups,
        "polyp": data.y,
        "who": data.patient,
        "video": video,
        "site": site,
        **features,
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make tables and a model, which was fitted with the levels."""
    folder = tmp_path_factory.mktemp("levels")
    for seed, name in enumerate(("train", "test")):
        write_table(pa.table(columns(seed)), folder / f"{name}.csv")
    model = folder / "m.json"
    assert (
        main(["fit", str(folder / "train.csv"), *COLUMNS, *LEVELS, "--cv", "-o", str(model)]) == 0
    )
    return folder


def test_a_fit_notes_the_levels_and_leaves_them_out_of_the_features(made):
    saved = read(made / "m.json")
    assert saved.model.feature_names_in_.tolist() == [f"f{j}" for j in range(5)]
    noted = saved.notes["columns"]
    assert (noted["level video"], noted["level patient"]) == ("video", "who")
    assert noted["patient"] == "who"
    assert list(noted).index("level video") < list(noted).index("level patient")


def test_the_levels_of_training_are_evaluated(made):
    options = {"n_resamples": 40, "by": ["site"], "prevalence": 0.02, "unit": "frame"}
    with pytest.warns(UserWarning, match="fewer than 10 negative patients"):
        found = evaluate_tables(read(made / "m.json"), made / "test.csv", **options)
    assert [(each.name, each.n_positive + each.n_negative) for each in found.levels] == [
        ("video", len(np.unique(columns(1)["video"]))),
        ("patient", 40),
    ]
    assert found.data.n_patients == 40
    assert [row.value for row in found.subgroups[0].rows] == ["Bern", "Oslo"]
    assert (found.unit, found.prevalence) == ("frame", 0.02)
    assert [(step.text, step.n_groups) for step in found.flow] == [
        ("in the data", 100),
        ("evaluated", 100),
    ]


def test_tables_without_the_levels_of_training_are_evaluated_without_them(made, tmp_path):
    table = pa.table(columns(1)).drop_columns(["video"])
    write_table(table, tmp_path / "plain.csv")
    found = evaluate_tables(read(made / "m.json"), tmp_path / "plain.csv", n_resamples=20)
    assert [each.name for each in found.levels] == ["patient"]


def test_tables_without_patients_warn_that_a_lower_level_is_resampled(made, tmp_path):
    table = pa.table(columns(1)).drop_columns(["who"])
    write_table(table, tmp_path / "plain.csv")
    words = "'who', which held the patients in training; .* resample the units of level video"
    with pytest.warns(UserWarning, match=words) as caught:
        found = evaluate_tables(read(made / "m.json"), tmp_path / "plain.csv", n_resamples=20)
    assert sum("held the patients" in str(each.message) for each in caught) == 1
    assert [each.name for each in found.levels] == ["video"]


def test_numbers_of_levels_are_printed(made, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = ["--prevalence", "0.01", "--by", "site", "--unit", "frame"]
        assert main(["evaluate", str(made / "m.json"), str(made / "test.csv"), *given]) == 0
    shown = capsys.readouterr().out
    for word in ("video AUC", "patient AUC", "precision in use", "negative value", "site Bern"):
        assert f"  {word} " in shown


def test_scores_of_each_level_are_written(made, capsys):
    output = made / "scores.csv"
    assert main(["score", str(made / "m.json"), str(made / "test.csv"), "-o", str(output)]) == 0
    shown = capsys.readouterr().out
    groups, data = csv.read_csv(output), columns(1)
    score = dict(zip(groups["group"].to_pylist(), groups["score"].to_pylist(), strict=True))
    alarm = dict(zip(groups["group"].to_pylist(), groups["alarm"].to_pylist(), strict=True))
    for name, column in (("video", "video"), ("patient", "who")):
        table = csv.read_csv(made / f"scores_{name}.csv")
        assert table.column_names == ["unit", "score", "alarm", "n_groups", "winner"]
        for row in table.to_pylist():
            frames = np.unique(data["frame"][data[column] == row["unit"]]).tolist()
            assert row["n_groups"] == len(frames)
            assert row["winner"] == max(frames, key=lambda frame: score[frame])
            assert row["score"] == score[row["winner"]]
            assert row["alarm"] == any(alarm[frame] for frame in frames)
        n_alarms = sum(table["alarm"].to_pylist())
        assert f"{n_alarms} of {table.num_rows} {name}s" in shown
    assert "scores_video.csv and " in shown


def test_groups_without_candidates_are_in_the_scores_of_levels(made, tmp_path):
    data = columns(1)
    frames, first = np.unique(data["frame"], return_index=True)
    listed = {name: data[name][first] for name in ("polyp", "who", "video")}
    whole = {
        "frame": np.append(frames, 9000),
        "polyp": np.append(listed["polyp"] * 0, 0),
        "who": np.append(listed["who"], 900),
        "video": np.append(listed["video"], "v900"),
    }
    write_table(pa.table(whole), tmp_path / "all.csv")
    tables = ["score", str(made / "m.json"), str(made / "test.csv")]
    output = tmp_path / "s.csv"
    assert main([*tables, "--all-groups", str(tmp_path / "all.csv"), "-o", str(output)]) == 0
    last = csv.read_csv(tmp_path / "s_patient.csv").to_pylist()[-1]
    assert (last["unit"], last["score"], last["alarm"], last["n_groups"]) == (
        900,
        -np.inf,
        False,
        1,
    )
    assert last["winner"] in (None, "")


def test_folds_of_a_comparison_split_no_unit_of_the_highest_level(made, capsys):
    few = ["--models", "svm,gcm", "--folds", "2", "--settings", "2", "--no-learning"]
    assert main(["compare", str(made / "train.csv"), *COLUMNS, *LEVELS, *few]) == 0
    shown = capsys.readouterr().out
    assert "2 folds by patient" in shown
    assert "40 patients" in shown


def bad(change) -> dict[str, np.ndarray]:
    data = columns(1)
    change(data)
    return data


def swap_patient(data):
    """Give one frame of a video of several another patient."""
    videos, counts = np.unique(data["video"], return_counts=True)
    rows = np.flatnonzero(data["video"] == videos[np.argmax(counts)])
    frame = data["frame"][rows[-1]]
    assert len(np.unique(data["frame"][rows])) > 1
    data["who"] = np.where(data["frame"] == frame, 777, data["who"])


def leave_out(data):
    data["video"] = np.where(np.arange(len(data["video"])) == 5, "", data["video"])


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (swap_patient, LEVELS, "belongs to two units of level patient, "),
        (leave_out, LEVELS, "the level column 'video' is empty in row 5"),
        (dict.copy, ("--level", "film"), "has no column 'film' for the level film"),
        (
            dict.copy,
            ("--level", "video=who", "--level", "patient=who"),
            "--level names the column 'who' for both video and patient",
        ),
        (dict.copy, ("--level", "video=polyp"), "'polyp' for video, and it is the label column"),
        (
            dict.copy,
            ("--level", "patient=who", "--level", "video"),
            "levels must be nested, from the lowest to the highest",
        ),
        (dict.copy, ("--prevalence", "3"), "--prevalence is 3.0; it is the share of positive"),
        (dict.copy, ("--aggregate", "kth_largest", "--top", "0"), "--top 0 is not valid"),
        (dict.copy, ("--by", "hospital"), "has no column 'hospital'"),
    ],
)
def test_bad_levels_are_one_sentence(made, tmp_path, capsys, change, options, message):
    write_table(pa.table(bad(change)), tmp_path / "bad.csv")
    given = ["--label", "polyp", *options]
    assert main(["evaluate", str(made / "m.json"), str(tmp_path / "bad.csv"), *given]) == 2
    *_, last = capsys.readouterr().err.splitlines()
    assert last.startswith("groupcm: ")
    assert message in last


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_training_refuses_levels_that_are_not_nested(tmp_path, capsys, command):
    write_table(pa.table(bad(swap_patient)), tmp_path / "bad.csv")
    output = ("-o", str(tmp_path / "m.json")) if command == "fit" else ()
    assert main([command, str(tmp_path / "bad.csv"), *COLUMNS, *LEVELS, *output]) == 2
    assert "belongs to two units of level patient" in capsys.readouterr().err
    assert not (tmp_path / "m.json").exists()


def test_a_patient_below_the_highest_level_is_refused(made, capsys):
    given = ["--patient", "video", "--level", "patient=who", "-o", str(made / "no.json")]
    assert main(["fit", str(made / "train.csv"), *COLUMNS, *given]) == 2
    assert "belongs to two units of level patients" in capsys.readouterr().err


@pytest.mark.parametrize("given", [("--level", "=who"), ("--level", "a=who", "--level", "a=video")])
def test_a_level_is_named_once_and_has_a_name(made, capsys, given):
    with pytest.raises(SystemExit):
        main(["fit", str(made / "train.csv"), *COLUMNS, *given, "-o", str(made / "no.json")])
    assert "--level" in capsys.readouterr().err
