"""Feature maps: the same interface for all, each checked against what it stands for."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import AdditiveChi2Sampler, RBFSampler
from sklearn.kernel_approximation import Nystroem as TheirNystroem
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    Normalizer,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from groupcm.features import (
    AdditiveChi2,
    Fitted,
    Nystroem,
    Polynomial,
    RandomFourier,
    as_feature_map,
)

SAMPLE = np.random.default_rng(0).uniform(0.1, 2.0, (200, 4))


def uniform(*shape):
    return np.random.default_rng(1).uniform(0.1, 2.0, shape)


def normal(*shape):
    return np.random.default_rng(2).normal(size=shape)


def bins():
    return KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf")  # its output is sparse


MAPS = {
    "polynomial": Polynomial(3),
    "interactions": Polynomial(3, interaction_only=True),
    "pruned": Polynomial(4, max_factors=2),
    "fourier": RandomFourier(30),
    "nystroem": Nystroem(20),
    "chi2": AdditiveChi2(3),
    "pca": Fitted(PCA(2).fit(SAMPLE)),
    "bins": Fitted(bins().fit(SAMPLE)),
    "pipeline": Fitted(make_pipeline(StandardScaler(), PolynomialFeatures()).fit(SAMPLE)),
}


@pytest.fixture(params=MAPS)
def feature_map(request):
    return clone(MAPS[request.param]).fit(SAMPLE)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dot_is_transform_times_weights(feature_map, dtype, monkeypatch):
    monkeypatch.setattr("groupcm.features.base.BLOCK_VALUES", 1_000)  # many blocks, the last short
    X = uniform(777, 4).astype(dtype)
    mapped = feature_map.transform(X)
    assert type(mapped) is np.ndarray
    assert mapped.flags.c_contiguous
    assert (mapped.dtype, mapped.shape) == (np.float64, (777, feature_map.n_features_out_))
    for shape in [(mapped.shape[1],), (mapped.shape[1], 1), (mapped.shape[1], 3)]:
        weights = normal(*shape)
        found = feature_map.dot(X, weights)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, mapped @ weights, rtol=1e-10, atol=1e-10)
    awkward = np.asfortranarray(X)[::-2]
    np.testing.assert_allclose(feature_map.transform(awkward), mapped[::-2], atol=1e-12)
    found = feature_map.dot(awkward, weights)
    np.testing.assert_allclose(found, mapped[::-2] @ weights, rtol=1e-10, atol=1e-10)


def test_no_rows(feature_map):
    m = feature_map.n_features_out_
    assert feature_map.transform(np.empty((0, 4))).shape == (0, m)
    assert feature_map.dot(np.empty((0, 4)), np.ones(m)).shape == (0,)
    assert feature_map.dot(np.empty((0, 4)), np.ones((m, 2))).shape == (0, 2)


def test_a_second_fit_is_the_same(feature_map):
    again = clone(feature_map).fit(SAMPLE)
    np.testing.assert_array_equal(again.transform(SAMPLE), feature_map.transform(SAMPLE))


def test_threads_get_the_same(feature_map):
    X = uniform(1600, 4)
    weights = normal(feature_map.n_features_out_)
    starts = range(0, 1600, 100)
    alone = [feature_map.dot(X[k : k + 100], weights) for k in starts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda k: feature_map.dot(X[k : k + 100], weights), starts))
    np.testing.assert_array_equal(together, alone)


def test_what_is_not_finite_shows_in_its_row(feature_map):
    X = uniform(60, 4).astype(np.float32)
    clean = feature_map.transform(X)
    X[7, 2], X[40, 0] = np.nan, np.inf
    found = feature_map.transform(X)
    bad = np.isin(np.arange(60), [7, 40])
    np.testing.assert_array_equal(~np.isfinite(found).all(axis=1), bad)
    np.testing.assert_allclose(found[~bad], clean[~bad], atol=1e-12)
    product = feature_map.dot(X, np.ones(feature_map.n_features_out_))
    np.testing.assert_array_equal(~np.isfinite(product), bad)


def test_dot_stores_no_mapped_rows():
    X = np.random.default_rng(1).uniform(size=(60_000, 4))
    feature_map = RandomFourier(400).fit(SAMPLE)
    tracemalloc.start()
    feature_map.dot(X, np.ones(400))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6 < 60_000 * 400 * 8


def test_names_are_as_many_as_features(feature_map):
    names = feature_map.get_feature_names_out()
    assert names.dtype == object
    assert len(set(names)) == len(names) == feature_map.n_features_out_


def test_wrong_shapes_are_refused(feature_map):
    m = feature_map.n_features_out_
    with pytest.raises(ValueError, match="expecting 4 features"):
        feature_map.transform(np.ones((2, 5)))
    with pytest.raises(ValueError, match=f"this map gives {m} features"):
        feature_map.dot(np.ones((2, 4)), np.ones(m + 1))


@pytest.mark.parametrize("name", [name for name in MAPS if not isinstance(MAPS[name], Fitted)])
def test_a_map_is_fitted_first(name):
    with pytest.raises(NotFittedError):
        clone(MAPS[name]).transform(SAMPLE)


def test_columns_of_a_frame_give_names():
    frame = pd.DataFrame(SAMPLE[:, :2], columns=["area", "hue"])
    quadratic = Polynomial(2).fit(frame)
    assert quadratic.get_feature_names_out().tolist() == [
        "area",
        "hue",
        "area^2",
        "area hue",
        "hue^2",
    ]
    np.testing.assert_array_equal(
        quadratic.transform(frame), quadratic.transform(SAMPLE[:, :2].copy())
    )
    with pytest.raises(ValueError, match="feature names should match"):
        quadratic.transform(frame[["hue", "area"]])


@parametrize_with_checks(
    [Polynomial(), RandomFourier(10), Nystroem(5), AdditiveChi2()],
    expected_failed_checks=lambda _: {
        "check_estimators_nan_inf": "a row that is not finite becomes one, for the pass to report"
    },
)
@pytest.mark.filterwarnings("ignore:Nystroem has")  # the checks fit on one row
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


# Polynomial


def test_the_example_of_the_paper():
    cubic = Polynomial(3).fit(np.zeros((1, 2)))
    assert set(cubic.get_feature_names_out(["x1", "x2"])) == {
        "x1",
        "x2",
        "x1^2",
        "x2^2",
        "x1^3",
        "x2^3",
        "x1 x2",
        "x1 x2^2",
        "x1^2 x2",
    }
    assert Polynomial(3).fit(np.zeros((1, 13))).n_features_out_ == 559


@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize(("d", "degree"), [(1, 4), (2, 3), (5, 1), (4, 4), (3, 5)])
def test_polynomial_is_that_of_scikit_learn(d, degree, interaction_only):
    X = normal(20, d)
    theirs = PolynomialFeatures(degree, interaction_only=interaction_only, include_bias=False)
    ours = Polynomial(degree, interaction_only=interaction_only)
    np.testing.assert_allclose(ours.fit(X).transform(X), theirs.fit_transform(X), rtol=1e-13)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    named = [f"f{j}" for j in range(d)]
    expected = theirs.get_feature_names_out(named).tolist()
    assert ours.get_feature_names_out(named).tolist() == expected


def test_pruned_polynomial_leaves_out_columns_of_the_whole():
    X = normal(10, 4)
    whole, pruned = Polynomial(4).fit(X), Polynomial(4, max_factors=2).fit(X)
    few = [name.count(" ") < 2 for name in whole.get_feature_names_out()]
    assert 0 < sum(few) < len(few)
    np.testing.assert_array_equal(pruned.transform(X), whole.transform(X)[:, few])
    powers = Polynomial(3, max_factors=1).fit(X).get_feature_names_out().tolist()
    assert powers == [f"x{j}{p}" for p in ("", "^2", "^3") for j in range(4)]


def test_a_fitted_polynomial_stays_as_it_is():
    quadratic = Polynomial(2).fit(SAMPLE)
    quadratic.set_params(degree=3)
    assert quadratic.transform(SAMPLE).shape[1] == quadratic.n_features_out_ == 14


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (Polynomial(0), "degree is 0; it must be a whole number, 1 or more"),
        (Polynomial(2.5), "degree is 2.5"),
        (Polynomial(True), "degree is True"),
        (Polynomial(2, max_factors=0), "max_factors is 0"),
        (Polynomial(300), "monomials up to degree 300, more than the 1,000,000 allowed"),
        (RandomFourier(0), "n_components is 0"),
        (RandomFourier(gamma="auto"), "gamma is 'auto'; it must be a positive number"),
        (RandomFourier(gamma=-1.0), r"gamma is -1\.0"),
        (Nystroem("many"), "n_components is 'many'"),
        (Nystroem(5, kernel="no such"), "kernel"),
        (AdditiveChi2(4), "sample_steps is 4; it must be 1, 2 or 3"),
    ],
)
def test_wrong_parameters_are_named(wrong, said):
    with pytest.raises(ValueError, match=said):
        wrong.fit(SAMPLE)


# Kernels


def test_waves_approach_the_kernel():
    X = normal(60, 5)
    exact = rbf_kernel(X, gamma=0.3)
    errors = []
    for m in (50, 500, 5_000, 50_000):
        mapped = RandomFourier(m, gamma=0.3).fit(X).transform(X)
        errors.append(np.sqrt(np.mean((mapped @ mapped.T - exact) ** 2)))
    # A hundred times the waves, a tenth of the error.
    assert errors == sorted(errors, reverse=True)
    np.testing.assert_allclose(np.array(errors) * np.sqrt([50, 500, 5_000, 50_000]), 0.7, atol=0.3)


def test_waves_are_those_of_scikit_learn():
    X = normal(60, 5)
    ours = RandomFourier(20_000, gamma=0.3).fit(X)
    theirs = RBFSampler(gamma=0.3, n_components=20_000, random_state=1).fit(X)
    assert abs(ours.random_weights_.std() / theirs.random_weights_.std() - 1.0) < 0.01
    for name in ("random_weights_", "random_offset_"):
        mine, other = (np.quantile(getattr(m, name), np.arange(1, 10) / 10) for m in (ours, theirs))
        np.testing.assert_allclose(mine, other, atol=0.15)
    vars(theirs).update({k: getattr(ours, k) for k in ("random_weights_", "random_offset_")})
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-9, atol=1e-12)


def test_gamma_scale_is_that_of_the_svm():
    X = normal(40, 3) * [1.0, 2.0, 5.0]
    svm = SVC().fit(X, np.arange(40) % 2)
    assert RandomFourier().fit(X).gamma_ == pytest.approx(svm._gamma, rel=1e-12)
    assert RandomFourier().fit(np.ones((3, 2))).gamma_ == 1.0


def test_seeds():
    X = SAMPLE[:50]
    for make in (RandomFourier, Nystroem):
        a, b, other = (make(10, random_state=s).fit(X).transform(X) for s in (1, 1, 2))
        np.testing.assert_array_equal(a, b)
        assert not np.allclose(a, other)
        unseeded = [make(10, random_state=None).fit(X).transform(X) for _ in range(2)]
        assert not np.allclose(*unseeded)


def test_nystroem_is_exact_on_all_landmarks():
    X = SAMPLE[:30]
    for options, exact in [
        ({"gamma": 2.0}, rbf_kernel(X, gamma=2.0)),
        (
            {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
            polynomial_kernel(X, degree=2, gamma=1.0, coef0=1.0),
        ),
    ]:
        mapped = Nystroem(30, **options).fit(X).transform(X)
        np.testing.assert_allclose(mapped @ mapped.T, exact, atol=1e-4)
        theirs = TheirNystroem(n_components=30, random_state=0, **options).fit(X)
        np.testing.assert_allclose(mapped, theirs.transform(X), rtol=1e-9, atol=1e-9)


def test_nystroem_says_when_the_sample_is_short():
    with pytest.warns(UserWarning, match="has 30 landmarks instead of 100"):
        short = Nystroem(100).fit(SAMPLE[:30])
    assert short.n_features_out_ == 30


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_chi2_is_that_of_scikit_learn(steps):
    ours = AdditiveChi2(steps).fit(SAMPLE)
    theirs = AdditiveChi2Sampler(sample_steps=steps).fit(SAMPLE)
    np.testing.assert_array_equal(ours.transform(SAMPLE), theirs.transform(SAMPLE))
    prefixed = [f"additivechi2sampler_{name}" for name in ours.get_feature_names_out()]
    assert prefixed == theirs.get_feature_names_out().tolist()


def test_chi2_names_the_negative_column():
    X = SAMPLE.copy()
    X[5, 2] = -0.25
    said = "column 'x2' of X holds -0.25, but AdditiveChi2 takes values of 0 or more"
    with pytest.raises(ValueError, match=said):
        AdditiveChi2().fit(X)
    with pytest.raises(ValueError, match=said):
        AdditiveChi2().fit(SAMPLE).dot(X, np.ones(12))
    with pytest.raises(ValueError, match="column 'hue' of X"):
        AdditiveChi2().fit(pd.DataFrame(X, columns=["a", "b", "hue", "d"]))


# Transformers of others


def test_as_feature_map():
    assert as_feature_map(None) is None
    ours = Polynomial(2)
    assert as_feature_map(ours) is ours
    pca = PCA(2).fit(SAMPLE)
    for given in (pca, FrozenEstimator(pca)):
        wrapped = as_feature_map(given)
        assert isinstance(wrapped, Fitted)
        assert wrapped.transformer is pca
        assert (wrapped.n_features_in_, wrapped.n_features_out_) == (4, 2)
        np.testing.assert_array_equal(wrapped.transform(SAMPLE), pca.transform(SAMPLE))
        assert wrapped.get_feature_names_out().tolist() == ["pca0", "pca1"]


@pytest.mark.parametrize(
    "unfitted",
    [PCA(2), Normalizer(), make_pipeline(StandardScaler(), PCA(2)), FrozenEstimator(PCA(2))],
    ids=lambda t: type(t).__name__,
)
def test_an_unfitted_transformer_is_refused(unfitted):
    with pytest.raises(ValueError, match="given as feature map is not fitted; fit it first"):
        as_feature_map(unfitted)


def test_what_cannot_transform_is_refused():
    for wrong, name in [(3, "int"), ("poly", "str"), (PCA, "class PCA"), (SVC(), "SVC")]:
        with pytest.raises(ValueError, match=f"the {name} given as feature map has no transform"):
            as_feature_map(wrong)


def test_a_clone_of_a_fitted_transformer_is_still_fitted():
    wrapped = as_feature_map(PCA(2).fit(SAMPLE))
    np.testing.assert_array_equal(clone(wrapped).transform(SAMPLE), wrapped.transform(SAMPLE))


def test_a_transformer_fitted_on_a_frame_takes_arrays():
    frame = pd.DataFrame(SAMPLE, columns=list("abcd"))
    pipeline = make_pipeline(StandardScaler(), PCA(2)).set_output(transform="pandas").fit(frame)
    wrapped = as_feature_map(pipeline)
    expected = pipeline.transform(frame).to_numpy()
    np.testing.assert_allclose(wrapped.transform(SAMPLE), expected, rtol=1e-12)
    np.testing.assert_allclose(wrapped.transform(frame), expected, rtol=1e-12)
    assert as_feature_map(StandardScaler().fit(frame)).get_feature_names_out()[1] == "b"
    assert hasattr(pipeline[0], "feature_names_in_")  # the user's own is left alone


def test_a_transformer_without_names():
    logarithm = FunctionTransformer(np.log).fit(SAMPLE)
    for nameless in (logarithm, make_pipeline(StandardScaler(), FunctionTransformer()).fit(SAMPLE)):
        assert as_feature_map(nameless).get_feature_names_out().tolist() == ["m0", "m1", "m2", "m3"]
    np.testing.assert_array_equal(as_feature_map(logarithm).transform(SAMPLE), np.log(SAMPLE))


def test_a_transformer_that_takes_nan_gets_it():
    X = SAMPLE.copy()
    X[3, 1] = np.nan
    filled = as_feature_map(SimpleImputer().fit(SAMPLE)).transform(X)
    assert filled[3, 1] == pytest.approx(SAMPLE[:, 1].mean())


def test_a_transformer_that_makes_no_rows_is_refused():
    total = FunctionTransformer(np.sum).fit(SAMPLE)
    with pytest.raises(ValueError, match="a feature map makes one row of features of each row"):
        as_feature_map(total)


def test_a_supervised_transformer_serves_too():
    chosen = SelectKBest(k=2).fit(SAMPLE, SAMPLE[:, 1] + SAMPLE[:, 3] > 2)
    np.testing.assert_array_equal(as_feature_map(chosen).transform(SAMPLE), SAMPLE[:, [1, 3]])
