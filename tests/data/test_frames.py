"""Data frames of every kind are matched with a model by the names of their columns."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pytest
from dask import dataframe as dd
from model_kinds import NAMES, candidates
from sklearn.linear_model import LogisticRegression

import groupcm.data.frames
from groupcm import (
    CalibratedGroupClassifier,
    GroupBoostingClassifier,
    GroupClassifier,
    GroupClassifierCV,
    MISVMClassifier,
    features,
)
from groupcm.evaluation._evaluate import evaluate
from groupcm.evaluation.comparison.candidate_models import CandidateModel
from groupcm.evaluation.explanation import explain_scores
from groupcm.metrics import group_roc_auc_scorer
from groupcm.sources import from_arrays


class FromAnotherLibrary:
    """A table that only offers its columns to Arrow."""

    def __init__(self, frame):
        self.table = pa.Table.from_pandas(frame)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


KINDS = {
    "pandas": lambda frame: frame,
    "pandas-sparse": lambda frame: frame.astype(pd.SparseDtype(np.float64, 0.0)),
    "pandas-nullable": lambda frame: frame.astype("Float64"),
    "polars": pl.from_pandas,
    "polars-lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "table": pa.Table.from_pandas,
    "batch": pa.RecordBatch.from_pandas,
    "reader": lambda frame: pa.Table.from_pandas(frame).to_reader(),
    "dataset": lambda frame: pa_dataset.dataset(pa.Table.from_pandas(frame)),
    "scanner": lambda frame: pa_dataset.dataset(pa.Table.from_pandas(frame)).scanner(),
    "dask": lambda frame: dd.from_pandas(frame, npartitions=3),
    "narwhals": lambda frame: nw.from_native(pl.from_pandas(frame)),
    "capsule": FromAnotherLibrary,
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@pytest.fixture(scope="module")
def data():
    X, y, groups = candidates()
    return pd.DataFrame(X, columns=NAMES), y, groups


@pytest.fixture(scope="module")
def models(data):
    frame, y, groups = data
    few_trees = {"n_estimators": 3, "early_stopping": False, "random_state": 0}
    fitted = [
        kind.fit(frame, y, groups)
        for kind in (
            GroupClassifier(),
            GroupClassifierCV(lams=[0.5], cv=2),
            MISVMClassifier(),
            GroupBoostingClassifier(**few_trees),
            CalibratedGroupClassifier(GroupClassifier(), cv=2),
            CandidateModel(LogisticRegression()),
        )
    ]
    return [*fitted, CalibratedGroupClassifier(LogisticRegression(), cv=2).fit(frame, y, groups)]


def entries(model, y, groups):
    """Return every method of a model that takes rows."""
    found = {
        "decision_function": model.decision_function,
        "predict": model.predict,
        "group_scores": lambda X: model.group_scores(X, groups).score,
        "predict_groups": lambda X: model.predict_groups(X, groups),
        "score": lambda X: model.score(X, y, groups),
        "scorer": lambda X: group_roc_auc_scorer(model, X, y, groups=groups),
    }
    if isinstance(model, CandidateModel):
        del found["score"]
    if hasattr(model, "predict_proba_groups"):
        found["predict_proba_groups"] = lambda X: model.predict_proba_groups(X, groups)
    return found


@every_kind
def test_columns_are_matched_by_name_in_every_entry_point(kind, data, models):
    frame, y, groups = data
    is_sparse = kind is KINDS["pandas-sparse"]
    for model in models[:5] if is_sparse else models:  # scikit-learn centres no sparse matrix
        for name, entry in entries(model, y, groups).items():
            np.testing.assert_allclose(entry(kind(frame)), entry(frame), err_msg=name)
            with pytest.raises(ValueError, match=r"[Ff]eature names"):
                entry(kind(frame[NAMES[::-1]]))


@every_kind
def test_evaluations_and_explanations_match_columns_by_name(kind, data, models):
    frame, y, groups = data
    model = models[0]
    found, expected = (
        evaluate(model, X, y, groups, n_resamples=20).average_precision
        for X in (kind(frame), frame)
    )
    assert found == expected
    with pytest.raises(ValueError, match=r"[Ff]eature names"):
        evaluate(model, kind(frame[NAMES[::-1]]), y, groups, n_resamples=20)
    # An explanation has always taken columns in any order, where they are named.
    (first, *_), (turned, *_) = (
        explain_scores(model, kind(columns)) for columns in (frame, frame[NAMES[::-1]])
    )
    np.testing.assert_allclose(turned.values, frame.iloc[0])
    np.testing.assert_allclose(turned.contributions, first.contributions)


@every_kind
def test_every_fit_learns_the_names(kind, data):
    frame, y, groups = data
    for model in (
        GroupClassifier(),
        GroupClassifierCV(lams=[0.5], cv=2),
        CalibratedGroupClassifier(GroupClassifier(), cv=2),
        CandidateModel(LogisticRegression()),
    ):
        assert list(model.fit(kind(frame), y, groups).feature_names_in_) == NAMES
    if kind is KINDS["pandas-sparse"]:  # maps take dense rows, and say so
        return
    mapped = features.Polynomial(2).fit(kind(frame))
    assert list(mapped.feature_names_in_) == NAMES
    with pytest.raises(ValueError, match=r"[Ff]eature names"):
        mapped.transform(kind(frame[NAMES[::-1]]))


def test_a_query_is_refused_with_what_to_do(data, monkeypatch):
    # A polars query takes the place of DuckDB's, which is not installed.
    monkeypatch.setattr(groupcm.data.frames, "_ORDERED", ())
    frame, y, groups = data
    with pytest.raises(ValueError, match=r"X is a query \(polars.*collect it once"):
        GroupClassifier().fit(pl.from_pandas(frame).lazy(), y, groups)


def test_sparse_columns_stay_sparse_where_all_are(data):
    frame, y, groups = data
    sparse = frame.where(frame > 2.0, 0.0).astype(pd.SparseDtype(np.float64, 0.0))
    assert groupcm.data.frames.frame_to_matrix(sparse).nnz == np.count_nonzero(frame > 2.0)
    plain = sparse.sparse.to_dense()
    model = GroupClassifier(tol=1e-6).fit(sparse, y, groups)
    np.testing.assert_allclose(model.decision_function(sparse), model.decision_function(plain))
    for mixed in (
        plain.assign(area=sparse["area"]),
        plain.astype(pd.SparseDtype(np.float64, 1.0)),
        plain.round().astype(pd.SparseDtype(np.int64, 0)),
    ):
        dense = groupcm.data.frames.frame_to_matrix(mixed)
        dense = dense if isinstance(dense, np.ndarray) else dense.toarray()
        np.testing.assert_array_equal(dense, mixed.astype(np.float64))


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pd.Series(["low"] * 120, dtype="category"), "Categorical"),
        (pd.Series(["low"] * 120), "String"),
        (pd.Series([1.0] * 119 + ["low"], dtype=object), "Object"),
        (pd.Series(pd.date_range("2020", periods=120)), "Datetime"),
        (pd.Series([[1.0]] * 120), "Object"),
    ],
    ids=["category", "text", "mixed", "date", "list"],
)
def test_a_column_that_holds_no_numbers_is_named(data, column, kind):
    frame, y, groups = data
    with pytest.raises(ValueError, match=f"^column 'edge' of X holds {kind}.*, not numbers; drop"):
        GroupClassifier().fit(frame.assign(edge=column), y, groups)


@pytest.mark.parametrize("dtype", ["Int64", "Float32", "boolean", "int64[pyarrow]", "uint8"])
def test_extension_types_of_numbers_are_taken(data, dtype):
    frame, y, groups = data
    plain = frame.round().clip(0, 1)
    model = GroupClassifier().fit(plain.astype(dtype), y, groups)
    expected = GroupClassifier().fit(plain, y, groups)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-5)


@every_kind
def test_a_source_of_a_frame_has_the_names_of_its_columns(kind, data, models):
    frame, y, groups = data
    order = np.argsort(groups, kind="stable")
    frame, y, groups = frame.iloc[order].reset_index(drop=True), y[order], groups[order]
    source = from_arrays(kind(frame), group=groups, label=y)
    assert source.feature_names == NAMES
    assert GroupClassifier().fit(source).feature_names_in_.tolist() == NAMES
    reordered = from_arrays(kind(frame[NAMES[::-1]]), group=groups, label=y)
    for model in models[:4]:
        expected = model.group_scores(frame, groups).score
        np.testing.assert_allclose(model.group_scores(source).score, expected, atol=1e-6)
        with pytest.raises(ValueError, match="name the features in the order of training"):
            model.group_scores(reordered)


def test_names_of_a_frame_are_not_given_again_otherwise(data):
    frame, _, groups = data
    assert from_arrays(frame, group=groups, feature_names=NAMES).feature_names == NAMES
    with pytest.raises(ValueError, match="feature_names are others than the columns of X"):
        from_arrays(frame, group=groups, feature_names=NAMES[::-1])
    numbered = pd.DataFrame(frame.to_numpy())
    assert from_arrays(numbered, feature_names=NAMES).feature_names == NAMES
