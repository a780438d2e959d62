"""Model cards: what a model says of itself, on the command line and in Python."""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import replace
from datetime import date

import numpy as np
import pyarrow.parquet as pq
import pytest
from capsule_table import as_plain_table
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import groupcm
from groupcm import (
    CalibratedGroupClassifier,
    GroupClassifier,
    GroupClassifierCV,
    MISVMClassifier,
    load,
    save,
)
from groupcm.cli._main import main
from groupcm.errors import InputError
from groupcm.features import Polynomial
from groupcm.metrics import group_roc_auc
from groupcm.report.model_card import model_card
from groupcm.simulate import capsule
from groupcm.utils.extras import is_installed

ROLES = ["--group", "frame", "--label", "polyp", "--overlap", "overlap", "--patient", "patient"]
SCHEMA = {
    *("format", "version", "model", "kind", "classes", "positive_class", "features"),
    *("trained_on", "certificate", "trees", "chosen_by_folds", "held_out", "threshold"),
    *("calibration", "place", "parameters", "columns", "versions"),
}
needs_trees = pytest.mark.skipif(not is_installed("lightgbm"), reason="trees need LightGBM")


@pytest.fixture(scope="module")
def made():
    return capsule(60, seed=4, n_positive=24, n_patients=40, group_size=10)


@pytest.fixture
def here(tmp_path, monkeypatch, made):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUPCM_NUM_THREADS", "1")
    table = as_plain_table(made)
    pq.write_table(table, "train.parquet")
    return tmp_path


def fit(*options: str) -> None:
    assert main(["fit", "train.parquet", *ROLES, *options, "-o", "m.json"]) == 0


