"""Trees where a linear model has weights and a certificate: explained, evaluated, kept, told."""

from __future__ import annotations

import capsule_table
import numpy as np
import pytest
from picture_model import cheap_recipe, some_frames, training_rows
from pyarrow import csv
from tree_model import TreeModel

from groupcm import CalibratedGroupClassifier, simulate
from groupcm.boosting.scorer import TreeScorer
from groupcm.cli import main
from groupcm.cli.summaries import certificate, summary
from groupcm.data.tables.formats import write_table
from groupcm.errors import InputError
from groupcm.estimators.tables import TableFit, fit_candidates
from groupcm.evaluation._evaluate import evaluate
from groupcm.evaluation.cases import find_cases
from groupcm.evaluation.explanation import explain_scores
from groupcm.evaluation.scoring import score_candidates
from groupcm.images.scoring.score import PictureScorer
from groupcm.persistence import encoding as model_json
from groupcm.persistence.model_file import load, save
from groupcm.sources import read_candidates
from groupcm.utils.extras import MissingExtra
from groupcm.web.review.details import explain_candidate
from groupcm.web.server.scored_pictures import measure_picture

COLUMNS = {"group": "frame", "label": "polyp", "overlap": None, "patient": "who"}


def make(seed: int) -> simulate.Capsule:
    return simulate.capsule(60, n_positive=20, n_patients=50, group_size=15, seed=seed)


@pytest.fixture(scope="module")
def train():
    return make(0)


@pytest.fixture(scope="module")
def test():
    return make(1)


@pytest.fixture(scope="module")
def model(train):
    return TreeModel().fit(train.X, train.y)


@pytest.fixture
def storable(monkeypatch):
    monkeypatch.setitem(model_json._MODELS, "TreeModel", TreeModel.__module__)


@pytest.mark.parametrize("is_calibrated", [True, False])
def test_contributions_add_up_to_the_score(model, train, test, is_calibrated):
    if is_calibrated:
        model = CalibratedGroupClassifier(model, cv="prefit").fit(train.X, train.y, train.groups)
    rows = test.X[:30]
    found = explain_scores(model, rows)
    # The baseline is the mean score in training, by the number of rows that reached each leaf.
    mean = model.decision_function(train.X).mean()
    for row, score, each in zip(rows, model.decision_function(rows), found, strict=True):
        assert each.score == score
        assert each.base + each.contributions.sum() == pytest.approx(score, abs=1e-9)
        np.testing.assert_array_equal(each.values, row)
        assert each.base == pytest.approx(mean, rel=1e-6)
        assert each.typical is None


def test_what_cannot_be_explained_by_trees(test):
    three = TreeModel().fit(test.X, np.arange(len(test.X)) % 3)
    with pytest.raises(InputError, match="3 classes"):
        explain_scores(three, test.X)
    with pytest.raises(ValueError, match="rows have 2 features; the model has"):
        explain_scores(TreeModel().fit(test.X, test.y), test.X[:, :2])


def test_cases_are_explained_relative_to_the_mean_score_in_training(model, train, test):
    scored = score_candidates(model, test.X, test.y, test.groups)
    found = find_cases(model, scored, 0.0, 5, test.X.shape[1])
    base = model.decision_function(train.X).mean()
    for case in (*found.highest_negatives, *found.lowest_positives, *found.highest_positives):
        adds = sum(each.contribution for each in case.contributions)
        assert base + adds == pytest.approx(case.score, abs=1e-6)
        for each in case.contributions:
            column = int(each.feature.removeprefix("x"))
            assert each.value == test.X[case.winner_row, column]
    assert not found.weights
    moves = [each.moves for each in found.importances]
    assert len(moves) == test.X.shape[1]
    assert (np.diff(moves) <= 0).all()
    adds, _ = TreeScorer(model.forests_).contributions(test.X[scored.winner])
    expected = np.abs(adds).mean(axis=0)
    np.testing.assert_allclose(moves, np.sort(expected)[::-1])


def test_the_report_shows_what_features_move(model, test):
    pytest.importorskip("jinja2")
    from groupcm.report import evaluation_page

    found = evaluate(model, test.X, test.y, test.groups, n_resamples=20)
    assert found.training.gap is None
    page = evaluation_page(found)
    assert "What each feature moves" in page
    assert "Weights by feature" not in page
    assert found.importances[0].feature in page
    assert "how far the training of this model is from the best possible is not known" in page


