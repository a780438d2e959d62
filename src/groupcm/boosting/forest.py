"""Decision trees as flat arrays, checked before anything is computed with them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import InputError
from groupcm.kernels.trees import CATEGORIES, MISSING_LEFT, ZERO, ZERO_IS_MISSING
from groupcm.utils.typing import Index, Vector

__all__ = ["LARGEST_INTEGER", "LEAF_FIELDS", "NODE_FIELDS", "Forest"]


# The fields that hold one number per node and one per leaf, in LightGBM's words and types.
NODE_FIELDS: dict[str, type] = {
    "split_feature": np.int64,
    "split_gain": np.float64,
    "threshold": np.float64,
    "decision_type": np.int64,
    "left_child": np.int64,
    "right_child": np.int64,
    "internal_value": np.float64,
    "internal_weight": np.float64,
    "internal_count": np.int64,
}
LEAF_FIELDS: dict[str, type] = {
    "leaf_value": np.float64,
    "leaf_weight": np.float64,
    "leaf_count": np.int64,
}
# What LightGBM, and the table of nodes, can hold.
LARGEST_INTEGER = 2**31 - 1
_LARGEST_WORD = 2**32 - 1
# Sums of such scores, and of what features add to them, are still finite.
_LARGEST_SCORE = 1e300

# A decision type: a bit for categories, a bit for the direction of missing values, and two bits
# for which values are missing.
_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_NONE_MISSING, _ZERO_MISSING, _NAN_MISSING = range(3)


@dataclass(frozen=True, eq=False)
class Forest:
    """``s(x) = Σ_t leaf_t(x)``: decision trees whose leaves add up to one score.

    The nodes of tree ``t`` are ``first_node[t]`` to ``first_node[t + 1]``, its root first, and its
    leaves are ``first_leaf[t]`` to ``first_leaf[t + 1]``, one more than there are nodes. A child
    is the number of a later node of the same tree, or ``~leaf`` for one of its leaves.

    A forest that exists is sound: every feature is one of ``n_features``, every leaf and every
    node but the roots is the child of exactly one node, and every score is finite.
    Anything else is an `InputError` that names the tree and the field. The arrays are read-only.

    Attributes
    ----------
    n_features : int
        Features of a row.
    first_node, first_leaf : ndarray of int of shape (n_trees + 1,)
        Where the nodes and the leaves of each tree begin.
    shrinkage : ndarray of shape (n_trees,)
        The learning rate of each tree, which its leaves already contain.
    split_feature, left_child, right_child : ndarray of int
        The feature that each node looks at, and its children.
    threshold : ndarray
        The largest value of that feature that goes to the left; infinity separates missing values
        from all others. Of a split by categories the number of the set that goes to the left.
    decision_type : ndarray of int
        2 where a missing value goes to the left, plus 0 where no value counts as missing, 4 where
        zero does, 8 where NaN does. With 1 instead of 2 it is a split by categories.
    split_gain : ndarray
        What each split gained in training.
    internal_value, internal_weight, internal_count : ndarray
        The output, the curvature and the number of the training rows at each node.
    leaf_value, leaf_weight, leaf_count : ndarray
        The same for each leaf; the values are what is added up.
    set_ptr : ndarray of int of shape (n_sets + 1,)
        Where the words of each set of categories begin.
    set_words : ndarray of int
        Bit ``k % 32`` of word ``k // 32`` of a set is 1 where it holds category ``k``.

    Examples
    --------
    >>> from groupcm import GroupBoostingClassifier
    >>> X = np.arange(80.0)[:, None]
    >>> model = GroupBoostingClassifier(3, num_leaves=2, early_stopping=False)
    >>> (forest,) = model.fit(X, X[:, 0] > 39).forests_
    >>> forest.n_trees, forest.n_features, len(forest.threshold), len(forest.leaf_value)
    (3, 1, 3, 6)
    """

    n_features: int
    first_node: Index
    first_leaf: Index
    shrinkage: Vector
    split_feature: Index
    split_gain: Vector
    threshold: Vector
    decision_type: Index
    left_child: Index
    right_child: Index
    internal_value: Vector
    internal_weight: Vector
    internal_count: Index
    leaf_value: Vector
    leaf_weight: Vector
    leaf_count: Index
    set_ptr: Index = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    set_words: Index = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __post_init__(self) -> None:
        starts = {"first_node": np.int64, "first_leaf": np.int64, "shrinkage": np.float64}
        starts |= {"set_ptr": np.int64, "set_words": np.int64}
        for name, dtype in (starts | NODE_FIELDS | LEAF_FIELDS).items():
            copy = np.array(getattr(self, name), dtype=dtype)
            object.__setattr__(self, name, _read_only(copy))
        _check_sizes(self)
        tree_of_node = np.repeat(np.arange(self.n_trees), np.diff(self.first_node))
        tree_of_leaf = np.repeat(np.arange(self.n_trees), np.diff(self.first_leaf))
        _check_sets(self, tree_of_node)
        _check_values(self, tree_of_node, tree_of_leaf)
        _check_children(self, tree_of_node, tree_of_leaf)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy from another process is made, and therefore checked, like any other.
        return Forest, tuple(getattr(self, field.name) for field in fields(self))

    @classmethod
    def of_no_trees(cls, n_features: int) -> Forest:
        """Return a forest whose every score is 0."""
        starts = np.zeros(1, dtype=np.int64)
        arrays = {name: np.empty(0, kind) for name, kind in (NODE_FIELDS | LEAF_FIELDS).items()}
        return cls(n_features, starts, starts, np.empty(0), **arrays)

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return len(self.first_node) - 1

    @cached_property
    def roots(self) -> Index:
        """The root of each tree: a node, or ``~leaf`` where the tree is a single leaf."""
        is_leaf = np.diff(self.first_node) == 0
        return _read_only(np.where(is_leaf, ~self.first_leaf[:-1], self.first_node[:-1]))

    @cached_property
    def columns(self) -> Index:
        """The features that some node looks at, in ascending order."""
        return _read_only(np.unique(self.split_feature))

    @cached_property
    def column_of(self) -> Index:
        """The place of each feature in ``columns``, or −1."""
        places = np.full(self.n_features, -1)
        places[self.columns] = np.arange(len(self.columns))
        return _read_only(places)

    @cached_property
    def is_by_category(self) -> NDArray[np.bool_]:
        """Whether each node splits by categories."""
        return _read_only(self.decision_type & _CATEGORICAL != 0)

    @cached_property
    def is_zero_missing(self) -> NDArray[np.bool_]:
        """Whether each node takes zero for a missing value."""
        return _read_only((self.decision_type >> 2 == _ZERO_MISSING) & ~self.is_by_category)

    @cached_property
    def is_missing_left(self) -> NDArray[np.bool_]:
        """Whether a missing value goes to the left; where none is known of, NaN counts as zero."""
        is_default_left = self.decision_type & _DEFAULT_LEFT != 0
        is_none_missing = self.decision_type >> 2 == _NONE_MISSING
        is_left = np.where(is_none_missing, self.threshold >= 0.0, is_default_left)
        return _read_only(is_left & ~self.is_by_category)

    @cached_property
    def cuts(self) -> Vector:
        """The thresholds for values as they are: LightGBM first sets values near zero to zero.

        Of a split by categories, where its set begins in ``sets``.
        """
        cuts = self.threshold.copy()
        cuts[(cuts >= 0.0) & (cuts <= ZERO)] = ZERO
        cuts[(cuts < 0.0) & (cuts >= -ZERO)] = np.nextafter(-ZERO, -1.0)
        number = self.threshold[self.is_by_category].astype(np.int64)
        cuts[self.is_by_category] = self.set_ptr[number] + number
        return _read_only(cuts)

    @cached_property
    def sets(self) -> Index:
        """The sets of categories one after another, each the number of its words and these."""
        n_words = np.diff(self.set_ptr)
        return _read_only(np.insert(self.set_words, self.set_ptr[:-1], n_words))

    @cached_property
    def nodes(self) -> NDArray[np.int32]:
        """The decisions as `groupcm.kernels.trees` reads them."""
        missing = MISSING_LEFT * self.is_missing_left + ZERO_IS_MISSING * self.is_zero_missing
        missing = missing + CATEGORIES * self.is_by_category
        column = self.column_of[self.split_feature]
        table = np.stack([column, missing, self.left_child, self.right_child], axis=1)
        return _read_only(table.astype(np.int32))

    @cached_property
    def shares(self) -> Vector:
        """The share of a node's training rows that went to each of its two children."""
        # Leaf 0 is ~0 = −1, the last entry from behind.
        count = np.concatenate([self.internal_count, self.leaf_count[::-1]]).astype(np.float64)
        of_children = count[np.stack([self.left_child, self.right_child], axis=1)]
        return _read_only(of_children / of_children.sum(axis=1, keepdims=True))

    @cached_property
    def depth(self) -> int:
        """The number of decisions on the longest path."""
        return len(self._levels)

    @cached_property
    def expected(self) -> float:
        """The mean score in training: every leaf by the share of the rows that reached it."""
        of_node, of_leaf = np.ones(len(self.threshold)), np.ones(len(self.leaf_value))
        for nodes in self._levels:
            for children, share in ((self.left_child, 0), (self.right_child, 1)):
                child, reached = children[nodes], of_node[nodes] * self.shares[nodes, share]
                is_leaf = child < 0
                of_leaf[~child[is_leaf]] = reached[is_leaf]
                of_node[child[~is_leaf]] = reached[~is_leaf]
        return float(of_leaf @ self.leaf_value)

    @cached_property
    def _levels(self) -> list[Index]:
        """The nodes of all trees, grouped by their distance from the root."""
        levels, nodes = [], self.roots[self.roots >= 0]
        while len(nodes):
            levels.append(nodes)
            children = np.concatenate([self.left_child[nodes], self.right_child[nodes]])
            nodes = children[children >= 0]
        return levels


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _require(is_sound: NDArray[np.bool_], tree: Index, values: NDArray[Any], sentence: str) -> None:
    """Raise about the first value that is not sound; ``{}`` in the sentence is replaced by it."""
    if not np.all(is_sound):
        k = int(np.argmin(is_sound))
        raise InputError(f"tree {tree[k]}: " + sentence.format(values[k]))


