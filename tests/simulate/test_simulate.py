"""The synthetic data: its counts, its reproducibility, and that folds are hard."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from groupcm.metrics import group_roc_auc, index_groups
from groupcm.simulate import Capsule, capsule, capsule_chunks, frames, world
from groupcm.simulate.frames import draw_chunk
from groupcm.simulate.world import make_plan

COLUMNS = ("X", "y", "groups", "overlap", "polyp", "patient")


@pytest.fixture(scope="module")
def data() -> Capsule:
    return capsule()


def same(a: Capsule, b: Capsule) -> bool:
    return all(np.array_equal(getattr(a, c), getattr(b, c)) for c in COLUMNS)


def joined(pieces: list[Capsule]) -> Capsule:
    columns = {c: np.concatenate([getattr(piece, c) for piece in pieces]) for c in COLUMNS}
    return Capsule(**columns, feature_names=pieces[0].feature_names)


def winner_direction() -> np.ndarray:
    """The best linear direction between polyps and mucosa, blind to folds: Σ⁻¹ μ_polyp."""
    covariance = np.eye(13) + np.outer(world.COMMON, world.COMMON)
    return np.linalg.solve(covariance, world.POLYP.astype(np.float64))


def test_shapes_and_types(data):
    n = len(data)
    assert data.X.shape == (n, 13)
    assert data.X.dtype == np.float32
    assert data.X.flags.c_contiguous
    assert np.isfinite(data.X).all()
    dtypes = {"y": "int8", "groups": "int32", "overlap": "float32"}
    for column, dtype in (dtypes | {"polyp": "int32", "patient": "int32"}).items():
        assert getattr(data, column).shape == (n,)
        assert getattr(data, column).dtype == dtype
    assert len(set(data.feature_names)) == 13


def test_counts_are_the_papers_by_default(data):
    index = index_groups(data.groups)
    assert index.stand_together
    assert index.n_groups == data.n_groups == 2293
    assert index.maxima(data.y).sum() == 293
    assert set(np.unique(data.polyp)) == {-1, *range(100)}
    assert np.array_equal(index.maxima(data.polyp) >= 0, index.maxima(data.y) == 1)


def test_group_ptr_bounds_every_group(data):
    piece = list(capsule_chunks())[1]
    for part in (data, piece):
        boundaries = np.flatnonzero(np.diff(part.groups)) + 1
        assert np.array_equal(part.group_ptr, [0, *boundaries, len(part)])


def test_group_sizes_vary_around_their_mean(data):
    sizes = np.diff(data.group_ptr)
    assert 190 < sizes.mean() < 210
    assert 40 < sizes.std() < 100
    small = np.diff(capsule(2000, n_positive=0, group_size=5).group_ptr)
    assert small.min() == 1
    assert 4.7 < small.mean() < 5.3


def test_every_positive_group_has_one_best_fitting_candidate(data):
    n_positive_candidates = np.bincount(data.groups, weights=data.y)
    best = index_groups(data.groups).maxima(data.overlap)[data.groups]
    n_best = np.bincount(data.groups, weights=(data.overlap == best) & (data.y == 1))
    positive = n_positive_candidates > 0
    assert set(n_positive_candidates[positive]) == {1, 2, 3}
    assert (n_best[positive] == 1).all()
    assert np.array_equal(data.overlap > 0, data.y == 1)
    assert data.overlap.max() < 1
    assert best[data.polyp >= 0].min() > 0.5


def test_few_candidates_of_a_positive_group_are_positive(data):
    assert 0.003 < data.y[data.polyp >= 0].mean() < 0.01


def test_patients_hold_whole_groups_and_polyps_and_few_are_ill(data):
    index = index_groups(data.groups)
    patient, polyp = data.patient[data.group_ptr[:-1]], data.polyp[data.group_ptr[:-1]]
    assert np.array_equal(data.patient, patient[index.codes])
    assert np.array_equal(data.polyp, polyp[index.codes])
    assert np.bincount(patient[polyp < 0]).min() >= 20
    assert len(np.unique(patient[polyp >= 0])) < 0.5 * len(np.unique(patient))
    assert (np.diff(patient) >= 0).all()
    for m in range(100):
        assert (np.diff(np.flatnonzero(polyp == m)) == 1).all()
    pairs = {(p, m) for p, m in zip(patient, polyp, strict=True) if m >= 0}
    assert len(pairs) == 100


def test_frames_of_one_polyp_resemble_each_other(data):
    best = index_groups(data.groups).winners(data.overlap)
    best = best[data.y[best] == 1]
    X, polyp = data.X[best].astype(np.float64), data.polyp[best]
    counts = np.bincount(polyp)
    means = np.stack([np.bincount(polyp, X[:, j]) / counts for j in range(13)], axis=1)
    within = ((X - means[polyp]) ** 2).sum(axis=0) / (len(X) - 100)
    assert (within < 0.8 * X.var(axis=0)).mean() > 0.7


def test_frames_share_effects_and_tails_are_heavy(data):
    negative = data.polyp < 0
    X, groups = data.X[negative].astype(np.float64), index_groups(data.groups[negative]).codes
    counts = np.bincount(groups)
    means = np.stack([np.bincount(groups, X[:, j]) / counts for j in range(13)], axis=1)
    # Were candidates independent, means of 200 would vary 200 times less than candidates.
    assert (means.var(axis=0) > 10 * X.var(axis=0) / 200).all()
    centred = X - X.mean(axis=0)
    kurtosis = (centred**4).mean(axis=0) / X.var(axis=0) ** 2
    assert (kurtosis > 3.3).all()


def test_the_winner_of_a_negative_group_is_mostly_a_fold():
    plan = make_plan(400, 0, None, None, 200, 3)
    chunks = [draw_chunk(plan, chunk) for chunk in range(plan.n_chunks)]
    kinds = np.concatenate([kind for _, kind in chunks])
    data = joined([piece for piece, _ in chunks])
    winners = index_groups(data.groups).winners(data.X @ winner_direction())
    assert (kinds == world.FOLD_KIND).mean() < 0.08
    assert (kinds[winners] == world.FOLD_KIND).mean() > 0.6
    has_fold = index_groups(data.groups).maxima(kinds == world.FOLD_KIND)
    assert has_fold.mean() > 0.93


def test_groups_are_neither_trivial_nor_hopeless(data):
    assert 0.7 < group_roc_auc(data.y, data.X @ winner_direction(), data.groups) < 0.97


def test_same_seed_same_bits_whatever_the_threads():
    one, three = (capsule(700, n_positive=20, seed=5, n_threads=n) for n in (1, 3))
    assert same(one, three)


def test_chunks_are_the_whole():
    pieces = list(capsule_chunks(700, n_positive=20, seed=5))
    assert len(pieces) > 1
    assert same(joined(pieces), capsule(700, n_positive=20, seed=5))
    last_and_first = [(a.groups[-1], b.groups[0]) for a, b in pairwise(pieces)]
    assert all(first == last + 1 for last, first in last_and_first)


def test_other_seeds_are_other_data_of_the_same_world():
    a, b = capsule(400, seed=0), capsule(400, seed=1)
    assert a.X.shape != b.X.shape or not np.array_equal(a.X, b.X)
    assert np.intersect1d(a.X[:, 0], b.X[:, 0]).size < 0.01 * len(a)
    polyp_a, polyp_b = (c.X[c.y == 1].mean(axis=0) for c in (a, b))
    assert np.abs(polyp_a - polyp_b).max() < 0.6


def test_a_seed_is_fixed_for_good():
    """Whoever changes the world or the order of draws must mean to."""
    data = capsule(2, n_positive=1, group_size=20, seed=0)
    assert len(data) == 84
    assert data.X[:, 0].sum(dtype=np.float64) == pytest.approx(81.480775, rel=1e-5)


def test_out_is_a_whole_file_and_equal(tmp_path):
    path = tmp_path / "X.npy"
    data = capsule(50, n_positive=5, out=path)
    assert [p.name for p in tmp_path.iterdir()] == ["X.npy"]
    assert isinstance(data.X, np.memmap)
    assert same(data, capsule(50, n_positive=5))


def test_a_failure_leaves_no_file(tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("disk full")

    monkeypatch.setattr(frames, "fill_chunk", fail)
    with pytest.raises(RuntimeError, match="disk full"):
        capsule(5, n_positive=1, out=tmp_path / "X.npy")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("n_negative", "n_positive"), [(30, 0), (0, 3), (1, 1)])
def test_one_class_may_be_missing(n_negative, n_positive):
    data = capsule(n_negative, n_positive=n_positive, group_size=3)
    assert data.n_groups == n_negative + n_positive
    assert len(np.unique(data.groups[data.y == 1])) == n_positive


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_negative": -1}, "n_negative must be a whole number at least 0; got -1."),
        ({"n_negative": 1e5}, "n_negative must be a whole number at least 0; got 100000.0."),
        ({"n_negative": 0, "n_positive": 0}, "at least one frame"),
        ({"n_positive": 5, "n_polyps": 6}, "n_polyps must .* from 1 to n_positive = 5; got 6."),
        ({"n_polyps": 0}, "n_polyps must .* from 1 to n_positive = 293; got 0."),
        ({"n_negative": 9, "n_patients": 10}, "n_patients must .* 1 to n_negative = 9; got 10."),
        ({"group_size": 0}, "group_size must be a whole number at least 1; got 0."),
        ({"seed": -3}, "seed must be a whole number at least 0; got -3."),
        ({"seed": True}, "seed must be a whole number at least 0; got True."),
    ],
)
def test_bad_arguments_get_one_sentence_at_once(arguments, message):
    for function in (capsule, capsule_chunks):
        with pytest.raises(ValueError, match=message) as caught:
            function(**arguments)
        assert str(caught.value).count(". ") == 0
