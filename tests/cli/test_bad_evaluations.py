"""Evaluations of data that cannot be judged, and false alarms as a target: one sentence each."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from groupcm import GroupClassifier, metrics, simulate
from groupcm.cli import main
from groupcm.data.tables.formats import write_table
from groupcm.errors import InputError
from groupcm.evaluation import compare_models, evaluate, evaluate_tables, recalibrate_tables
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.persistence.model_file import read

LEVELS = ("--level", "video", "--level", "patient=who")
COLUMNS = ("--group", "frame", "--label", "polyp", "--exclude", "site")
FEW = {"n_resamples": 20}
FEATURES = [f"f{j}" for j in range(5)]
DATA = simulate.capsule(60, n_positive=40, n_patients=40, group_size=8, seed=0)


def columns(seed: int) -> dict[str, np.ndarray]:
    data = simulate.capsule(60, n_positive=40, n_polyps=25, n_patients=40, group_size=8, seed=seed)
    video = np.array([f"v{p}_{g % 2}" for p, g in zip(data.patient, data.groups, strict=True)])
    features = {f"f{j}": data.X[:, j] for j in range(5)}
    site = np.where(data.patient == data.patient[0], "lone", "rest")
    keys = {"frame": data.groups, "polyp": data.y, "who": data.patient, "video": video}
    return {**keys, "site": site, **features}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make tables and a model, which was fitted with the levels."""
    folder = tmp_path_factory.mktemp("bad")
    for seed, name in enumerate(("train", "test")):
        write_table(pa.table(columns(seed)), folder / f"{name}.csv")
    fit = ["fit", str(folder / "train.csv"), *COLUMNS, *LEVELS, "--cv"]
    assert main([*fit, "-o", str(folder / "m.json")]) == 0
    return folder


@pytest.fixture(scope="module")
def model():
    return GroupClassifier().fit(DATA.X, DATA.y, DATA.groups)


def only_positive_patients(data):
    keep = np.isin(data["who"], data["who"][data["polyp"] == 1])
    return {name: values[keep] for name, values in data.items()}


def only_negative_groups(data):
    keep = ~np.isin(data["frame"], data["frame"][data["polyp"] == 1])
    return {name: values[keep] for name, values in data.items()}


def one_patient(data):
    return {**data, "who": 0 * data["who"], "video": np.full(len(data["who"]), "v")}


def tied(data):
    return {**data, **{f"f{j}": 0 * data["f0"] for j in range(5)}}


def as_it_is(data):
    return data


@pytest.mark.parametrize(
    ("change", "options", "status", "sentence"),
    [
        (only_positive_patients, (), 0, "every patient is positive, so that there is no ROC curve"),
        (only_negative_groups, (), 2, "every group of bad.csv is negative by its label column"),
        (one_patient, (), 0, "all groups are of one patient, so that no confidence interval is"),
        (tied, (), 0, "every group has the score .*, so that nothing is ranked"),
        (as_it_is, ("--by", "site"), 0, "1 subgroup with fewer than 10 positive"),
        (as_it_is, ("--by", "nope"), 2, "has no column 'nope' for the subgroup column; it has"),
        (as_it_is, ("--level", "x=nope"), 2, "has no column 'nope' for the level x; it has"),
        (as_it_is, ("--false-alarms", "-1"), 2, "--false-alarms is -1; it is a number per group"),
        (
            as_it_is,
            ("--false-alarms", "1", "--sensitivity", "0.9"),
            2,
            "--sensitivity and --false-alarms are both given",
        ),
        (
            as_it_is,
            ("--validation", "TRAIN", "--sensitivity", "0.9", "--confidence", "1.5"),
            2,
            "--confidence is 1.5; it must be between 0 and 1, exclusively",
        ),
        (
            as_it_is,
            ("--validation", "TRAIN", "--false-alarms", "1", "--decision-level", "patient"),
            2,
            "--false-alarms is about groups; it has no level above them",
        ),
    ],
)
def test_one_sentence_from_the_command_line(
    made, tmp_path, capsys, change, options, status, sentence
):
    write_table(pa.table(change(columns(1))), tmp_path / "bad.csv")
    options = [str(made / "train.csv") if each == "TRAIN" else each for each in options]
    command = ["evaluate", str(made / "m.json"), str(tmp_path / "bad.csv"), *options]
    assert main(command) == status
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("groupcm:")]
    assert len([line for line in said if re.search(sentence, line)]) == 1, said
    if status:
        assert len(said) == 1
    if change is one_patient:  # the levels of one class have a sentence each
        assert len(said) == 3


@pytest.mark.parametrize(
    ("command", "options", "sentence"),
    [
        ("recalibrate", ("--false-alarms", "1"), "name the column of labels with --label"),
        (
            "recalibrate",
            ("--label", "polyp", "--false-alarms", "1", "--specificity", "0.9"),
            "--false-alarms and --specificity are both given",
        ),
        (
            "recalibrate",
            ("--label", "polyp", "--sensitivity", "0.9", "--confidence", "1.5"),
            "--confidence is 1.5; it must be between 0 and 1",
        ),
        (
            "recalibrate",
            ("--label", "polyp", "--false-alarms", "0.5", "--confidence", "1.5"),
            "--confidence is 1.5; it must be between 0 and 1",
        ),
    ],
)
def test_recalibration_says_what_is_wrong(made, tmp_path, capsys, command, options, sentence):
    given = [command, str(made / "m.json"), str(made / "test.csv"), "--group", "frame", *options]
    assert main([*given, "-o", str(tmp_path / "new.json")]) == 2
    assert sentence in capsys.readouterr().err