def _check_sizes(forest: Forest) -> None:
    """Every tree has one leaf more than it has nodes, and every field one value for each."""
    first_node, first_leaf, n_trees = forest.first_node, forest.first_leaf, len(forest.shrinkage)
    if len(first_node) != n_trees + 1 or len(first_leaf) != n_trees + 1:
        raise InputError(f"the nodes and leaves are not those of {n_trees} trees")
    n_nodes, n_leaves = np.diff(first_node), np.diff(first_leaf)
    sentence = "it has {} leaves, which is not one more than it has nodes"
    _require((n_nodes >= 0) & (n_leaves == n_nodes + 1), np.arange(n_trees), n_leaves, sentence)
    for names, starts in ((NODE_FIELDS, first_node), (LEAF_FIELDS, first_leaf)):
        for name in names:
            if starts[0] != 0 or getattr(forest, name).shape != (starts[-1],):
                raise InputError(f"{name} has not one number for each node or leaf of the trees")


def _check_sets(forest: Forest, tree_of_node: Index) -> None:
    """Sets of categories follow one another, and every split by categories has one."""
    ptr, words = forest.set_ptr, forest.set_words
    is_sound = len(ptr) > 0 and ptr[0] == 0 and ptr[-1] == len(words) and np.all(np.diff(ptr) >= 0)
    if not is_sound or np.any((words < 0) | (words > _LARGEST_WORD)):
        raise InputError("the sets of categories do not follow one another, or hold no bits")
    number = forest.threshold
    is_set = (number >= 0.0) & (number < len(ptr) - 1) & (number == np.floor(number))
    sentence = "threshold holds {}, which is not the number of a set of categories"
    _require(is_set | ~forest.is_by_category, tree_of_node, number, sentence)


