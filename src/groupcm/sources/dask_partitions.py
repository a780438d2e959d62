"""A partition as a worker holds it, and the pieces of it that a pass works on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groupcm.parallel import work_alone
from groupcm.sources.chunk import Chunk, FeatureRows
from groupcm.sources.keys import Keys, Labels, Runs
from groupcm.sources.source import Columns, Job
from groupcm.table_formats import TableFile

__all__ = ["Partition", "Slice", "Summary", "cut", "run_on_slice", "summarise"]

Result = TypeVar("Result")

# A unit is small beside a worker's memory, and long work beside the milliseconds a task costs.
_UNIT_BYTES = 1 << 25
_MOST_UNITS = 1 << 11


@dataclass(frozen=True)
class Summary:
    """What the client learns of a partition."""

    table: TableFile
    features: list[str]
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Partition:
    """Features in one C-ordered matrix, groups as runs, labels by number."""

    summary: Summary
    X: NDArray[np.floating]
    keys: Keys

    def __sizeof__(self) -> int:
        # Dask asks this, to know what moving a partition would cost and when memory runs short.
        arrays = [self.X, self.keys.overlap]
        if self.keys.runs is not None:
            arrays += [self.keys.runs.start, self.keys.runs.ids]
        if self.keys.labels is not None:
            arrays.append(self.keys.labels.codes)
        return sum(array.nbytes for array in arrays if array is not None)


@dataclass(frozen=True)
class Slice:
    """Rows ``lo`` to ``hi`` of a partition, the first of which is row ``first`` of the source."""

    partition: int
    lo: int
    hi: int
    first: int

    def chunk(self, held: Partition, columns: Columns) -> Chunk:
        """These rows, without a copy."""
        here = slice(self.lo, self.hi)
        runs = labels = overlap = None
        if columns.group and held.keys.runs is not None:
            runs = _runs_between(held.keys.runs, self.lo, self.hi)
        if columns.label and held.keys.labels is not None:
            codes = held.keys.labels.codes
            labels = Labels(held.keys.labels.values, None if codes is None else codes[here])
        if columns.overlap and held.keys.overlap is not None:
            overlap = held.keys.overlap[here]
        features = FeatureRows(held.X[here]) if columns.features else None
        return Chunk(self.first, self.hi - self.lo, features, Keys(runs, labels, overlap))


def _runs_between(runs: Runs, lo: int, hi: int) -> Runs:
    first = np.searchsorted(runs.start, lo, side="right") - 1
    part = slice(first, np.searchsorted(runs.start, hi))
    return Runs(np.maximum(runs.start[part] - lo, 0), runs.ids[part])


def summarise(held: Partition) -> Summary:
    return held.summary


def run_on_slice(job: Job[Result], rows: Slice, columns: Columns, held: Partition) -> Result:
    """What a worker does in a pass."""
    work_alone()
    return job(rows.chunk(held, columns))


def cut(sizes: list[int], row_bytes: int) -> list[Slice]:
    """Units: partitions, or pieces of even size of the large ones; none where there are no rows.

    Examples
    --------
    >>> cut([2, 0, 3], row_bytes=4)
    [Slice(partition=0, lo=0, hi=2, first=0), Slice(partition=2, lo=0, hi=3, first=2)]
    """
    most_bytes = max(_UNIT_BYTES, sum(sizes) * row_bytes // _MOST_UNITS)
    firsts = np.cumsum([0, *sizes])
    units = []
    for number, (size, first) in enumerate(zip(sizes, firsts, strict=False)):
        n_pieces = min(size, -(-size * row_bytes // most_bytes))
        edges = [size * k // n_pieces for k in range(n_pieces + 1)] if size else []
        units += [Slice(number, lo, hi, int(first) + lo) for lo, hi in pairwise(edges)]
    return units
