"""The λ path: the same optima as single fits, on shared passes."""

from __future__ import annotations

import numpy as np
import pytest
from streams import make_data, read

from groupcm import GroupClassifier
from groupcm.estimators.path import beyond_grid, lambda_grid, lambda_path
from groupcm.estimators.training import data as training_data
from groupcm.objective.losses import LOSSES

LAMS = [0.05, 0.3, 0.5, 0.9, 0.97]


def assert_single_fits(path, data, **params) -> None:
    for lam, model in zip(path.lams, path.models, strict=True):
        single = data.fit(lam=float(lam), **params)
        assert model.lam == lam
        assert model.gap_ <= 1e-4
        assert model.lower_bound_ <= single.objective_ * (1 + 1e-9)
        assert single.lower_bound_ <= model.objective_ * (1 + 1e-9)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("grouping", ["negative", "both", "none"])
def test_a_path_over_arrays_is_its_single_fits(shared, grouping, monkeypatch):
    if shared:
        monkeypatch.setattr(training_data, "_MANY_ROWS", 1)
    data = make_data(3)
    path = lambda_path(
        data.X, data.y, data.groups, data.overlap, lams=LAMS[::-1], grouping=grouping
    )
    assert path.lams.tolist() == LAMS
    assert path.coef.shape == (len(LAMS), data.X.shape[1])
    for lam, model in zip(path.lams, path.models, strict=True):
        single = data.fit(lam=float(lam), grouping=grouping)
        assert model.gap_ <= 1e-4
        assert model.lower_bound_ <= single.objective_ * (1 + 1e-9)
        assert single.lower_bound_ <= model.objective_ * (1 + 1e-9)


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
