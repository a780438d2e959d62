"""Trees of LightGBM as the table of ONNX's TreeEnsemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from groupcm.errors import InputError

__all__ = ["TreeTable", "table_of_boosters"]

Node = dict[str, Any]

# Modes of a node, as ONNX numbers them.
_AT_MOST = 0
_MEMBER = 6
_BETWEEN_SETS = float("nan")


@dataclass
class TreeTable:
    """Nodes and leaves of all trees, an entry of each list a node or a leaf.

    A node looks at column ``feature`` of ``(x, x with NaN for zero, x cut to whole numbers)``,
    each of ``n_features`` columns.

    Examples
    --------
    >>> table = TreeTable(1)
    >>> table.add_tree({"leaf_value": 0.5}, target=0)
    >>> table.roots, table.weight
    ([0], [0.5, 0.5])
    """

    n_features: int
    roots: list[int] = field(default_factory=list)
    mode: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    split: list[float] = field(default_factory=list)
    missing_is_true: list[int] = field(default_factory=list)
    if_true: list[int] = field(default_factory=list)
    if_false: list[int] = field(default_factory=list)
    true_is_leaf: list[int] = field(default_factory=list)
    false_is_leaf: list[int] = field(default_factory=list)
    members: list[float] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)

    @property
    def looks_at_copies(self) -> bool:
        """Whether a node looks at anything but x itself."""
        return max(self.feature) >= self.n_features

    def add_tree(self, root: Node, target: int) -> None:
        """Append a tree as LightGBM dumps it, whose leaves add to a column of scores."""
        self.roots.append(len(self.mode))
        if _is_leaf(root):
            # A tree has at least one node: here both its branches end in the same number.
            branches = {"left_child": root, "right_child": root}
            root = {"split_feature": 0, "threshold": 0.0, "missing_type": "None", **branches}
        # Not by recursion: a tree may be as deep as it has leaves.
        waiting: list[tuple[Node, list[int], int]] = [(root, [], 0)]
        while waiting:
            node, pointers, parent = waiting.pop()
            number = len(self.mode)
            if pointers:
                pointers[parent] = number
            self._add_decision(node)
            for child, pointers, is_leaf in (
                (node["left_child"], self.if_true, self.true_is_leaf),
                (node["right_child"], self.if_false, self.false_is_leaf),
            ):
                is_leaf.append(int(_is_leaf(child)))
                pointers.append(len(self.weight))
                if _is_leaf(child):
                    self.weight.append(float(child["leaf_value"]))
                    self.target.append(target)
                else:
                    waiting.append((child, pointers, number))

    def _add_decision(self, node: Node) -> None:
        feature, missing = int(node["split_feature"]), node["missing_type"]
        if node.get("decision_type") == "==":
            self.members += [float(member) for member in node["threshold"].split("||")]
            self.members.append(_BETWEEN_SETS)
            self._add_node(_MEMBER, feature + 2 * self.n_features, 0.0, False)
            return
        threshold = float(node["threshold"])
        if missing == "Zero":
            feature += self.n_features
        # Where LightGBM knows of no missing values, it takes NaN for zero.
        is_left = threshold >= 0.0 if missing == "None" else node["default_left"]
        self._add_node(_AT_MOST, feature, threshold, is_left)

    def _add_node(self, mode: int, feature: int, split: float, missing_is_true: bool) -> None:
        self.mode.append(mode)
        self.feature.append(feature)
        self.split.append(split)
        self.missing_is_true.append(int(missing_is_true))


def table_of_boosters(boosters: Sequence[Any], n_features: int) -> TreeTable:
    """The trees of some `lightgbm.Booster`, one a column of raw scores."""
    table = TreeTable(n_features)
    for target, booster in enumerate(boosters):
        dump = booster.dump_model()
        if dump["num_tree_per_iteration"] != 1:
            raise InputError(
                f"a booster of {dump['num_tree_per_iteration']} columns of scores cannot be "
                "exported; export one booster a column"
            )
        trees = [tree["tree_structure"] for tree in dump["tree_info"]]
        for tree in trees or [{"leaf_value": 0.0}]:
            table.add_tree(tree, target)
    return table


def _is_leaf(node: Node) -> bool:
    if "leaf_const" in node:
        raise InputError(
            "trees with linear leaves cannot be exported; train with linear_tree=False"
        )
    return "leaf_value" in node
