"""Levels above the group, such as frame, video and patient, and their scores.

    s_u = max_{k∈u} s_k                                            aggregate="max"
    s_u = the k-th largest of { s_k : k∈u }                        aggregate="kth_largest"
    s_u = mean of the k largest of { s_k : k∈u }                   aggregate="top_mean"

for a unit u of a level, such as a patient, and its groups k, the units of the lowest level, each
scored by its winner. The k-th largest score reaches a threshold exactly where at least k groups do,
so that it serves the rule "an alarm where at least k frames are above the threshold". A unit is
positive where any of its groups is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.groups import GroupIndex, index_groups, require_present
from groupcm.errors import Argument, ParameterError
from groupcm.metrics.truth import positive_rows, valid_scores
from groupcm.utils.text import printable
from groupcm.utils.typing import Vector

__all__ = [
    "AGGREGATES",
    "Level",
    "Levels",
    "above_groups",
    "index_units",
    "level_scores",
    "read_levels",
]

#: How the scores of groups make the score of a unit above them.
AGGREGATES = ("max", "kth_largest", "top_mean")
_GROUP = "group"


@dataclass(frozen=True)
class Level:
    """The units of one level, such as all patients, with their classes and scores.

    Attributes
    ----------
    name : str
    ids : ndarray of shape (n_units,)
        In order of first appearance.
    is_positive : ndarray of bool of shape (n_units,)
    scores : ndarray of shape (n_units,)
        −∞ where no candidate, or fewer than k groups, contribute.
    cluster : ndarray of int of shape (n_units,)
        The number of the unit of the highest level that each unit belongs to.
    """

    name: str
    ids: NDArray[Any]
    is_positive: NDArray[np.bool_]
    scores: Vector
    cluster: NDArray[np.intp]


@dataclass(frozen=True)
class Levels:
    """Nested levels of the same candidates, from the lowest, the groups, to the highest.

    Attributes
    ----------
    names : tuple of str
    indexes : tuple of GroupIndex
        The unit of each candidate at each level.
    owners : tuple of ndarray
        For each level, the number of the unit of that level that each group belongs to.
    """

    names: tuple[str, ...]
    indexes: tuple[GroupIndex, ...]
    owners: tuple[NDArray[np.intp], ...]


def read_levels(levels: Mapping[str, ArrayLike]) -> Levels:
    """Number the units of each level, and check that each is nested in the next.

    Parameters
    ----------
    levels : mapping of str to array-like of shape (n,)
        The unit of each candidate, from the lowest level, the groups, to the highest.

    Raises
    ------
    ValueError
        Where a unit belongs to two units of the next level, or the lengths differ.

    Examples
    --------
    >>> found = read_levels({"frame": [1, 1, 2, 3], "patient": list("ppqq")})
    >>> found.names, found.owners[1].tolist()
    (('frame', 'patient'), [0, 1, 1])
    >>> read_levels({"frame": [1, 1], "patient": ["p", "q"]})
    Traceback (most recent call last):
    ValueError: frame 1 belongs to two units of level patient, p and q; levels must be nested, from
    the lowest to the highest.
    """
    if not levels:
        raise ValueError("levels is empty; name at least the level of the groups.")
    names = tuple(levels)
    indexes = tuple(index_units(name, levels[name]) for name in names)
    for name, index in zip(names[1:], indexes[1:], strict=True):
        if index.n_rows != indexes[0].n_rows:
            raise ValueError(
                f"level {name} has {index.n_rows} ids and level {names[0]} "
                f"{indexes[0].n_rows}; each level needs one id per candidate."
            )
    for k in range(len(names) - 1):
        _require_nested(names[k], indexes[k], names[k + 1], indexes[k + 1])
    first_row = indexes[0].winners(np.zeros(indexes[0].n_rows))
    return Levels(names, indexes, tuple(index.codes[first_row] for index in indexes))


def index_units(name: str, ids: ArrayLike) -> GroupIndex:
    """Number the units of one level; raise one sentence where a candidate has none.

    Examples
    --------
    >>> index_units("video", ["a", None])
    Traceback (most recent call last):
    ValueError: level video has no id at row 1; every candidate needs a unit of each level.
    """
    values = np.asarray(ids)
    shown = printable(name).replace("{", "{{").replace("}", "}}")
    if values.ndim == 1:
        require_present(
            values,
            f"level {shown} has no id at row {{}}; every candidate needs a unit of each level.",
        )
    return index_groups(values)


def above_groups(groups: ArrayLike, levels: Mapping[str, ArrayLike]) -> dict[str, ArrayLike]:
    """Return the levels with the groups below them; raise where a level has their name.

    Examples
    --------
    >>> list(above_groups([1, 1, 2], {"patient": list("ppp")}))
    ['group', 'patient']
    """
    if _GROUP in levels:
        raise ValueError(
            "a level above the group is called 'group'; give it another name, such as 'video'."
        )
    return {_GROUP: groups, **levels}


def level_scores(
    y: ArrayLike,
    scores: ArrayLike,
    levels: Mapping[str, ArrayLike],
    *,
    aggregate: str = "max",
    k: int = 1,
    pos_label: Any = None,
) -> dict[str, Level]:
    """Compute the class and the score of every unit of every level.

    Parameters
    ----------
    y, scores, pos_label
        One label and one score per candidate, as for `group_roc_auc`.
    levels : mapping of str to array-like of shape (n,)
        The unit of each candidate, from the lowest level, the groups, to the highest; nested.
    aggregate : {"max", "kth_largest", "top_mean"}
        How the scores of groups make the scores of the levels above. The score of a group is
        always that of its winner.
    k : int, default=1
        For "kth_largest" and "top_mean". A unit of fewer than k groups has no k-th largest score,
        hence −∞, and the mean of all its scores.

    Returns
    -------
    dict of str to Level
        Use ``is_positive`` and ``scores`` of a level with any metric, and ``cluster`` as its
        clusters.

    Examples
    --------
    >>> y, scores = [1, 0, 0, 0], [0.9, 0.4, 0.5, 0.1]
    >>> found = level_scores(y, scores, {"frame": [1, 1, 2, 3], "patient": list("ppqq")})
    >>> found["patient"].scores.tolist(), found["patient"].is_positive.tolist()
    ([0.9, 0.5], [True, False])
    >>> second = level_scores(y, scores, {"frame": [1, 1, 2, 3], "patient": list("ppqq")},
    ...                       aggregate="kth_largest", k=2)
    >>> second["patient"].scores.tolist()
    [-inf, 0.1]
    """
    if aggregate not in AGGREGATES:
        raise ValueError(
            f"aggregate={aggregate!r} is not known; use one of {', '.join(AGGREGATES)}."
        )
    if k != int(k) or k < 1:
        raise ParameterError(
            Argument("k", k), " is not valid; it must be a whole number of at least 1."
        )
    found = read_levels(levels)
    is_positive = positive_rows(y, pos_label)
    values = valid_scores(scores, len(is_positive), finite=True).astype(np.float64)
    group_scores = found.indexes[0].maxima(values)
    made = {}
    for depth, (name, index) in enumerate(zip(found.names, found.indexes, strict=True)):
        owner = found.owners[depth]
        made[name] = Level(
            name,
            index.ids,
            index.maxima(is_positive),
            group_scores if depth == 0 else _aggregated(group_scores, owner, aggregate, int(k)),
            found.indexes[-1].codes[index.winners(np.zeros(index.n_rows))],
        )
    return made


def _aggregated(scores: Vector, owner: NDArray[np.intp], aggregate: str, k: int) -> Vector:
    """Return the score of every unit from those of its groups, by one sort."""
    n_units = int(owner.max()) + 1
    order = np.lexsort((-scores, owner))
    sizes = np.bincount(owner, minlength=n_units)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    falling = scores[order]
    if aggregate == "top_mean":
        place = np.arange(len(scores)) - np.repeat(starts, sizes)
        taken = (place < k) & (falling > -np.inf)
        sums = np.bincount(owner[order][taken], falling[taken], minlength=n_units)
        counts = np.bincount(owner[order][taken], minlength=n_units)
        return np.where(counts > 0, sums / np.maximum(counts, 1), -np.inf)
    place = 0 if aggregate == "max" else k - 1
    there = sizes > place
    return np.where(there, falling[np.where(there, starts + place, 0)], -np.inf)


def _require_nested(name: str, lower: GroupIndex, above: str, upper: GroupIndex) -> None:
    owner = upper.codes[lower.winners(np.zeros(lower.n_rows))]
    differs = upper.codes != owner[lower.codes]
    if differs.any():
        row = int(np.argmax(differs))
        unit = lower.codes[row]
        raise ValueError(
            f"{name} {printable(lower.ids[unit])} belongs to two units of level {above}, "
            f"{printable(upper.ids[owner[unit]])} and {printable(upper.ids[upper.codes[row]])}; "
            "levels must be nested, from the lowest to the highest."
        )
