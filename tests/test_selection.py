"""The λ path: the same optima as single fits, on shared passes."""

from __future__ import annotations

import numpy as np
import pytest

from groupcm import GroupClassifier, training_data
from groupcm.selection import lambda_grid, lambda_path
from streams import make_data, read

LAMS = [0.05, 0.3, 0.5, 0.9, 0.97]


def assert_single_fits(path, data) -> None:
    for lam, model in zip(path.lams, path.models, strict=True):
        single = data.fit(lam=float(lam))
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


def test_a_path_over_a_stream_is_its_single_fits(tmp_path):
    data = make_data(4)
    source = read(data.write(tmp_path / "a.parquet", row_group=50))
    path = lambda_path(source, lams=LAMS, memory="20kB")
    assert_single_fits(path, data)
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


def test_the_grid_is_symmetric():
    grid = lambda_grid(7)
    np.testing.assert_allclose(grid + grid[::-1], 1.0)
    assert np.all(np.diff(grid) > 0)
