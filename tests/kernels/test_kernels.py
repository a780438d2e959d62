"""Every kernel against its slow twin: the same thing said in plain NumPy, one row at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from groupcm.data.groups import index_groups
from groupcm.features import scaling
from groupcm.kernels.dot import pack_affine, stored_rows
from groupcm.kernels.maxima import scan, share_out, soft_minima
from groupcm.kernels.rows import column_moments, row_scores
from groupcm.objective.terms import Groups

NO_ORDER = np.empty(0, dtype=np.int64)
KINDS = ("dense", "csr")
DTYPES = (np.float32, np.float64)
# Around whole vectors of 8 values, where a shifted last vector could slip.
WIDTHS = (1, 2, 6, 7, 8, 9, 13, 15, 16, 17, 23, 24, 25, 31, 32, 33, 40, 64, 65, 100)
repeatable = settings(derandomize=True, deadline=None, max_examples=60)


def run_scan(X, mean, weights, start, stop, order=NO_ORDER, *, kind="dense", span=None):
    """Scores, winners, runners-up, leads and the first bad term; -7 where nothing was written."""
    n_terms = len(start)
    score, lead = np.full((2, n_terms), -7.0)
    winner, runner_up = np.full((2, n_terms), -7, dtype=np.int64)
    if kind == "csr":
        matrix = sp.csr_array(X)
        rows, packed = (matrix.data, matrix.indices, matrix.indptr), np.stack([mean, weights])
    else:
        rows, packed = stored_rows(X), pack_affine(mean, weights)
    lo, hi = span or (0, n_terms)
    bad = scan(rows, order, start, stop, packed, lo, hi, score, winner, runner_up, lead)
    return score, winner, runner_up, lead, bad


def slow_scan(X, mean, weights, start, stop, order=NO_ORDER):
    """The same, by sorting: a stable sort leaves the first of equal rows first."""
    score, winner, runner_up, lead = [], [], [], []
    for lo, hi in zip(start, stop, strict=True):
        rows = np.arange(lo, hi) if len(order) == 0 else order[lo:hi]
        s = np.array([np.sum((X[i].astype(np.float64) - mean) * weights) for i in rows])
        ranking = np.argsort(-s, kind="stable")
        score.append(s[ranking[0]])
        winner.append(rows[ranking[0]])
        runner_up.append(rows[ranking[min(1, len(s) - 1)]])
        lead.append(s[ranking[0]] - s[ranking[1]] if len(s) > 1 else np.inf)
    return np.array(score), np.array(winner), np.array(runner_up), np.array(lead)


def ragged_terms(rng, n_rows):
    """Ranges of 1 to 6 rows; between some of them rows that belong to no term."""
    start, stop, at = [], [], 0
    while at < n_rows:
        size = int(rng.integers(1, 7))
        if rng.random() < 0.8:
            start.append(at)
            stop.append(min(at + size, n_rows))
        at += size
    if not start:
        start, stop = [0], [n_rows]
    return np.array(start), np.array(stop)


def whole_numbers(seed, d, dtype, kind):
    """Small whole numbers: every sum is exact, so equal rows tie and the twins must be equal."""
    rng = np.random.default_rng([seed, d])
    n = int(rng.integers(1, 60))
    X = rng.integers(-2, 3, (n, d)).astype(dtype)
    mean = rng.integers(-3, 4, d).astype(np.float64)
    if kind == "csr":  # Only a column that is stored in every row can be centred.
        X[:, 0] = rng.integers(1, 3, n)
        mean[(X == 0).any(axis=0)] = 0
    weights = rng.integers(-2, 3, d).astype(np.float64)
    order = rng.permutation(n) if rng.random() < 0.5 else NO_ORDER
    return X, mean, weights, *ragged_terms(rng, n), order


def check_exactly(seed, d, dtype, kind):
    problem = whole_numbers(seed, d, dtype, kind)
    *found, bad = run_scan(*problem, kind=kind)
    assert bad == -1
    for got, expected in zip(found, slow_scan(*problem), strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", WIDTHS)
def test_scan_is_its_twin(d, dtype, kind):
    for seed in range(4):
        check_exactly(seed, d, dtype, kind)


@pytest.mark.parametrize("d", [1, 7, 8, 13, 100])
def test_every_float16_is_read_in_place(d):
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    X = np.resize(every, (-(-len(every) // d), d))
    rng = np.random.default_rng(d)
    mean, weights = rng.normal(size=(2, d))
    score = np.empty(len(X))
    row_scores(stored_rows(X), pack_affine(mean, weights), 0.5, score)
    is_finite = np.isfinite(X).all(axis=1)
    assert not np.isfinite(score[~is_finite]).any()
    expected = (X[is_finite].astype(np.float64) - mean) @ weights + 0.5
    np.testing.assert_allclose(score[is_finite], expected, rtol=1e-12, atol=1e-9)
    for seed in range(4):
        check_exactly(seed, d, np.float16, "dense")


@repeatable
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 40),
    dtype=st.sampled_from(DTYPES),
    kind=st.sampled_from(KINDS),
)
def test_scan_is_its_twin_on_any_shape(seed, d, dtype, kind):
    check_exactly(seed, d, dtype, kind)


def test_ties_and_terms_of_one_row_by_hand():
    #             term 0         term 1    term 2
    X = np.array([3, 5, 4, 5,    1, 1, 1,  -2], dtype=np.float64)[:, None]  # fmt: skip
    start, stop = np.array([0, 4, 7]), np.array([4, 7, 8])
    score, winner, runner_up, lead, bad = run_scan(X, np.zeros(1), np.ones(1), start, stop)
    assert (score.tolist(), winner.tolist()) == ([5, 1, -2], [1, 4, 7])
    assert (runner_up.tolist(), lead.tolist()) == ([3, 5, 7], [0, 0, np.inf])
    assert bad == -1


@pytest.mark.parametrize("d", [3, 13])
def test_scan_writes_only_the_terms_it_was_given(d):
    X = np.arange(6.0 * d).reshape(6, d)
    start, stop = np.arange(6), np.arange(1, 7)
    _, winner, *_ = run_scan(X, np.zeros(d), np.ones(d), start, stop, span=(2, 4))
    assert winner.tolist() == [-7, -7, 2, 3, -7, -7]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bad_value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("d", [1, 7, 8, 9, 13, 16, 17, 40])
def test_a_bad_value_is_found_in_every_column_under_any_weight(d, bad_value, dtype, kind):
    rng = np.random.default_rng(d)
    start, stop = np.array([0, 3, 4]), np.array([3, 4, 9])
    for column in range(d):
        for weight in (0.0, 1.5, -1.5):
            weights = rng.normal(size=d)
            weights[column] = weight
            row = int(rng.integers(9))
            X = rng.normal(size=(9, d)).astype(dtype)
            X[row, column] = bad_value
            bad = run_scan(X, np.zeros(d), weights, start, stop, kind=kind)[-1]
            assert bad == np.searchsorted(stop, row, side="right")


@pytest.mark.parametrize("d", [5, 13])
def test_the_first_bad_term_is_named_and_those_before_are_right(d):
    rng = np.random.default_rng(0)
    X, weights, mean = rng.normal(size=(12, d)), rng.normal(size=d), np.zeros(d)
    start, stop = np.arange(0, 12, 2), np.arange(2, 14, 2)
    good = run_scan(X, mean, weights, start, stop)
    X[5, 0], X[9, d - 1] = np.inf, np.nan
    *found, bad = run_scan(X, mean, weights, start, stop)
    assert bad == 2
    for now, before in zip(found, good[:-1], strict=True):
        np.testing.assert_array_equal(now[:2], before[:2])
    assert run_scan(X, mean, weights, start, stop, span=(3, 6))[-1] == 4
    assert run_scan(X, mean, weights, start, stop, span=(0, 2))[-1] == -1


def test_opposite_infinities_do_not_cancel():
    X = np.array([[np.inf], [-np.inf], [1.0]])
    one_term = np.array([0]), np.array([3])
    assert run_scan(X, np.zeros(1), np.ones(1), *one_term)[-1] == 0


def test_a_bad_row_of_no_term_is_nobodys_business():
    X = np.ones((3, 13))
    X[1] = np.nan
    start, stop = np.array([0, 2]), np.array([1, 3])
    assert run_scan(X, np.zeros(13), np.ones(13), start, stop)[-1] == -1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", WIDTHS)
def test_scores_keep_their_digits_far_from_zero(d, dtype):
    """Mean 1e6 and deviation 1: sums of float32 would have nothing left."""
    rng = np.random.default_rng(d)
    X = (1e6 + rng.normal(size=(200, d))).astype(dtype)
    mean, weights = X.mean(axis=0, dtype=np.float64), rng.normal(size=d)
    start, stop = ragged_terms(rng, 200)
    score, *_, bad = run_scan(X, mean, weights, start, stop)
    assert bad == -1
    np.testing.assert_allclose(score, slow_scan(X, mean, weights, start, stop)[0], atol=1e-11)


# ---- soft minima ----------------------------------------------------------------------------


def run_soft_minima(margin, ptr, temperature):
    soft, hard = np.full((2, len(ptr) - 1), np.nan)
    share = np.full(len(margin), np.nan)
    soft_minima(margin, ptr, temperature, soft, hard, share)
    return soft, hard, share


def slow_soft_minima(margin, ptr, temperature):
    soft, hard, share = [], [], []
    for lo, hi in pairwise(ptr):
        m = margin[lo:hi]
        scaled = -(m - m.min()) / temperature
        soft.append(m.min() - temperature * logsumexp(scaled))
        hard.append(m.min())
        share.extend(np.exp(scaled - logsumexp(scaled)))
    return np.array(soft), np.array(hard), np.array(share)


def ragged_margins(rng, scale):
    ptr = np.concatenate([[0], np.cumsum(rng.integers(1, 8, 12))])
    margin = scale * rng.normal(size=ptr[-1])
    twins = rng.integers(ptr[-1], size=(2, 10))
    margin[twins[0]] = margin[twins[1]]
    return margin, ptr


@repeatable
@given(
    seed=st.integers(0, 10**6),
    temperature=st.sampled_from([1e-10, 1e-6, 0.01, 0.1, 1.0, 100.0]),
    scale=st.sampled_from([1e-9, 1.0, 1e3, 1e150]),
)
def test_soft_minima_are_their_twins(seed, temperature, scale):
    margin, ptr = ragged_margins(np.random.default_rng(seed), scale)
    soft, hard, share = run_soft_minima(margin, ptr, temperature)
    slow_soft, slow_hard, slow_share = slow_soft_minima(margin, ptr, temperature)
    np.testing.assert_array_equal(hard, slow_hard)
    np.testing.assert_allclose(soft, slow_soft, rtol=1e-14, atol=1e-14 * temperature)
    np.testing.assert_allclose(share, slow_share, rtol=1e-12, atol=2e-15)
    np.testing.assert_allclose(np.add.reduceat(share, ptr[:-1]), 1.0, rtol=1e-14)


def test_soft_minima_survive_margins_as_large_as_there_are():
    margin = np.array([1e308, -1e308, 5.0, 5.0, -1e308])
    soft, hard, share = run_soft_minima(margin, np.array([0, 2, 4, 5]), 1e-10)
    assert hard.tolist() == [-1e308, 5.0, -1e308]
    np.testing.assert_allclose(soft, hard, rtol=1e-9)
    assert share.tolist() == [0.0, 1.0, 0.5, 0.5, 1.0]


def test_share_out_is_its_twin():
    rng = np.random.default_rng(0)
    margin, ptr = ragged_margins(rng, 1.0)
    share, of_term = rng.random(len(margin)), rng.normal(size=len(ptr) - 1)
    out = np.empty(len(share))
    share_out(of_term, ptr, share, out)
    np.testing.assert_array_equal(out, np.repeat(of_term, np.diff(ptr)) * share)


# ---- moments --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 7, 8, 13, 40])
def test_column_moments_are_their_twin(d, dtype):
    rng = np.random.default_rng(d)
    X = rng.integers(-4, 5, (50, d)).astype(dtype)
    rows, shift = rng.permutation(50)[:30], rng.integers(-3, 4, d).astype(np.float64)
    total, square = np.full(d, 10.0), np.full(d, 20.0)  # what is there is added to
    column_moments(X, rows, shift, total, square)
    z = X[rows].astype(np.float64) - shift
    np.testing.assert_array_equal(total, 10.0 + z.sum(axis=0))
    np.testing.assert_array_equal(square, 20.0 + (z * z).sum(axis=0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_moments_keep_their_digits_far_from_zero(dtype):
    rng = np.random.default_rng(0)
    X = (1e6 + rng.normal(size=(400, 9))).astype(dtype)
    X[:, 4] = 0.1
    measured = scaling.measure_scaling(X, np.arange(len(X)), all_rows=True)
    wide = X.astype(np.float64)
    others = np.arange(9) != 4
    np.testing.assert_allclose(measured.mean, wide.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(measured.scale[others], wide.std(axis=0)[others], rtol=1e-8)
    assert np.isinf(measured.scale[4])
    assert measured.constant.tolist() == (~others).tolist()


def test_a_sample_for_the_moments_has_whole_groups(monkeypatch):
    """Every group has the moments of all, but no half of it has."""
    monkeypatch.setattr(scaling, "SAMPLE_VALUES", 1)
    ids = np.random.default_rng(0).permutation(np.repeat(np.arange(2_000), 4))
    X = np.empty((len(ids), 1))
    X[np.argsort(ids, kind="stable"), 0] = np.tile([1.0, 2.0, 3.0, 6.0], 2_000)
    groups = Groups.from_index(index_groups(ids))
    rows = scaling.rows_to_measure(len(X), 1, groups)
    assert len(rows) < len(X)
    measured = scaling.measure_scaling(X, rows, all_rows=False)
    np.testing.assert_allclose(measured.mean, 3.0, rtol=1e-14)
    np.testing.assert_allclose(measured.scale, np.sqrt(3.5), rtol=1e-14)
    assert not measured.constant.any()


# ---- compiled once --------------------------------------------------------------------------

USE_EVERY_KERNEL = """
import json
import numpy as np
from numba.core import event
with event.install_recorder("numba:compile") as compiled:
    from groupcm.kernels.rows import column_moments
    from groupcm.kernels.maxima import scan, share_out, soft_minima
    from groupcm.objective.terms import Terms
    from groupcm.objective.problem import Problem
    from groupcm.objective.losses import SmoothedHinge
    from groupcm.objective.penalties import Huber
    from groupcm.features.scaling import measure_scaling
    from groupcm.objective.smoothed import Block, evaluate
    from groupcm.sources.rows.solver_rows import ArrayRows
    X = np.arange(52, dtype=np.float32).reshape(4, 13)
    scaling = measure_scaling(X, np.arange(4), all_rows=True)
    source = ArrayRows(X, scaling.mean, scaling.scale)
    order = np.empty(0, dtype=np.int64)
    terms = Terms(-1, np.array([0, 2]), np.array([2, 4]), order, 1.0, False)
    source.worst(terms, np.ones(14))
    rows = source.take(np.arange(4))
    block = Block(lambda: rows, np.array([0, 2, 4]), -1, 1.0)
    evaluate(block, Problem(SmoothedHinge(), Huber(), 1.0), 0.1, np.ones(14))
kernels = [scan, soft_minima, share_out, column_moments]
counts = {
    k.py_func.__name__: [sum(k.stats.cache_hits.values()), sum(k.stats.cache_misses.values())]
    for k in kernels
}
print(json.dumps([counts, len(compiled.buffer)]))
"""


def test_a_second_process_does_not_compile_again(tmp_path):
    def counts():
        run = subprocess.run(
            [sys.executable, "-c", USE_EVERY_KERNEL],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(run.stdout)

    (first, compiled), (second, compiled_again) = counts(), counts()
    kernels = ["scan", "soft_minima", "share_out", "column_moments"]
    assert first == {name: [0, 1] for name in kernels}
    assert second == {name: [1, 0] for name in kernels}
    assert compiled > 0
    assert compiled_again == 0
