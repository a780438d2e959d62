"""Decisions: a target at a level with a confidence, kept by the model and used everywhere."""

from __future__ import annotations

import json
import warnings

import numpy as np
import onnx
import pyarrow as pa
import pytest
from pyarrow import csv

from groupcm import (
    CalibratedGroupClassifier,
    GroupClassifier,
    GroupClassifierCV,
    evaluate_tables,
    export_onnx,
    fit_tables,
    load,
    metrics,
    save,
    score_tables,
)
from groupcm.cli import main
from groupcm.data.tables.formats import write_table
from groupcm.errors import ThresholdWarning
from groupcm.estimators.threshold_choice import choose_threshold
from groupcm.evaluation.outcomes import contradiction, decide
from groupcm.evaluation.scoring import score_candidates
from groupcm.metrics.decision import ChosenThreshold, DecisionRule
from groupcm.simulate import capsule

SIZE = {"n_negative": 120, "n_positive": 80, "n_polyps": 40, "n_patients": 60, "group_size": 6}


@pytest.fixture(scope="module")
def train():
    return capsule(**SIZE, seed=0)


@pytest.fixture(scope="module")
def validation():
    return capsule(**SIZE, seed=1)


@pytest.fixture(scope="module")
def model(train):
    return GroupClassifierCV(lams=[0.3], cv=3).fit(
        train.X, train.y, train.groups, train.overlap, patients=train.patient
    )


def tuned(model, data, **wanted):
    found = model.tune_threshold(data.X, data.y, data.groups, patients=data.patient, **wanted)
    return found.threshold_, found.decision_


def groups_of(model, data):
    """Return the class, the score and the patient of each group, computed one by one."""
    score = model.decision_function(data.X)
    rows = [np.flatnonzero(data.groups == g) for g in np.unique(data.groups)]
    return (
        np.array([data.y[r].any() for r in rows]),
        np.array([score[r].max() for r in rows]),
        np.array([data.patient[r[0]] for r in rows]),
    )


def test_a_guaranteed_threshold_is_that_of_the_metric_with_patients_as_clusters(model, validation):
    positive, score, patient = groups_of(model, validation)
    threshold, rule = tuned(model, validation, specificity=0.8, confidence=0.9)
    point = metrics.operating_point(
        positive, score, specificity=0.8, confidence=0.9, clusters=patient
    )
    np.testing.assert_array_equal(score >= threshold, score >= point.threshold)
    assert rule == DecisionRule(
        "group", "specificity", 0.8, 0.9, "200 groups given, of 60 patients"
    )
    assert "with a confidence of 0.9" in rule.words


@pytest.mark.parametrize("k", [1, 2])
def test_a_level_decides_by_the_k_th_largest_group_of_its_units(model, validation, k):
    positive, score, patient = groups_of(model, validation)
    threshold, rule = tuned(model, validation, sensitivity=0.7, level="patient", k=k)
    ids = np.unique(patient)
    ill = np.array([positive[patient == p].any() for p in ids])
    alarm = np.array([(score[patient == p] >= threshold).sum() >= k for p in ids])
    assert alarm[ill].mean() >= 0.7
    higher = score[score > threshold].min()
    alarm = np.array([(score[patient == p] > higher).sum() >= k for p in ids])
    assert alarm[ill].mean() < 0.7
    assert (rule.level, rule.k) == ("patient", k)


def test_patients_and_false_alarms_are_targets_too(model, validation):
    positive, score, patient = groups_of(model, validation)
    threshold, rule = tuned(model, validation, patient_sensitivity=0.8)
    found = [score[positive & (patient == p)].max() for p in np.unique(patient[positive])]
    assert np.mean(np.array(found) >= threshold) >= 0.8
    assert rule.target == "patient_sensitivity"
    threshold, rule = tuned(model, validation, false_alarms=0.1)
    of_row = model.decision_function(validation.X)
    assert np.sum((of_row >= threshold) & (validation.y == 0)) <= 0.1 * 200
    assert rule.words.startswith("chosen for at most 0.1 false alarms per group")


