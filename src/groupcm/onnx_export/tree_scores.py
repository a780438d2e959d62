"""The sum of trees, in a graph."""

from __future__ import annotations

import numpy as np

from groupcm.onnx_export.graph import Graph
from groupcm.onnx_export.trees import TreeTable

__all__ = ["tree_scores"]

# LightGBM takes values up to this for zero; the constant there is float32.
_ZERO = float(np.float32(1e-35))


def tree_scores(graph: Graph, x: str, table: TreeTable, n_columns: int) -> str:
    """``s = Σ_t leaf_t(x)``, thresholds and sums in float64, as LightGBM has them."""
    return graph.op(
        "TreeEnsemble",
        _looked_at(graph, x, table),
        domain="ai.onnx.ml",
        n_targets=n_columns,
        aggregate_function=1,
        post_transform=0,
        tree_roots=table.roots,
        nodes_modes=graph.tensor(np.array(table.mode, dtype=np.uint8)),
        nodes_featureids=table.feature,
        nodes_splits=graph.tensor(np.array(table.split)),
        nodes_missing_value_tracks_true=table.missing_is_true,
        nodes_truenodeids=table.if_true,
        nodes_trueleafs=table.true_is_leaf,
        nodes_falsenodeids=table.if_false,
        nodes_falseleafs=table.false_is_leaf,
        leaf_targetids=table.target,
        leaf_weights=graph.tensor(np.array(table.weight)),
        **({"membership_values": graph.tensor(np.array(table.members))} if table.members else {}),
    )


def _looked_at(graph: Graph, x: str, table: TreeTable) -> str:
    """x as LightGBM reads it, and where a node needs them the copies that `TreeTable` tells of."""
    zero = graph.constant(0.0)
    is_zero = graph.op("LessOrEqual", graph.op("Abs", x), graph.constant(_ZERO))
    x = graph.op("Where", is_zero, zero, x)
    if not table.looks_at_copies:
        return x
    without_zero = graph.op("Where", is_zero, graph.constant(np.nan), x)
    is_negative = graph.op("Less", x, zero)
    whole = graph.op("Where", is_negative, graph.op("Ceil", x), graph.op("Floor", x))
    return graph.op("Concat", x, without_zero, whole, axis=1)
