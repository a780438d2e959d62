"""Python does with tables what a command does: about as many lines, and the same result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from groupcm import GroupClassifier, GroupClassifierCV, load, save, simulate
from groupcm.cli import main
from groupcm.data import read_all_groups
from groupcm.data.tables.formats import write_table
from groupcm.data.tables.roles import ColumnRoles, TableDescription, describe
from groupcm.errors import InputError, ThresholdWarning
from groupcm.estimators.tables import fit_candidates, fit_tables
from groupcm.evaluation.table_evaluation import evaluate_tables
from groupcm.evaluation.table_scores import score_tables
from groupcm.persistence.model_file import SavedModel, read
from groupcm.report.model_card import fit_notes, model_card
from groupcm.sources import read_candidates

COLUMNS: dict[str, Any] = {
    "group": "frame",
    "label": "on_polyp",
    "overlap": "overlap",
    "patient": "patient",
}
OPTIONS = [part for role, column in COLUMNS.items() for part in (f"--{role}", column)]


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """Two tables of other patients, each as Parquet and as CSV."""
    home = tmp_path_factory.mktemp("tables")
    for seed, name in enumerate(("train", "test")):
        sizes: dict[str, Any] = {
            "n_positive": 24,
            "n_polyps": 24,
            "n_patients": 60,
            "group_size": 8,
        }
        made = simulate.capsule(60, **sizes, seed=seed)
        for suffix in ("parquet", "csv"):
            write_table(made.to_table(), home / f"{name}.{suffix}")
    return home


def test_a_fit_in_python_is_that_of_the_command(home, tmp_path):
    options = ["--cv", "--folds", "3", "--lams", "0.1,0.5", "--calibrate", "sigmoid"]
    model = str(tmp_path / "command.json")
    assert main(["fit", str(home / "train.parquet"), *OPTIONS, *options, "-o", model]) == 0
    theirs = read(model)
    estimator = GroupClassifierCV(lams=[0.1, 0.5], cv=3, random_state=0)
    fit = fit_tables(estimator, home / "train.parquet", **COLUMNS, calibrate="sigmoid")
    save(fit.model, tmp_path / "python.json", notes=fit_notes(fit))
    mine = read(tmp_path / "python.json")
    assert mine.notes == theirs.notes
    assert mine.notes["columns"] == {**COLUMNS, "annotated": None, "object": None, "weight": None}
    np.testing.assert_array_equal(mine.model.estimator_.coef_, theirs.model.estimator_.coef_)
    assert mine.model.threshold_ == theirs.model.threshold_
    assert (fit.trained is estimator, fit.cross_validated is estimator) == (True, True)


def test_scores_in_python_are_those_of_the_command(home, tmp_path, capsys):
    fit = fit_tables(GroupClassifier(), home / "train.parquet", **COLUMNS)
    save(fit.model, tmp_path / "m.json", notes=fit_notes(fit))
    arguments = [str(tmp_path / "m.json"), str(home / "test.parquet")]
    output = tmp_path / "scores.parquet"
    assert main(["score", *arguments, "--label", "on_polyp", "-o", str(output)]) == 0
    model = load(tmp_path / "m.json")  # it knows the columns by the notes of its file
    found = score_tables(model, home / "test.parquet", label="on_polyp")
    assert found.table.equals(pq.read_table(output))
    assert f"{found.auc[0].auc:.4f}" in capsys.readouterr().out
    assert found.n_alarms == sum(found.table["alarm"].to_pylist())
    saved = SavedModel(fit.model, fit_notes(fit))
    again = score_tables(saved, [home / "test.csv"])  # in memory, and without the truth
    np.testing.assert_allclose(
        again.table["score"].to_numpy(), found.table["score"].to_numpy(), rtol=1e-4
    )
    assert again.auc == ()


def test_a_model_that_was_fitted_to_tables_is_saved_with_its_columns(home, tmp_path):
    estimator = GroupClassifierCV(lams=[0.5], cv=2)
    fit = fit_tables(estimator, home / "train.csv", **COLUMNS, calibrate="sigmoid")
    for each in (fit.model, fit.trained):
        assert model_card(each).columns == COLUMNS
        save(each, tmp_path / "m.json")
        notes = read(tmp_path / "m.json").notes
        assert notes == fit.notes()
        assert notes["trained_on"]["n_positive_groups"] == 24
        found = score_tables(load(tmp_path / "m.json"), home / "test.csv")
        assert found.table.equals(score_tables(tmp_path / "m.json", home / "test.csv").table)
        assert found.table.equals(score_tables(each, home / "test.csv").table)
    made = simulate.capsule(20, n_positive=8, group_size=4)
    save(estimator.fit(made.X, made.y, made.groups), tmp_path / "m.json")
    assert read(tmp_path / "m.json").notes == {}  # of another training


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_in_memory_are_refused_with_what_to_do(kind):
    with pytest.raises(InputError, match=r"in memory; pass its columns to .*fit\(X, y, groups\)"):
        read_candidates(kind({"frame": [1, 2], "size": [0.5, 1.5]}), group="frame")


def test_candidates_are_refused_where_their_arguments_are_meant(home):
    train = read_candidates(home / "train.csv", **COLUMNS)
    for model in (GroupClassifier(), GroupClassifierCV()):
        with pytest.raises(InputError, match=r"model.fit\(\*\*candidates.fit_arguments\(\)\)"):
            model.fit(train)
    model = fit_candidates(GroupClassifier(), train)
    with pytest.raises(InputError, match=r"score candidates\.X with it"):
        model.decision_function(train)


def test_an_evaluation_of_streamed_tables_is_that_of_tables_in_memory(home):
    fit = fit_tables(GroupClassifier(), home / "train.parquet", **COLUMNS)
    saved = SavedModel(fit.model, fit_notes(fit))
    streamed, memory = (
        evaluate_tables(saved, home / f"test.{suffix}", specificity=0.9, n_resamples=40)
        for suffix in ("parquet", "csv")
    )
    assert streamed.group_roc.auc.estimate == pytest.approx(memory.group_roc.auc.estimate)
    assert streamed.data.n_patients == memory.data.n_patients
    assert streamed.title == "the model on test.parquet"
    with pytest.raises(InputError, match="threshold and specificity are both given"):
        evaluate_tables(saved, home / "test.csv", threshold=0.0, specificity=0.9)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_candidates_are_what_a_fit_takes(home, suffix):
    train = read_candidates(home / f"train.{suffix}", **COLUMNS)
    assert train.is_streamed == (suffix == "parquet")
    assert train.roles == COLUMNS
    arguments = train.fit_arguments(patients=False)
    direct = GroupClassifier().fit(**arguments)
    names = simulate.FEATURE_NAMES
    assert fit_candidates(GroupClassifier(), train).feature_names_in_.tolist() == list(names)
    rows = np.flatnonzero(train.groups_with(1)[train.group_index.codes])
    some = train.fit_arguments(rows)
    assert set(some) == {"X", "y", "groups", "overlap", "patients"}
    np.testing.assert_array_equal(some["X"], train.rows(rows))
    assert len(some["y"]) == len(rows) < train.n_rows
    assert direct.n_features_in_ == len(names)
    patients = train.patient_of_groups()
    assert patients is not None
    assert len(np.unique(patients)) == train.n_patients


def test_groups_to_train_on_can_be_chosen(home):
    train = read_candidates(home / "train.parquet", **COLUMNS)
    chosen = train.groups_with(1) | (np.arange(84) % 2 == 0)
    model = fit_candidates(GroupClassifier(), train, chosen)
    data = train.fit_arguments(np.flatnonzero(chosen[train.group_index.codes]), patients=False)
    np.testing.assert_allclose(model.coef_, GroupClassifier().fit(**data).coef_, rtol=1e-6)


def test_the_positive_label_can_be_named(tmp_path):
    path = tmp_path / "sounds.csv"
    path.write_text("clip,is,loud\na,7,2.5\na,9,1.5\nb,9,2.0\nb,9,1.0\n")
    columns: dict[str, Any] = {"group": "clip", "label": "is"}
    for given in ("7", 7):  # as text, as the command line has it, or as it is
        fit = fit_tables(GroupClassifier(), path, **columns, pos_label=given)
        assert fit.model.classes_.tolist() == [9, 7]
        assert fit_notes(fit)["trained_on"]["n_positive_groups"] == 1
    assert fit_tables(GroupClassifier(pos_label=7), path, **columns).candidates.positive == 7
    with pytest.raises(ValueError, match="pos_label is 8, which does not occur"):
        fit_tables(GroupClassifier(), path, **columns, pos_label=8)


def test_a_specificity_without_folds_has_no_effect(home):
    with pytest.warns(ThresholdWarning, match="specificity had no effect"):
        fit = fit_tables(GroupClassifier(), home / "train.csv", **COLUMNS, specificity=0.8)
    assert fit.cross_validated is None
    assert "held_out" not in fit_notes(fit)


def test_described_columns_need_not_be_named(home, tmp_path):
    rows = pq.read_table(home / "train.parquet")
    about = TableDescription(ColumnRoles.of(COLUMNS), tuple(simulate.FEATURE_NAMES))
    described = rows.cast(describe(rows.schema, about))
    write_table(described, tmp_path / "described.parquet")
    found = read_candidates(tmp_path / "described.parquet")
    assert found.roles == COLUMNS
    assert found.feature_names == list(simulate.FEATURE_NAMES)
    other = read_candidates(tmp_path / "described.parquet", patient="frame", group="patient")
    assert (other.roles.group, other.roles.patient) == ("patient", "frame")
    with pytest.raises(
        InputError, match="does not record which column is the group; name it with g"
    ):
        read_candidates(home / "train.parquet")


def test_roles_are_a_mapping_of_those_that_have_a_column():
    roles = ColumnRoles("frame", patient="who")
    assert (list(roles), len(roles), roles.get("label")) == (["group", "patient"], 2, None)
    assert roles == {"group": "frame", "patient": "who"}
    for name in ("label", "colour", "names"):
        with pytest.raises(KeyError):
            roles[name]


def test_all_groups_are_listed_once(tmp_path):
    path = tmp_path / "all.csv"
    path.write_text("frame,polyp\na,1\na,0\n")
    with pytest.raises(InputError, match="lists the group 'a' twice"):
        read_all_groups(path, group="frame", label="polyp")