def test_left_out_groups_keep_their_patients(model, train):
    sure = model.tune_threshold(specificity=0.8, confidence=0.9).decision_
    assert sure.chosen_on == "200 groups that the folds left out, of 60 patients"
    _, _, patient = groups_of(model, train)
    # Patients are numbered in order of first appearance, and groups of the simulation rise.
    assert len(np.unique(model.held_out_patients_)) == 60
    same = model.held_out_patients_[:, None] == model.held_out_patients_
    np.testing.assert_array_equal(same, patient[:, None] == patient)
    calibrated = CalibratedGroupClassifier.of_held_out(model)
    np.testing.assert_array_equal(calibrated.held_out_patients_, model.held_out_patients_)
    video = 2 * model.held_out_patients_ + np.arange(200) % 2
    model.tune_threshold(sensitivity=0.7, levels={"video": video}, level="video")
    assert model.decision_.level == "video"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"confidence": 0.9}, "confidence needs a target"),
        ({"sensitivity": 0.9, "specificity": 0.9}, "are both given"),
        ({"sensitivity": 0.999, "confidence": 0.9}, "at least 2302 are needed"),
        ({"false_alarms": 0.1, "level": "patient"}, "has no level above them"),
        ({"sensitivity": 0.9, "level": "ward"}, "the levels are group, patient"),
        ({"sensitivity": 0.9, "k": 2}, "name its level"),
    ],
)
def test_what_cannot_be_decided_is_one_sentence_and_changes_nothing(
    model, validation, wanted, message
):
    before = model.set_threshold(0.25).decision_
    with pytest.raises(ValueError, match=message):
        tuned(model, validation, **wanted)
    assert (model.threshold_, model.decision_) == (0.25, before)


def test_units_that_are_all_positive_have_no_threshold():
    with pytest.raises(ValueError, match="every patient is positive"):
        choose_threshold([0, 1, 0, 1], range(4), patients=list("ppqq"), level="patient")


def as_table(data) -> pa.Table:
    columns = {"frame": data.groups, "polyp": data.y, "who": data.patient}
    columns |= {name: data.X[:, j] for j, name in enumerate(data.feature_names)}
    return pa.table({name: np.ascontiguousarray(value) for name, value in columns.items()})


@pytest.fixture(scope="module")
def tables(train, validation, tmp_path_factory):
    """Write tables, and a model that decides about patients by two of their frames."""
    folder = tmp_path_factory.mktemp("decisions")
    write_table(as_table(train), folder / "train.csv")
    write_table(as_table(validation), folder / "validation.csv")
    command = ["fit", str(folder / "train.csv"), "--group", "frame", "--label", "polyp"]
    command += ["--level", "patient=who", "--cv", "--lams", "0.3", "-o", str(folder / "m.json")]
    wanted = ["--sensitivity", "0.7", "--confidence", "0.8", "--decision-level", "patient"]
    assert main([*command, *wanted, "--top", "2"]) == 0
    return folder


def test_a_fit_stores_the_decision_and_everything_uses_it(tables, capsys):
    model = load(tables / "m.json")
    rule = model.decision_
    assert (rule.level, rule.target, rule.value, rule.guarantee, rule.k) == (
        "patient",
        "sensitivity",
        0.7,
        0.8,
        2,
    )
    found = score_tables(model, tables / "validation.csv")
    groups, units = found.table, found.levels["patient"]
    alarm = groups["alarm"].to_numpy()
    np.testing.assert_array_equal(alarm, groups["score"].to_numpy() >= model.threshold_)
    who = csv.read_csv(tables / "validation.csv").select(["frame", "who"]).to_pandas()
    patient = who.drop_duplicates().set_index("frame").loc[groups["group"].to_numpy().astype(int)]
    reached = patient.assign(alarm=alarm).groupby("who")["alarm"].sum() >= 2
    by_unit = dict(zip(units["unit"].to_pylist(), units["alarm"].to_pylist(), strict=True))
    assert {int(unit): value for unit, value in by_unit.items()} == reached.to_dict()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", metrics.FewClustersWarning)
        seen = evaluate_tables(model, tables / "validation.csv", label="polyp", n_resamples=20)
    assert seen.levels[0].decision.chosen == rule.words
    assert (seen.levels[0].aggregate, seen.levels[0].k) == ("kth_largest", 2)
    capsys.readouterr()
    assert main(["describe", str(tables / "m.json"), "--json"]) == 0
    card = json.loads(capsys.readouterr().out)["threshold"]
    assert card["level"] == "patient"
    assert (card["target_level"], card["confidence_level"], card["k"]) == (0.7, 0.8, 2)
    export_onnx(model, tables / "m.onnx")
    properties = {p.key: p.value for p in onnx.load(tables / "m.onnx").metadata_props}
    assert json.loads(properties["threshold_rule"])["level"] == "patient"


