"""Sources whose units are read by threads of this process."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from groupcm.candidates import Index
from groupcm.errors import InputError
from groupcm.parallel import thread_stream
from groupcm.sources.arrays import NonFiniteValue
from groupcm.sources.chunk import Chunk
from groupcm.sources.index import CandidateIndex, build_index
from groupcm.sources.keys import Keys
from groupcm.sources.source import Columns, Job, Source

__all__ = ["LocalSource", "rows_by_unit"]

Result = TypeVar("Result")


class LocalSource(Source):
    """A source that decodes a unit whenever a job asks for it."""

    _index: CandidateIndex | None = None
    _has_group: bool
    _has_label: bool
    _has_overlap: bool

    @abstractmethod
    def chunks(self, unit: int, columns: Columns) -> Iterator[Chunk]:
        """Decode a unit, in one chunk or several; any thread may ask."""

    def run(
        self, jobs: Iterable[tuple[int, Job[Result]]], columns: Columns
    ) -> Iterator[tuple[int, list[Result]]]:
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
        """Name the first value that is not finite."""
        assert chunk.features is not None
        bad = np.argwhere(~np.isfinite(chunk.features.matrix()))
        if len(bad):
            i, j = bad[0]
            name = j if self.feature_names is None else repr(self.feature_names[j])
            value = chunk.features.matrix()[i, j]
            raise InputError(
                f"{self.where(chunk.first + int(i))} (counted from 0): the feature {name} is "
                f"{value}; features must be finite numbers"
            )

    def index(self) -> CandidateIndex:
        if self._index is None:
            jobs = ((unit, _read_keys) for unit in range(self.n_units))
            columns = Columns(group=self._has_group, label=self._has_label)
            units = (found for _, results in self.run(jobs, columns) for found in results)
            self._index = build_index(units, self.n_rows, self.apart)
        return self._index

    def overlap_of(self, rows: Index) -> NDArray[np.floating] | None:
        if not self._has_overlap:
            return None
        rows = np.asarray(rows)
        in_order = np.argsort(rows, kind="stable")
        parts = rows_by_unit(self.unit_ptr, rows[in_order])
        jobs = ((unit, _TakeOverlap(part)) for unit, part in parts)
        found = self.run(jobs, Columns(overlap=True))
        values = [part for _, results in found for part in results]
        overlap = np.empty(len(rows))
        overlap[in_order] = np.concatenate([np.empty(0), *values])
        return overlap


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
    """Sorted rows, unit by unit; units without any are left out."""
    cuts = np.searchsorted(rows, unit_ptr)
    for unit in np.flatnonzero(cuts[1:] > cuts[:-1]):
        yield int(unit), rows[cuts[unit] : cuts[unit + 1]]
