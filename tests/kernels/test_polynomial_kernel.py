"""The kernels of polynomials, each against its slow twin."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest

from groupcm.features.polynomial import count_monomials, monomial_trie
from groupcm.kernels.polynomial import TILE, monomials, polynomial

DTYPES = (np.float32, np.float64)
# Features, degree, interaction_only, max_factors.
FAMILIES = [
    (1, 1, False, 1),
    (1, 5, False, 1),
    (2, 3, False, 3),
    (4, 1, False, 1),
    (13, 3, False, 3),
    (5, 4, False, 2),
    (4, 5, False, 1),
    (3, 6, False, 3),
    (6, 3, True, 3),
    (5, 5, True, 2),
    (3, 5, True, 5),
]


def slow_family(d, degree, interaction_only, max_factors):
    """All vectors of powers that qualify, without the trie."""
    return {
        powers
        for powers in product(range(degree + 1), repeat=d)
        if 1 <= sum(powers) <= degree
        and sum(p > 0 for p in powers) <= max_factors
        and not (interaction_only and max(powers) > 1)
    }


def slow_monomials(X, trie):
    """Each monomial by multiplying its features, row by row."""
    return np.array([[math.prod(row[j] for j in m) for m in trie.monomials] for row in X.tolist()])


def run(X, trie, weights):
    out = np.full((len(X), len(weights)), -7.0)
    polynomial(X, trie.nodes, weights, out)
    return out


@pytest.mark.parametrize("family", [f for f in FAMILIES if f[0] < 13])
def test_the_trie_holds_what_qualifies_once(family):
    found = [tuple(m.count(j) for j in range(family[0])) for m in monomial_trie(*family).monomials]
    assert len(set(found)) == len(found) == count_monomials(*family)
    assert set(found) == slow_family(*family)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n", [0, 1, TILE - 1, TILE, TILE + 1, 2 * TILE + 33])
def test_kernels_are_their_twins(n, family, dtype):
    # Small whole numbers: every sum is exact, so the twins must be equal.
    rng = np.random.default_rng(n)
    trie = monomial_trie(*family)
    X = rng.integers(-2, 3, (n, family[0])).astype(dtype)
    expected = slow_monomials(X, trie).reshape(n, len(trie.monomials))
    found = np.full(expected.shape, -7.0)
    monomials(X, trie.nodes, found)
    np.testing.assert_array_equal(found, expected)
    weights = rng.integers(-3, 4, (2, expected.shape[1])).astype(np.float64)
    np.testing.assert_array_equal(run(X, trie, weights), expected @ weights.T)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_polynomial_of_real_numbers(dtype):
    rng = np.random.default_rng(1)
    trie = monomial_trie(13, 3, False, 3)
    X = rng.normal(size=(300, 13)).astype(dtype)
    weights = rng.normal(size=(1, 559))
    expected = slow_monomials(X, trie) @ weights.T
    np.testing.assert_allclose(run(X, trie, weights), expected, rtol=1e-11, atol=1e-11)


def test_a_row_does_not_depend_on_its_neighbours():
    rng = np.random.default_rng(2)
    trie = monomial_trie(5, 4, False, 4)
    X, weights = rng.normal(size=(2 * TILE, 5)), rng.normal(size=(1, len(trie.monomials)))
    whole = run(X, trie, weights)
    for lo, hi in [(0, 1), (3, 4), (100, 100 + TILE), (2 * TILE - 7, 2 * TILE)]:
        np.testing.assert_array_equal(run(X[lo:hi], trie, weights), whole[lo:hi])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_what_is_not_finite_shows_and_stays_in_its_row(bad, weight):
    trie = monomial_trie(4, 3, False, 2)
    for j in range(4):
        X = np.ones((TILE + 9, 4), np.float32)
        X[[5, TILE + 1], j] = bad
        out = run(X, trie, np.full((1, len(trie.monomials)), weight))
        assert np.flatnonzero(~np.isfinite(out[:, 0])).tolist() == [5, TILE + 1]


def test_threads_do_not_disturb_each_other():
    rng = np.random.default_rng(3)
    trie = monomial_trie(6, 3, False, 3)
    X, weights = rng.normal(size=(8_000, 6)), rng.normal(size=(1, len(trie.monomials)))
    whole = run(X, trie, weights)
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda k: run(X[k : k + 500], trie, weights), range(0, 8_000, 500)))
    np.testing.assert_array_equal(np.concatenate(parts), whole)
