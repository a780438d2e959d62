"""Contributions of features: they add up to the score, whatever the scale and the order."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from groupcm import GroupClassifier
from groupcm.errors import InputError
from groupcm.explanation import explain_scores
from groupcm.features import Polynomial
from picture_model import calibrated, cheap_recipe, fitted, training_rows

EXACT = {"rtol": 0, "atol": 1e-9}
# Rows come in the order of the model's names.
pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")


def made(**options):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 4)) * [1, 30, 0.02, 5] + [0, 400, 1, -2]
    y = (X[:, 0] + X[:, 3] / 5 + rng.normal(size=120) / 4 > 0.6).astype(int)
    return X, GroupClassifier(0.9, **options).fit(X, y)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("knows_typical", [True, False])
def test_contributions_add_up_to_the_score(standardize, knows_typical):
    X, model = made(standardize=standardize)
    typical = X.mean(axis=0) if knows_typical else None
    found = explain_scores(model, X, typical=typical)
    scores = model.decision_function(X)
    assert len(found) == len(X)
    for row, score, each in zip(X, scores, found, strict=True):
        np.testing.assert_allclose(each.base + each.contributions.sum(), score, **EXACT)
        np.testing.assert_allclose(each.score, score, **EXACT)
        np.testing.assert_array_equal(each.values, row)


def test_the_base_is_the_score_of_the_typical_candidate():
    X, model = made()
    typical = X.mean(axis=0)
    first = explain_scores(model, X[:1], typical=typical)[0]
    assert first.base == pytest.approx(model.decision_function(typical[None])[0], abs=1e-9)
    np.testing.assert_array_equal(first.typical, typical)
    (itself,) = explain_scores(model, typical[None], typical=typical)
    np.testing.assert_allclose(itself.contributions, 0.0, atol=1e-12)
    (without,) = explain_scores(model, X[:1])
    assert without.base == model.intercept_[0]
    assert without.typical is None


def test_a_contribution_is_what_the_score_loses_when_the_feature_is_typical():
    X, model = made()
    typical = X.mean(axis=0)
    (found,) = explain_scores(model, X[7], typical=typical)
    for j in range(X.shape[1]):
        changed = X[7].copy()
        changed[j] = typical[j]
        lost = model.decision_function(X[7:8])[0] - model.decision_function(changed[None])[0]
        assert found.contributions[j] == pytest.approx(lost, abs=1e-9)
    sizes = np.abs(found.contributions[found.largest_first()])
    assert (np.diff(sizes) <= 0).all()


def test_columns_are_found_by_name():
    made_names = cheap_recipe().feature_names
    names = tuple(reversed(made_names))[2:9]
    model, rows = fitted(names), training_rows()[0][:20]
    shuffled = np.random.default_rng(0).permutation(len(made_names))
    found = explain_scores(
        model,
        rows[:, shuffled],
        names=[made_names[j] for j in shuffled],
        typical=rows.mean(axis=0)[shuffled],
    )
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
    with pytest.raises(InputError, match="the map Polynomial"):
        explain_scores(model, X)
    y = (X[:, 0] > 0).astype(int)
    with pytest.raises(InputError, match="GradientBoostingClassifier are not sums"):
        explain_scores(GradientBoostingClassifier(n_estimators=2).fit(X, y), X)
    three = GroupClassifier().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    with pytest.raises(InputError, match="3 classes"):
        explain_scores(three, X)
