"""The habits of scikit-learn hold: checks, pipelines, searches, routing, tables, pickles."""

from __future__ import annotations

import pickle
import re
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from groupcm import GroupClassifier

NAMES = ["area", "depth", "shine"]


def data(n_groups: int = 30, seed: int = 0):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), 5)
    y = ((np.arange(len(groups)) % 5 < 2) & (groups % 4 == 0)).astype(int)
    X = rng.normal(size=(len(groups), 3)) + 1.2 * y[:, None]
    overlap = np.where(y == 1, rng.random(len(y)), 0.0)
    return X, y, groups, overlap


@parametrize_with_checks(
    [
        GroupClassifier(),
        GroupClassifier(solver="lbfgs"),
        GroupClassifier(loss="hinge", penalty="l1", grouping="none", standardize=False),
        GroupClassifier(C=1.0, penalty="l2", grouping="both", background="negative"),
        GroupClassifier(loss="logistic"),
        GroupClassifier(penalty="elasticnet"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def routed(**params) -> Pipeline:
    model = GroupClassifier(standardize=False, **params)
    return Pipeline([("scale", StandardScaler()), ("model", model)])


@pytest.mark.usefixtures("routing")
def test_grid_search_routes_groups_and_overlap():
    X, y, groups, overlap = data()
    lams = [0.02, 0.5, 0.9]
    search = GridSearchCV(routed(), {"model__lam": lams}, cv=GroupKFold(3))
    search.fit(X, y, groups=groups, overlap=overlap)
    for k, (train, test) in enumerate(GroupKFold(3).split(X, y, groups)):
        assert not set(groups[train]) & set(groups[test])
        for i, lam in enumerate(lams):
            scale = StandardScaler().fit(X[train])
            model = GroupClassifier(lam=lam, standardize=False).fit(
                scale.transform(X[train]), y[train], groups=groups[train], overlap=overlap[train]
            )
            expected = model.score(scale.transform(X[test]), y[test], groups=groups[test])
            assert search.cv_results_[f"split{k}_test_score"][i] == pytest.approx(expected)
    assert search.best_estimator_["model"].lam == search.best_params_["model__lam"]
    # Overlap arrived: without it the representative is another one.
    without = GroupClassifier(standardize=False, lam=search.best_params_["model__lam"]).fit(
        StandardScaler().fit_transform(X), y, groups=groups
    )
    assert not np.allclose(search.best_estimator_["model"].coef_, without.coef_, rtol=1e-3)


@pytest.mark.usefixtures("routing")
def test_cross_val_score_routes_groups():
    X, y, groups, overlap = data()
    names = np.array([f"patient {g}" for g in groups])
    by_name, by_number = (
        cross_val_score(routed(), X, y, cv=GroupKFold(3), params={"groups": g, "overlap": overlap})
        for g in (names, groups)
    )
    assert by_name.shape == (3,)
    assert np.all((by_name >= 0) & (by_name <= 1))
    assert by_name.mean() > 0.5
    # GroupKFold may cut named groups otherwise, so compare through one explicit cut.
    cut = list(GroupKFold(3).split(X, y, groups))
    again = cross_val_score(routed(), X, y, cv=cut, params={"groups": names, "overlap": overlap})
    np.testing.assert_allclose(again, by_number)


@pytest.mark.usefixtures("routing")
def test_groups_and_overlap_are_routed_without_asking():
    """Nobody who passes groups means them to be dropped."""
    X, y, groups, overlap = data()
    pipeline = Pipeline([("scale", StandardScaler()), ("model", GroupClassifier())])
    pipeline.fit(X, y, groups=groups, overlap=overlap)
    Z = StandardScaler().fit_transform(X)
    model = GroupClassifier().fit(Z, y, groups=groups, overlap=overlap)
    np.testing.assert_allclose(pipeline["model"].coef_, model.coef_, rtol=1e-9)
    assert pipeline.score(X, y, groups=groups) == model.score(Z, y, groups=groups)
    declined = GroupClassifier().set_fit_request(groups=True, overlap=False)
    pipeline = Pipeline([("scale", StandardScaler()), ("model", declined)])
    with pytest.raises(TypeError, match="overlap"):
        pipeline.fit(X, y, groups=groups, overlap=overlap)


def test_clone_keeps_parameters_and_drops_the_fit():
    X, y, groups, _ = data()
    model = GroupClassifier(
        0.7,
        loss="smoothed_hinge",
        delta=0.2,
        penalty="huber",
        epsilon=0.3,
        grouping="both",
        background="negative",
        min_overlap=0.1,
        standardize=False,
        solver="lbfgs",
        tol=0.1,
        max_passes=700,
        verbose=0,
        random_state=3,
    )
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    model.set_params(loss="smoothed_hinge").fit(X, y, groups=groups)
    assert not hasattr(clone(model), "coef_")
    assert model.get_params()["lam"] == 0.7


def test_defaults_are_those_of_the_contract():
    params = GroupClassifier().get_params()
    expected = {
        "lam": 0.5,
        "loss": "smoothed_hinge",
        "delta": 0.5,
        "penalty": "huber",
        "epsilon": 1.0,
        "grouping": "negative",
        "background": "ignore",
        "min_overlap": 0.0,
        "feature_map": None,
        "standardize": True,
        "solver": "working_set",
        "tol": 1e-4,
        "verbose": 0,
        "random_state": None,
        "C": None,
    }
    assert params | expected == params
    with pytest.raises(TypeError):
        GroupClassifier(0.5, "hinge")  # everything but lam by name


def test_pickle_keeps_the_fit():
    X, y, groups, _ = data()
    model = GroupClassifier().fit(X, y, groups=groups)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.gap_ == model.gap_
    assert again.solution_ is not None


def test_same_seed_same_model():
    X, y, groups, _ = data()
    one, two = (GroupClassifier(random_state=4).fit(X, y, groups=groups) for _ in range(2))
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-9)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)


@pytest.mark.parametrize(
    "table",
    [
        lambda X: pd.DataFrame(X, columns=NAMES),
        lambda X: pd.DataFrame(X, columns=NAMES).astype({"depth": "Float64"}),
        lambda X: pl.DataFrame(X, schema=NAMES),
        lambda X: pa.table({name: X[:, j] for j, name in enumerate(NAMES)}),
    ],
    ids=["pandas", "pandas-nullable", "polars", "pyarrow"],
)
def test_tables_give_names_and_the_same_model(table):
    X, y, groups, overlap = data()
    plain = GroupClassifier(tol=1e-8).fit(X, y, groups=groups, overlap=overlap)
    frame = table(X)
    model = GroupClassifier(tol=1e-8).fit(frame, y, groups=groups, overlap=overlap)
    assert list(model.feature_names_in_) == NAMES
    assert not hasattr(plain, "feature_names_in_")
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-6, atol=1e-9)
    scores = model.decision_function(frame)
    np.testing.assert_allclose(scores, plain.decision_function(X), rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X))
    found, expected = model.group_scores(frame, groups), plain.group_scores(X, groups)
    np.testing.assert_array_equal(found.winner, expected.winner)


