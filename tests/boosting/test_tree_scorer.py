"""Trees as a group model: scores are those of the boosters, wherever the rows come from."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GroupKFold, cross_val_score
from tree_model import TreeModel

import groupcm.boosting.scorer as module
from groupcm import CalibratedGroupClassifier
from groupcm.boosting.scorer import TreeScorer
from groupcm.data import validation
from groupcm.data.groups import index_groups
from groupcm.data.validation import require_no_infinity
from groupcm.errors import InputError
from groupcm.metrics import group_roc_auc_scorer
from groupcm.objective.terms import Groups
from groupcm.sources import from_parquet

N_FEATURES = 5


def made(n_classes: int = 2, seed: int = 0):
    """Candidates whose groups are contiguous."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(60), rng.integers(1, 12, 60))
    X = rng.normal(size=(len(groups), N_FEATURES)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], np.linspace(0.2, 1.2, n_classes - 1))
    return X, y, groups


def by_hand(scores, groups):
    """The first largest score of each group, group by group."""
    ids = list(dict.fromkeys(groups.tolist()))
    rows = [np.flatnonzero(groups == g) for g in ids]
    winner = np.stack([own[np.argmax(scores[own], axis=0)] for own in rows])
    return ids, np.take_along_axis(scores, winner, axis=0), winner


def table_of(X, y, groups):
    columns = {f"f{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])}
    return pa.table({**columns, "frame": groups, "label": y})


@pytest.fixture(scope="module", params=[2, 3])
def case(request):
    X, y, groups = made(request.param)
    return X, y, groups, TreeModel().fit(X, y)


def raw_scores(model, X):
    return np.column_stack([b.predict(X, raw_score=True) for b in model.boosters_])


def test_rows_have_the_scores_of_the_boosters(case, monkeypatch):
    X, _, _, model = case
    expected = raw_scores(model, X)
    for rows in (X, X.astype(np.float64), sp.csr_array(X), np.asfortranarray(X)):
        np.testing.assert_array_equal(TreeScorer(model.forests_).of_rows(rows), expected)
    monkeypatch.setattr(module, "_ROWS_A_THREAD", 7)
    for num_threads in (-1, 1, 2):
        found = TreeScorer(model.forests_, num_threads).of_rows(X)
        np.testing.assert_array_equal(found, expected)
    shape = model.decision_function(X).shape
    assert shape == ((len(X),) if len(model.classes_) == 2 else expected.shape)


@pytest.mark.parametrize("stand_together", [True, False])
def test_groups_have_their_first_largest_score(case, stand_together):
    X, y, groups, model = case
    if not stand_together:
        order = np.random.default_rng(1).permutation(len(groups))
        X, y, groups = X[order], y[order], groups[order]
    X = X[np.repeat(np.arange(len(X)), 2)]  # every score twice
    groups = np.repeat(groups, 2)
    ids, score, winner = by_hand(raw_scores(model, X), groups)
    found = TreeScorer(model.forests_).of_groups(X, Groups.from_index(index_groups(groups)))
    np.testing.assert_array_equal(found[0], score)
    np.testing.assert_array_equal(found[1], winner)
    told = model.group_scores(X, groups)
    np.testing.assert_array_equal(told.group, ids)
    np.testing.assert_array_equal(told.winner, np.squeeze(winner))


@pytest.mark.parametrize("row_group", [1_000, 50])
def test_a_source_gives_what_memory_gives(case, tmp_path, row_group):
    X, y, groups, model = case
    path = tmp_path / "frames.parquet"
    pq.write_table(table_of(X, y, groups), path, row_group_size=row_group)
    source = from_parquet(path, group="frame", label="label", batch_rows=16)
    np.testing.assert_array_equal(model.decision_function(source), model.decision_function(X))
    found, expected = model.group_scores(source), model.group_scores(X, groups)
    np.testing.assert_array_equal(found.group, expected.group)
    np.testing.assert_array_equal(found.score, expected.score)
    np.testing.assert_array_equal(found.winner, expected.winner)
    assert model.score(source) == model.score(X, y, groups)


def test_units_that_are_scored_side_by_side_take_a_thread_each(case, tmp_path):
    X, y, groups, model = case
    scorer = TreeScorer(model.forests_, 3)
    threads = {}
    for row_group in (10_000, 50):
        path = tmp_path / f"{row_group}.parquet"
        pq.write_table(table_of(X, y, groups), path, row_group_size=row_group)
        chunks = scorer.on_chunks(from_parquet(path, group="frame", label="label"))
        threads[row_group] = getattr(chunks, "num_threads", None)
        assert pickle.loads(pickle.dumps(chunks)).num_threads == threads[row_group]
    assert threads == {10_000: 3, 50: 1}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_not_copied(case, monkeypatch, dtype):
    X, _, _, model = case
    X, seen = X.astype(dtype), []
    sparse = sp.csr_array(X)
    for name in ("score_rows", "score_csr_rows"):
        kernel = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *given, kernel=kernel: (seen.append(given[0]), kernel(*given))[1]
        )
    scorer = TreeScorer(model.forests_, 1)
    scorer.of_rows(X)
    scorer.of_rows(sparse)
    k = len(model.forests_)
    assert len(seen) == 2 * k
    assert all(np.shares_memory(rows, X) for rows in seen[:k])
    assert all(np.shares_memory(rows, sparse.data) for rows in seen[k:])


