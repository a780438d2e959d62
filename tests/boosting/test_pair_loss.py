"""The partial AUC for trees: its value pair by pair, its slopes, and a whole fit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import groupcm
from groupcm import GroupBoostingClassifier
from groupcm.boosting import GroupObjective
from groupcm.boosting.pair_loss import PairLoss
from groupcm.boosting.power_loss import Groupwise
from groupcm.errors import UnusedParameterWarning
from groupcm.objective.losses import make_loss
from groupcm.simulate import capsule


@pytest.fixture(scope="module")
def data():
    return capsule(40, n_positive=12, group_size=5)


@pytest.mark.parametrize("loss", ["logistic", "smoothed_hinge"])
@pytest.mark.parametrize("max_fpr", [1.0, 0.3])
def test_value_is_that_of_the_pairs(data, loss, max_fpr):
    settings = {"objective": "partial_auc", "max_fpr": max_fpr, "loss": loss}
    objective = GroupObjective(data.y, data.groups, data.overlap, power=np.inf, **settings)
    scores = np.random.default_rng(0).normal(size=len(data.y))
    best, largest = [], []
    for group in np.unique(data.groups):
        rows = data.groups == group
        if data.y[rows].any():
            fit_best = np.argmax(np.where(data.y[rows] == 1, data.overlap[rows], -1.0))
            best.append(scores[rows][fit_best])
        else:
            largest.append(scores[rows].max())
    m = int(np.ceil(max_fpr * len(largest) - 1e-9))
    pairs = np.subtract.outer(best, np.sort(largest)[::-1][:m])
    expected = make_loss(loss).value(pairs).mean() * (len(best) + len(largest))
    assert objective.derivatives(scores).value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("loss", "max_fpr", "power"),
    list(itertools.product(["logistic", "smoothed_hinge"], [1.0, 0.3], [1.0, 5.0])),
)
def test_slopes_are_those_of_differences(data, loss, max_fpr, power):
    rows = np.isin(data.groups, np.unique(data.groups)[-25:])
    objective = GroupObjective(
        data.y[rows],
        data.groups[rows],
        objective="partial_auc",
        max_fpr=max_fpr,
        loss=loss,
        power=power,
    )
    scores = np.random.default_rng(1).normal(size=rows.sum())
    h, eye = 1e-6, np.eye(rows.sum())
    slopes = [
        (objective.derivatives(scores + h * e).value - objective.derivatives(scores - h * e).value)
        / (2 * h)
        for e in eye
    ]
    found = objective.derivatives(scores)
    np.testing.assert_allclose(found.gradient, slopes, atol=1e-5)
    assert np.all(found.hessian >= 0.0)


def test_rows_that_stand_for_several_count_so_often():
    once = Groupwise(np.array([1, 2, 3, 4]), np.array([0, 3, 4]), np.ones(2))
    counted = Groupwise(np.array([1, 3, 4]), np.array([0, 2, 3]), np.ones(2), np.array([2.0, 1, 1]))
    scores = np.array([0.1, 0.5, 0.5, -0.3, 0.2])
    loss = PairLoss(max_fpr=1.0, power=3.0)
    values, slopes = [], []
    for groups in (once, counted):
        gradient = np.zeros(5)
        parts = (np.array([0]), np.ones(1), groups, gradient, np.zeros(5))
        values.append(loss.set_pairs(scores, *parts))
        slopes.append(gradient)
    assert values[0] == pytest.approx(values[1])
    assert slopes[0][1] + slopes[0][2] == pytest.approx(slopes[1][1])


def test_trees_are_grown_saved_and_loaded(data, tmp_path):
    model = GroupBoostingClassifier(
        30, objective="partial_auc", max_fpr=0.2, early_stopping=False, n_annealed=10
    )
    model.fit(data.X, data.y, data.groups, data.overlap)
    assert model.score(data.X, data.y, data.groups) > 0.9
    groupcm.save(model, tmp_path / "trees.json")
    loaded = groupcm.load(tmp_path / "trees.json")
    assert (loaded.objective, loaded.max_fpr) == ("partial_auc", 0.2)
    with pytest.warns(UnusedParameterWarning, match="max_fpr has no effect without objective"):
        GroupBoostingClassifier(2, max_fpr=0.2, early_stopping=False).fit(
            data.X, data.y, data.groups
        )
