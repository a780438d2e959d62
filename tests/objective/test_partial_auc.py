"""The loss of pairs: by sorting and by listing them, its derivatives, and the choice of the top."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcm.kernels.pairs import soft_top
from groupcm.objective.losses import LOSSES, make_loss
from groupcm.objective.pairs import DensePairs, SortedPairs
from groupcm.objective.partial_auc import PairWeights, PartialAuc, SoftPairs, top_share
from groupcm.objective.penalties import make_penalty
from groupcm.objective.terms import Terms

MARGINS = st.lists(st.sampled_from([-3.0, -1.0, -0.25, 0.0, 0.5, 1.0, 2.5]), min_size=1, max_size=9)


def problem(loss="smoothed_hinge", max_fpr=1.0, cost=1.0):
    return PartialAuc(make_loss(loss), make_penalty("l2"), 1.0, max_fpr=max_fpr, cost=cost)


def slow_value(loss, x, p, y, u, share):
    """Pair by pair, the negative groups of the largest scores first."""
    p, u, left, total = p / p.sum(), u / u.sum(), share, 0.0
    for number in np.argsort(y, kind="stable"):
        q = min(left, u[number])
        total += q * sum(
            pk * float(loss.value(xk + y[number])) for pk, xk in zip(p, x, strict=True)
        )
        left -= q
    return total / share


@given(MARGINS, MARGINS, st.floats(0.05, 1.0), st.sampled_from(list(LOSSES)), st.booleans())
@settings(max_examples=60, deadline=None)
def test_value_is_that_of_the_pairs(x, y, share, loss, weighted):
    x, y = np.array(x), np.array(y)
    rng = np.random.default_rng(len(x))
    p, u = (rng.uniform(0.5, 2.0, len(m)) if weighted else np.ones(len(m)) for m in (x, y))
    weights = PairWeights(p.sum(), u.sum(), share)
    found = problem(loss).pairs_value(weights, x, p, y, u)
    expected = slow_value(make_loss(loss), x, p, y, u, share)
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-12)


@given(MARGINS, MARGINS)
@settings(max_examples=40, deadline=None)
def test_sorted_pairs_are_the_listed_pairs(x, y):
    # A small shift: at a corner of the loss either slope is one.
    x, y = np.array(x) + 1e-3, np.array(y)
    loss = make_loss("smoothed_hinge", 0.3)
    quick, slow = SortedPairs(x, y, loss.pieces), DensePairs(x, y, loss)
    rng = np.random.default_rng(0)
    v, w = rng.normal(size=len(x)), rng.normal(size=(len(y), 2))
    for of_quick, of_slow in (
        (quick.slopes_over_positive(v), slow.slopes_over_positive(v)),
        (quick.bends_over_positive(v), slow.bends_over_positive(v)),
        (quick.slopes_over_negative(w), slow.slopes_over_negative(w)),
        (quick.bends_over_negative(w), slow.bends_over_negative(w)),
        (quick.gains(v).value, slow.gains(v).value),
        (quick.gains(v).linear, slow.gains(v).linear),
        (quick.gains(v).square, slow.gains(v).square),
    ):
        np.testing.assert_allclose(of_quick, of_slow, atol=1e-12)


@pytest.mark.parametrize(
    ("loss", "share", "temperature"),
    list(itertools.product(LOSSES, [1.0, 0.3], [0.3, 0.05])),
)
def test_derivatives_are_those_of_differences(loss, share, temperature):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=7), rng.normal(size=11)
    p, u = rng.uniform(0.5, 1.0, 7), rng.uniform(0.5, 1.0, 11)
    weights = PairWeights(p.sum(), u.sum(), share)

    def at(step):
        moved = x + step[:7], y + step[7:]
        return SoftPairs(problem(loss), weights, moved[0], p, moved[1], u, temperature)

    def masses(pairs):
        return np.append(pairs.positive_mass, pairs.negative_mass)

    h, eye = 1e-5, np.eye(18)
    slopes = [(at(h * e).value - at(-h * e).value) / (2 * h) for e in eye]
    np.testing.assert_allclose(masses(at(0 * eye[0])), -np.array(slopes), atol=1e-7)
    bends = [(masses(at(-h * e)) - masses(at(h * e))) / (2 * h) for e in eye]
    found = np.concatenate(at(0 * eye[0]).curvature(eye[:7], eye[7:]))
    np.testing.assert_allclose(found, bends, atol=2e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_soft_value_approaches_the_value(loss):
    rng = np.random.default_rng(1)
    x, y, p, u = rng.normal(size=9), rng.normal(size=20), np.ones(9), np.ones(20)
    weights = PairWeights(9.0, 20.0, 0.25)
    exact = problem(loss).pairs_value(weights, x, p, y, u)
    soft = SoftPairs(problem(loss), weights, x, p, y, u, 1e-4)
    assert soft.value == pytest.approx(exact, abs=3e-4)
    assert soft.q.sum() == pytest.approx(0.25)
    assert soft.q.sum() <= 0.25 * (1 + 1e-15)
    assert np.all(soft.q <= u / 20.0)


def test_top_of_ties_and_fractions():
    chosen, q = top_share(np.array([0.0, -1.0, 0.0, -1.0]), np.full(4, 0.25), 0.625)
    assert chosen[:2].tolist() == [1, 3]
    np.testing.assert_allclose(q, [0.25, 0.25, 0.125])
    chosen, q = top_share(np.array([0.0, -1.0, 1.0]), np.array([0.2, 0.5, 0.3]), 0.6)
    assert chosen.tolist() == [1, 0]
    np.testing.assert_allclose(q, [0.5, 0.1])


def test_soft_choice_is_its_definition():
    value, weight = np.array([0.3, 0.1, 0.9, 0.9, -4.0]), np.array([0.2, 0.3, 0.1, 0.2, 0.2])
    share = np.empty(5)
    nu = soft_top(value, weight, 0.4, 0.05, 0.0, share)
    np.testing.assert_allclose(share, weight / (1 + np.exp((nu - value) / 0.05)), atol=1e-12)
    assert share.sum() == pytest.approx(0.4, rel=1e-12)


@pytest.mark.parametrize(
    ("n", "max_fpr", "m"), [(10, 0.3, 3), (7, 0.3, 3), (4, 0.01, 1), (5, 1, 5)]
)
def test_share_of_equal_weights_is_a_number_of_groups(n, max_fpr, m):
    positive = Terms.of_rows(1, np.array([0]), 0.5)
    negative = Terms.of_rows(-1, np.arange(n), 0.5 / n)
    assert PairWeights.of([positive, negative], max_fpr).share == pytest.approx(m / n)
    uneven = Terms.of_rows(-1, np.arange(n), np.linspace(0.1, 0.2, n))
    assert PairWeights.of([positive, uneven], max_fpr).share == max_fpr
