"""The λ path: the same optima as single fits, on a stream by shared passes."""

from __future__ import annotations

import numpy as np
import pytest
from streams import make_data, read

from groupcm import GroupClassifier, GroupClassifierCV
from groupcm.estimators.path import beyond_grid, lambda_grid, lambda_path, lowest_lam
from groupcm.estimators.training.fit import Training
from groupcm.estimators.training.fit_setup import Hyperparameters
from groupcm.estimators.training.input import read_training_data
from groupcm.objective.losses import LOSSES
from groupcm.simulate import capsule

LAMS = [0.05, 0.3, 0.5, 0.9, 0.97]


def assert_single_fits(path, data, **params) -> None:
    for lam, model in zip(path.lams, path.models, strict=True):
        single = data.fit(lam=float(lam), **params)
        assert model.lam == lam
        assert model.gap_ <= 1e-4
        assert model.lower_bound_ <= single.objective_ * (1 + 1e-9)
        assert single.lower_bound_ <= model.objective_ * (1 + 1e-9)


@pytest.mark.parametrize("grouping", ["negative", "both", "none"])
def test_a_path_over_arrays_is_its_single_fits(grouping):
    data = make_data(3)
    path = lambda_path(
        data.X, data.y, data.groups, data.overlap, lams=LAMS[::-1], grouping=grouping
    )
    assert path.lams.tolist() == LAMS
    assert path.coef.shape == (len(LAMS), data.X.shape[1])
    assert_single_fits(path, data, grouping=grouping)


