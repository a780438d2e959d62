"""Which rows belong to which group, for ids of any kind in any order.

Conventions: ``n`` candidates (rows), ``m`` groups. Groups are numbered in the order
in which they first appear. A run is a stretch of neighbouring rows of one group; where
rows of a group are contiguous there are as many runs as groups, and nothing is sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.utils.parallel import slices, thread_map
from groupcm.utils.text import printable

__all__ = [
    "GroupIndex",
    "first_missing",
    "index_groups",
    "no_groups",
    "owner_of_groups",
    "require_present",
]


@dataclass(frozen=True)
class GroupIndex:
    """Which rows belong to which group; made by `index_groups`.

    Attributes
    ----------
    ids : ndarray of shape (m,)
        The group ids in order of first appearance.
    run_starts : ndarray of shape (n_runs,)
        The first row of every run.
    run_codes : ndarray of shape (n_runs,)
        The number of the group of every run, an index into ``ids``.
    n_rows : int
        Number of candidates.

    Examples
    --------
    >>> index = index_groups(["a", "a", "b", "a"])
    >>> index.ids.tolist(), index.run_starts.tolist(), index.run_codes.tolist()
    (['a', 'b'], [0, 2, 3], [0, 1, 0])
    """

    ids: NDArray[Any]
    run_starts: NDArray[np.intp]
    run_codes: NDArray[np.intp]
    n_rows: int

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.ids)

    @property
    def stand_together(self) -> bool:
        """Whether the rows of every group are neighbours."""
        return len(self.run_starts) == len(self.ids)

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """The number of the group of every row, an index into ``ids``."""
        return np.repeat(self.run_codes, np.diff(self.run_starts, append=self.n_rows))

    def maxima(self, values: ArrayLike) -> NDArray[Any]:
        """Largest value of every group; for (n, k) values, of every column.

        Examples
        --------
        >>> index_groups(["a", "b", "a"]).maxima([1.0, 2.0, 3.0]).tolist()
        [3.0, 2.0]
        """
        run_maxima = np.maximum.reduceat(np.asarray(values), self.run_starts, axis=0)
        if self.stand_together:
            return run_maxima
        # The first run of a group, not -inf, starts its maximum, so that every dtype works.
        maxima = run_maxima[np.unique(self.run_codes, return_index=True)[1]]
        np.maximum.at(maxima, self.run_codes, run_maxima)
        return maxima

    def winners(self, scores: ArrayLike) -> NDArray[np.intp]:
        """Row number of the winner of every group, the first one where rows tie.

        Examples
        --------
        >>> index_groups(["a", "b", "a", "a"]).winners([1.0, 2.0, 3.0, 3.0]).tolist()
        [2, 1]
        """
        scores = np.asarray(scores)
        if scores.ndim == 2:
            columns = [self.winners(column) for column in scores.T]
            return np.stack(columns, axis=1)
        winning = np.flatnonzero(scores == self.maxima(scores)[self.codes])
        winners = np.full(self.n_groups, self.n_rows, dtype=np.intp)
        np.minimum.at(winners, self.codes[winning], winning)
        return winners


def index_groups(groups: ArrayLike, *, allow_empty: bool = False) -> GroupIndex:
    """Number the groups in order of first appearance.

    Only one id per run is looked up, so contiguous rows cost one comparison each.

    Parameters
    ----------
    groups : array-like of shape (n,)
        The group id of every candidate: numbers, strings, dates or any hashable things.
    allow_empty : bool, default=False
        Whether there may be no candidate at all, and so no group.

    Returns
    -------
    GroupIndex

    Examples
    --------
    >>> index = index_groups(["b", "b", "a", "b"])
    >>> index.ids.tolist(), index.codes.tolist(), index.stand_together
    (['b', 'a'], [0, 0, 1, 0], False)
    """
    groups = np.asarray(groups)
    if allow_empty and groups.shape == (0,):
        nothing = np.empty(0, dtype=np.intp)
        return GroupIndex(groups, nothing, nothing, 0)
    if groups.ndim != 1 or len(groups) == 0:
        raise ValueError(
            f"groups must hold one id per candidate, at least one; got shape {groups.shape}."
        )
    require_present(groups, "groups has no id at row {}; every candidate needs a group.")
    n_rows, labels = len(groups), None
    if groups.dtype == object:
        labels, groups = _number_objects(groups)
    run_starts = np.concatenate([np.zeros(1, dtype=np.intp), *_changes(groups)])
    ids, run_codes = _number_runs(groups[run_starts])
    return GroupIndex(ids if labels is None else labels[ids], run_starts, run_codes, n_rows)


def no_groups(groups: Any) -> bool:
    """Return whether every row is its own group: ``groups`` is None, or the text "none".

    Examples
    --------
    >>> no_groups(None), no_groups("none"), no_groups(["none"])
    (True, True, False)
    """
    return groups is None or (isinstance(groups, str) and groups == "none")


def owner_of_groups(index: GroupIndex, by_owner: GroupIndex, owners: str) -> NDArray[np.intp]:
    """Return the owner of each group; raise one sentence about a group of two owners.

    Parameters
    ----------
    index, by_owner : GroupIndex
        Which rows belong to which group, and to which owner.
    owners : str
        What they are, such as "patients".

    Examples
    --------
    >>> owner_of_groups(index_groups(["a", "a"]), index_groups([7, 8]), "patients")
    Traceback (most recent call last):
    ValueError: group a belongs to two patients, 7 and 8 (row 1); all candidates of a group ...
    """
    first_run = np.unique(index.run_codes, return_index=True)[1]
    owner = by_owner.codes[index.run_starts[first_run]]
    differs = by_owner.codes != owner[index.codes]
    if differs.any():
        row = int(np.argmax(differs))
        group = index.codes[row]
        first, other = by_owner.ids[owner[group]], by_owner.ids[by_owner.codes[row]]
        raise ValueError(
            f"group {printable(index.ids[group])} belongs to two {owners}, {printable(first)} and "
            f"{printable(other)} (row {row}); all candidates of a group must belong to one."
        )
    return owner


def require_present(values: NDArray[Any], message: str) -> None:
    """Raise ``message`` with the first row whose value is missing: NaN, NaT, NA or None."""
    row = first_missing(values)
    if row is not None:
        raise ValueError(message.format(row))


def first_missing(values: NDArray[Any]) -> int | None:
    """Return the first row whose value is missing (NaN, NaT, NA or None), or None."""
    if values.dtype == object:
        missing = np.fromiter(map(_is_missing, values), dtype=bool, count=len(values))
    elif values.dtype.kind in "fcmM":
        missing = values != values  # only NaN and NaT differ from themselves
    else:
        return None
    return int(np.argmax(missing)) if missing.any() else None


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA does not even say whether it differs from itself
        return True


def _changes(groups: NDArray[Any]) -> list[NDArray[np.intp]]:
    """The rows whose group is not that of the row before."""

    def changes_between(piece: tuple[int, int]) -> NDArray[np.intp]:
        lo, hi = piece
        return np.flatnonzero(groups[lo + 1 : hi + 1] != groups[lo:hi]) + (lo + 1)

    return thread_map(changes_between, slices(len(groups) - 1, 1_000_000))


def _number_runs(heads: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct ids in order of first appearance, and the number of every run's id."""
    if np.all(heads[1:] > heads[:-1]):
        return heads, np.arange(len(heads))
    _, first, sorted_codes = np.unique(heads, return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    code_of_sorted = np.empty(len(first), dtype=np.intp)
    code_of_sorted[appearance] = np.arange(len(first))
    return heads[first[appearance]], code_of_sorted[sorted_codes]


def _number_objects(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """A dictionary instead of a sort, because ids of mixed types have no order."""
    numbers: dict[Any, int] = {}
    codes = np.fromiter(
        (numbers.setdefault(value, len(numbers)) for value in values),
        dtype=np.intp,
        count=len(values),
    )
    return np.fromiter(numbers, dtype=object, count=len(numbers)), codes
