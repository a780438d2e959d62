"""Provides `CandidateIndex`: which rows of a source belong to which group, and to which class.

The rows of a group are contiguous, so groups are runs. Groups and labels are kept as numbers and a
few values, so that a hundred million rows of text cost one byte each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.data.groups import GroupIndex, index_groups
from groupcm.errors import InputError
from groupcm.objective.terms import NO_ORDER, Groups, Index

__all__ = [
    "CandidateIndex",
    "Keys",
    "Labels",
    "Runs",
    "build_index",
    "index_of_no_rows",
    "join_runs",
    "labels_of",
    "require_together",
    "runs_of",
]

# Up to so many labels comparisons are faster than a sort.
_FEW_LABELS = 16


@dataclass(frozen=True)
class Runs:
    """Run ``k`` begins at the chunk's row ``start[k]`` and is of group ``ids[k]``."""

    start: Index
    ids: NDArray[Any]


@dataclass(frozen=True)
class Labels:
    """Row ``i`` has the label ``values[codes[i]]``; without codes all have ``values[0]``."""

    values: NDArray[Any]
    codes: NDArray[np.integer] | None = None


@dataclass(frozen=True)
class Keys:
    """Groups, labels and overlaps of a chunk's rows; columns that were not requested are None."""

    runs: Runs | None = None
    labels: Labels | None = None
    overlap: NDArray[np.floating] | None = None


def runs_of(groups: NDArray[Any]) -> Runs:
    """Return the runs of equal values.

    Examples
    --------
    >>> runs_of(np.array([7, 7, 3]))
    Runs(start=array([0, 2]), ids=array([7, 3]))
    """
    start = np.flatnonzero(groups[1:] != groups[:-1]) + 1
    start = np.concatenate([np.zeros(min(1, len(groups)), dtype=np.int64), start])
    return Runs(start, groups[start])


def labels_of(values: NDArray[Any]) -> Labels:
    """Return the distinct values and which of them each row has.

    Examples
    --------
    >>> labels_of(np.array([0, 0, 1]))
    Labels(values=array([0, 1]), codes=array([0, 0, 1], dtype=uint8))
    """
    found: list[Any] = []
    rest = values
    while len(rest) and len(found) < _FEW_LABELS:
        found.append(rest[0])
        rest = rest[rest != rest[0]]
    if len(rest):
        distinct, codes = np.unique(values, return_inverse=True)
        return Labels(distinct, codes)
    distinct = np.sort(np.array(found, dtype=values.dtype))
    if len(distinct) < 2:
        return Labels(distinct)
    codes = np.zeros(len(values), dtype=np.uint8)
    for number, label in enumerate(distinct[1:], start=1):
        codes[values == label] = number
    return Labels(distinct, codes)


@dataclass(frozen=True)
class CandidateIndex:
    """Groups and classes of all rows.

    Attributes
    ----------
    ids : ndarray or None
        The group ids in order; None where every row is its own group.
    groups : Groups or None
        Their rows.
    classes : ndarray or None
        The distinct labels, sorted; None where there is no label.
    codes : ndarray or None
        The class number of each row, in as few bytes as possible.
    """

    ids: NDArray[Any] | None
    groups: Groups | None
    classes: NDArray[Any] | None
    codes: NDArray[np.integer] | None

    def labels_of_rows(self) -> NDArray[Any]:
        """Return the label of each row."""
        classes, codes = self._labels()
        return classes[codes]

    def groups_of_rows(self) -> NDArray[np.int64] | None:
        """Return the number of each row's group; None where every row is its own."""
        if self.groups is None:
            return None
        return self.groups.numbers()

    def group_index(self, n_rows: int) -> GroupIndex:
        """Return which of the rows belong to which group."""
        if self.groups is None or self.ids is None:
            return index_groups(np.arange(n_rows))
        return GroupIndex(self.ids, self.groups.ptr[:-1], np.arange(len(self.ids)), n_rows)

    def group_labels(self, label: Any) -> NDArray[np.bool_]:
        """Return which groups hold a candidate of this class."""
        classes, codes = self._labels()
        (number,) = np.nonzero(classes == label)
        positive = codes == number[0] if len(number) else np.zeros(len(codes), bool)
        if self.groups is None:
            return positive
        return np.logical_or.reduceat(positive, self.groups.ptr[:-1])

    def _labels(self) -> tuple[NDArray[Any], NDArray[np.integer]]:
        if self.classes is None or self.codes is None:
            raise InputError("the source has no label column; name it with label=")
        return self.classes, self.codes


