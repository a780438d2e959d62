"""A fit with a feature map is the fit on the mapped rows, in memory and on a stream."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from streams import Data, fit_stream, make_data, read

import groupcm
from groupcm import GroupClassifier
from groupcm.features import AdditiveChi2, Fitted, Nystroem, Polynomial, RandomFourier
from groupcm.sources import from_npy

TOL = 1e-6


def make_small(seed: int = 0) -> Data:
    data = make_data(seed, n_groups=80, d=3)
    return data.but(X=np.abs(data.X) + 0.1)  # additive χ² wants positive values


DATA = make_small()
MAPS = {
    "polynomial": Polynomial(3),
    "fourier": RandomFourier(12, random_state=0),
    "nystroem": Nystroem(10, random_state=0),
    "chi2": AdditiveChi2(2),
    "pca": PCA(2).fit(DATA.X),
    "pipeline": make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False)).fit(
        DATA.X
    ),
    "frozen": FrozenEstimator(PCA(2).fit(DATA.X)),
}
# The squared norm has one optimal point, so weights can be compared.
PARAMS = {"lam": 0.9, "penalty": "l2", "tol": TOL}

every_map = pytest.mark.parametrize("name", MAPS)


def fit_mapped(model: GroupClassifier, data: Data, **params) -> GroupClassifier:
    """The same fit on the rows that the model's map makes."""
    mapped = model.feature_map_.transform(data.X)
    explicit = GroupClassifier(**PARAMS | params)
    return explicit.fit(mapped, data.y, groups=data.groups, overlap=data.overlap)


def assert_same(one: GroupClassifier, two: GroupClassifier, data: Data) -> None:
    for a, b in ((one, two), (two, one)):
        assert a.lower_bound_ <= b.objective_ * (1 + 1e-9)
    np.testing.assert_allclose(one.objective_, two.objective_, rtol=3 * TOL)
    # In the scale on which the weights were found.
    scale = one.feature_map_.transform(data.X).std(axis=0)
    np.testing.assert_allclose(one.coef_ * scale, two.coef_ * scale, atol=2e-2)


