"""What the flow of data counts: missing values, and overlaps too small for a hit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from groupcm import GroupBoostingClassifier, simulate
from groupcm.data.groups import index_groups
from groupcm.data.tables.formats import write_table
from groupcm.estimators.tables import fit_tables
from groupcm.evaluation import evaluate, evaluate_tables
from groupcm.evaluation.data_summary import data_flow
from groupcm.evaluation.object_rows import HitRule
from groupcm.evaluation.scored import ScoredCandidates, rows_with_missing

FEW = {"n_resamples": 20, "specificity": 0.5}


def scored(**changes) -> ScoredCandidates:
    """Two positive groups of three candidates, and a negative one of two."""
    found = ScoredCandidates(
        index_groups(list("aaabbbcc")),
        score=np.arange(8.0),
        is_positive=np.array([1, 0, 0, 1, 0, 0, 0, 0], dtype=bool),
        rows=lambda rows: np.zeros((len(rows), 1)),
        overlap=np.array([0.9, 0.2, 0.0, 0.4, 0.1, 0.1, 0.2, 0.0]),
    )
    return replace(found, **changes)


def steps(*given, **options):
    return [(each.n_groups, each.n_candidates, each.text) for each in data_flow(*given, **options)][
        1:-1
    ]


def test_small_overlaps_of_positive_groups_are_counted_by_the_hit_rule():
    by_label = "above 0 but too small for a positive label: counted as negative"
    assert steps(scored()) == [(2, 3, f"with 3 candidates of small overlap, {by_label}")]
    ((n_groups, n_candidates, text),) = steps(scored(), HitRule("overlap", 0.15))
    assert (n_groups, n_candidates) == (1, 2)
    assert "too small for an overlap of 0.15 or more" in text
    assert steps(scored(overlap=None)) == []


def test_unannotated_groups_and_missing_overlaps():
    annotated = np.array([0, 0, 0, 1, 1, 1, 1, 1], dtype=bool)
    data = scored(annotated=annotated)
    assert steps(data)[0][:2] == (1, 2)
    overlap = np.where(np.arange(8) == 4, np.nan, scored().overlap)
    found = steps(scored(overlap=overlap))
    assert found[0] == (
        1,
        1,
        "with a missing overlap in 1 candidate: not on any object by its overlap",
    )
    assert found[1][:2] == (2, 2)


def test_missing_features_are_counted_in_memory_and_in_tables(tmp_path):
    data = simulate.capsule(60, n_positive=20, group_size=6, seed=1)
    X = data.X.copy()
    X[[0, 1, 40], [0, 1, 2]] = np.nan
    model = GroupBoostingClassifier(n_estimators=3).fit(X, data.y, data.groups)
    n_groups = len(np.unique(data.groups[[0, 1, 40]]))
    expected = "with missing features in 3 candidates: scored, as the model takes missing values"
    found = evaluate(model, X, data.y, data.groups, **FEW)
    assert (found.flow[1].n_groups, found.flow[1].text) == (n_groups, expected)
    columns = {"frame": data.groups, "polyp": data.y}
    columns |= {f"f{j}": X[:, j] for j in range(X.shape[1])}
    path = tmp_path / "frames.parquet"
    write_table(pa.table(columns), path)
    fit = fit_tables(GroupBoostingClassifier(n_estimators=3), path, group="frame", label="polyp")
    other = tmp_path / "others.parquet"
    write_table(pa.table(columns), other)
    found = evaluate_tables(fit.model, other, group="frame", label="polyp", **FEW)
    assert (found.flow[1].n_groups, found.flow[1].text) == (n_groups, expected)
    complete = evaluate(model, data.X, data.y, data.groups, **FEW)
    assert [each.text for each in complete.flow] == ["in the data", "evaluated"]


def test_rows_with_missing_values_of_any_matrix():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((200, 5)) < 0.05, np.nan, rng.integers(0, 2, (200, 5)))
    expected = np.isnan(X).any(axis=1)
    assert np.array_equal(rows_with_missing(X), expected)
    assert np.array_equal(rows_with_missing(sp.csr_matrix(X)), expected)
    assert rows_with_missing(np.zeros((3, 2), dtype=int)) is None
