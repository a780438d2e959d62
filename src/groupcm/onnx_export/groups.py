"""The largest score of each group and the first candidate that has it, in a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groupcm.onnx_export.graph import Graph

__all__ = ["GroupValues", "largest_of_groups"]


@dataclass(frozen=True)
class GroupValues:
    """Names of values of shape (m, k): score, winner, and whether the group has a candidate."""

    score: str
    winner: str
    is_there: str


def largest_of_groups(graph: Graph, scores: str, groups: str, n_columns: int) -> GroupValues:
    """``s_g = max_{i in g} s_i`` and ``z_g = min {i in g : s_i = s_g}``, column by column.

    A NaN counts as the largest score: it shows itself in its group's score, and the winner is
    the candidate that has it. A group without candidates scores −∞, and its winner is −1.
    """
    n_rows = graph.op("Shape", scores, start=0, end=1)
    minus_one = graph.integers([-1])
    # One more than the largest number; of no numbers at all that is 0.
    largest = graph.op("ReduceMax", graph.op("Concat", groups, minus_one, axis=0), keepdims=1)
    n_groups = graph.op("Sub", largest, minus_one)
    group_shape = graph.op("Concat", n_groups, graph.integers([n_columns]), axis=0)
    # A negative number would count from the end; a number that is too large is refused.
    is_negative = graph.op("Less", groups, graph.integers([0]))
    checked = graph.op("Where", is_negative, n_groups, groups)
    # Tile, unlike Expand, leaves the length alone: groups of another length than X are refused.
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
    nobody = graph.op("Expand", n_rows, group_shape)
    first = graph.op("ScatterElements", nobody, index, rows_that_win, axis=0, reduction="min")

    below_all = graph.constant(np.full((1, n_columns), -np.inf))
    with_nobody = graph.op("Concat", scores, below_all, axis=0)
    is_there = graph.op("Less", first, n_rows)
    return GroupValues(
        score=graph.op("GatherElements", with_nobody, first, axis=0),
        winner=graph.op("Where", is_there, first, minus_one),
        is_there=is_there,
    )
