"""Sums of rows are the rows, while none of them leaves its piece of the loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcm.objective.losses.logistic import Logistic
from groupcm.objective.losses.smoothed_hinge import SmoothedHinge
from groupcm.objective.penalties import Huber
from groupcm.objective.problem import Problem
from groupcm.objective.smoothed import Block, evaluate, exact_loss, slope_along
from groupcm.objective.sums import Ball, PieceSums

COLD = 1e-9


@given(
    st.sampled_from([0.0, 0.01, 0.3, 0.5, 2.0]),
    st.lists(st.floats(-5.0, 5.0), min_size=1, max_size=20),
)
def test_the_pieces_are_the_loss(delta, margins):
    loss, t = SmoothedHinge(delta), np.array(margins)
    ends = np.array([piece.end for piece in loss.pieces])
    assert ends[-1] == np.inf
    assert np.all(np.diff(ends) > 0)
    pieces = [loss.pieces[k] for k in np.searchsorted(ends, t)]
    found = [p.constant + p.linear * m + p.square * m * m for p, m in zip(pieces, t, strict=True)]
    np.testing.assert_allclose(found, loss.value(t), atol=1e-12)


def test_a_loss_that_is_no_polynomial_has_no_pieces():
    assert Logistic().pieces == ()


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("k", [0, 1])
def test_sums_are_the_rows(k, sign):
    rng = np.random.default_rng(k)
    problem = Problem(SmoothedHinge(0.4), Huber(0.1), rho=0.3)
    piece, theta = problem.loss.pieces[k], rng.normal(size=4)
    rows = np.column_stack([rng.normal(size=(400, 3)), np.ones(400)])
    margin = sign * (rows @ theta)
    low = problem.loss.pieces[k - 1].end if k else -np.inf
    rows = rows[(margin > low + 0.1) & (margin < piece.end - 0.1)]
    radius = 0.05 / float(np.linalg.norm(rows, axis=1).max())
    sums = PieceSums(
        piece, sign, 0.7, len(rows), rows.sum(0), rows.T @ rows, Ball(theta, radius, radius)
    )
    block = Block(lambda: rows, None, sign, 0.7)
    step = rng.normal(size=4)
    inside = theta + 0.5 * radius * step / np.linalg.norm(step)
    one = evaluate(block, problem, COLD, inside)
    two = evaluate(sums, problem, COLD, inside)
    assert two.is_known
    np.testing.assert_allclose([two.smooth, two.exact], one.exact, rtol=1e-9)
    np.testing.assert_allclose(two.dual.moment, one.dual.moment, rtol=1e-9)
    np.testing.assert_allclose(
        [two.dual.linear, two.dual.square], [one.dual.linear, one.dual.square], rtol=1e-9
    )
    matrix = one.curvature().matrix()
    np.testing.assert_allclose(two.curvature().matrix(), matrix, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(two.curvature().product(step), matrix @ step, atol=1e-9)
    np.testing.assert_allclose(two.curvature().diagonal(), np.diagonal(matrix), atol=1e-9)
    factor = two.curvature().factors()[0]
    np.testing.assert_allclose(factor.T @ factor, matrix, atol=1e-8)
    np.testing.assert_allclose(exact_loss(sums, problem, inside), one.exact, rtol=1e-9)
    slopes = [slope_along(each, problem, COLD, inside, step)(1e-4) for each in (block, sums)]
    np.testing.assert_allclose(slopes[0], slopes[1], rtol=1e-6)


def test_sums_say_nothing_outside_their_ball():
    theta = np.array([1.0, 0.0])
    piece = SmoothedHinge(0.4).pieces[0]
    sums = PieceSums(piece, 1, 1.0, 2, np.ones(2), np.eye(2), Ball(theta, 0.1, 0.2))
    problem = Problem(SmoothedHinge(0.4), Huber(0.1), rho=0.3)
    for outside in ([1.2, 0.0], [1.0, 0.3]):
        found = evaluate(sums, problem, COLD, np.array(outside))
        assert not found.is_known
        assert found.exact == np.inf
    assert evaluate(sums, problem, COLD, np.array([1.05, -0.1])).is_known
