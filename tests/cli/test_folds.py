"""``groupcm fit --cv``: λ by folds, the noted threshold, probabilities, and what follows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from capsule_table import as_plain_table

from groupcm import CalibratedGroupClassifier, GroupClassifierCV
from groupcm.cli._main import main
from groupcm.metrics import operating_point
from groupcm.persistence.model_file import read
from groupcm.simulate import capsule

ROLES = ["--group", "frame", "--label", "polyp", "--overlap", "overlap", "--patient", "patient"]
SHAPE = {"n_positive": 40, "n_patients": 60, "group_size": 12}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    for name, seed in (("train", 4), ("test", 5)):
        made = capsule(120, seed=seed, **SHAPE)
        table = as_plain_table(made)
        pq.write_table(table, folder / f"{name}.parquet")
        pacsv.write_csv(table, folder / f"{name}.csv")
    return folder


@pytest.fixture
def here(tables, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tables


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_the_model_is_that_of_the_estimator(here, capsys, suffix):
    train = str(here / f"train.{suffix}")
    assert main(["fit", train, *ROLES, "--cv", "--lams", "3", "-o", "m.json"]) == 0
    said = capsys.readouterr()
    assert "fold 5 of 5, 3 λ" in said.err
    assert said.err.count("gap") < 15  # the steps of the last fit only
    made = capsule(120, seed=4, **SHAPE)
    expected = GroupClassifierCV(lams=3).fit(
        made.X, made.y, made.groups, made.overlap, patients=made.patient
    )
    saved = read("m.json")
    assert saved.model.lam_ == expected.lam_
    np.testing.assert_allclose(saved.model.scores_, expected.scores_, atol=2e-3)
    point = operating_point(expected.held_out_labels_, expected.held_out_scores_, specificity=0.9)
    assert saved.model.threshold_ == pytest.approx(point.threshold, abs=1e-3)
    assert "specificity of 0.9 on 160 groups" in saved.model.decision_.words
    assert saved.notes["trained_on"]["n_positive_groups"] == 40
    assert len(expected.lams_) > 3
    n_lams = len(expected.lams_)
    told = f"{expected.lam_:.4g}, of {n_lams} values, {n_lams - 3} of them beyond"
    assert f"chosen λ         {told} the end of the grid" in said.out
    assert "is best: trying" in said.err
    # The range over folds is named as what it is, and not written like a confidence interval.
    of_folds = saved.model.scores_[:, saved.model.lams_.tolist().index(saved.model.lam_)]
    assert "range over 5 folds" in said.out
    assert f"folds: {of_folds.min():.4f} to {of_folds.max():.4f})" in said.out


def test_probabilities_reach_the_scores_and_the_threshold_the_evaluation(here, capsys):
    train, test = str(here / "train.parquet"), str(here / "test.parquet")
    fold = ["--cv", "--folds", "3", "--lams", "2", "--specificity", "0.8"]
    assert main(["fit", train, *ROLES, *fold, "--calibrate", "isotonic", "-o", "m.json"]) == 0
    saved = read("m.json")
    assert isinstance(saved.model, CalibratedGroupClassifier)
    assert saved.model.estimator_.scores_.shape == (3, 4)  # the best of two was extended
    assert main(["score", "m.json", test, "-o", "s.parquet"]) == 0
    scores = pq.read_table("s.parquet")
    made = capsule(120, seed=5, **SHAPE)
    X = pd.DataFrame(made.X, columns=made.feature_names)
    expected = saved.model.predict_proba_groups(X, made.groups)[:, 1]
    np.testing.assert_allclose(scores["probability"], expected, atol=1e-6)
    capsys.readouterr()
    assert main(["evaluate", "m.json", test, "--report", "r.html"]) == 0
    said = capsys.readouterr().out
    assert "chosen for a specificity of 0.8 on 160 groups that the folds left out" in said
    assert "Brier score" in said


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--cv", "--lam", "0.5"], "--cv chooses λ by itself, in many fits; leave out --lam"),
        (["--cv", "--checkpoint", "c.json"], "leave out --checkpoint"),
        (["--folds", "3"], "--folds needs --cv"),
        (["--calibrate", "sigmoid"], "--calibrate needs --cv"),
        (["--cv", "--specificity", "90"], "--specificity is 90; it is a share, between 0 and 1"),
        (["--cv", "--scoring", "auc"], '"sensitivity_at_specificity".'),
        (["--cv", "--lams", "0"], "--lams must be at least 1"),
        (["--cv", "--folds", "1"], "--folds must be a whole number of folds, at least 2; got 1"),
        (["--cv", "--folds", "500"], "fewer than the 500 folds; use --folds "),
    ],
)
def test_mistakes_are_one_sentence(here, capsys, tmp_path, options, sentence):
    train = str(here / "train.parquet")
    assert main(["fit", train, *ROLES, *options, "-o", "m.json"]) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("groupcm: ")
    assert sentence in said
    assert not list(tmp_path.iterdir())


def test_a_table_without_the_features_of_the_model(here, capsys, tmp_path):
    train = str(here / "train.parquet")
    assert main(["fit", train, *ROLES, "--lam", "0.5", "-o", "m.json"]) == 0
    table = pq.read_table(here / "test.parquet").drop_columns(["contrast", "size"])
    pq.write_table(table, "few.parquet")
    capsys.readouterr()
    assert main(["evaluate", "m.json", "few.parquet", "--report", "r.html"]) == 2
    said = capsys.readouterr().err
    assert "few.parquet lacks 2 of the 13 features" in said
    assert "contrast, size" in said
    assert not (tmp_path / "r.html").exists()


def test_evaluating_what_was_trained_on_is_said(here, capsys):
    train = str(here / "train.parquet")
    assert main(["fit", train, *ROLES, "--lam", "0.5", "-o", "m.json"]) == 0
    capsys.readouterr()
    assert main(["evaluate", "m.json", train]) == 0
    assert (
        "trained on; on groups that it has seen, every metric is optimistic"
        in capsys.readouterr().err
    )
    assert main(["evaluate", "m.json", str(here / "test.parquet")]) == 0
    assert "optimistic" not in capsys.readouterr().err


def test_a_threshold_chosen_on_the_evaluated_table_stays_flagged(here, capsys):
    train, test = str(here / "train.parquet"), str(here / "test.parquet")
    assert main(["fit", train, *ROLES, "--lam", "0.5", "-o", "m.json"]) == 0
    capsys.readouterr()
    wanted = ["--specificity", "0.95", "--validation"]
    assert main(["evaluate", "m.json", test, *wanted, test]) == 0
    assert "so these results are optimistic" in capsys.readouterr().out
    assert main(["evaluate", "m.json", test, *wanted, train]) == 0
    assert "so these results are optimistic" not in capsys.readouterr().out


def test_a_table_without_the_patients_of_training_is_said(here, capsys):
    train = str(here / "train.parquet")
    assert main(["fit", train, *ROLES, "--lam", "0.5", "-o", "m.json"]) == 0
    table = pq.read_table(here / "test.parquet").drop_columns(["patient"])
    pq.write_table(table, "few.parquet")
    capsys.readouterr()
    assert main(["evaluate", "m.json", "few.parquet"]) == 0
    assert "few.parquet has no column 'patient'" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_group_of_two_patients_is_told_by_its_name(here, capsys, suffix):
    table = pq.read_table(here / "train.parquet")
    names = pa.array([f"frame {g} é" for g in table["frame"].to_pylist()])
    patient = [f"p{p}" for p in table["patient"].to_pylist()]
    patient[1] = "another"
    table = table.set_column(0, "frame", names).set_column(1, "patient", pa.array(patient))
    pq.write_table(table, "t.parquet") if suffix == "parquet" else pacsv.write_csv(table, "t.csv")
    assert main(["fit", f"t.{suffix}", *ROLES, "--cv", "-o", "m.json"]) == 2
    said = capsys.readouterr().err
    assert f"group frame 0 é belongs to two patients, {patient[0]} and another" in said


def test_values_of_lambda_can_be_given(here, capsys):
    train = str(here / "train.csv")
    options = ["--cv", "--folds", "2", "--lams", "0.3,0.01", "-o", "m.json"]
    assert main(["fit", train, *ROLES, *options]) == 0
    assert read("m.json").model.lams_.tolist() == [0.01, 0.3]
    assert " of 2" in capsys.readouterr().out
    assert main(["fit", train, *ROLES, "--cv", "--lams", "0.5,1.5", "-o", "n.json"]) == 2
    assert "--lams must lie between 0 and 1" in capsys.readouterr().err


def test_one_lambda_is_no_end_of_a_grid(here, capsys):
    """Before, it was "0.5 of 1, the largest tried"."""
    options = ["--cv", "--folds", "3", "--lams", "1", "--calibrate", "isotonic", "-o", "m.json"]
    assert main(["fit", str(here / "train.parquet"), *ROLES, *options]) == 0
    assert "chosen λ         0.5, the only one tried\n" in capsys.readouterr().out
    assert main(["describe", "m.json"]) == 0
    assert "by an isotonic curve" in capsys.readouterr().out


@pytest.mark.parametrize("lams", ["3,", ",", "0.1,x", "-3", ""])
def test_lambdas_that_are_no_numbers(here, capsys, lams):
    """Before, "3," was told to hold an empty name."""
    options = ["--cv", f"--lams={lams}", "-o", "m.json"]
    try:
        found = main(["fit", str(here / "train.parquet"), *ROLES, *options])
    except SystemExit as error:
        found = error.code
    said = " ".join(capsys.readouterr().err.split())
    assert found == 2
    if lams == "-3":
        assert "--lams must lie between 0 and 1" in said
    else:
        assert f"{lams!r} is neither a whole number, how many, nor numbers between commas" in said


@pytest.mark.parametrize("model", ["linear", "trees"])
def test_three_labels_are_refused_in_the_words_of_the_options(here, tmp_path, capsys, model):
    """Before, the sentence was that of scikit-learn's checks."""
    table = pq.read_table(here / "train.parquet")
    label = np.where(np.arange(len(table)) % 9 == 0, 2, table["polyp"].to_numpy())
    place = table.column_names.index("polyp")
    pq.write_table(table.set_column(place, "polyp", pa.array(label)), tmp_path / "t.parquet")
    assert main(["fit", "t.parquet", *ROLES, "--cv", "--model", model, "-o", "m.json"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "cross-validation is for two labels, and the label column 'polyp' holds 3 (0, 1 and 2);"
        in said
    )


def test_groups_that_are_all_positive_are_refused_in_the_words_of_the_options(
    here, tmp_path, capsys
):
    table = pq.read_table(here / "train.parquet")
    frame = table["frame"].to_numpy()
    is_first = np.append(True, frame[1:] != frame[:-1])
    place = table.column_names.index("polyp")
    positive = pa.array(is_first.astype(int))
    pq.write_table(table.set_column(place, "polyp", positive), tmp_path / "t.parquet")
    assert main(["fit", "t.parquet", *ROLES, "-o", "m.json"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "the larger, or --positive); add negative groups, name the other label with" in said
    assert "pos_label" not in said
