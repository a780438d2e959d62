"""Provides `Source`, the base of everything that candidates are read from, unit by unit.

A pass is a map over the units and a reduction. A source knows how many rows each unit has and
runs a job on a unit's rows where they are: in a thread of this process (`LocalSource`), or in
another process that holds them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groupcm.data.groups import GroupIndex
from groupcm.errors import InputError
from groupcm.objective.terms import Index
from groupcm.sources.rows.chunk import Chunk, NonFiniteValue
from groupcm.sources.rows.index import CandidateIndex, Keys, build_index, index_of_no_rows
from groupcm.utils.parallel import thread_stream
from groupcm.utils.progress import announce_reading, count_reading

__all__ = ["Columns", "Job", "LocalSource", "Source", "require_batch_rows", "rows_by_unit"]

Result = TypeVar("Result")
# A job may be sent to another process: it is a picklable callable.
Job = Callable[[Chunk], Result]


@dataclass(frozen=True)
class Columns:
    """Which columns a job needs."""

    features: bool = False
    group: bool = False
    label: bool = False
    overlap: bool = False


class Source(ABC):
    """Candidates in units of rows, the rows of a group contiguous.

    Attributes
    ----------
    feature_names : list of str or None
    n_features : int
    dtype : dtype
        float32 or float64: the type every feature is read as.
    has_group, has_label, has_overlap : bool
        Which of these columns there are.
    memory : int or None
        How many bytes a fit may use, where the user has set it.

    Examples
    --------
    >>> from groupcm.sources import from_arrays
    >>> source = from_arrays(np.array([[1.5], [2.5]]), group=["a", "a"], label=[0, 1])
    >>> source.n_features, source.has_label, source.has_overlap
    (1, True, False)
    """

    feature_names: list[str] | None
    n_features: int
    dtype: np.dtype[Any]
    has_group: bool
    has_label: bool
    has_overlap: bool
    memory: int | None = None
    _index: CandidateIndex | None = None
    # Whether all rows may be brought into this process where they fit, and which share of
    # them may be where they do not.
    loads_whole: bool = True
    sample_share: float = 0.1
    # Whether single rows can be read without decoding those around them.
    reads_single_rows: bool = False

    @property
    @abstractmethod
    def unit_ptr(self) -> Index:
        """Unit ``u`` holds rows ``unit_ptr[u]`` to ``unit_ptr[u + 1]``."""

    @abstractmethod
    def run(
        self, jobs: Iterable[tuple[int, Job[Result]]], columns: Columns
    ) -> Generator[tuple[int, list[Result]]]:
        """Run each job on its unit; yield the unit and its results, one per chunk, in order.

        Several run at once; no more are under way than can be held in memory. What is under way
        ends when the generator is closed, which a caller does that may stop early.
        """

    def index(self) -> CandidateIndex:
        """Return the group and the class of every row; read once and kept."""
        if self._index is None and self.n_rows == 0:
            self._index = index_of_no_rows(self.has_group, self.has_label)
        if self._index is None:
            jobs = ((unit, _read_keys) for unit in range(self.n_units))
            columns = Columns(group=self.has_group, label=self.has_label)
            progress = count_reading("reading groups and labels", self.n_rows, 0)
            units: list[tuple[int, int, Keys]] = []
            with closing(self.run(jobs, columns)) as results:
                for unit, found in results:
                    units += found
                    announce_reading(progress(int(self.unit_ptr[unit + 1])))
            self._index = build_index(units, self.n_rows, self.apart)
        return self._index

    def group_index(self) -> GroupIndex:
        """Return which rows belong to which group; without groups, every row is its own."""
        return self.index().group_index(self.n_rows)

    def rename_classes(self, names: NDArray[Any]) -> None:
        """Call the classes by other names, one for each of ``index().classes``."""
        self._index = replace(self.index(), classes=names)

    def overlap_of(self, rows: Index) -> NDArray[np.float64]:
        """Return how well each of these rows fits its annotation."""
        in_order = np.argsort(rows, kind="stable")
        parts = rows_by_unit(self.unit_ptr, rows[in_order])
        jobs = ((unit, _TakeOverlap(part)) for unit, part in parts)
        with closing(self.run(jobs, Columns(overlap=True))) as results:
            values = [part for _, found in results for part in found]
        overlap = np.empty(len(rows))
        overlap[in_order] = np.concatenate([np.empty(0), *values])
        return overlap

    def require_finite(self) -> None:
        """Read all rows and name the first feature that is not finite, if there is one."""
        jobs = ((unit, _require_finite) for unit in range(self.n_units))
        with closing(self.run(jobs, Columns(features=True))) as results:
            for _ in results:
                pass

    @abstractmethod
    def where(self, row: int) -> str:
        """Describe where a row is, such as ``row 7 of frames.parquet``."""

    @abstractmethod
    def sort_advice(self) -> str:
        """Describe how to make the rows of each group contiguous."""

    def apart(self, group: Any, row: int, again: int) -> InputError:
        """Return the error for a group that is found again after it ended."""
        return InputError(
            f"the rows of group {group!s} are not contiguous: {self.where(row)} and "
            f"{self.where(again)} (counted from 0) hold it, with other groups between; "
            f"{self.sort_advice()}"
        )

    @property
    def n_rows(self) -> int:
        return int(self.unit_ptr[-1])

    @property
    def n_units(self) -> int:
        return len(self.unit_ptr) - 1

    @property
    def nbytes(self) -> int:
        """What all features take when they are decoded."""
        return self.n_rows * self.n_features * self.dtype.itemsize


def _require_finite(chunk: Chunk) -> None:
    assert chunk.features is not None
    if not np.all(np.isfinite(chunk.features.matrix())):
        raise NonFiniteValue("a feature is not finite")


def _read_keys(chunk: Chunk) -> tuple[int, int, Keys]:
    assert chunk.keys is not None
    return chunk.first, chunk.n_rows, chunk.keys


class _TakeOverlap:
    def __init__(self, rows: Index) -> None:
        self.rows = rows

    def __call__(self, chunk: Chunk) -> NDArray[np.floating]:
        assert chunk.keys is not None
        assert chunk.keys.overlap is not None
        lo, hi = np.searchsorted(self.rows, [chunk.first, chunk.stop])
        return chunk.keys.overlap[self.rows[lo:hi] - chunk.first]


def rows_by_unit(unit_ptr: Index, rows: Index) -> Iterator[tuple[int, Index]]:
    """Yield sorted rows unit by unit; units without any are left out."""
    cuts = np.searchsorted(rows, unit_ptr)
    for unit in np.flatnonzero(cuts[1:] > cuts[:-1]):
        yield int(unit), rows[cuts[unit] : cuts[unit + 1]]


class LocalSource(Source):
    """A source that decodes a unit whenever a job needs it."""

    @abstractmethod
    def chunks(self, unit: int, columns: Columns) -> Iterator[Chunk]:
        """Decode a unit, in one chunk or several; any thread may call this."""

    def run(
        self, jobs: Iterable[tuple[int, Job[Result]]], columns: Columns
    ) -> Generator[tuple[int, list[Result]]]:
        def run_one(item: tuple[int, Job[Result]]) -> tuple[int, list[Result]]:
            unit, job = item
            return unit, [self._run_on(chunk, job) for chunk in self.chunks(unit, columns)]

        return thread_stream(run_one, jobs)

    def _run_on(self, chunk: Chunk, job: Job[Result]) -> Result:
        try:
            return job(chunk)
        except NonFiniteValue:
            self._refuse_not_finite(chunk)
            raise

    def _refuse_not_finite(self, chunk: Chunk) -> None:
        """Name the first value that is infinite, which no model takes, or else missing."""
        assert chunk.features is not None
        values = chunk.features.matrix()
        bad = np.argwhere(np.isinf(values) if np.isinf(values).any() else np.isnan(values))
        if len(bad):
            i, j = bad[0]
            name = j if self.feature_names is None else repr(self.feature_names[j])
            value = values[i, j]
            raise InputError(
                f"{self.where(chunk.first + int(i))} (counted from 0): the feature {name} is "
                f"{value}; features must be finite numbers"
            )


def require_batch_rows(batch_rows: Any) -> None:
    """Raise unless this is a number of rows."""
    if isinstance(batch_rows, bool) or not isinstance(batch_rows, int) or batch_rows < 1:
        raise ValueError(f"batch_rows must be a whole number of at least 1; got {batch_rows!r}.")
