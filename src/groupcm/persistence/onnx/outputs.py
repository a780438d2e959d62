"""The outputs of a model as operators of an ONNX graph.

`candidate_scores` scores candidates, `largest_of_groups` takes the maximum over each group, and
`group_probabilities` calibrates the scores of groups. All take and return names of values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.estimators.calibrators import Isotonic, Sigmoid
from groupcm.estimators.linear_model import LinearGroupModel
from groupcm.persistence.onnx.graph import Graph
from groupcm.persistence.onnx.transforms import mapped
from groupcm.persistence.onnx.trees import tree_scores

__all__ = [
    "GroupValues",
    "candidate_scores",
    "group_probabilities",
    "has_known_scores",
    "largest_of_groups",
    "n_columns",
]


def has_known_scores(model: Any) -> bool:
    """Return whether a fitted model scores candidates by weights or by trees of groupcm."""
    return isinstance(model, LinearGroupModel) or hasattr(model, "trees_")


def n_columns(model: Any) -> int:
    """Return the number of scores per candidate."""
    return len(model.trees_ if hasattr(model, "trees_") else model.coef_)


def candidate_scores(graph: Graph, model: Any, x: str) -> str:
    """Compute scores of shape (n, k) in float64 from features in float64."""
    if hasattr(model, "trees_"):
        return tree_scores(graph, x, model.forests_)
    if model.feature_map_ is not None:
        x = mapped(graph, x, model.feature_map_)
    weights = graph.constant(np.asarray(model.coef_).T)
    return graph.op("Add", graph.op("MatMul", x, weights), graph.constant(model.intercept_))


@dataclass(frozen=True)
class GroupValues:
    """The names of values of shape (m, k): score, winner, and whether the group has candidates."""

    score: str
    winner: str
    is_there: str


def largest_of_groups(graph: Graph, scores: str, groups: str, n_columns: int) -> GroupValues:
    """``s_g = max_{i in g} s_i`` and ``z_g = min {i in g : s_i = s_g}``, column by column.

    A NaN counts as the largest score: the score of its group is NaN, and the winner is the
    candidate that has it. A group without candidates scores −∞, and its winner is −1.
    """
    n_rows = graph.op("Shape", scores, start=0, end=1)
    minus_one = graph.integers([-1])
    # One more than the largest number; 0 if there are no numbers.
    largest = graph.op("ReduceMax", graph.op("Concat", groups, minus_one, axis=0), keepdims=1)
    n_groups = graph.op("Sub", largest, minus_one)
    group_shape = graph.op("Concat", n_groups, graph.integers([n_columns]), axis=0)
    # A negative number would count from the end, so it is replaced by one that is refused.
    is_negative = graph.op("Less", groups, graph.integers([0]))
    checked = graph.op("Where", is_negative, n_groups, groups)
    # Tile, unlike Expand, keeps the length, so that groups of another length than X are refused.
    column = graph.op("Unsqueeze", checked, graph.integers([1]))
    index = graph.op("Tile", column, graph.integers([1, n_columns]))

    key = graph.op("Where", graph.op("IsNaN", scores), graph.constant(np.inf), scores)
    lowest = graph.filled(group_shape, -np.inf)
    best = graph.op("ScatterElements", lowest, index, key, axis=0, reduction="max")
    wins = graph.op("Equal", key, graph.op("GatherElements", best, index, axis=0))
    count = graph.op("Squeeze", n_rows, graph.integers([0]))
    rows = graph.op("Range", graph.integers(0), count, graph.integers(1))
    rows = graph.op("Unsqueeze", rows, graph.integers([1]))
    rows_that_win = graph.op("Where", wins, rows, n_rows)
    no_winner = graph.op("Expand", n_rows, group_shape)
    first = graph.op("ScatterElements", no_winner, index, rows_that_win, axis=0, reduction="min")

    lowest_row = graph.constant(np.full((1, n_columns), -np.inf))
    padded_scores = graph.op("Concat", scores, lowest_row, axis=0)
    is_there = graph.op("Less", first, n_rows)
    return GroupValues(
        score=graph.op("GatherElements", padded_scores, first, axis=0),
        winner=graph.op("Where", is_there, first, minus_one),
        is_there=is_there,
    )


def group_probabilities(graph: Graph, curve: Sigmoid | Isotonic, groups: GroupValues) -> str:
    """``(1 − p(s), p(s))``, one row per group; NaN if the score is NaN or the group is empty."""
    unknown = graph.constant(np.nan)
    score = graph.op("Where", groups.is_there, groups.score, unknown)
    if isinstance(curve, Sigmoid):
        positive = _sigmoid(graph, curve, score)
    else:
        positive = _isotonic(graph, curve, score)
    # Comparisons and bounds need not propagate a NaN.
    positive = graph.op("Where", graph.op("IsNaN", score), unknown, positive)
    negative = graph.op("Sub", graph.constant(1.0), positive)
    return graph.op("Concat", negative, positive, axis=1)


def _sigmoid(graph: Graph, curve: Sigmoid, score: str) -> str:
    slope, intercept = graph.constant(curve.slope), graph.constant(curve.intercept)
    return graph.op("Sigmoid", graph.op("Add", graph.op("Mul", score, slope), intercept))


def _isotonic(graph: Graph, curve: Isotonic, score: str) -> str:
    """``p_j + (s − s_j) / (s_{j+1} − s_j) · (p_{j+1} − p_j)``, ``j`` the last with ``s_j ≤ s``."""
    knots, values = curve.score, curve.probability
    inside = graph.op("Max", score, graph.constant(knots[0]))
    inside = graph.op("Min", inside, graph.constant(knots[-1]))
    is_past = graph.op("GreaterOrEqual", inside, graph.constant(knots[None, 1:]))
    at = graph.op("ReduceSum", graph.cast(is_past, np.int64), graph.integers([1]), keepdims=1)
    # The last knot is reached, never exceeded.
    length, rise = np.append(np.diff(knots), 1.0), np.append(np.diff(values), 0.0)

    def at_knot(table: NDArray[np.float64]) -> str:
        return graph.op("Gather", graph.constant(table), at, axis=0)

    share = graph.op("Div", graph.op("Sub", inside, at_knot(knots)), at_knot(length))
    return graph.op("Add", at_knot(values), graph.op("Mul", share, at_knot(rise)))