def _check_values(forest: Forest, tree_of_node: Index, tree_of_leaf: Index) -> None:
    """Numbers are finite, features and decision types exist, and some rows reached every leaf."""
    every = np.arange(forest.n_trees)
    numbers = [("shrinkage", every)]
    numbers += [(name, tree_of_node) for name, kind in NODE_FIELDS.items() if kind is np.float64]
    numbers += [(name, tree_of_leaf) for name, kind in LEAF_FIELDS.items() if kind is np.float64]
    for name, tree in numbers:
        values = getattr(forest, name)
        is_sound = np.isfinite(values) | ((values == np.inf) & (name == "threshold"))
        _require(is_sound, tree, values, f"{name} holds {{}}, which is not finite")
    if forest.n_trees:
        with np.errstate(over="ignore"):
            largest = np.maximum.reduceat(np.abs(forest.leaf_value), forest.first_leaf[:-1])
            sums = np.cumsum(largest)
        sentence = f"leaf_value adds up to {{}} with the trees before, more than {_LARGEST_SCORE:g}"
        _require(sums <= _LARGEST_SCORE, every, sums, sentence)
    feature, kind = forest.split_feature, forest.decision_type
    sentence = f"split_feature holds {{}}, but the {forest.n_features} features begin with 0"
    _require((feature >= 0) & (feature < forest.n_features), tree_of_node, feature, sentence)
    sentence = "decision_type holds {}, which is none of 0, 1, 2, 4, 5, 6, 8, 9 and 10"
    is_sound = (kind >= 0) & (kind >> 2 <= _NAN_MISSING) & (kind & 3 != 3)
    _require(is_sound, tree_of_node, kind, sentence)
    # LightGBM does not always count the rows of a tree that is a single leaf.
    fewest = np.where(np.diff(forest.first_leaf)[tree_of_leaf] == 1, 0, 1)
    for name, tree, least in (
        ("internal_count", tree_of_node, 1),
        ("leaf_count", tree_of_leaf, fewest),
    ):
        count = getattr(forest, name)
        sentence = f"{name} holds {{}}, which is not a number of training rows"
        _require((count >= least) & (count <= LARGEST_INTEGER), tree, count, sentence)


