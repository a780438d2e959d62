"""Trees in LightGBM's text form, read without LightGBM.

LightGBM trusts its text: a changed number can end the process. Here the text is read field by
field, and `Forest` checks it, so that any text gives sound trees or one sentence. Time
and memory grow with the length of the text, whatever numbers it holds.

::

    tree                          the header: one KEY=VALUE per line
    version=v4
    ...
    tree_sizes=569 574            characters of each tree

    Tree=0                        the trees: one KEY=VALUE per line, two empty lines
    num_leaves=4
    ...

    end of trees                  importances and parameters follow, which are not read
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.boosting.forest import LARGEST_INTEGER, LEAF_FIELDS, NODE_FIELDS, Forest
from groupcm.errors import InputError

__all__ = ["read_forest", "write_text"]

_HEADER = (
    "version",
    "num_class",
    "num_tree_per_iteration",
    "label_index",
    "max_feature_idx",
    "feature_names",
    "feature_infos",
    "tree_sizes",
)
_HEADER_OPTIONS = ("objective", "monotone_constraints")
_FIXED = {"version": "v4", "num_class": "1", "num_tree_per_iteration": "1"}
_SCALARS = ("num_leaves", "num_cat", "is_linear", "shrinkage")
_SETS = ("cat_boundaries", "cat_threshold")
_CHILDREN = ("left_child", "right_child")
_END = "end of trees\n"
# What numbers are written with, "inf" among them: Python would take "nan" and "1_000" as well.
_OF_NUMBERS = re.compile(r"[0-9+\-.eEinf ]*")


def read_forest(text: str, n_features: int | None = None) -> Forest:
    """Read the trees of a booster that has one column of scores.

    Parameters
    ----------
    text : str
        What ``lightgbm.Booster.model_to_string()`` returns.
    n_features : int, optional
        The number of features that the trees must have been grown with.

    Raises
    ------
    InputError
        Where the text is damaged, or holds what cannot be scored here: several columns of scores,
        linear leaves.

    Examples
    --------
    >>> from groupcm import GroupBoostingClassifier
    >>> X = np.arange(80.0)[:, None]
    >>> model = GroupBoostingClassifier(3, num_leaves=2, early_stopping=False)
    >>> (text,) = model.fit(X, X[:, 0] > 39).trees_
    >>> read_forest(text).n_trees
    3
    >>> read_forest(text.replace("left_child=-1", "left_child=-3"))
    Traceback (most recent call last):
    groupcm.errors.InputError: tree 0: left_child holds -3, which is neither a later node nor a
    leaf of the tree
    """
    if not isinstance(text, str):
        raise InputError(f"trees are stored as text, not as {type(text).__name__}")
    content, end, _ = text.partition("\n" + _END)
    header, gap, trees = (content + "\n").partition("\n\n")
    if not end or not gap or not content.isascii():
        raise InputError("the text of the trees is not one that LightGBM writes, or is cut off")
    n_trained, sizes = _read_header(header)
    if n_features is not None and n_trained != n_features:
        raise InputError(f"the trees have {n_trained} features, but the model has {n_features}")
    return _forest(n_trained, [_read_tree(t, part) for t, part in enumerate(_cut(trees, sizes))])


def write_text(forest: Forest) -> str:
    """Write trees as text that LightGBM reads; `read_forest` gives the same trees back.

    Examples
    --------
    >>> import lightgbm
    >>> X = np.arange(80.0)[:, None]
    >>> booster = lightgbm.train({"verbose": -1}, lightgbm.Dataset(X, X[:, 0] > 20), 3)
    >>> text = write_text(read_forest(booster.model_to_string()))
    >>> bool(np.all(lightgbm.Booster(model_str=text).predict(X) == booster.predict(X)))
    True
    """
    trees = [_write_tree(forest, t) for t in range(forest.n_trees)]
    every = range(forest.n_features)
    header = {
        **_FIXED,
        "label_index": 0,
        "max_feature_idx": forest.n_features - 1,
        "feature_names": " ".join(f"Column_{j}" for j in every),
        "feature_infos": " ".join("none" for _ in every),
        "tree_sizes": " ".join(str(len(tree)) for tree in trees),
    }
    return "tree\n" + _lines(header) + "\n" + "".join(trees) + _END


def _read_header(header: str) -> tuple[int, NDArray[np.int64]]:
    """Return the number of features and the length of each tree."""
    where = "the header of the trees"
    first, _, rest = header.partition("\n")
    if first != "tree":
        raise InputError(f"{where} does not begin with a line 'tree'")
    values = _fields(rest.split("\n"), where)
    _require_keys(values, _HEADER, where, optional=_HEADER_OPTIONS)
    for name, expected in _FIXED.items():
        if values[name] != expected:
            raise InputError(f"{where} has {name}={_shown(values[name])}, not {expected}")
    n_features = 1 + _integer(values, "max_feature_idx", where)
    for name in ("feature_names", "feature_infos", "monotone_constraints"):
        n = values[name].count(" ") + 1 if name in values else n_features
        if n != n_features:
            raise InputError(
                f"{where} has {n} {name}, but max_feature_idx makes {n_features} features"
            )
    return n_features, _numbers(values, "tree_sizes", np.int64, where)


def _cut(trees: str, sizes: NDArray[np.int64]) -> list[str]:
    """Cut the text of all trees into one piece per tree."""
    ends = np.cumsum(sizes)
    if np.any(sizes < 1) or int(sizes.sum()) != len(trees):
        raise InputError("tree_sizes does not add up to the length of the trees")
    return [trees[hi - n : hi] for n, hi in zip(sizes.tolist(), ends.tolist(), strict=True)]


def _read_tree(number: int, text: str) -> dict[str, Any]:
    """Return the fields of one tree, each array as long as it has to be."""
    where = f"tree {number}"
    lines = text.split("\n")
    if lines[0] != f"Tree={number}" or lines[-3:] != ["", "", ""]:
        raise InputError(f"{where} does not begin and end where tree_sizes puts it")
    values = _fields(lines[1:-3], where)
    if values.get("is_linear", "0") != "0":
        raise InputError(f"{where} has linear leaves, but a leaf is one number here")
    n_sets = _integer(values, "num_cat", where) if "num_cat" in values else 0
    sets = _SETS if n_sets else ()
    _require_keys(values, (*_SCALARS, *NODE_FIELDS, *LEAF_FIELDS, *sets), where)
    n_leaves = _integer(values, "num_leaves", where)
    tree: dict[str, Any] = _read_sets(values, n_sets, where)
    for fields, n in ((NODE_FIELDS, n_leaves - 1), (LEAF_FIELDS, n_leaves)):
        for name, dtype in fields.items():
            found = _numbers(values, name, dtype, where)
            if n_leaves == 1 and not len(found) and name in ("leaf_weight", "leaf_count"):
                found = np.zeros(1, dtype)  # LightGBM does not always write them
            if len(found) != n:
                raise InputError(f"{where}: {name} has length {len(found)}, not {n}")
            tree[name] = found
    shrinkage = _numbers(values, "shrinkage", np.float64, where)
    if len(shrinkage) != 1:
        raise InputError(f"{where}: shrinkage is not one number")
    return tree | {"shrinkage": shrinkage[0]}


def _read_sets(values: Mapping[str, str], n_sets: int, where: str) -> dict[str, Any]:
    """Return the sets of categories of a tree: where each begins, and the words of all."""
    if not n_sets:
        return {"set_ptr": np.zeros(1, np.int64), "set_words": np.empty(0, np.int64)}
    ptr = _numbers(values, _SETS[0], np.int64, where)
    words = _numbers(values, _SETS[1], np.int64, where, largest=2**32 - 1)
    follow = len(ptr) == n_sets + 1 and ptr[0] == 0 and ptr[-1] == len(words)
    if not follow or np.any(np.diff(ptr) < 0):
        raise InputError(f"{where}: {_SETS[0]} does not divide {_SETS[1]} into {n_sets} sets")
    return {"set_ptr": ptr, "set_words": words}


def _forest(n_features: int, trees: Sequence[Mapping[str, Any]]) -> Forest:
    """Put the trees behind one another; their nodes and leaves are numbered through."""
    first_node = np.cumsum([0, *(len(tree["threshold"]) for tree in trees)])
    first_leaf = np.cumsum([0, *(len(tree["leaf_value"]) for tree in trees)])
    arrays = {}
    for name, dtype in (NODE_FIELDS | LEAF_FIELDS).items():
        parts = [tree[name] for tree in trees]
        if name in _CHILDREN:
            parts = [
                np.where(part < 0, part - leaf, part + node)
                for part, node, leaf in zip(parts, first_node, first_leaf, strict=False)
            ]
        if name == "threshold":
            first_set = np.cumsum([0, *(len(tree["set_ptr"]) - 1 for tree in trees)])
            parts = [
                np.where(tree["decision_type"] & 1 == 1, _of_tree(part, tree) + first, part)
                for part, tree, first in zip(parts, trees, first_set, strict=False)
            ]
        arrays[name] = np.concatenate([np.empty(0, dtype), *parts])
    words = [np.empty(0, np.int64), *(tree["set_words"] for tree in trees)]
    sizes = [np.empty(0, np.int64), *(np.diff(tree["set_ptr"]) for tree in trees)]
    arrays["set_words"] = np.concatenate(words)
    arrays["set_ptr"] = np.cumsum(np.concatenate([[0], *sizes])).astype(np.int64)
    shrinkage = np.array([tree["shrinkage"] for tree in trees])
    return Forest(n_features, first_node, first_leaf, shrinkage, **arrays)


def _of_tree(number: NDArray[Any], tree: Mapping[str, Any]) -> NDArray[Any]:
    """Return numbers of sets of a tree; −inf, which no set of any tree has, for all others."""
    return np.where((number >= 0) & (number < len(tree["set_ptr"]) - 1), number, -np.inf)


def _write_tree(forest: Forest, t: int) -> str:
    node, leaf = forest.first_node[t], forest.first_leaf[t]
    values: dict[str, Any] = {"num_leaves": forest.first_leaf[t + 1] - leaf, "num_cat": 0}
    of_tree = slice(node, forest.first_node[t + 1])
    by_category = forest.is_by_category[of_tree]
    numbers = forest.threshold[of_tree][by_category].astype(np.int64)
    for fields, first in ((NODE_FIELDS, forest.first_node), (LEAF_FIELDS, forest.first_leaf)):
        for name in fields:
            part = getattr(forest, name)[first[t] : first[t + 1]]
            if name in _CHILDREN:
                part = np.where(part < 0, part + leaf, part - node)
            if name == "threshold" and len(numbers):
                part = part.copy()
                part[by_category] = np.arange(len(numbers))
            values[name] = " ".join(map(repr, part.tolist()))
    if len(numbers):
        sets = [forest.set_words[slice(*forest.set_ptr[number : number + 2])] for number in numbers]
        values["num_cat"] = len(sets)
        ptr = np.cumsum([0, *map(len, sets)])
        for name, part in zip(_SETS, (ptr, np.concatenate(sets)), strict=True):
            values[name] = " ".join(map(repr, part.tolist()))
    values |= {"is_linear": 0, "shrinkage": repr(float(forest.shrinkage[t]))}
    return f"Tree={t}\n" + _lines(values) + "\n\n"


def _lines(values: Mapping[str, Any]) -> str:
    return "".join(f"{name}={value}\n" for name, value in values.items())


def _fields(lines: Sequence[str], where: str) -> dict[str, str]:
    """Return the value of each key; no key is there twice."""
    values: dict[str, str] = {}
    for line in lines:
        name, equals, value = line.partition("=")
        if not equals:
            raise InputError(f"{where} has the line {_shown(line)}, which is not KEY=VALUE")
        if name in values:
            raise InputError(f"{where} has {_shown(name)} twice")
        values[name] = value
    return values


def _require_keys(
    values: Mapping[str, str], needed: Sequence[str], where: str, optional: Sequence[str] = ()
) -> None:
    for name in needed:
        if name not in values:
            raise InputError(f"{where} has no {name}")
    for name in values:
        if name not in needed and name not in optional:
            raise InputError(f"{where} has {_shown(name)}, which is not known here")


def _integer(values: Mapping[str, str], name: str, where: str) -> int:
    """Return a value that is one whole number from 0."""
    found = _numbers(values, name, np.int64, where)
    if len(found) != 1 or found[0] < 0:
        raise InputError(f"{where}: {name} is {_shown(values[name])}, not one number from 0")
    return int(found[0])


def _numbers(
    values: Mapping[str, str],
    name: str,
    dtype: type,
    where: str,
    largest: int = LARGEST_INTEGER,
) -> NDArray[Any]:
    """Return the numbers of a field, which one space separates."""
    parts = values[name].split(" ") if values[name] else []
    kind = int if dtype is np.int64 else float
    try:
        if not _OF_NUMBERS.fullmatch(values[name]):
            raise ValueError
        numbers = np.array([kind(part) for part in parts], dtype)
        if kind is float or np.all((numbers >= -largest) & (numbers <= largest)):
            return numbers
    except (ValueError, OverflowError):
        pass
    part = next(part for part in parts if not _is_number(part, kind, largest))
    what = f"a whole number below 2^{largest.bit_length()}" if kind is int else "a number"
    raise InputError(f"{where}: {name} holds {_shown(part)}, which is not {what}")


def _is_number(part: str, kind: type, largest: int) -> bool:
    try:
        number = kind(part)
    except ValueError:
        return False
    is_small = kind is float or -largest <= number <= largest
    return is_small and _OF_NUMBERS.fullmatch(part) is not None


def _shown(value: str) -> str:
    """Return a piece of a file as it may appear in a sentence."""
    return repr(value if len(value) <= 40 else value[:40] + "…")