def described(capsys, path: str = "m.json") -> dict:
    capsys.readouterr()
    assert main(["describe", path, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_linear_model_of_folds(here, capsys, made):
    fit("--cv", "--folds", "3", "--lams", "2", "--specificity", "0.8", "--calibrate", "sigmoid")
    card = described(capsys)
    assert set(card) == SCHEMA
    assert (card["model"], card["kind"], card["positive_class"]) == (
        "GroupClassifierCV",
        "linear",
        1,
    )
    assert card["features"] == {
        "count": 13,
        "names": made.feature_names,
        "map": None,
        "count_of_map": None,
    }
    assert card["trained_on"] == {
        "tables": ["train.parquet"],
        "n_candidates": len(made.y),
        "n_positive_groups": 24,
        "n_negative_groups": 60,
        "n_patients": len(np.unique(made.patient)),
        "n_unannotated_groups": 0,
        "date": card["trained_on"]["date"],
    }
    assert abs((date.fromisoformat(card["trained_on"]["date"]) - date.today()).days) <= 1
    certificate = card["certificate"]
    assert certificate["lower_bound"][0] <= certificate["objective"][0]
    assert certificate["gap"][0] <= certificate["tol"] == 1e-4
    expected = GroupClassifierCV(2, cv=3).fit(
        made.X, made.y, made.groups, made.overlap, patients=made.patient
    )
    auc = group_roc_auc(expected.held_out_labels_, expected.held_out_scores_)
    held_out = card["held_out"]
    assert held_out["group_auc"] == pytest.approx(auc, abs=0.01)
    assert held_out["group_auc_low"] < held_out["group_auc"] < held_out["group_auc_high"]
    assert held_out["drawn"] == "patients"
    assert held_out["specificity"] >= 0.8
    assert "specificity of 0.8" in card["threshold"]["chosen"]
    assert card["calibration"] == "sigmoid"
    assert card["chosen_by_folds"]["n_folds"] == 3
    assert card["parameters"]["cv"] == 3
    assert card["columns"] == {
        "group": "frame",
        "label": "polyp",
        "overlap": "overlap",
        "patient": "patient",
    }
    assert card["versions"]["groupcm"] == groupcm.__version__
    assert card["versions"]["numpy"] == np.__version__
    assert set(card["versions"]) == {"groupcm", "python", "numpy", "scikit-learn"}


def test_the_text_reads_well(here, capsys):
    fit("--cv", "--folds", "3", "--lams", "2", "--map", "polynomial")
    capsys.readouterr()
    assert main(["describe", "m.json"]) == 0
    said = capsys.readouterr().out
    lines = " ".join(said.split())
    assert "Polynomial, to 104 features" in lines
    assert "1 (positive), 0 (negative)" in lines
    assert "24 positive and 60 negative" in lines
    assert "of the global optimum" in lines
    assert "95 % CI" in lines
    assert "bootstrap over patients" in lines
    assert "(sensitivity)" in lines
    assert "probabilities none: scores have no unit" in lines
    assert max(map(len, said.splitlines())) <= 100


@needs_trees
def test_trees(here, capsys):
    few = ["--model", "trees", "--n-estimators", "5", "--validation", "2"]
    fit(*few)
    card = described(capsys)
    assert (card["kind"], card["certificate"]) == ("trees", None)
    assert card["held_out"]["n_positive_groups"] == 24
    assert card["threshold"]["chosen"].startswith("chosen for a specificity of 0.9 on 84 groups")
    (count,) = card["trees"]["count"]
    best = card["trees"]["validation"]
    assert 1 <= count <= best["most"] == 5
    assert 0.5 < best["value"] <= 1.0
    assert "lightgbm" in card["versions"]
    assert main(["describe", "m.json"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"group ROC AUC {best['value']:.4f} on groups left out" in said
    assert "the distance of trees from the optimum is not known" in said
    fit("--model", "trees", "--n-estimators", "4", "--no-early-stopping", "--cv", "--folds", "2")
    card = described(capsys)
    assert card["trees"] == {"count": [4], "validation": None}
    assert card["held_out"]["n_negative_groups"] == 60


def fitted_models(made):
    rows = made.X, made.y, made.groups
    three = np.where(np.arange(len(made.y)) % 5 == 0, 2, made.y)
    yield "linear", GroupClassifier().fit(*rows)
    yield "linear", GroupClassifier(feature_map=Polynomial(2)).fit(*rows)
    yield "linear", GroupClassifier().fit(made.X, three, made.groups)
    yield "linear", MISVMClassifier(max_iter=2).fit(*rows)
    yield "linear", GroupClassifierCV([0.5], cv=2).fit(*rows)
    yield "linear", CalibratedGroupClassifier(GroupClassifier(), cv=2).fit(*rows)
    if is_installed("lightgbm"):
        from groupcm import GroupBoostingClassifier

        yield "trees", GroupBoostingClassifier(3, early_stopping=False, n_jobs=1).fit(*rows)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_model_saved_from_python(here, capsys, made):
    for kind, model in fitted_models(made):
        save(model, "m.json")
        card = described(capsys)
        assert set(card) == SCHEMA
        assert (card["kind"], card["features"]["count"]) == (kind, 13)
        assert card["trained_on"]["n_candidates"] is None
        assert main(["describe", "m.json"]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "tables not known candidates not known groups not known" in said
        assert "13: names not known" in said
        in_python = model_card(model)
        assert in_python.parameters.keys() == card["parameters"].keys()
        assert in_python.text().startswith("Model\n")


def test_held_out_scores_of_a_model_in_memory(made):
    model = GroupClassifierCV([0.5], cv=2).fit(made.X, made.y, made.groups)
    for fitted in (model, CalibratedGroupClassifier.of_held_out(model)):
        found = model_card(fitted).held_out
        assert found is not None
        assert found.group_auc == pytest.approx(
            group_roc_auc(model.held_out_labels_, model.held_out_scores_)
        )
        assert (found.drawn, found.n_positive_groups) == ("groups", 24)
        assert found.caution is None


def test_an_interval_of_few_groups_has_a_caution():
    few = capsule(30, n_positive=6, n_polyps=6, group_size=10)
    model = GroupClassifierCV([0.5], cv=2).fit(few.X, few.y, few.groups)
    card = model_card(model)
    assert card.held_out is not None
    assert "may be too narrow" in str(card.held_out.caution)
    assert "may be too narrow" in " ".join(card.text().split())


def test_several_classes_have_no_threshold(here, capsys, made):
    names = np.array(["bleeding", "normal", "polyp"])
    labels = names[np.where(np.arange(len(made.y)) % 9 == 0, 0, 1 + made.y)]
    model = GroupClassifier(tol=1e-15, max_passes=1)
    with pytest.warns(ConvergenceWarning):
        model.fit(made.X, labels, made.groups)
    save(model, "m.json")
    card = described(capsys)
    assert (card["positive_class"], card["threshold"]) == (None, None)
    assert len(card["certificate"]["gap"]) == 3
    assert main(["describe", "m.json"]) == 0
    said = capsys.readouterr().out
    assert "bleeding, normal, polyp" in said
    assert "which is not yet the requested 1.0 × 10⁻¹³ %" in " ".join(said.split())


def test_json_says_infinity_in_words_and_null_for_what_is_not_known(made):
    card = model_card(GroupClassifier().fit(made.X, made.y, made.groups))
    parameters = {"power": math.inf, "low": -math.inf, "mean": math.nan, "tol": 0.5}
    told = json.loads(replace(card, parameters=parameters).json())["parameters"]
    assert told == {"power": "inf", "low": "-inf", "mean": None, "tol": 0.5}


@needs_trees
def test_an_infinite_power_of_trees_is_told(here, capsys, made):
    from groupcm import GroupBoostingClassifier

    trees = GroupBoostingClassifier(2, power=math.inf, n_annealed=0, early_stopping=False, n_jobs=1)
    save(trees.fit(made.X, made.y, made.groups), "m.json")
    assert described(capsys)["parameters"]["power"] == "inf"


def test_a_score_of_the_threshold_is_an_alarm_in_one_wording(made):
    model = GroupClassifier().fit(made.X, made.y, made.groups)
    said = " ".join(model_card(model).text().split())
    assert "threshold 0; a group whose score is at least this raises an alarm" in said
    model.coef_, model.intercept_ = np.zeros_like(model.coef_), np.zeros(1)
    assert model.predict(made.X[:1]).tolist() == [1]
    calibrated = CalibratedGroupClassifier(GroupClassifier(), cv=2)
    said = " ".join(model_card(calibrated.fit(made.X, made.y, made.groups)).text().split())
    assert "a group whose score is at least this raises an alarm" in said


def test_a_card_in_a_file(here, capsys):
    fit("--lam", "0.5")
    assert main(["describe", "m.json", "-o", "card.md"]) == 0
    text = (here / "card.md").read_text(encoding="utf-8")
    assert text.startswith("# Model card\n")
    assert "| patients | " in text
    assert "edge\\_strength" in text
    assert main(["describe", "m.json", "-o", "card.json"]) == 0
    assert json.loads((here / "card.json").read_text(encoding="utf-8"))["kind"] == "linear"


def test_what_is_no_model_is_refused(here, capsys):
    fit("--lam", "0.5")
    for arguments, sentence in (
        (["train.parquet"], "train.parquet is not a model that groupcm saved"),
        (["no-such.json"], "no-such.json: no such file"),
        (["m.json", "-o", "card.txt"], "cannot write card.txt: end its name in .md or .json"),
        (["m.json", "--json", "-o", "card.md"], "cannot write card.md: end its name in .json"),
        (["m.json", "-o", "m.json"], "m.json is the model"),
        (["."], ". is a folder; give the file of a model"),
    ):
        capsys.readouterr()
        assert main(["describe", *arguments]) == 2
        assert sentence in capsys.readouterr().err
    assert model_card("m.json").kind == "linear"
    for read in (model_card, load):
        with pytest.raises(InputError, match="is a folder; give the file of a model"):
            read(here)
    with pytest.raises(ValueError, match="got int"):
        model_card(3)
    with pytest.raises(NotFittedError):
        model_card(GroupClassifier())


def test_a_terminal_gets_a_table(here, capsys, monkeypatch):
    pytest.importorskip("rich")
    fit("--lam", "0.5")
    capsys.readouterr()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "70")
    assert main(["describe", "m.json"]) == 0
    said = capsys.readouterr().out
    assert "Trained on" in said
    assert "24 positive and 60 negative" in said
    plain = re.sub(r"\x1b\[[0-9;]*m", "", said)
    assert plain != said
    assert max(map(len, plain.splitlines())) <= 70