def build_index(
    units: Iterable[tuple[int, int, Keys]],
    n_rows: int,
    apart: Callable[[Any, int, int], InputError],
) -> CandidateIndex:
    """Join the keys of the chunks, given as first row, number of rows and keys, in order.

    ``apart`` makes the error for a group that is found again after it ended.
    """
    firsts, sizes, keys = zip(*units, strict=True)
    ids = groups = classes = codes = None
    if keys[0].runs is not None:
        start, ids = join_runs([key.runs for key in keys], firsts)
        require_together(ids, start, apart)
        groups = Groups(np.append(start, n_rows), NO_ORDER)
    if keys[0].labels is not None:
        classes, codes = _join_labels([key.labels for key in keys], firsts, sizes, n_rows)
    return CandidateIndex(ids, groups, classes, codes)


def index_of_no_rows(has_group: bool, has_label: bool) -> CandidateIndex:
    """Return the index of a source that has columns and no rows."""
    nothing = np.empty(0, dtype=np.int64)
    return CandidateIndex(
        nothing if has_group else None,
        Groups(np.zeros(1, dtype=np.int64), NO_ORDER) if has_group else None,
        nothing if has_label else None,
        nothing if has_label else None,
    )


def join_runs(runs: Iterable[Runs], firsts: Iterable[int]) -> tuple[Index, NDArray[Any]]:
    """Return where each group begins, and its id; a group may continue in the next chunk."""
    parts = [(run.start + first, run.ids) for run, first in zip(runs, firsts, strict=True)]
    start = np.concatenate([part[0] for part in parts])
    ids = _join_ids([part[1] for part in parts])
    new = np.ones(len(ids), dtype=bool)
    new[1:] = ids[1:] != ids[:-1]
    return start[new], ids[new]


def _join_ids(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Join ids in one type that keeps all of them distinct.

    Examples
    --------
    >>> _join_ids([np.array([2**53 + 1]), np.array([2**53], dtype=np.uint64)])
    array([9007199254740993, 9007199254740992])
    """
    kinds = {part.dtype.kind for part in parts}
    if kinds <= {"i", "u"} and len(kinds) == 2:
        largest = max(int(part.max(initial=0)) for part in parts)
        parts = [part.astype(np.int64 if largest < 2**63 else object) for part in parts]
    elif len(kinds) > 1 and "f" in kinds:
        for part in parts:
            if part.dtype.kind in "iu" and np.any(np.abs(part.astype(np.float64)) > 2.0**53):
                raise InputError(
                    "the group column holds integers beyond 2**53 in one table and floats in "
                    "another; give it one type in all tables"
                )
    return np.concatenate(parts)


def require_together(
    ids: NDArray[Any], start: Index, apart: Callable[[Any, int, int], InputError]
) -> None:
    """Raise where an id begins twice."""
    if ids.dtype != object and np.all(ids[1:] > ids[:-1]):
        return
    _, first, place = np.unique(ids, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[place] != np.arange(len(ids)))
    if len(again):
        at = again[0]
        raise apart(ids[at], int(start[first[place[at]]]), int(start[at]))


def _join_labels(
    labels: list[Labels], firsts: tuple[int, ...], sizes: tuple[int, ...], n_rows: int
) -> tuple[NDArray[Any], NDArray[np.integer]]:
    classes = np.unique(np.concatenate([label.values for label in labels]))
    codes = np.zeros(n_rows, dtype=np.min_scalar_type(max(1, len(classes) - 1)))
    for label, first, size in zip(labels, firsts, sizes, strict=True):
        number = np.searchsorted(classes, label.values).astype(codes.dtype)
        rows = slice(first, first + size)
        if label.codes is not None:
            codes[rows] = number[label.codes]
        elif number[0]:  # memory that stays zero is never touched
            codes[rows] = number[0]
    return classes, codes