def test_a_path_over_arrays_keeps_the_rows_of_the_solution_before():
    data = capsule(60, n_positive=20, seed=1)
    given = (data.X, data.y, data.groups, data.overlap)
    path = lambda_path(*given, lams=[0.4, 0.5, 0.6])
    passes = [model.n_passes_ for model in path.models]
    # All rows are read to prove each solution, and not before.
    assert passes[1:] == [1.0, 1.0]
    assert np.all(path.gap <= 1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_path_over_a_stream_is_its_single_fits(loss, tmp_path):
    data = make_data(4)
    source = read(data.write(tmp_path / "a.parquet", row_group=50))
    path = lambda_path(source, lams=LAMS, memory="20kB", loss=loss)
    assert_single_fits(path, data, loss=loss)
    # The passes are shared: the whole path has read the rows as often as each model says.
    assert len({model.n_passes_ for model in path.models}) == 1


def test_models_of_a_path_score(tmp_path):
    data = make_data(5)
    path = lambda_path(data.X, data.y, data.groups, data.overlap, lams=3)
    scores = [model.group_scores(data.X, data.groups).score for model in path.models]
    assert len(scores) == 3
    assert np.all(np.isfinite(scores))


def test_a_path_takes_the_parameters_of_an_estimator():
    data = make_data(6)
    path = lambda_path(
        data.X,
        data.y,
        data.groups,
        lams=[0.5],
        estimator=GroupClassifier(penalty="l2", tol=1e-3),
        loss="hinge",
    )
    model = path.models[0]
    assert (model.penalty, model.loss, model.tol, model.lam) == ("l2", "hinge", 1e-3, 0.5)


@pytest.mark.parametrize("lams", [0, [0.0, 0.5], [1.0], [], [np.nan]])
def test_a_lambda_outside_is_refused(lams):
    data = make_data(6)
    with pytest.raises(ValueError, match="lams must"):
        lambda_path(data.X, data.y, data.groups, lams=lams)


def test_three_classes_and_c_are_refused():
    data = make_data(6)
    three = np.where(np.arange(len(data.y)) % 7 == 0, 2, data.y)
    with pytest.raises(ValueError, match="y has 3 classes, and a path of λ is for two"):
        lambda_path(data.X, three, data.groups)
    with pytest.raises(ValueError, match="no C"):
        lambda_path(data.X, data.y, data.groups, C=1.0)


@pytest.mark.parametrize("n", [2, 7, 10])
def test_the_grid_goes_from_a_thousandth_evenly_in_the_logarithm_of_the_odds(n):
    grid = lambda_grid(n)
    assert grid[[0, -1]] == pytest.approx([0.001, 0.99])
    np.testing.assert_allclose(np.diff(np.log(grid / (1 - grid)), 2), 0.0, atol=1e-9)
    assert lambda_grid(1).tolist() == [0.5]


def test_a_grid_from_another_smallest_lam_is_the_same_in_the_odds():
    grid, lower = lambda_grid(5), lambda_grid(5, 1e-5)
    assert lower[0] == pytest.approx(1e-5)
    odds = grid / (1 - grid) / (lower / (1 - lower))
    np.testing.assert_allclose(odds, odds[0], rtol=1e-9)


def separated(d, *, shift=0.4, n_groups=60):
    """Groups whose classes differ by about the same in each of many features."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(n_groups), 5)
    y = ((groups % 2 == 0) & (np.arange(len(groups)) % 5 == 0)).astype(int)
    return rng.normal(size=(len(groups), d)) + shift * y[:, None], y, groups


def training_of(X, y, groups, **parameters):
    model = GroupClassifier(**parameters)
    return Training(read_training_data(model, X, y, groups), Hyperparameters.of(model))


@pytest.mark.parametrize("penalty", ["huber", "l2", "l1"])
def test_the_smallest_lam_is_where_weights_that_separate_the_means_pay(penalty):
    X, y, groups = separated(400)
    training = training_of(X, y, groups, penalty=penalty)
    # By hand: the means of the positive candidates and of those of negative groups.
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    m = Z[y == 1].mean(axis=0) - Z[groups % 2 == 1].mean(axis=0)
    w = 2 * m / (m @ m)
    of_weights = {"huber": w @ w / 2, "l2": w @ w, "l1": np.abs(w).sum()}[penalty]
    assert training.separating_odds() == pytest.approx(of_weights / (2 * 400), rel=1e-9)
    lowest = lowest_lam(training)
    odds = min(of_weights / (2 * 400), 0.001 / 0.999)
    assert lowest == pytest.approx(max(odds / (1 + odds), 1e-6))


def test_the_grid_of_few_features_is_the_documented_one():
    data = make_data()
    assert lowest_lam(training_of(data.X, data.y, data.groups)) == 0.001
    same = np.tile(data.X[:1], (len(data.X), 1)) * (1.0 + 1e-9 * data.X)
    assert lowest_lam(training_of(same, data.y, data.groups)) == 0.001


def test_the_grid_of_wide_data_goes_lower_in_paths_and_in_cross_validation():
    X, y, groups = separated(300)
    path = lambda_path(X, y, groups, lams=3, tol=0.01)
    model = GroupClassifierCV(3, cv=2, tol=0.01, scoring=lambda y, s, g: 1.0).fit(X, y, groups)
    assert path.lams[0] < 1e-4
    np.testing.assert_allclose(model.lams_, path.lams)
    assert [fitted.lam for fitted in path.models] == path.lams.tolist()


def test_a_grid_goes_on_by_its_own_ratio_within_limits():
    grid = lambda_grid(10)
    for side in (-1, 1):
        more = beyond_grid(grid, side, 3)
        both = np.append(grid, more) if side > 0 else np.append(more[::-1], grid)
        np.testing.assert_allclose(np.diff(np.log(both / (1 - both)), 2), 0.0, atol=1e-9)
    assert beyond_grid(lambda_grid(2), -1, 1)[0] == pytest.approx(1e-4, rel=1e-3)
    assert beyond_grid(grid, -1, 50).min() >= 1e-6
    assert beyond_grid(grid, 1, 50).max() <= 0.9999
    assert len(beyond_grid(np.array([1e-6, 1e-5]), -1, 2)) == 0
