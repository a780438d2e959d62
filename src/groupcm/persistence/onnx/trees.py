"""Sums of decision trees as operators of an ONNX graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.boosting.forest import Forest
from groupcm.errors import InputError
from groupcm.kernels.trees import ZERO
from groupcm.persistence.onnx.graph import Graph

__all__ = ["TreeTable", "tree_scores"]

# ONNX's code for nodes that test "at most".
_AT_MOST = 0


@dataclass(frozen=True)
class TreeTable:
    """The nodes and leaves of all trees in the format of ONNX's TreeEnsemble.

    A node tests column ``feature`` of ``(x, x with NaN for zero)``. A child is the number of a
    node, or of a leaf if ``true_is_leaf`` or ``false_is_leaf`` is set.
    """

    roots: NDArray[np.int64]
    feature: NDArray[np.int64]
    split: NDArray[np.float64]
    missing_is_true: NDArray[np.int64]
    if_true: NDArray[np.int64]
    if_false: NDArray[np.int64]
    true_is_leaf: NDArray[np.int64]
    false_is_leaf: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, forests: Sequence[Forest]) -> TreeTable:
        """Return the table of forests, each of which gives one column of scores.

        Examples
        --------
        >>> from groupcm import GroupBoostingClassifier
        >>> X = np.arange(80.0)[:, None]
        >>> model = GroupBoostingClassifier(3, num_leaves=2, early_stopping=False)
        >>> table = TreeTable.of(model.fit(X, X[:, 0] > 39).forests_)
        >>> table.roots.tolist(), len(table.weight)
        ([0, 1, 2], 6)
        """
        parts: list[TreeTable] = []
        n_nodes = n_leaves = 0
        for target, forest in enumerate(forests):
            parts.append(_table(forest, target, n_nodes, n_leaves))
            n_nodes += len(parts[-1].feature)
            n_leaves += len(parts[-1].weight)
        names = cls.__dataclass_fields__
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _table(forest: Forest, target: int, n_nodes: int, n_leaves: int) -> TreeTable:
    """Return the table of one forest, after the given numbers of nodes and leaves."""
    roots, values = forest.roots, forest.leaf_value
    if not forest.n_trees:
        roots, values = np.array([~0]), np.zeros(1)
    # A tree needs a node: in a tree of a single leaf, both branches lead to a copy of the leaf.
    is_leaf = roots < 0
    alone = ~roots[is_leaf]
    behind = len(values) + np.arange(len(alone))
    left = np.concatenate([forest.left_child, ~alone])
    right = np.concatenate([forest.right_child, ~behind])
    padding = np.zeros(len(alone), dtype=np.int64)
    feature = forest.split_feature + forest.n_features * forest.is_zero_missing
    weight = np.concatenate([values, values[alone]])
    number = np.where(is_leaf, len(forest.threshold) + np.cumsum(is_leaf) - 1, roots)
    return TreeTable(
        roots=n_nodes + number,
        feature=np.concatenate([feature, padding]),
        split=np.concatenate([forest.cuts, np.zeros(len(alone))]),
        missing_is_true=np.concatenate([forest.is_missing_left, padding]).astype(np.int64),
        if_true=np.where(left < 0, n_leaves + ~left, n_nodes + left),
        if_false=np.where(right < 0, n_leaves + ~right, n_nodes + right),
        true_is_leaf=(left < 0).astype(np.int64),
        false_is_leaf=(right < 0).astype(np.int64),
        target=np.full(len(weight), target),
        weight=weight,
    )


def tree_scores(graph: Graph, x: str, forests: Sequence[Forest]) -> str:
    """``s = Σ_t leaf_t(x)``, one column per forest; thresholds and sums are float64."""
    if any(np.any(forest.is_by_category) for forest in forests):
        raise InputError(
            "the trees split by categories, which the ONNX export does not write; train without "
            "categorical_features, with a column of 0 and 1 for each category, to export them"
        )
    table = TreeTable.of(forests)
    if any(np.any(forest.is_zero_missing) for forest in forests):
        is_zero = graph.op("LessOrEqual", graph.op("Abs", x), graph.constant(ZERO))
        without_zero = graph.op("Where", is_zero, graph.constant(np.nan), x)
        x = graph.op("Concat", x, without_zero, axis=1)
    numbers: dict[str, Any] = {
        "tree_roots": table.roots,
        "nodes_featureids": table.feature,
        "nodes_missing_value_tracks_true": table.missing_is_true,
        "nodes_truenodeids": table.if_true,
        "nodes_trueleafs": table.true_is_leaf,
        "nodes_falsenodeids": table.if_false,
        "nodes_falseleafs": table.false_is_leaf,
        "leaf_targetids": table.target,
    }
    return graph.op(
        "TreeEnsemble",
        x,
        domain="ai.onnx.ml",
        n_targets=len(forests),
        aggregate_function=1,
        post_transform=0,
        nodes_modes=graph.tensor(np.full(len(table.feature), _AT_MOST, dtype=np.uint8)),
        nodes_splits=graph.tensor(table.split),
        leaf_weights=graph.tensor(table.weight),
        **{name: values.tolist() for name, values in numbers.items()},
    )
