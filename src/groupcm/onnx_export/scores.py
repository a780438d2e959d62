"""The score of each candidate, in a graph, whatever the model computes it with."""

from __future__ import annotations

from typing import Any

import numpy as np

from groupcm.linear_model import LinearGroupModel
from groupcm.onnx_export.feature_maps import mapped
from groupcm.onnx_export.graph import Graph
from groupcm.onnx_export.trees import tree_scores

__all__ = ["candidate_scores", "has_known_scores", "n_columns"]


def has_known_scores(model: Any) -> bool:
    """Whether a fitted model scores candidates by weights or by trees of groupcm."""
    return isinstance(model, LinearGroupModel) or hasattr(model, "trees_")


def n_columns(model: Any) -> int:
    """How many scores a candidate has."""
    return len(model.trees_ if hasattr(model, "trees_") else model.coef_)


def candidate_scores(graph: Graph, model: Any, x: str) -> str:
    """Scores of shape (n, k), float64, of features in float64."""
    if hasattr(model, "trees_"):
        return tree_scores(graph, x, model.forests_)
    if model.feature_map_ is not None:
        x = mapped(graph, x, model.feature_map_)
    weights = graph.constant(np.asarray(model.coef_).T)
    return graph.op("Add", graph.op("MatMul", x, weights), graph.constant(model.intercept_))
