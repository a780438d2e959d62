"""Contributions of features: they add up to the score, whatever the scale and the order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from picture_model import calibrated, cheap_recipe, fitted, some_frames, training_rows
from sklearn.ensemble import GradientBoostingClassifier

from groupcm import GroupBoostingClassifier, GroupClassifier, load, save
from groupcm.errors import InputError
from groupcm.evaluation._evaluate import evaluate
from groupcm.evaluation.explanation import explain_scores, require_without_map
from groupcm.features import Polynomial
from groupcm.images.scoring.score import PictureScorer
from groupcm.web.review.details import explain_candidate
from groupcm.web.server.scored_pictures import measure_picture

EXACT = {"rtol": 0, "atol": 1e-9}
# Rows come in the order of the model's names.
pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")


def made(**options):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 4)) * [1, 30, 0.02, 5] + [0, 400, 1, -2]
    y = (X[:, 0] + X[:, 3] / 5 + rng.normal(size=120) / 4 > 0.6).astype(int)
    return X, GroupClassifier(0.9, **options).fit(X, y)


@pytest.mark.parametrize("kind", ["standardized", "raw", "sparse", "map"])
def test_contributions_add_up_to_the_score(kind):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 4)) * [1, 30, 0.02, 5] + [0, 400, 1, -2]
    if kind == "sparse":
        X[rng.random(X.shape) < 0.4] = 0.0
    y = (X[:, 0] + X[:, 3] / 5 + rng.normal(size=120) / 4 > 0.6).astype(int)
    feature_map = Polynomial(2) if kind == "map" else None
    model = GroupClassifier(0.9, standardize=kind != "raw", feature_map=feature_map)
    model.fit(sp.csr_array(X) if kind == "sparse" else X, y)
    values = X if feature_map is None else model.feature_map_.transform(X)
    means = values.mean(axis=0)
    np.testing.assert_allclose(model.feature_means_, means, rtol=1e-9)
    found = explain_scores(model, X)
    scores = model.decision_function(X)
    assert len(found) == len(X)
    for row, score, each in zip(values, scores, found, strict=True):
        assert each.baseline == "the average training candidate"
        np.testing.assert_allclose(each.typical, means, rtol=1e-9)
        np.testing.assert_allclose(each.base + each.contributions.sum(), score, **EXACT)
        np.testing.assert_allclose(each.score, score, **EXACT)
        np.testing.assert_array_equal(each.values, row)
    # The training candidates score as the baseline does on average.
    assert np.mean(scores) == pytest.approx(found[0].base, abs=1e-9)


def test_a_contribution_is_what_the_score_loses_when_the_feature_is_typical():
    X, model = made()
    typical = X.mean(axis=0)
    (found,) = explain_scores(model, X[7])
    for j in range(X.shape[1]):
        changed = X[7].copy()
        changed[j] = typical[j]
        lost = model.decision_function(X[7:8])[0] - model.decision_function(changed[None])[0]
        assert found.contributions[j] == pytest.approx(lost, abs=1e-9)
    sizes = np.abs(found.contributions[found.largest_first()])
    assert (np.diff(sizes) <= 0).all()
    (itself,) = explain_scores(model, typical)
    np.testing.assert_allclose(itself.contributions, 0.0, atol=1e-9)
    assert not itself.largest(3) or abs(itself.score - itself.base) < 1e-9


@pytest.mark.parametrize("kind", ["linear", "calibrated", "trees"])
def test_report_review_and_python_give_the_same_numbers(kind):
    """One baseline and one set of names, whoever asks about a candidate."""
    X, y, groups, _ = training_rows()
    recipe = cheap_recipe()
    if kind == "trees":
        pytest.importorskip("lightgbm")
        model = GroupBoostingClassifier(10, early_stopping=False).fit(X, y, groups)
        model.feature_names_in_ = np.array(recipe.feature_names, dtype=object)
    else:
        model = fitted() if kind == "linear" else calibrated()
    scorer = PictureScorer(model, recipe)
    pictures = [measure_picture(scorer, each.pixels) for each in some_frames(20, seed=5)]
    rows = np.concatenate([each.rows for each in pictures])
    frame = np.repeat(np.arange(len(pictures)), [len(each.rows) for each in pictures])
    report = evaluate(model, rows, (frame % 2).astype(int), frame, n_resamples=20)
    for case in report.highest_negatives:
        picture = pictures[int(case.group)]
        winner = picture.rows[int(np.argmax(picture.found.scores))]
        review = explain_candidate(scorer, winner)
        (python,) = explain_scores(model, winner)
        assert review["baseline"] == python.baseline == report.baseline
        assert review["base"] == python.base
        assert review["score"] == pytest.approx(case.score, abs=1e-6)
        assert len(case.contributions) == 4
        assert list(case.contributions) == python.largest(4)
        for mine, theirs in zip(case.contributions, review["features"], strict=False):
            assert mine.feature == theirs["name"]
            assert mine.value == theirs["value"]
            assert mine.typical == theirs["typical"]
            assert mine.contribution == theirs["contribution"]


def test_a_model_file_of_version_0_1_is_explained_relative_to_zero():
    model = load(Path(__file__).parents[1] / "files" / "models_v0.1" / "linear_named.json")
    row = np.array([[1.5, -2.0, 0.25]])
    (found,) = explain_scores(model, row)
    assert found.typical is None
    assert found.baseline == "a candidate whose features are all 0"
    assert found.base == model.intercept_[0]
    np.testing.assert_array_equal(found.contributions, model.coef_[0] * row[0])


def test_the_means_are_kept_in_the_model_file(tmp_path):
    _, model = made()
    save(model, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.feature_means_, model.feature_means_)
    again.feature_means_ = again.feature_means_[:-1]
    with pytest.raises(ValueError, match="feature_means_"):
        save(again, tmp_path / "other.json")


def test_columns_are_found_by_name():
    made_names = cheap_recipe().feature_names
    names = tuple(reversed(made_names))[2:9]
    model, rows = fitted(names), training_rows()[0][:20]
    shuffled = np.random.default_rng(0).permutation(len(made_names))
    found = explain_scores(model, rows[:, shuffled], names=[made_names[j] for j in shuffled])
    columns = [made_names.index(name) for name in names]
    scores = model.decision_function(rows[:, columns].astype(np.float64))
    for each, score, row in zip(found, scores, rows, strict=True):
        assert each.names == names
        np.testing.assert_allclose(each.base + each.contributions.sum(), score, **EXACT)
        np.testing.assert_allclose(each.values, row[columns])
    with pytest.raises(ValueError, match=f"no column {names[0]!r}"):
        explain_scores(model, rows[:, :2], names=["a", "b"])
    with pytest.raises(ValueError, match=f"rows have 3 features; the model has {len(names)}"):
        explain_scores(model, rows[:, :3])


def test_a_calibrated_model_is_explained_by_its_linear_part():
    rows = training_rows()[0][:5]
    found = explain_scores(calibrated(), rows)
    scores = calibrated().decision_function(rows)
    np.testing.assert_allclose([each.score for each in found], scores, **EXACT)


def test_models_that_are_no_sums_over_features():
    X, model = made(feature_map=Polynomial(2))
    with pytest.raises(InputError, match="the feature map Polynomial"):
        require_without_map(model)
    y = (X[:, 0] > 0).astype(int)
    with pytest.raises(InputError, match="GradientBoostingClassifier are not sums"):
        explain_scores(GradientBoostingClassifier(n_estimators=2).fit(X, y), X)
    three = GroupClassifier().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    with pytest.raises(InputError, match="3 classes"):
        explain_scores(three, X)
