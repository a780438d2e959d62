"""From the score of a group to its probability, in a graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groupcm.calibrators import Isotonic, Sigmoid
from groupcm.onnx_export.graph import Graph
from groupcm.onnx_export.groups import GroupValues

__all__ = ["group_probabilities"]


def group_probabilities(graph: Graph, curve: Sigmoid | Isotonic, groups: GroupValues) -> str:
    """``(1 − p(s), p(s))``, a row a group; NaN where the score is NaN or nobody is there."""
    unknown = graph.constant(np.nan)
    score = graph.op("Where", groups.is_there, groups.score, unknown)
    if isinstance(curve, Sigmoid):
        positive = _sigmoid(graph, curve, score)
    else:
        positive = _isotonic(graph, curve, score)
    # Comparisons and bounds need not pass a NaN on.
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
    # The last knot is reached, never passed.
    length, rise = np.append(np.diff(knots), 1.0), np.append(np.diff(values), 0.0)

    def at_knot(table: NDArray[np.float64]) -> str:
        return graph.op("Gather", graph.constant(table), at, axis=0)

    share = graph.op("Div", graph.op("Sub", inside, at_knot(knots)), at_knot(length))
    return graph.op("Add", at_knot(values), graph.op("Mul", share, at_knot(rise)))
