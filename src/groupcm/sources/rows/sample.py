"""Provides `Sample`: the units that a reader keeps in memory, as a sample of all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from groupcm.objective.terms import NO_ORDER, Index, Terms
from groupcm.sources.rows.chunk import Chunk, RowMajorFeatures
from groupcm.sources.rows.reader import SourceReader
from groupcm.utils.parallel import thread_map
from groupcm.utils.typing import Raw

__all__ = ["Sample", "choose_units", "units_of"]


_GOLDEN = 0.6180339887498949
# So many rows show what share of all rows a pass keeps.
_ENOUGH_ROWS = 200_000
# Row numbers that are looked up at once.
_ROWS_AT_ONCE = 1_000_000


class Sample:
    """Rows in memory and where in the source they come from.

    Attributes
    ----------
    rows : ndarray
        The rows of the units, as they are stored, in order.
    """

    def __init__(self, reader: SourceReader) -> None:
        ptr, units = reader.source.unit_ptr, np.array(reader.resident_units)
        self.rows: Raw = reader.resident
        self._extra = reader.extra
        size = ptr[units + 1] - ptr[units]
        self._n_in_units = int(np.sum(size))
        self._n_rows = reader.source.n_rows
        new = np.ones(len(units), dtype=bool)
        new[1:] = units[1:] != units[:-1] + 1
        self._first = ptr[units[new]]
        self._at = (np.cumsum(size) - size)[new]
        self._stop = self._first + np.diff(np.append(self._at, self._n_in_units))

    @property
    def n_raw(self) -> int:
        return self.rows.shape[1]

    def place(self, rows: Index) -> Index:
        """Return where each of these rows is in the sample; −1 where it is not."""
        run = np.searchsorted(self._first, rows, side="right") - 1
        inside = (run >= 0) & (rows < self._stop[run])
        place = np.where(inside, rows - self._first[run] + self._at[run], -1)
        if len(self._extra):
            at = np.minimum(np.searchsorted(self._extra, rows), len(self._extra) - 1)
            found = ~inside & (self._extra[at] == rows)
            place[found] = self._n_in_units + at[found]
        return place

    def restrict(self, terms: Terms) -> Terms:
        """Return the terms that are wholly in the sample, their weights raised for the others."""
        if terms.alone:
            chosen, place = self._alone_here(terms)
            weight = terms.weight_of(chosen) * (len(terms) / max(1, len(chosen)))
            return Terms.of_rows(terms.sign, place, weight)
        if len(terms.order) == 0:
            start, last = self.place(terms.start), self.place(terms.stop - 1)
            together = last - start == terms.stop - 1 - terms.start
            chosen = np.flatnonzero((start >= 0) & (last >= 0) & together)
            if len(chosen) == 0:
                return self._cut(terms)
            return replace(terms.subset(chosen), start=start[chosen], stop=last[chosen] + 1)
        place = self.place(terms.order)
        here = np.concatenate([[0], np.cumsum(place >= 0)])
        size = here[terms.stop] - here[terms.start]
        # Whole terms, or where there are none what there is of any.
        chosen = np.flatnonzero(size == terms.stop - terms.start)
        chosen = chosen if len(chosen) else np.flatnonzero(size)
        return replace(
            _subset(terms, chosen),
            start=here[terms.start[chosen]],
            stop=here[terms.stop[chosen]],
            order=place[place >= 0],
        )

    def _alone_here(self, terms: Terms) -> tuple[Index, Index]:
        """Return which rows of the terms are in the sample, and their places there.

        They are looked up piece by piece: the numbers of all rows would take more memory than the
        sample.
        """
        numbers, places = [NO_ORDER], [NO_ORDER]
        for lo in range(0, terms.n_rows, _ROWS_AT_ONCE):
            some = np.arange(lo, min(lo + _ROWS_AT_ONCE, terms.n_rows))
            place = self.place(terms.rows(some))
            here = place >= 0
            numbers.append(some[here])
            places.append(place[here])
        return np.concatenate(numbers), np.concatenate(places)

    def _cut(self, terms: Terms) -> Terms:
        """Return the parts that the sample has of terms, where it has none wholly."""
        pieces = [
            (number, max(int(terms.start[number]), first) - move, min(last, stop) - move)
            for first, stop, move in zip(
                self._first, self._stop, self._first - self._at, strict=True
            )
            for number in range(
                int(np.searchsorted(terms.stop, first, side="right")),
                int(np.searchsorted(terms.start, stop)),
            )
            for last in [int(terms.stop[number])]
        ]
        number, start, stop = np.array(pieces, dtype=np.int64).reshape(-1, 3).T
        return replace(_subset(terms, number), start=start, stop=stop)

    def n_kept(self, count_kept: Callable[[Chunk], int]) -> float:
        """Estimate how many rows of all a pass would keep, from some of the sample."""
        spread = np.argsort(np.arange(len(self._first)) * _GOLDEN % 1.0, kind="stable")
        size = (self._stop - self._first)[spread]
        spread = spread[: 1 + int(np.searchsorted(np.cumsum(size), _ENOUGH_ROWS))]

        def count(run: int) -> int:
            at, first = int(self._at[run]), int(self._first[run])
            size = int(self._stop[run]) - first
            chunk = Chunk(first, size, RowMajorFeatures(self.rows[at : at + size]))
            return count_kept(chunk)

        looked_at = int(np.sum((self._stop - self._first)[spread]))
        return sum(thread_map(count, spread)) * self._n_rows / looked_at


def _subset(terms: Terms, chosen: Index) -> Terms:
    return terms.subset(chosen) if len(chosen) else replace(terms, weight=0.0)


def choose_units(size: Index, choices: Sequence[tuple[Sequence[int], float]]) -> list[int]:
    """Choose units for a sample, at least one.

    Parameters
    ----------
    size : ndarray
        How many rows each unit has.
    choices : sequence of (units, rows)
        Some units, and how many rows the sample may have with them; earlier choices come
        first. Where not all of them fit, those chosen are spread evenly.

    Examples
    --------
    >>> choose_units(np.array([10, 10, 10, 10]), [([3], 20), ([0, 1, 2, 3], 20)])
    [0, 3]
    """
    chosen: dict[int, None] = {}
    n_rows = 0
    for units, most in choices:
        # Multiples of the golden ratio: any beginning of the list is spread evenly.
        for unit in sorted(units, key=lambda unit: unit * _GOLDEN % 1.0):
            if unit not in chosen and (not chosen or n_rows + size[unit] <= most):
                chosen[unit] = None
                n_rows += int(size[unit])
    return sorted(chosen)


def units_of(unit_ptr: Index, rows: Index) -> list[int]:
    """Return the units that hold some of these sorted rows."""
    return [int(unit) for unit in np.flatnonzero(np.diff(np.searchsorted(rows, unit_ptr)))]