@pytest.mark.parametrize(
    "column",
    [
        list,
        lambda v: pd.Series(v, index=np.arange(len(v))[::-1]),
        pl.Series,
        pa.array,
        lambda v: pa.chunked_array([v[:40], v[40:]]),
    ],
    ids=["list", "pandas", "polars", "pyarrow", "pyarrow-chunked"],
)
def test_labels_groups_and_overlaps_may_be_any_column(column):
    X, y, groups, overlap = data()
    plain = GroupClassifier().fit(X, y, groups=groups, overlap=overlap)
    model = GroupClassifier().fit(X, column(y), groups=column(groups), overlap=column(overlap))
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9)
    found = model.group_scores(X, column(groups))
    np.testing.assert_array_equal(found.group, np.arange(30))


def test_pandas_categories_and_dates_name_groups():
    X, y, groups, _ = data()
    plain = GroupClassifier().fit(X, y, groups=groups)
    for named in (
        pd.Series([f"f{g}" for g in groups], dtype="category"),
        pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(groups, "D")),
    ):
        model = GroupClassifier().fit(X, y, groups=named)
        np.testing.assert_allclose(model.objective_, plain.objective_, rtol=2e-4)


@pytest.mark.parametrize("solver", ["working_set", "lbfgs"])
def test_not_converged_states_the_gap(solver):
    X, y, groups, _ = data(n_groups=80)
    X = X + np.random.default_rng(1).normal(size=X.shape)
    model = GroupClassifier(lam=0.9, solver=solver, tol=1e-16, max_passes=1)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y, groups=groups)
    (warning,) = caught
    message = str(warning.message)
    numbers = [float(v) for v in re.findall(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", message)]
    assert any(v == pytest.approx(model.gap_, rel=0.06) for v in numbers), message
    assert model.gap_ > 1e-16
    assert model.lower_bound_ <= model.objective_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("standardize", [True, False])
def test_rows_in_place_are_not_copied(dtype, standardize):
    d = 13 if dtype == np.float32 else 7
    groups = np.repeat(np.arange(4000), 200)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((len(groups), d), dtype=dtype)
    y = np.zeros(len(groups), dtype=np.int8)
    y[: 50 * 200 : 200] = 1
    X[y == 1] += 1
    X.flags.writeable = False
    model = GroupClassifier(standardize=standardize, random_state=0)
    model.fit(X[:20_000], y[:20_000], groups=groups[:20_000])  # compile first
    tracemalloc.start()
    try:
        model.fit(X, y, groups=groups)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.5 * X.nbytes
    assert model.gap_ <= 1e-4


def test_sparse_data_are_not_densified():
    n, d = 20_000, 200
    X = sp.random_array((n, d), density=0.01, format="csr", rng=np.random.default_rng(0))
    y = np.zeros(n, dtype=int)
    y[::40] = 1
    X = X + sp.csr_array(
        (np.ones(n // 40), (np.arange(0, n, 40), np.arange(n // 40) % 5)), shape=(n, d)
    )
    groups = np.arange(n) // 20
    model = GroupClassifier(tol=1e-2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some columns are empty
        model.fit(sp.csr_array(X[:4000]), y[:4000], groups=groups[:4000])  # loads the kernels
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model.fit(sp.csr_array(X), y, groups=groups)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.25 * n * d * 8
    assert model.score(X.tocsr(), y, groups=groups) > 0.9


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_read_only_arrays(kind):
    X, y, groups, overlap = data()
    if kind == "csr":
        X = sp.csr_array(X)
        for part in (X.data, X.indices, X.indptr):
            part.flags.writeable = False
    else:
        X.flags.writeable = False
    for array in (y, groups, overlap):
        array.flags.writeable = False
    model = GroupClassifier().fit(X, y, groups=groups, overlap=overlap)
    assert model.decision_function(X).shape == (len(y),)
    assert model.predict_groups(X, groups).shape == (30,)


def test_fitted_attributes_have_their_shapes():
    X, y, groups, _ = data()
    model = GroupClassifier().fit(X, y, groups=groups)
    assert model.coef_.shape == (1, 3)
    assert model.intercept_.shape == (1,)
    assert model.n_features_in_ == 3
    assert list(model.classes_) == [0, 1]
    assert np.ndim(model.objective_) == np.ndim(model.gap_) == np.ndim(model.lower_bound_) == 0
    found = model.group_scores(X, groups)
    assert {"group", "score", "winner"} <= set(dir(found))
    assert found.score.shape == found.winner.shape == (30,)
    assert np.issubdtype(found.winner.dtype, np.integer)


def test_verbose_prints_the_gap(capsys):
    X, y, groups, _ = data()
    GroupClassifier(verbose=0).fit(X, y, groups=groups)
    assert capsys.readouterr().out == ""
    GroupClassifier(verbose=1).fit(X, y, groups=groups)
    assert "gap" in capsys.readouterr().out
