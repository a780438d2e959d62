"""The kernels of a streamed pass against their slow twins, and what a screen promises."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcm.kernels.dot import pack_affine, stored_rows
from groupcm.kernels.maxima import run_maxima
from groupcm.kernels.rows import (
    column_scores,
    column_scores_and_norms,
    gather_columns,
    interleave_columns,
    row_norms,
    row_scores,
)
from groupcm.kernels.screening import screen_terms
from groupcm.objective.terms import NO_ORDER, Terms
from groupcm.solvers.screened import ScreenedTerms
from groupcm.sources.rows.chunk import Chunk, ColumnMajorFeatures, RowMajorFeatures
from groupcm.sources.rows.screening import Ball, ScreeningJob, TermRows
from groupcm.sources.rows.space import LinearSpace

DTYPES = (np.float32, np.float64)
# Around the tile of 512 rows.
SIZES = (1, 2, 511, 512, 513, 1030)
repeatable = settings(derandomize=True, deadline=None, max_examples=60)


def columns_of(X):
    """Separate columns, their addresses, and an array of their type."""
    columns = [np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])]
    addresses = np.array([column.ctypes.data for column in columns], dtype=np.int64)
    return columns, addresses, X[:0, 0]


def whole_numbers(n, d, dtype):
    """Small whole numbers: every sum is exact, so the twins must be equal to the last bit."""
    rng = np.random.default_rng([n, d])
    X = rng.integers(-4, 5, (n, d)).astype(dtype)
    mean = rng.integers(-3, 4, d).astype(np.float64)
    weights = rng.integers(-3, 4, (3, d)).astype(np.float64)
    return X, mean, weights, np.array([0.0, -2.0, 5.0])


def slow_scores(X, mean, weights, constant):
    centred = X.astype(np.float64) - mean
    sets = zip(weights, constant, strict=True)
    return np.array([[c + np.sum(x * w) for x in centred] for w, c in sets])


every_shape = pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 20])
every_size = pytest.mark.parametrize("n", SIZES)
every_dtype = pytest.mark.parametrize("dtype", DTYPES)


@every_dtype
@every_shape
@every_size
def test_scores_are_their_twin(n, d, dtype):
    X, mean, weights, constant = whole_numbers(n, d, dtype)
    expected = slow_scores(X, mean, weights, constant)
    _columns, addresses, like = columns_of(X)
    found = np.full((3, n), -7.0)
    column_scores(addresses, like, mean, weights, constant, found)
    np.testing.assert_array_equal(found, expected)
    for w, c, row in zip(weights, constant, expected, strict=True):
        by_row = np.full(n, -7.0)
        row_scores(stored_rows(X), pack_affine(mean, w), c, by_row)
        np.testing.assert_array_equal(by_row, row)


@every_dtype
@every_shape
@every_size
def test_norms_are_their_twin(n, d, dtype):
    X, mean, _, _ = whole_numbers(n, d, dtype)
    scale = 2.0 ** np.random.default_rng(d).integers(-3, 4, d)
    expected = np.sqrt(np.sum(((X.astype(np.float64) - mean) / scale) ** 2, axis=1))
    _columns, addresses, like = columns_of(X)
    by_column, by_row = np.full((2, n), -7.0)
    weights, constant, score = np.ones((1, d)), np.zeros(1), np.full((1, n), -7.0)
    column_scores_and_norms(addresses, like, mean, scale, weights, constant, score, by_column)
    np.testing.assert_array_equal(score[0], np.sum(X.astype(np.float64) - mean, axis=1))
    row_norms(X, mean, scale, by_row)
    np.testing.assert_array_equal(by_column, expected)
    np.testing.assert_array_equal(by_row, expected)


@every_dtype
@every_size
def test_columns_become_rows(n, dtype):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 6)).astype(dtype)
    _columns, addresses, like = columns_of(X)
    out = np.full((n, 6), -7.0, dtype)
    interleave_columns(addresses, like, out)
    np.testing.assert_array_equal(out, X)
    wide = np.full((n, 8), -7.0, dtype)  # into the middle of something wider
    interleave_columns(addresses, like, wide[:, 1:7])
    np.testing.assert_array_equal(wide[:, 1:7], X)
    np.testing.assert_array_equal(wide[:, [0, 7]], -7.0)
    for rows in (rng.integers(0, n, 700), np.arange(n)[::-1], np.empty(0, np.int64)):
        taken = np.full((len(rows), 6), -7.0, dtype)
        gather_columns(addresses, like, n, np.ascontiguousarray(rows), taken)
        np.testing.assert_array_equal(taken, X[rows])


@every_dtype
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("d", [1, 3, 4, 9])
def test_a_bad_value_shows_itself_in_its_row_alone(d, bad, dtype):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(600, d)).astype(dtype)
    at = (513, d - 1)
    X[at] = bad
    mean, scale = np.zeros(d), np.ones(d)
    weights = np.zeros((1, d))  # even where the weight is zero
    for features in (RowMajorFeatures(X), ColumnMajorFeatures(tuple(columns_of(X)[0]))):
        scores = features.scores(mean, weights, np.zeros(1))[0]
        norms = features.scores_and_norms(mean, scale, weights, np.zeros(1))[1]
        for found in (scores, norms):
            assert np.flatnonzero(~np.isfinite(found)).tolist() == [513]


def test_rows_and_columns_are_the_same_features():
    X = np.random.default_rng(0).normal(size=(1000, 11)).astype(np.float32)
    rows, columns = RowMajorFeatures(X), ColumnMajorFeatures(tuple(columns_of(X)[0]))
    mean, scale = X.mean(axis=0).astype(np.float64), X.std(axis=0).astype(np.float64)
    weights = np.random.default_rng(1).normal(size=(2, 11))
    chosen = np.array([999, 0, 512, 512])
    assert len(rows) == len(columns) == 1000
    np.testing.assert_array_equal(columns.matrix(), X)
    np.testing.assert_array_equal(columns.take(chosen), rows.take(chosen))
    np.testing.assert_allclose(
        columns.scores(mean, weights, np.ones(2)), rows.scores(mean, weights, np.ones(2)), 1e-12
    )
    for by_column, by_row in zip(
        columns.scores_and_norms(mean, scale, weights, np.ones(2)),
        rows.scores_and_norms(mean, scale, weights, np.ones(2)),
        strict=True,
    ):
        np.testing.assert_allclose(by_column, by_row, 1e-12)


# ---- the screen -----------------------------------------------------------------------------


def run_screen(score, norm, rows, start, stop, radius, floor):
    kept, term = np.full((2, int(np.sum(stop - start))), -7)
    ceiling, far_norm, best = np.full((3, len(start)), -7.0)
    count = screen_terms(
        score, norm, rows, start, stop, radius, floor, kept, term, ceiling, far_norm, best
    )
    return kept[: max(count, 0)], term[: max(count, 0)], ceiling, far_norm, best, count


def slow_screen(score, norm, rows, start, stop, radius, floor):
    kept, term, ceiling, far_norm, best = [], [], [], [], []
    for k, (lo, hi) in enumerate(zip(start, stop, strict=True)):
        members = np.arange(lo, hi) if len(rows) == 0 else rows[lo:hi]
        s, reach = score[members], radius * norm[members]
        bar = max(np.max(s - reach, initial=-np.inf), floor)
        stays = s + reach >= bar
        kept += members[stays].tolist()
        term += [k] * int(stays.sum())
        ceiling.append(np.max((s + reach)[~stays], initial=-np.inf))
        far_norm.append(np.max(norm[members][~stays], initial=0.0))
        best.append(np.max(s, initial=-np.inf))
    return kept, term, ceiling, far_norm, best, len(kept)


def random_terms(rng, n, *, empty=True):
    """Ranges of 0 to 7 positions, with gaps between some of them."""
    start, stop, at = [], [], 0
    while at < n:
        size = int(rng.integers(0 if empty else 1, 8))
        if rng.random() < 0.8 or not start:
            start.append(at)
            stop.append(min(at + size, n))
        at += max(1, size)
    return np.array(start), np.array(stop)


@pytest.mark.parametrize("radius", [0.0, 0.25, 4.0])
@pytest.mark.parametrize("floor", [-1.0, -3.0, 50.0, -np.inf])
@pytest.mark.parametrize("lookup", [False, True])
def test_screen_is_its_twin(radius, floor, lookup):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 80))
        score = rng.integers(-6, 7, n) / 4.0  # ties
        norm = rng.integers(0, 9, n) / 4.0
        rows = rng.permutation(n) if lookup else NO_ORDER
        given = (score, norm, rows, *random_terms(rng, n), radius, floor)
        for found, expected in zip(run_screen(*given), slow_screen(*given), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_rows_that_tie_are_all_kept():
    score, norm = np.array([1.0, 1.0, 0.5]), np.zeros(3)
    kept, *_ = run_screen(score, norm, NO_ORDER, np.array([0]), np.array([3]), 0.5, -1.0)
    assert kept.tolist() == [0, 1]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("lookup", [False, True])
def test_screen_names_the_first_term_with_a_bad_score(bad, lookup):
    score, norm = np.zeros(9), np.ones(9)
    rows = np.arange(9)[::-1].copy() if lookup else NO_ORDER
    start, stop = np.array([0, 3, 6]), np.array([3, 6, 9])
    score[[4, 7 if not lookup else 1]] = bad
    assert run_screen(score, norm, rows, start, stop, 1.0, -1.0)[-1] == -2


def slow_run_maxima(score, start):
    ends = np.append(start[1:], len(score))
    runs = [score[lo:hi] for lo, hi in zip(start, ends, strict=True)]
    winner = [int(lo + np.argmax(run)) for lo, run in zip(start, runs, strict=True)]
    return [run.max() for run in runs], winner


@repeatable
@given(seed=st.integers(0, 10**6), n=st.integers(1, 100))
def test_run_maxima_is_its_twin(seed, n):
    rng = np.random.default_rng(seed)
    score = rng.integers(-3, 4, n).astype(np.float64)  # ties go to the first row
    start = np.unique(np.append(0, rng.integers(0, n, n // 3)))
    best, winner = np.empty(len(start)), np.empty(len(start), dtype=np.int64)
    assert run_maxima(score, start, best, winner) == -1
    expected = slow_run_maxima(score, start)
    np.testing.assert_array_equal(best, expected[0])
    np.testing.assert_array_equal(winner, expected[1])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("at", [3, 4, 5])
def test_run_maxima_names_the_first_bad_run(bad, at):
    score = np.zeros(9)
    score[[at, 8]] = bad
    best, winner = np.empty(3), np.empty(3, dtype=np.int64)
    assert run_maxima(score, np.array([0, 3, 6]), best, winner) == 1


def test_no_runs():
    assert run_maxima(np.empty(0), NO_ORDER, np.empty(0), NO_ORDER) == -1


# ---- what it promises -----------------------------------------------------------------------


class Screened:
    """Terms of random rows, screened around a random point, chunk by chunk."""

    def __init__(
        self, seed, *, sign=-1, radius=0.3, shift=0.2, lookup=False, n_chunks=1, zero_margin=1.0
    ):
        rng = np.random.default_rng(seed)
        self.floor = -zero_margin
        n, d = int(rng.integers(5, 60)), int(rng.integers(1, 6))
        self.rng, self.sign = rng, sign
        self.X = rng.normal(size=(n, d)).astype(rng.choice(["float32", "float64"]))
        self.space = LinearSpace(rng.normal(size=d), rng.uniform(0.5, 2.0, d))
        self.vectors = self.space.vectors(self.X)
        start, stop = random_terms(rng, n, empty=False)
        order = NO_ORDER
        if lookup:  # some rows take no part; within a term they come in any order
            ranges = [np.arange(lo, hi) for lo, hi in zip(start, stop, strict=True)]
            parts = [rng.permutation(rows)[: rng.integers(1, len(rows) + 1)] for rows in ranges]
            stop = np.cumsum([len(part) for part in parts])
            start, order = np.append(0, stop[:-1]), np.concatenate(parts)
        self.terms = Terms(sign, start, stop, order, 1.0, alone=False)
        theta = rng.normal(size=d + 1) * rng.choice([0.3, 1.0])
        self.ball = Ball(theta, radius, shift)
        screen = ScreeningJob(self.space, [self.ball], [[TermRows.of(self.terms)]], zero_margin)
        edges = np.unique(np.concatenate([[0, n], rng.integers(0, n, n_chunks - 1)]))
        found = [self._pass(screen, lo, hi) for lo, hi in pairwise(edges)]
        self.kept = ScreenedTerms(self.terms, d, self.X.dtype, zero_margin)
        self.kept.update(found, 0)

    def _pass(self, screen, lo, hi):
        part = self.X[lo:hi]
        columns = ColumnMajorFeatures(tuple(columns_of(part)[0]))
        features = RowMajorFeatures(part) if self.rng.random() < 0.5 else columns
        return screen(Chunk(int(lo), int(hi - lo), features))[0][0]

    def point(self, away, shift):
        """A point at this distance from the centre, the intercept so much higher."""
        step = self.rng.normal(size=len(self.ball.theta))
        step *= away / np.linalg.norm(step[:-1])
        step[-1] = shift
        return self.ball.theta + step

    def members(self, k):
        rows = np.arange(self.terms.start[k], self.terms.stop[k])
        return rows if len(self.terms.order) == 0 else self.terms.order[rows]

    def heights(self, theta):
        """−sign · s of all rows: how much each row costs, before the margin."""
        return -self.sign * (self.vectors @ theta)


shapes = given(
    seed=st.integers(0, 10**6),
    sign=st.sampled_from([1, -1]),
    radius=st.floats(0.0, 2.0),
    shift=st.floats(0.0, 2.0),
    lookup=st.booleans(),
    n_chunks=st.integers(1, 5),
    zero_margin=st.sampled_from([1.0, np.inf]),
)


@repeatable
@shapes
def test_in_the_ball_the_rows_kept_hold_every_winner_that_costs(seed, **shape):
    screened = Screened(seed, **shape)
    ball, kept = screened.ball, screened.kept
    for _ in range(5):
        away, up = screened.rng.uniform(0, ball.radius), screened.rng.uniform(-1, 1) * ball.shift
        height = screened.heights(screened.point(away, up))
        for k in range(len(screened.terms)):
            rows = screened.members(k)
            stays = np.isin(rows, kept.row[kept.term == k])
            best = height[rows].max()
            if best > screened.floor:  # it costs something
                assert height[rows[stays]].max(initial=-np.inf) >= best - 1e-9


@repeatable
@shapes
def test_rows_dropped_stay_below_the_ceiling_everywhere(seed, **shape):
    screened = Screened(seed, **shape)
    ball, kept = screened.ball, screened.kept
    for away in (0.0, ball.radius, ball.radius + 0.1, 3.0, 20.0):
        theta = screened.point(away, screened.rng.normal())
        height = screened.heights(theta)
        beyond = max(0.0, away - ball.radius)
        reach = kept.ceiling + beyond * kept.far_norm
        reach = reach - screened.sign * (theta[-1] - ball.theta[-1])
        for k in range(len(screened.terms)):
            rows = screened.members(k)
            dropped = rows[~np.isin(rows, kept.row[kept.term == k])]
            assert np.all(height[dropped] <= reach[k] + 1e-9)


@repeatable
@shapes
def test_a_settled_term_has_its_true_loss(seed, **shape):
    """What `unresolved` lets pass is exact: the winner is kept, or the term costs nothing."""
    screened = Screened(seed, **shape)
    ball, kept = screened.ball, screened.kept
    for away in (0.0, ball.radius / 2, ball.radius, 1.5 * ball.radius, 3.0):
        theta = screened.point(away, screened.rng.normal() * ball.shift)
        height = screened.heights(theta)
        local, number = kept.local(0)
        ranges = zip(local.start, local.stop, strict=True)
        best = np.array([height[kept.row[lo:hi]].max() for lo, hi in ranges])
        still_open = kept.unresolved([ball], theta, number, best)
        found = np.full(len(screened.terms), screened.floor)
        found[number] = np.maximum(best, screened.floor)
        for k in np.flatnonzero(~still_open):
            assert max(screened.floor, height[screened.members(k)].max()) <= found[k] + 1e-9


def test_a_part_of_a_term_keeps_what_the_whole_term_keeps():
    """It knows less of its winner, so it may keep more, never less."""
    whole = Screened(3, radius=0.1, n_chunks=1).kept
    for n_chunks in (2, 5):
        cut = Screened(3, radius=0.1, n_chunks=n_chunks).kept
        assert set(whole.row) <= set(cut.row)
        assert np.all(np.diff(cut.row) > 0)
        assert np.all(np.diff(cut.term) >= 0)


# ---- rows of terms, cut by units ------------------------------------------------------------


@repeatable
@given(seed=st.integers(0, 10**6), lookup=st.booleans(), alone=st.booleans())
def test_units_that_are_touched_hold_all_rows_of_the_terms(seed, lookup, alone):
    screened = Screened(seed, lookup=lookup)
    rng, n = screened.rng, len(screened.X)
    rows = TermRows.of(screened.terms)
    if alone:
        rows = TermRows.of(Terms.of_rows(1, rng.permutation(n)[: n // 2 + 1], 1.0))
        members = {(int(i), int(i)) for i in rows.rows}
    else:
        chosen = rng.random(len(screened.terms)) < 0.6
        rows = rows.only(chosen)
        members = {(int(k), int(i)) for k in np.flatnonzero(chosen) for i in screened.members(k)}
    ptr = np.unique(np.concatenate([[0, n], rng.integers(0, n, 6)]))
    touched = rows.touches(ptr)
    found = set()
    for u, (lo, hi) in enumerate(pairwise(ptr)):
        part = rows.between(int(lo), int(hi))
        here = set(_members_of(part))
        assert bool(here) == bool(touched[u])
        assert all(lo <= i < hi for _, i in here)
        found |= here
    assert found == members


def _members_of(part):
    if part.alone:
        return [(int(i), int(i)) for i in part.rows]
    return [
        (int(k), int(p if len(part.rows) == 0 else part.rows[p]))
        for k, lo, hi in zip(part.number, part.start, part.stop, strict=True)
        for p in range(lo, hi)
    ]