def test_frames_of_every_kind():
    X, y, groups = made()
    columns = {f"f{j}": X[:, j] for j in range(N_FEATURES)}
    expected = TreeModel().fit(X, y).group_scores(X, groups).score
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        model = TreeModel().fit(frame, y)
        assert model.feature_names_in_.tolist() == list(columns)
        np.testing.assert_array_equal(model.group_scores(frame, groups).score, expected)
    with pytest.raises(ValueError, match="feature names"):
        model.decision_function(pd.DataFrame({f"g{j}": X[:, j] for j in range(N_FEATURES)}))
    with pytest.raises(ValueError, match="now missing:\n- f3"):
        model.decision_function(pd.DataFrame(columns).iloc[:, :3])


def test_missing_values_are_scored_and_infinite_ones_refused():
    X, y, groups = made()
    X[::7, 1] = np.nan
    model = TreeModel().fit(X, y)
    expected = raw_scores(model, X)[:, 0]
    assert np.isfinite(expected).all()
    np.testing.assert_array_equal(model.decision_function(X), expected)
    np.testing.assert_array_equal(model.decision_function(sp.csr_array(X)), expected)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(N_FEATURES)])
    named = TreeModel().fit(frame, y)
    np.testing.assert_array_equal(
        named.group_scores(pl.from_pandas(frame), groups).score, model.group_scores(X, groups).score
    )
    X[40, 3] = -np.inf
    frame.iloc[40, 3] = -np.inf
    place = re.escape("X contains infinity in row 40, column 3")
    for rows in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match=place + ";"):
            model.decision_function(rows)
        with pytest.raises(ValueError, match=place + ";"):
            model.group_scores(rows, groups)
    with pytest.raises(ValueError, match=place + re.escape(" ('f3')")):
        named.decision_function(frame)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_the_first_infinity_is_named(kind, monkeypatch):
    monkeypatch.setattr(validation, "_ROWS_AT_ONCE", 4)
    X = np.zeros((11, 3))
    X[2, 1] = np.nan
    require_no_infinity(kind(X))
    X[9, 0] = X[9, 2] = X[10, 0] = np.inf
    with pytest.raises(ValueError, match="row 9, column 0"):
        require_no_infinity(kind(X))


def test_a_value_of_a_source_may_be_missing_and_not_infinite(tmp_path):
    X, y, groups = made()
    model = TreeModel().fit(X, y)
    X[31, 2] = np.nan

    def written() -> Any:
        path = tmp_path / "frames.parquet"
        pq.write_table(table_of(X, y, groups), path, row_group_size=30)
        return from_parquet(path, group="frame", label="label")

    np.testing.assert_array_equal(model.decision_function(written()), model.decision_function(X))
    X[40, 3] = np.inf
    for score in (model.decision_function, model.group_scores):
        with pytest.raises(InputError, match=r"row 40 of .* the feature 'f3' is inf"):
            score(written())


def test_contributions_add_up_to_the_score(case):
    X, _, _, model = case
    scorer = TreeScorer(model.forests_)
    for column in range(len(model.trees_)):
        contributions, expected = scorer.contributions(X, column)
        assert contributions.shape == X.shape
        total = expected + contributions.sum(axis=1)
        np.testing.assert_allclose(total, scorer.of_rows(X)[:, column], atol=1e-9)


def test_what_other_parts_make_of_trees():
    X, y, groups = made()
    calibrated = CalibratedGroupClassifier(TreeModel(), cv=3).fit(X, y, groups)
    assert calibrated.predict_proba_groups(X, groups).shape == (60, 2)
    assert calibrated.score(X, y, groups) > 0.7
    model = TreeModel().fit(X, y)
    assert group_roc_auc_scorer(model, X, y, groups=groups) > 0.8
    found = cross_val_score(TreeModel(), X, y, groups=groups, cv=GroupKFold(3))
    assert (found > 0.7).all()
