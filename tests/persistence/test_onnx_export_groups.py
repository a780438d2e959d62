"""Group scores and winners of a graph against a loop in Python."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator
from onnx_runs import assert_same, fitted, run

from groupcm.persistence.onnx.graph import Graph
from groupcm.persistence.onnx.outputs import largest_of_groups


@cache
def graph_of_groups(n_columns: int) -> bytes:
    """From scores and groups to group scores and winners, without a model."""
    graph = Graph()
    scores = graph.input("scores", np.float64, ["candidates", n_columns])
    found = largest_of_groups(
        graph, scores, graph.input("groups", np.int64, ["candidates"]), n_columns
    )
    graph.output("score", found.score, np.float64, ["groups", n_columns])
    graph.output("winner", found.winner, np.int64, ["groups", n_columns])
    model = graph.model("", {})
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString()


@cache
def session_of_groups(n_columns: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # refusals are raised; there is no need to print them too
    return onnxruntime.InferenceSession(graph_of_groups(n_columns), options)


def slow_twin(scores: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The definition, row by row."""
    n_groups = max(groups, default=-1) + 1
    best = np.full((n_groups, scores.shape[1]), -np.inf)
    winner = np.full(best.shape, -1)
    for row, group in enumerate(groups):
        for column, score in enumerate(scores[row]):
            held = best[group, column]
            is_first = winner[group, column] == -1
            if is_first or score > held or (np.isnan(score) and not np.isnan(held)):
                best[group, column], winner[group, column] = score, row
    return best, winner


FEW_VALUES = st.sampled_from([-np.inf, -1.5, -1e-300, 0.0, 1e-300, 2.0, 1e300, np.nan])


@st.composite
def candidates(draw: Any) -> tuple[np.ndarray, np.ndarray]:
    """Scores with many ties, in groups of any order with holes among their numbers."""
    n, k = draw(st.integers(0, 12)), draw(st.sampled_from([1, 3]))
    rows = draw(st.lists(st.lists(FEW_VALUES, min_size=k, max_size=k), min_size=n, max_size=n))
    groups = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    return np.array(rows, float).reshape(n, k), np.array(groups, np.int64)


@settings(deadline=None)
@given(candidates())
def test_largest_and_first(drawn):
    scores, groups = drawn
    score, winner = session_of_groups(scores.shape[1]).run(
        None, {"scores": scores, "groups": groups}
    )
    expected_score, expected_winner = slow_twin(scores, groups)
    np.testing.assert_array_equal(score, expected_score)
    np.testing.assert_array_equal(winner, expected_winner)


@pytest.mark.parametrize("n_columns", [1, 2])
def test_another_runtime_agrees(n_columns):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, size=(40, n_columns)).astype(float)
    groups = rng.integers(0, 9, size=40)
    evaluator = ReferenceEvaluator(graph_of_groups(n_columns))
    score, winner = evaluator.run(None, {"scores": scores, "groups": groups})
    expected_score, expected_winner = slow_twin(scores, groups)
    np.testing.assert_array_equal(score, expected_score)
    np.testing.assert_array_equal(winner, expected_winner)


@pytest.mark.parametrize("groups", [[0, -1, 1], [0, 0], [0, 0, 0, 0], [0]])
def test_wrong_groups_are_refused(groups):
    given_ = {"scores": np.zeros((3, 1)), "groups": np.array(groups, np.int64)}
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        session_of_groups(1).run(None, given_)


def test_groups_of_one_and_one_group(tmp_path: Path):
    model = fitted()
    X = np.random.default_rng(3).normal(size=(30, 4))
    every = assert_same(model, tmp_path, X, np.arange(30))
    np.testing.assert_array_equal(every["group_scores"], every["scores"])
    one = assert_same(model, tmp_path, X, np.zeros(30, int))
    assert one["winners"].shape == (1,)


def test_equal_candidates_give_the_first(tmp_path: Path):
    X = np.tile(np.random.default_rng(4).normal(size=(1, 4)), (6, 1))
    found = assert_same(fitted(), tmp_path, X, np.array([1, 0, 1, 0, 0, 1]))
    np.testing.assert_array_equal(found["winners"], [1, 0])


def test_scores_that_differ_beyond_float32_are_told_apart(tmp_path: Path):
    model = fitted()
    model.coef_, model.intercept_ = np.array([[1.0, 1e-10, 0.0, 0.0]]), np.array([1.0])
    X = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0]])
    found = assert_same(model, tmp_path, X, np.array([0, 0]))
    assert found["scores"][0] == found["scores"][1]
    assert found["winners"].tolist() == [1]


def test_no_candidates_and_holes(tmp_path: Path):
    nothing = run(fitted(), tmp_path, np.zeros((0, 4)), np.zeros(0))
    assert [len(value) for value in nothing.values()] == [0, 0, 0]
    holes = run(fitted(), tmp_path, np.ones((2, 4)), [3, 1])
    assert holes["winners"].tolist() == [-1, 1, -1, 0]
    assert np.isneginf(holes["group_scores"]).tolist() == [True, False, True, False]


def test_a_value_that_is_not_finite_shows_itself(tmp_path: Path):
    X = np.ones((4, 4))
    X[2, 1] = np.nan
    found = run(fitted(), tmp_path, X, [0, 1, 1, 1])
    assert np.isnan(found["group_scores"]).tolist() == [False, True]
    assert found["winners"].tolist() == [0, 2]