def test_missing_values_are_evaluated(train, test):
    X = test.X.copy()
    X[::5, 0] = np.nan
    model = TreeModel().fit(X, test.y)
    found = evaluate(model, X, test.y, test.groups, n_resamples=20)
    assert all(np.isfinite(each.moves) for each in found.importances)


def test_candidates_of_pictures_are_explained():
    X, y, *_ = training_rows()
    recipe = cheap_recipe()
    model = TreeModel().fit(X, y)
    model.feature_names_in_ = np.array(recipe.feature_names, dtype=object)
    scorer = PictureScorer(model, recipe)
    measured = measure_picture(scorer, some_frames()[0].pixels)
    answer = explain_candidate(scorer, measured.rows[3])
    assert answer["score"] == measured.found.scores[3]
    for part in ("features", "families"):
        total = sum(each["contribution"] for each in answer[part])
        assert answer["base"] + total == pytest.approx(answer["score"], abs=1e-9)


def test_a_model_file_has_equal_scores(model, test, tmp_path, storable):
    path = tmp_path / "trees.json"
    save(model, path)
    again = load(path)
    assert again.trees_ == model.trees_
    np.testing.assert_array_equal(again.decision_function(test.X), model.decision_function(test.X))


def test_long_texts_are_kept(model, tmp_path, storable):
    path = tmp_path / "trees.json"
    long = TreeModel().fit(np.arange(20.0)[:, None], np.arange(20) % 2)
    long.trees_ = ['tree\n"é\\' * 500_000]
    save(long, path)
    assert load(path).trees_ == long.trees_


def test_a_model_file_without_its_library_names_the_command(model, tmp_path, storable, monkeypatch):
    path = tmp_path / "trees.json"
    save(model, path)

    def not_installed(name):
        raise MissingExtra("gradient-boosted trees require LightGBM", "boosting")

    monkeypatch.setattr(model_json, "import_module", not_installed)
    with pytest.raises(ImportError, match=r'pip install "groupcm\[boosting\]"$'):
        load(path)


def test_the_class_of_trees_is_stored():
    boosting = pytest.importorskip("groupcm.boosting.classifier")
    module = boosting.GroupBoostingClassifier.__module__
    assert model_json._MODELS["GroupBoostingClassifier"] == module
    assert "trees_" in boosting.GroupBoostingClassifier._fitted_state


@pytest.fixture
def model_file(train, tmp_path, storable):
    model = TreeModel().fit(train.X, train.y)
    model.feature_names_in_ = np.array(train.feature_names, dtype=object)
    save(model, tmp_path / "trees.json", notes={"columns": COLUMNS})
    return str(tmp_path / "trees.json")


@pytest.mark.parametrize("table", ["streamed.parquet", "in_memory.csv"])
def test_the_commands_take_trees(model_file, model, test, tmp_path, capsys, table):
    table, output, report = (tmp_path / name for name in (table, "scores.csv", "report.html"))
    write_table(capsule_table.as_table(test), table)
    assert main(["score", model_file, str(table), "-o", str(output)]) == 0
    expected = model.group_scores(test.X, test.groups)
    written = csv.read_csv(output)
    np.testing.assert_allclose(written["score"].to_numpy(), expected.score)
    np.testing.assert_array_equal(written["winner"].to_numpy(), expected.winner)
    assert main(["evaluate", model_file, str(table), "--report", str(report)]) == 0
    assert "What each feature moves" in report.read_text(encoding="utf-8")
    assert "AUC" in capsys.readouterr().out


def test_a_fit_ends_with_what_trees_gained(train, tmp_path):
    write_table(capsule_table.as_table(train), tmp_path / "train.csv")
    features = list(train.feature_names)
    roles = {"group": "frame", "label": "polyp"}
    candidates = read_candidates(tmp_path / "train.csv", **roles, features=features)
    model = fit_candidates(TreeModel(), candidates)
    told = dict(summary(TableFit(model, model, None, candidates, ["train.csv"], 1.0)))
    assert told["trees"].startswith("12, ")
    gains = model.boosters_[0].feature_importance("gain")
    first = train.feature_names[int(np.argmax(gains))]
    assert told["largest gains"].startswith(f"{first} {100 * gains.max() / gains.sum():.3g} %")
    assert "not known" in certificate(model)
