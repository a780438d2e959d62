"""The space of a map: scores and norms without the map's outputs."""

from __future__ import annotations

import numpy as np
import pytest

from groupcm.features import Polynomial, RandomFourier
from groupcm.sources.rows.chunk import RowMajorFeatures
from groupcm.sources.rows.space import LinearSpace, MappedSpace


def rows(n: int = 700) -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.standard_t(4, size=(n, 5)) + 3.0).astype(np.float32)


@pytest.mark.parametrize("feature_map", [Polynomial(3), RandomFourier(30)], ids=str)
def test_scores_and_norms_are_those_of_the_vectors(feature_map):
    X = rows()
    mapped = feature_map.fit(X).transform(X)
    space = MappedSpace(feature_map, mapped.mean(axis=0), mapped.std(axis=0))
    thetas = np.random.default_rng(1).normal(size=(2, space.n_features + 1))
    vectors = space.vectors(X)
    scores, norms = space.scores_and_norms(RowMajorFeatures(X), thetas)
    np.testing.assert_allclose(scores, thetas @ vectors.T, atol=1e-10)
    np.testing.assert_allclose(space.scores(RowMajorFeatures(X), thetas), scores, atol=1e-10)
    true = np.linalg.norm(vectors[:, :-1], axis=1)
    np.testing.assert_allclose(norms, true, rtol=1e-6)
    # Screening needs a bound: a norm may be too large by rounding, never too small.
    assert np.all(norms >= true * (1.0 - 1e-12))


def test_a_mean_far_from_zero_leaves_the_norm_a_bound():
    X = rows() + np.float32(1e4)
    cubic = Polynomial(3).fit(X)
    mapped = cubic.transform(X)
    space = MappedSpace(cubic, mapped.mean(axis=0), mapped.std(axis=0))
    _, norms = space.scores_and_norms(RowMajorFeatures(X), np.ones((1, space.n_features + 1)))
    true = np.linalg.norm(space.vectors(X)[:, :-1], axis=1)
    assert np.all(norms >= true * (1.0 - 1e-12))


def test_without_a_map_the_vectors_are_the_features_on_one_scale():
    X = rows()
    space = LinearSpace(X.mean(axis=0).astype(np.float64), X.std(axis=0).astype(np.float64))
    vectors = space.vectors(X)
    np.testing.assert_allclose(vectors[:, :-1].std(axis=0), 1.0, rtol=1e-5)
    scores, norms = space.scores_and_norms(RowMajorFeatures(X), np.ones((1, 6)))
    np.testing.assert_allclose(scores[0], vectors.sum(axis=1), atol=1e-10)
    np.testing.assert_allclose(norms, np.linalg.norm(vectors[:, :-1], axis=1), rtol=1e-12)
