"""Provides `Groups`, candidates in groups, and `Terms`, the terms of the objective on them.

`groupcm.objective` shows the whole chain from rows to blocks.

Conventions
-----------
A *row* is a row number of X. A *position* counts rows in group order:
position ``p`` is row ``order[p]``, or row ``p`` where ``order`` is empty
because the rows of every group are contiguous.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groupcm.data.groups import GroupIndex
from groupcm.utils.typing import Index

__all__ = ["Groups", "Terms"]

NO_ORDER: Index = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Groups:
    """Group ``g`` holds positions ``ptr[g]`` to ``ptr[g + 1]``; groups in order of appearance.

    Examples
    --------
    >>> from groupcm.data.groups import index_groups
    >>> Groups.from_index(index_groups([7, 3, 7]))
    Groups(ptr=array([0, 2, 3]), order=array([0, 2, 1]))
    """

    ptr: Index
    order: Index

    @classmethod
    def from_index(cls, index: GroupIndex) -> Groups:
        """Return the groups of `index_groups`; contiguous rows are left where they are."""
        if index.stand_together:
            return cls(np.append(index.run_starts, index.n_rows), NO_ORDER)
        ptr = np.concatenate([[0], np.cumsum(np.bincount(index.codes))])
        return cls(ptr, np.argsort(index.codes, kind="stable"))

    @classmethod
    def of_each_row(cls, n_rows: int) -> Groups:
        """Return groups of one row each."""
        return cls(np.arange(n_rows + 1), NO_ORDER)

    def __len__(self) -> int:
        return len(self.ptr) - 1

    @property
    def is_contiguous(self) -> bool:
        """Whether the rows of every group follow one another, the groups in order."""
        return len(self.order) == 0

    def numbers(self) -> Index:
        """Return the group of every row.

        Examples
        --------
        >>> Groups(ptr=np.array([0, 2, 3]), order=np.array([0, 2, 1])).numbers()
        array([0, 1, 0])
        """
        of_position = np.repeat(np.arange(len(self)), np.diff(self.ptr))
        if self.is_contiguous:
            return of_position
        of_row = np.empty_like(of_position)
        of_row[self.order] = of_position
        return of_row

    def of_rows(self, rows: Index) -> Index:
        """Return the group of each of these rows."""
        if len(self.order):
            position = np.empty(len(self.order), dtype=np.int64)
            position[self.order] = np.arange(len(self.order))
            rows = position[rows]
        return np.searchsorted(self.ptr, rows, side="right") - 1

    def sizes(self, chosen: Index) -> Index:
        """Return how many rows each of the chosen groups has."""
        return self.ptr[chosen + 1] - self.ptr[chosen]

    def rows_of(self, chosen: Index) -> Index:
        """Return the rows of the chosen groups, one group after another."""
        size = self.sizes(chosen)
        first = np.repeat(self.ptr[chosen] - (np.cumsum(size) - size), size)
        positions = first + np.arange(len(first))
        return positions if len(self.order) == 0 else self.order[positions]

    def mixed(self, chosen: Index, values: NDArray[np.bool_]) -> Index:
        """Return those of the chosen groups in which some rows are true and some are not.

        Examples
        --------
        >>> groups = Groups(np.array([0, 2, 4]), NO_ORDER)
        >>> groups.mixed(np.array([0, 1]), np.array([True, True, True, False]))
        array([1])
        """
        if len(chosen) == 0:
            return chosen
        size = self.sizes(chosen)
        true = np.add.reduceat(
            values[self.rows_of(chosen)].astype(np.int64), np.cumsum(size) - size
        )
        return chosen[(true > 0) & (true < size)]


@dataclass(frozen=True)
class Terms:
    """Terms of one sign: ``Σ_k weight_k L(min over the rows of term k of sign · s)``.

    Term ``k`` holds positions ``start[k]`` to ``stop[k]``. Where ``alone`` is
    true every row in these ranges is a term of its own, and ``weight`` is one
    number or one number per row.

    ``group_weight`` is what the groups of all terms weigh together before the costs of
    `grouping.Costs`: how many they are, without ``sample_weight``. It is that of all
    terms, also for some of them.
    """

    sign: int
    start: Index
    stop: Index
    order: Index
    weight: float | NDArray[np.float64]
    alone: bool
    group_weight: float = 0.0

    @classmethod
    def of_rows(cls, sign: int, rows: Index, weight: float | NDArray[np.float64]) -> Terms:
        """Return one term per row."""
        start, stop = np.array([0]), np.array([len(rows)])
        return cls(sign, start, stop, np.asarray(rows, dtype=np.int64), weight, alone=True)

    @classmethod
    def of_groups(cls, sign: int, groups: Groups | None, chosen: Index) -> Terms:
        """Return one term per chosen group, or per chosen row where there are no groups."""
        if groups is None:
            start = np.arange(len(chosen))
            return cls(sign, start, start + 1, chosen, 1.0, alone=False)
        return cls(sign, groups.ptr[chosen], groups.ptr[chosen + 1], groups.order, 1.0, alone=False)

    @cached_property
    def total_weight(self) -> float:
        """The weights of all terms together."""
        return float(np.sum(np.broadcast_to(self.weight, len(self))))

    @cached_property
    def n_rows(self) -> int:
        return int(np.sum(self.stop - self.start))

    def __len__(self) -> int:
        return self.n_rows if self.alone else len(self.start)

    def weight_of(self, chosen: Index | slice) -> float | NDArray[np.float64]:
        """Return the weights of some of the terms, one number where all weigh the same."""
        return self.weight[chosen] if isinstance(self.weight, np.ndarray) else self.weight

    def row_weights(self, chosen: Index) -> NDArray[np.float64]:
        """Return the weight of each row's term; rows are counted through all terms."""
        of_term = np.broadcast_to(self.weight, len(self))
        return of_term[chosen if self.alone else np.searchsorted(self._ends, chosen, "right")]

    def subset(self, chosen: Index) -> Terms:
        """Return some of the terms, their weights raised by the share that is left out."""
        weight = self.weight_of(chosen) * (len(self) / len(chosen))
        if self.alone:
            return Terms.of_rows(self.sign, self.rows(chosen), weight)
        return replace(self, start=self.start[chosen], stop=self.stop[chosen], weight=weight)

    def row_chunks(self, size: int) -> Iterator[tuple[slice, slice | Index]]:
        """Yield pieces of at most ``size`` rows: places among the rows, and row numbers.

        Row numbers are a slice where the rows are contiguous, so that X is not copied.
        """
        for lo in range(0, self.n_rows, size):
            hi = min(lo + size, self.n_rows)
            rows = self.rows(np.arange(lo, hi))
            is_contiguous = rows[-1] - rows[0] == hi - lo - 1 and np.all(np.diff(rows) == 1)
            yield slice(lo, hi), slice(int(rows[0]), int(rows[-1]) + 1) if is_contiguous else rows

    @cached_property
    def _ends(self) -> Index:
        """Rows up to the end of each range, all before it included."""
        return np.cumsum(self.stop - self.start)

    def rows(self, chosen: Index) -> Index:
        """Return the row numbers of the chosen rows, counted through the rows of all terms."""
        within = np.searchsorted(self._ends, chosen, side="right")
        position = chosen - self._ends[within] + self.stop[within]
        return position if len(self.order) == 0 else self.order[position]