def test_validation_tables_choose_with_a_confidence_at_a_level(tables):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", metrics.FewClustersWarning)
        found = evaluate_tables(
            load(tables / "m.json"),
            tables / "validation.csv",
            label="polyp",
            validation=tables / "train.csv",
            sensitivity=0.7,
            confidence=0.8,
            decision_level="patient",
            k=1,
            n_resamples=20,
        )
    assert "at the level patient with a confidence of 0.8" in found.levels[0].decision.chosen


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sensitivity", "0.99", "--confidence", "0.99"], "needs at least 459"),
        (["--sensitivity", "0.9", "--decision-level", "ward"], "name its column with --level"),
        (["--sensitivity", "0.9", "--specificity", "0.9"], "are both given"),
        (["--confidence", "1.5", "--sensitivity", "0.9"], "--confidence is 1.5"),
        (["--confidence", "0.9"], "--confidence needs a target"),
    ],
)
def test_a_fit_refuses_what_cannot_be_guaranteed_before_it_trains(tables, options, message, capsys):
    command = ["fit", str(tables / "train.csv"), "--group", "frame", "--label", "polyp", "--cv"]
    output = tables / "never.json"
    assert main([*command, "--patient", "who", *options, "-o", str(output)]) == 2
    assert message in capsys.readouterr().err
    assert not output.exists()


def test_a_fit_whose_scores_allow_no_guarantee_keeps_the_target_alone_and_warns(tables, tmp_path):
    n = 240
    y = np.arange(n) % 2
    x = y | (np.arange(n) % 14 == 0)  # in each fold about 9 of 120 negative groups score highest
    noise = pa.table({"frame": np.arange(n), "polyp": y, "x": x.astype(float)})
    write_table(noise, tmp_path / "noise.csv")
    with pytest.warns(ThresholdWarning, match="on these groups alone"):
        fit = fit_tables(
            GroupClassifierCV(lams=[0.3], cv=2),
            tmp_path / "noise.csv",
            group="frame",
            label="polyp",
            specificity=0.9,
            confidence=0.9,
        )
    assert fit.model.decision_.guarantee is None


def test_a_target_of_patients_is_compared_with_patients_alone(model, validation):
    rule = DecisionRule("group", "patient_sensitivity", 0.9, None, "40 groups")
    scored = score_candidates(
        model, validation.X, validation.y, validation.groups, patients=validation.patient
    )
    found = decide(scored, ChosenThreshold(1e6, rule), 0.95)
    assert "share of such patients found is 0.000" in found.contradiction
    other = DecisionRule("patient", "sensitivity", 0.9, None, "40 groups")
    assert decide(scored, ChosenThreshold(1e6, other), 0.95).contradiction is None
    assert contradiction(other, {}, 0.95) is None


def test_a_decision_survives_the_file(model, tmp_path):
    model.threshold_, model.decision_ = (
        0.5,
        DecisionRule("patient", "false_alarms", 2.5, 0.9, "here", 3),
    )
    save(model, tmp_path / "m.json")
    assert load(tmp_path / "m.json").decision_ == model.decision_
    plain = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    plain.decision_ = DecisionRule("", "sensitivity", 0.9, None, "here")
    with pytest.raises(ValueError, match="level is empty"):
        save(plain, tmp_path / "n.json")
    plain.decision_ = DecisionRule("group", "sensitivity", 1.5, None, "here")
    with pytest.raises(ValueError, match="at most 1"):
        save(plain, tmp_path / "n.json")