def _check_children(forest: Forest, tree_of_node: Index, tree_of_leaf: Index) -> None:
    """Every leaf, and every node but the roots, is the child of exactly one earlier node."""
    node, leaf = np.arange(len(tree_of_node)), np.arange(len(tree_of_leaf))
    first_node, first_leaf = forest.first_node[tree_of_node], forest.first_leaf[tree_of_node]
    end_of_nodes = forest.first_node[tree_of_node + 1]
    end_of_leaves = forest.first_leaf[tree_of_node + 1]
    for name in ("left_child", "right_child"):
        child = getattr(forest, name)
        is_node = (child > node) & (child < end_of_nodes)
        is_leaf = (~child >= first_leaf) & (~child < end_of_leaves)
        as_written = np.where(child < 0, child + first_leaf, child - first_node)
        sentence = f"{name} holds {{}}, which is neither a later node nor a leaf of the tree"
        _require(is_node | is_leaf, tree_of_node, as_written, sentence)
    children = np.concatenate([forest.left_child, forest.right_child, forest.roots])
    n_parents = np.bincount(children[children >= 0], minlength=len(node))
    sentence = "node {} is not the child of exactly one node"
    _require(n_parents == 1, tree_of_node, node - first_node, sentence)
    n_parents = np.bincount(~children[children < 0], minlength=len(leaf))
    sentence = "leaf {} is not the child of exactly one node"
    _require(n_parents == 1, tree_of_leaf, leaf - forest.first_leaf[tree_of_leaf], sentence)
