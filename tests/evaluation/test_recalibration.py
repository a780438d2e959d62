"""Thresholds for data of another site: alarm rates, labels, prevalence, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from groupcm import GroupClassifier, GroupClassifierCV, fit_tables, load, save
from groupcm.cli import main
from groupcm.errors import InputError, ParameterError
from groupcm.evaluation import recalibrate, recalibrate_folder, recalibrate_tables
from groupcm.images import propose_folder
from groupcm.images.recipe_options import recipe_named
from groupcm.images.synthetic import write_frames
from groupcm.metrics import at_threshold
from groupcm.persistence.model_file import SavedModel, read
from groupcm.report.model_card import fit_notes
from groupcm.simulate import capsule_to_parquet

COLUMNS = {"group": "frame", "label": "label", "overlap": "overlap", "patient": "patient"}


@pytest.fixture
def model():
    return GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.1, 1 / 3, 0.5, 1.0])
@pytest.mark.parametrize("ties", [False, True])
def test_the_alarm_rate_is_the_largest_that_is_allowed(model, rate, ties):
    scores = np.random.default_rng(0).normal(size=60)
    scores = scores.round(1) if ties else scores
    found = recalibrate(model, scores, alarm_rate=rate)
    share = np.mean(scores >= model.threshold_)
    assert share <= rate + 1e-12
    assert found.alarm_rate.estimate == share
    higher = [np.mean(scores >= value) for value in scores]
    assert share == max([0.0, *(each for each in higher if each <= rate + 1e-12)])


def test_groups_without_candidates_never_raise_an_alarm(model):
    found = recalibrate(model, [-np.inf, -np.inf, 0.5, 1.0], alarm_rate=1.0)
    assert found.alarm_rate.estimate == 0.5
    assert model.threshold_ == 0.5


def test_labels_keep_the_target_and_are_counted(model):
    rng = np.random.default_rng(1)
    positive = np.arange(200) % 4 == 0
    scores = rng.normal(size=200) + 1.5 * positive + 3.0  # moved to another site
    found = recalibrate(model, scores, positive, specificity=0.9)
    there = at_threshold(positive, scores, threshold=model.threshold_)
    assert there.specificity >= 0.9
    assert (found.sensitivity.estimate, found.specificity.estimate) == (
        pytest.approx(there.sensitivity),
        pytest.approx(there.specificity),
    )
    assert found.alarm_rate_before.estimate > 0.9
    assert model.decision_.words == "chosen for a specificity of 0.9 on 200 new groups"
    # Without a target the one of the model is kept.
    again = recalibrate(model, scores - 1.0, positive)
    assert again.after.decision.target == "specificity"
    assert again.after.value == pytest.approx(found.after.value - 1.0)


def test_patients_widen_the_intervals(model):
    scores = np.repeat(np.random.default_rng(2).normal(size=20), 10)
    alone = recalibrate(model, scores, alarm_rate=0.3).alarm_rate
    owned = recalibrate(model, scores, alarm_rate=0.3, patients=np.arange(200) // 10).alarm_rate
    assert owned.high - owned.low > 2 * (alone.high - alone.low)


def test_a_prevalence_turns_a_specificity_into_an_alarm_rate(tmp_path):
    path = tmp_path / "train.parquet"
    capsule_to_parquet(path, 200, n_positive=60, n_patients=100, group_size=8)
    fit = fit_tables(GroupClassifierCV(lams=[0.5], cv=3), path, **COLUMNS, exclude=["polyp"])
    save(fit.model, tmp_path / "model.json", notes=fit_notes(fit))
    model = load(tmp_path / "model.json")
    scores = np.random.default_rng(0).normal(size=1000)
    held_out = read(tmp_path / "model.json").notes["held_out"]["sensitivity"]
    found = recalibrate(model, scores, specificity=0.8, prevalence=0.1)
    assert found.after.decision.value == pytest.approx(0.9 * 0.2 + 0.1 * held_out)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "unlabelled groups do not show which are positive; give alarm_rate"),
        ({"specificity": 0.9}, "give alarm_rate"),
        ({"specificity": 0.9, "prevalence": 0.1}, "does not record its sensitivity"),
        ({"alarm_rate": 1.5}, "alarm_rate is 1.5; it is a share"),
        ({"alarm_rate": -0.1}, "alarm_rate is -0.1"),
    ],
)
def test_what_cannot_be_chosen_is_refused_and_changes_nothing(model, given, sentence):
    with pytest.raises((InputError, ParameterError), match=sentence):
        recalibrate(model, [0.1, 0.4], **given)
    assert model.threshold_ == 0.0


@pytest.mark.parametrize("scores", [[], [np.nan], [[0.1, 0.2]]])
def test_scores_are_checked(model, scores):
    with pytest.raises(InputError, match="one number per group"):
        recalibrate(model, scores, alarm_rate=0.1)


def test_tables_are_scored_and_labels_read(tmp_path, capsys):
    for seed, part in enumerate(("train.parquet", "new.parquet")):
        capsule_to_parquet(tmp_path / part, 80, n_positive=30, n_patients=80, seed=seed)
    fit = fit_tables(GroupClassifier(), tmp_path / "train.parquet", **COLUMNS, exclude=["polyp"])
    save(fit.model, tmp_path / "model.json", notes=fit_notes(fit))
    labelled = recalibrate_tables(
        read(tmp_path / "model.json"), tmp_path / "new.parquet", label="label", specificity=0.9
    )
    assert (labelled.n_groups, labelled.n_positive) == (110, 30)
    arguments = ["recalibrate", str(tmp_path / "model.json"), str(tmp_path / "new.parquet")]
    output = tmp_path / "moved.json"
    assert main([*arguments, "-o", str(output), "--alarm-rate", "0.2"]) == 0
    assert "alarm rate after" in capsys.readouterr().out
    moved = load(output)
    assert moved.decision_.target == "alarm_rate"
    assert moved.coef_.tolist() == fit.model.coef_.tolist()
    assert main([*arguments, "-o", str(output)]) == 2
    assert "--alarm-rate" in capsys.readouterr().err


def test_only_annotated_pictures_are_scored(tmp_path):
    write_frames(tmp_path, 12, share_with_polyps=0.5, n_patients=12, height=32, width=40)
    truth, table = tmp_path / "annotations.json", tmp_path / "candidates.parquet"
    recipe = recipe_named(["windows"], ["colour"])
    propose_folder(tmp_path / "frames", table, annotations=truth, recipe=recipe, workers=1)
    fit = fit_tables(GroupClassifier(), table)
    saved = SavedModel(fit.model, fit.notes())
    extra = tmp_path / "frames/other.png"
    extra.write_bytes(min((tmp_path / "frames").iterdir()).read_bytes())
    options = {"specificity": 0.5, "workers": 1}
    found = recalibrate_folder(saved, tmp_path / "frames", annotations=truth, **options)
    assert (found.n_groups, found.n_positive) == (12, 6)
    assert fit.model.decision_.chosen_on == "12 labelled pictures"
    all_of_them = recalibrate_folder(saved, tmp_path / "frames", alarm_rate=0.3, workers=1)
    assert (all_of_them.n_groups, all_of_them.n_positive) == (13, None)