def test_false_alarms_as_the_target_of_an_evaluation(made, tmp_path, capsys):
    tables = (str(made / "m.json"), str(made / "test.csv"))
    assert main(["evaluate", *tables, "--false-alarms", "0.4"]) == 0
    shown = capsys.readouterr().out
    assert "chosen for at most 0.4 false alarms per group on 100 groups evaluated here" in shown
    options = {"validation": made / "train.csv", "false_alarms": 2.0, "confidence": 0.8, **FEW}
    found = evaluate_tables(read(made / "m.json"), made / "test.csv", **options)
    rule = found.decision.rule
    assert rule is not None
    assert (rule.target, rule.value, rule.guarantee) == ("false_alarms", 2.0, 0.8)
    # The operating point on the validation rows has the same alarms.
    train = csv.read_csv(made / "train.csv")
    saved = read(made / "m.json").model
    y, frames, who = (np.array(train[name]) for name in ("polyp", "frame", "who"))
    scores = saved.decision_function(train.select(FEATURES))
    point = metrics.operating_point(
        y, scores, frames, false_alarms=2.0, confidence=0.8, clusters=who
    )
    assert np.array_equal(scores >= point.threshold, scores >= found.decision.point.threshold)
    given = [*tables, "--group", "frame", "--label", "polyp", "--false-alarms", "0.5"]
    assert main(["recalibrate", *given, "-o", str(tmp_path / "new.json")]) == 0
    new = read(tmp_path / "new.json").model
    test = csv.read_csv(made / "test.csv")
    scores = saved.decision_function(test.select(FEATURES))
    alarms = np.sum((scores >= new.threshold_) & (np.array(test["polyp"]) == 0))
    assert alarms <= 0.5 * len(np.unique(test["frame"]))
    assert new.decision_.target == "false_alarms"


def test_false_alarms_of_unlabelled_tables_are_refused(made):
    with pytest.raises(InputError, match="name the column of labels"):
        recalibrate_tables(read(made / "m.json"), made / "test.csv", false_alarms=1.0)


class Nowhere(GroupClassifier):
    """Give one candidate no score."""

    def decision_function(self, X):
        scores = np.array(super().decision_function(X))
        scores[5] = np.nan
        return scores


@pytest.mark.parametrize("levels", [None, {"patient": DATA.patient}])
def test_a_score_that_is_nan_has_its_row(levels):
    lost = Nowhere().fit(DATA.X, DATA.y, DATA.groups)
    with pytest.raises(ValueError, match=r"the candidate of row 5 \(counted from 0\) is NaN"):
        evaluate(lost, DATA.X, DATA.y, DATA.groups, levels=levels, **FEW)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.5}, "level=1.5 is not valid; it must lie between 0 and 1"),
        ({"false_alarms": np.nan}, "false_alarms is nan; it is a number per group"),
        ({"by": {"site": DATA.patient[1:]}}, "column site has 786"),
        ({"levels": {"patient": DATA.patient[1:]}}, "level patient has 786"),
        (
            {"levels": {"patient": DATA.patient, "video": DATA.groups}},
            "patient .* belongs to two units of level video",
        ),
        ({"sensitivity": 0.9, "false_alarms": 1.0}, "sensitivity and false_alarms are both given"),
    ],
)
def test_one_sentence_from_python(model, options, message):
    with pytest.raises(ValueError, match=message):
        evaluate(model, DATA.X, DATA.y, DATA.groups, **{**FEW, **options})


def test_one_patient_and_ties_warn_once(model):
    with pytest.warns(metrics.FewClustersWarning, match="all groups are of one patient") as issued:
        found = evaluate(model, DATA.X, DATA.y, DATA.groups, patients=0 * DATA.patient, **FEW)
    assert len(issued) == 1
    assert np.isnan(found.group_roc.auc.low)
    with pytest.warns(UserWarning, match="every group has the score") as issued:
        found = evaluate(model, 0 * DATA.X, DATA.y, DATA.groups, **FEW)
    assert len(issued) == 1
    assert found.group_roc.auc.estimate == 0.5


def test_no_model_is_compared_by_patients_of_one_class():
    keep = np.isin(DATA.patient, DATA.patient[DATA.y == 1])
    data = LabelledCandidates.check(DATA.X, DATA.y, DATA.groups).take(np.flatnonzero(keep))
    with pytest.warns(UserWarning, match="every patient is positive, so that no models are"):
        found = compare_models(
            data.X,
            data.y,
            data.groups,
            levels={"patient": DATA.patient[keep]},
            models=["svm", "gcm"],
            cv=2,
            n_settings=1,
            learning=False,
            **FEW,
        )
    assert found.levels[0].rocs == {}
