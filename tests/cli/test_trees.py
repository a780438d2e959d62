"""``groupcm fit --model trees``: options, folds, the threshold, and what may go wrong."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from capsule_table import as_plain_table

pytest.importorskip("lightgbm")

from groupcm import CalibratedGroupClassifier, GroupBoostingClassifier
from groupcm.cli._main import main
from groupcm.cli.output import Lines
from groupcm.estimators.threshold_choice import choose_threshold
from groupcm.metrics import operating_point
from groupcm.persistence.model_file import read
from groupcm.simulate import capsule
from groupcm.utils.progress import Reading

ROLES = ["--group", "frame", "--label", "polyp", "--overlap", "overlap", "--patient", "patient"]
SHAPE: dict[str, Any] = {"n_positive": 24, "n_patients": 40, "group_size": 10}
FEW = ["--model", "trees", "--n-estimators", "8", "--num-leaves", "5", "--min-child-samples", "5"]
OPTIONS: dict[str, Any] = {"n_estimators": 8, "num_leaves": 5, "min_child_samples": 5}


@pytest.fixture(scope="module")
def made():
    return capsule(60, seed=4, **SHAPE)


@pytest.fixture(scope="module")
def tables(tmp_path_factory, made):
    folder = tmp_path_factory.mktemp("tables")
    table = as_plain_table(made)
    pq.write_table(table, folder / "train.parquet")
    pacsv.write_csv(table, folder / "train.csv")
    return folder


@pytest.fixture
def here(tables, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Threads that wait for busy cores take far longer than so few trees.
    monkeypatch.setenv("GROUPCM_NUM_THREADS", "1")
    return tables


@pytest.mark.filterwarnings("ignore:.*still had a new winner")
def test_tables_that_do_not_fit_are_streamed(here, capsys):
    few = [*FEW, "--no-early-stopping", "--memory", "20kB"]
    assert fit(here / "train.parquet", *few) == 0
    assert " over the rows, " in capsys.readouterr().out
    assert read("m.json").model.n_passes_ >= 2


def fit(table, *options: str) -> int:
    return main(["fit", str(table), *ROLES, *options, "-o", "m.json"])


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_the_model_is_that_of_the_estimator(here, capsys, made, suffix):
    chosen = ["--learning-rate", "0.2", "--power", "4", "--validation", "2"]
    assert fit(here / f"train.{suffix}", *FEW, *chosen) == 0
    expected = GroupBoostingClassifier(**OPTIONS, learning_rate=0.2, power=4.0, validation=2)
    expected.fit(made.X, made.y, made.groups, made.overlap, patients=made.patient)
    saved = read("m.json")
    assert isinstance(saved.model, GroupBoostingClassifier)
    assert list(saved.model.feature_names_in_) == made.feature_names
    np.testing.assert_allclose(saved.model.validation_curve_, expected.validation_curve_)
    X = pd.DataFrame(made.X, columns=made.feature_names)
    np.testing.assert_allclose(saved.model.decision_function(X), expected.decision_function(made.X))
    without = GroupBoostingClassifier(**OPTIONS, learning_rate=0.2, power=4.0, validation=2)
    without.fit(made.X, made.y, made.groups, made.overlap)
    assert not np.array_equal(without.validation_curve_, expected.validation_curve_)
    assert saved.notes["trained_on"]["n_patients"] == len(np.unique(made.patient))
    said = capsys.readouterr().out
    assert f"trees          {expected.n_trees_}, " in said
    best = expected.validation_curve_.max()
    assert f"{best:.4f} on groups left out, chosen of up to 8 trees" in said
    assert "No certificate" in said
    point = operating_point(expected.held_out_labels_, expected.held_out_scores_, specificity=0.9)
    chosen = choose_threshold(expected.held_out_labels_, expected.held_out_scores_, specificity=0.9)
    assert saved.model.threshold_ == pytest.approx(chosen.value)
    assert saved.model.decision_.words == (
        "chosen for a specificity of 0.9 on 84 groups that the folds left out"
    )
    assert f"sensitivity {point.sensitivity:.3f}, specificity {point.specificity:.3f}" in said


def test_all_trees_are_grown_without_early_stopping(here, capsys):
    assert fit(here / "train.parquet", *FEW, "--no-early-stopping", "--random-state", "3") == 0
    model = read("m.json").model
    assert (model.n_trees_, model.random_state, len(model.validation_curve_)) == (8, 3, 0)
    assert "left out" not in capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_folds_give_a_threshold_and_probabilities(here, capsys, made, suffix):
    folds = ["--no-early-stopping", "--cv", "--folds", "3", "--specificity", "0.8"]
    train = here / f"train.{suffix}"
    assert fit(train, *FEW, *folds, "--calibrate", "isotonic") == 0
    said = capsys.readouterr().out
    saved = read("m.json")
    trees = GroupBoostingClassifier(**OPTIONS, early_stopping=False)
    expected = CalibratedGroupClassifier(trees, method="isotonic", cv=3).fit(
        made.X, made.y, made.groups, made.overlap, patients=made.patient
    )
    held_out = expected.held_out_labels_, expected.held_out_scores_
    point = operating_point(*held_out, specificity=0.8)
    chosen = choose_threshold(*held_out, specificity=0.8)
    assert saved.model.threshold_ == pytest.approx(chosen.value)
    assert saved.notes["held_out"]["sensitivity"] == pytest.approx(point.sensitivity)
    assert saved.notes["held_out"]["drawn"] == "patients"
    assert f"sensitivity {point.sensitivity:.3f}" in said
    X = pd.DataFrame(made.X, columns=made.feature_names)
    np.testing.assert_allclose(
        saved.model.predict_proba_groups(X, made.groups),
        expected.predict_proba_groups(made.X, made.groups),
    )
    assert main(["score", "m.json", str(train), "-o", "s.parquet"]) == 0
    assert "probability" in pq.read_table("s.parquet").column_names


def test_without_probabilities_the_file_holds_the_trees(here, capsys):
    assert fit(here / "train.parquet", *FEW, "--no-early-stopping", "--cv", "--folds", "2") == 0
    saved = read("m.json")
    assert isinstance(saved.model, GroupBoostingClassifier)
    assert "specificity of 0.9 on 84 groups" in saved.model.decision_.words
    capsys.readouterr()
    assert main(["evaluate", "m.json", str(here / "train.parquet")]) == 0
    assert "chosen for a specificity of 0.9" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--model", "trees", "--lam", "0.5"], "--lam is for the linear model"),
        (["--model", "trees", "--no-standardize"], "--no-standardize is for the linear model"),
        (["--model", "trees", "--map", "chi2"], "--map is for the linear model"),
        (["--model", "trees", "--cv", "--lams", "3"], "--lams is for the linear model"),
        (["--model", "trees", "--checkpoint", "c"], "--checkpoint is for the linear model"),
        (["--num-leaves", "5"], "--num-leaves is for trees; leave it out, or add --model trees"),
        (["--no-early-stopping"], "--no-early-stopping is for trees"),
        (["--model", "trees", "--num-leaves", "1"], "--num-leaves must be a whole number"),
        (["--model", "trees", "--validation", "1.5"], "--validation must be a number of folds"),
        (["--model", "trees", "--calibrate", "sigmoid"], "--calibrate needs --cv"),
        (["--model", "trees", "--scoring", "auc"], '"sensitivity_at_specificity".'),
        (
            ["--model", "trees", "--no-early-stopping", "--validation", "3"],
            "--validation is for choosing the number of trees",
        ),
        (["--model", "trees", "--cv", "--folds", "500"], "fewer than the 500 folds"),
        (["--model", "trees", "--cv", "--memory", "1kB"], "and they do not fit; raise --memory"),
    ],
)
def test_mistakes_are_one_sentence(here, capsys, tmp_path, options, sentence):
    assert fit(here / "train.parquet", *options) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("groupcm: ")
    assert sentence in said
    assert not list(tmp_path.iterdir())


def test_a_missing_lightgbm_is_told_before_the_tables_are_read(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    assert fit("no-such.parquet", "--model", "trees") == 2
    assert 'pip install "groupcm[boosting]"' in capsys.readouterr().err


@pytest.mark.parametrize("folds", [[], ["--cv", "--folds", "2"]])
def test_ctrl_c_leaves_no_file(here, capsys, tmp_path, monkeypatch, folds):
    def stopped(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("groupcm.boosting.training.grow", stopped)
    assert fit(here / "train.parquet", *FEW, "--no-early-stopping", *folds) == 130
    assert "stopped by Ctrl-C" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_progress_counts_trees(capsys):
    now = iter([0.0, 5.0])
    Lines(lambda: next(now)).reading(Reading("validating", 30, 300, None, 2.0, "trees"))
    assert (
        capsys.readouterr().err == "  validating: 30 of 300 trees (10 %), 15 trees/s, 18 s left\n"
    )
