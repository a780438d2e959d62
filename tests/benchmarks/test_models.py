"""The numbers of the benchmark of models."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

pytest.importorskip("lightgbm")

from benchmarks.models.areas import areas_of_draws, draws, mean_area
from benchmarks.models.measuring import MODELS, OURS, Held, contender_named


def held(seed: int) -> Held:
    rng = np.random.default_rng(seed)
    positive = np.arange(60) % 3 == 0
    score = np.round(rng.normal(size=60) + positive, 1)  # with ties
    return Held(
        fold=(np.arange(60) // 20).tolist(),
        score=score.tolist(),
        positive=positive.tolist(),
        cluster=(np.arange(60) // 2).tolist(),
        chosen=[],
        seconds=1.0,
    )


def area(found: Held, weight: np.ndarray) -> float:
    areas = []
    for number in range(3):
        rows = np.flatnonzero(np.array(found.fold) == number)
        of_row = weight[np.array(found.cluster)[rows]]
        label, score = np.array(found.positive)[rows], np.array(found.score)[rows]
        areas.append(roc_auc_score(label, score, sample_weight=of_row))
    return float(np.mean(areas))


def test_area_is_the_mean_of_scikit_learns_over_folds_and_seeds():
    found = [held(0), held(1)]
    assert mean_area(found) == pytest.approx(np.mean([area(one, np.ones(30)) for one in found]))


def test_a_draw_weighs_clusters_alike_in_all_seeds():
    found = [held(0), held(1)]
    weights = draws(found, 5)
    assert weights.shape == (5, 30)
    assert np.all(weights.sum(axis=1) == 30)
    expected = [np.mean([area(one, weight) for one in found]) for weight in weights]
    np.testing.assert_allclose(areas_of_draws(found, weights), expected)


@pytest.mark.parametrize("name", ["psfl", "magnetic_tile"])
def test_every_model_has_as_many_settings(name):
    pytest.importorskip("xgboost")
    tuned = [model for model in MODELS if model != "trees-default"]
    assert OURS in tuned
    assert {len(contender_named(model, name, 4, 0).settings) for model in tuned} == {4}