@every_map
@pytest.mark.parametrize("grouping", ["negative", "none"])
def test_in_memory(name, grouping):
    params = PARAMS | {"feature_map": MAPS[name], "grouping": grouping}
    model = GroupClassifier(**params).fit(DATA.X, DATA.y, groups=DATA.groups, overlap=DATA.overlap)
    assert model.n_features_in_ == 3
    assert model.coef_.shape == (1, model.feature_map_.n_features_out_)
    explicit = fit_mapped(model, DATA, grouping=grouping)
    assert_same(model, explicit, DATA)
    np.testing.assert_allclose(
        model.decision_function(DATA.X),
        model.feature_map_.transform(DATA.X) @ model.coef_[0] + model.intercept_[0],
        rtol=1e-9,
        atol=1e-9,
    )
    found = model.group_scores(DATA.X, DATA.groups)
    scores = model.decision_function(DATA.X)
    np.testing.assert_allclose(found.score, scores[found.winner], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(DATA.groups[found.winner], found.group)


@every_map
@pytest.mark.parametrize("grouping", ["negative", "none"])
def test_on_a_stream(name, grouping, tmp_path):
    source = read(DATA.write(tmp_path / "a.parquet", row_group=50, n_files=2))
    params = PARAMS | {"feature_map": MAPS[name], "grouping": grouping}
    stream = fit_stream(source, "12kB", **params)
    assert_same(stream, fit_mapped(stream, DATA, grouping=grouping), DATA)
    frame = DATA.table().select(["f0", "f1", "f2"]).to_pandas()
    rows, found = stream.group_scores(frame, DATA.groups), stream.group_scores(source)
    np.testing.assert_array_equal(found.group, rows.group)
    np.testing.assert_array_equal(found.winner, rows.winner)
    np.testing.assert_allclose(found.score, rows.score, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_on_a_mapped_file(dtype, tmp_path):
    data = DATA.but(X=DATA.X.astype(dtype))
    np.save(tmp_path / "X.npy", data.X)
    columns = {"group": data.groups, "label": data.y, "overlap": data.overlap}
    source = from_npy(tmp_path / "X.npy", **columns, batch_rows=33)
    params = PARAMS | {"feature_map": Polynomial(2)}
    stream = fit_stream(source, "6kB", **params)
    assert_same(stream, fit_mapped(stream, data), data)


def test_a_map_is_fitted_the_same_in_memory_and_on_a_stream(tmp_path):
    source = read(DATA.write(tmp_path / "a.parquet", row_group=50))
    for given in (Nystroem(10, random_state=0), RandomFourier(12, random_state=0)):
        stream = fit_stream(source, "12kB", feature_map=given)
        memory = DATA.fit(feature_map=given)
        np.testing.assert_array_equal(
            stream.feature_map_.transform(DATA.X), memory.feature_map_.transform(DATA.X)
        )
        assert not hasattr(given, "n_features_in_")  # the user's own stays as it was


@pytest.mark.parametrize("name", ["polynomial", "fourier", "nystroem", "chi2", "pca", "pipeline"])
def test_a_model_with_a_map_survives_saving(name, tmp_path):
    model = DATA.fit(feature_map=MAPS[name])
    groupcm.save(model, tmp_path / "model.json")
    again = groupcm.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.decision_function(DATA.X), model.decision_function(DATA.X))
    source = read(DATA.write(tmp_path / "a.parquet", row_group=50), features=["f0", "f1", "f2"])
    np.testing.assert_array_equal(
        again.group_scores(source).winner, model.group_scores(source).winner
    )


# ---- refused --------------------------------------------------------------------------------


def test_sparse_rows_have_no_map():
    with pytest.raises(ValueError, match=r"feature_map needs dense rows.*toarray"):
        GroupClassifier(feature_map=Polynomial(2)).fit(
            sp.csr_array(DATA.X), DATA.y, groups=DATA.groups
        )


def test_a_transformer_that_is_not_fitted(tmp_path):
    source = read(DATA.write(tmp_path / "a.parquet", row_group=50))
    for given in (PCA(2), make_pipeline(StandardScaler(), PCA(2))):
        model = GroupClassifier(feature_map=given, memory="12kB")
        with pytest.raises(ValueError, match="is not fitted; fit it first"):
            model.fit(DATA.X, DATA.y, groups=DATA.groups)
        with pytest.raises(ValueError, match="is not fitted; fit it first"):
            model.fit(source)


def test_a_transformer_of_other_features():
    other = PCA(2).fit(np.random.default_rng(0).normal(size=(20, 7)))
    with pytest.raises(ValueError, match=r"fitted on 7 features.*X has 3"):
        DATA.fit(feature_map=other)


def test_what_is_no_map_at_all():
    for given in ("polynomial", 3, PCA):
        with pytest.raises(ValueError, match="has no transform"):
            DATA.fit(feature_map=given)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_value_under_a_map_is_named(bad, tmp_path):
    X = DATA.X.copy()
    row = int(np.flatnonzero(DATA.y == 0)[200])
    X[row, 1] = bad
    data = DATA.but(X=X)
    with pytest.raises(ValueError, match=f"row {row}, column 1"):
        data.fit(feature_map=Polynomial(2))
    source = read(data.write(tmp_path / "a.parquet", row_group=50))
    model = DATA.fit(feature_map=Polynomial(2))
    for act in (
        lambda: fit_stream(source, "12kB", feature_map=Polynomial(2)),
        lambda: model.group_scores(source),
        lambda: model.decision_function(source),
    ):
        with pytest.raises(ValueError, match=f"row {row} of .*a.parquet.*'f1'"):
            act()


# ---- scikit-learn's ways --------------------------------------------------------------------


def test_clones_and_parameters():
    model = GroupClassifier(feature_map=Polynomial(2))
    copy = clone(model).set_params(feature_map__degree=3)
    assert (model.feature_map.degree, copy.feature_map.degree) == (2, 3)
    assert model.get_params()["feature_map__degree"] == 2
    copy.fit(DATA.X, DATA.y, groups=DATA.groups)
    assert copy.feature_map_.n_features_out_ == 19
    assert not hasattr(copy.feature_map, "n_features_in_")


@pytest.mark.parametrize("wrap", [Fitted, FrozenEstimator])
def test_a_clone_keeps_a_wrapped_transformer_fitted(wrap):
    model = GroupClassifier(feature_map=wrap(PCA(2).fit(DATA.X)), random_state=0)
    one, two = (m.fit(DATA.X, DATA.y, groups=DATA.groups) for m in (model, clone(model)))
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-9)


def test_a_clone_of_a_bare_transformer_says_what_to_do():
    """scikit-learn's clone forgets what a transformer has learnt."""
    copy = clone(GroupClassifier(feature_map=PCA(2).fit(DATA.X)))
    with pytest.raises(ValueError, match="is not fitted"):
        copy.fit(DATA.X, DATA.y, groups=DATA.groups)


def test_a_search_over_maps():
    over_degrees = GridSearchCV(
        GroupClassifier(feature_map=Polynomial(1), random_state=0),
        {"feature_map__degree": [1, 2], "lam": [0.5, 0.9]},
        cv=GroupKFold(3),
    )
    over_maps = GridSearchCV(
        GroupClassifier(random_state=0),
        {"feature_map": [None, Polynomial(2), Fitted(PCA(2).fit(DATA.X))]},
        cv=GroupKFold(3),
    )
    with sklearn.config_context(enable_metadata_routing=True):
        for search, n_tried in ((over_degrees, 4), (over_maps, 3)):
            search.fit(DATA.X, DATA.y, groups=DATA.groups)
            assert len(search.cv_results_["params"]) == n_tried
            assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
