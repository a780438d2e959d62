"""Provides `SourceReader`: some units kept in memory, the others decoded at each pass."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import TypeVar

import numpy as np

from groupcm.objective.terms import NO_ORDER, Index
from groupcm.sources.base import Columns, Job, Source, rows_by_unit
from groupcm.sources.rows.chunk import Chunk, RowMajorFeatures, require_finite_rows
from groupcm.utils.parallel import thread_stream
from groupcm.utils.progress import announce_reading, count_reading
from groupcm.utils.typing import Raw

__all__ = ["SourceReader"]

Result = TypeVar("Result")


class SourceReader:
    """Reads a source pass by pass, counts the rows read and reports the progress.

    Attributes
    ----------
    rows_read : int
        Rows decoded or, where they are in memory, looked at.
    resident : ndarray
        The rows of the units that are kept in memory, one unit after another, and then
        the rows ``extra``.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.rows_read = 0
        self.resident: Raw = np.empty((0, source.n_features), source.dtype)
        self.extra: Index = NO_ORDER
        self._place: dict[int, int] = {}

    @property
    def resident_units(self) -> list[int]:
        """The units in memory, in order."""
        return sorted(self._place)

    def load(self, units: Sequence[int], extra: Index = NO_ORDER) -> None:
        """Keep these units, and after them some single rows, instead of what was kept before."""
        ptr = self.source.unit_ptr
        sizes = [int(ptr[unit + 1] - ptr[unit]) for unit in units]
        starts = np.cumsum([0, *sizes])
        self._place = {}
        n_rows = int(starts[-1])
        self.resident = np.empty((n_rows + len(extra), self.source.n_features), self.source.dtype)
        place = dict(zip(units, map(int, starts), strict=False))
        jobs = {unit: _Fill(self.resident[place[unit] :], int(ptr[unit])) for unit in units}
        with closing(self._decode(jobs.__getitem__, units, "reading a sample")) as decoded:
            for unit, parts in decoded:
                for first, rows in parts:
                    if rows is not None:  # from another process
                        at = place[unit] + first - int(ptr[unit])
                        self.resident[at : at + len(rows)] = rows
        self._place = place
        self.extra = extra
        self.resident[n_rows:] = self.raw(extra)

    def run(
        self, job_of: Callable[[int], Job[Result]], units: Sequence[int], doing: str
    ) -> list[Result]:
        """Run the job of each unit on its rows; return the results in order of rows."""
        here = [unit for unit in units if unit in self._place]
        results = {
            unit: [result] for unit, result in thread_stream(self._on_resident(job_of), here)
        }
        self.rows_read += int(sum(self._size(unit) for unit in here))
        away = [unit for unit in units if unit not in self._place]
        if away:
            results |= dict(self._decode(job_of, away, doing))
        return [result for unit in sorted(results) for result in results[unit]]

    def raw(self, rows: Index) -> Raw:
        """Return some rows as they are stored, in the order given."""
        in_order = np.argsort(rows, kind="stable")
        wanted = dict(rows_by_unit(self.source.unit_ptr, rows[in_order]))
        parts = self.run(lambda unit: _Take(wanted[unit]), list(wanted), "reading rows")
        out = np.empty((len(rows), self.source.n_features), self.source.dtype)
        if parts:
            out[in_order] = np.concatenate(parts)
        return out

    def _size(self, unit: int) -> int:
        ptr = self.source.unit_ptr
        return int(ptr[unit + 1] - ptr[unit])

    def _on_resident(
        self, job_of: Callable[[int], Job[Result]]
    ) -> Callable[[int], tuple[int, Result]]:
        def run_one(unit: int) -> tuple[int, Result]:
            at, size = self._place[unit], self._size(unit)
            rows = RowMajorFeatures(self.resident[at : at + size])
            chunk = Chunk(int(self.source.unit_ptr[unit]), size, rows)
            return unit, job_of(unit)(chunk)

        return run_one

    def _decode(
        self, job_of: Callable[[int], Job[Result]], units: Sequence[int], doing: str
    ) -> Generator[tuple[int, list[Result]]]:
        """Run jobs on units that are not in memory, and announce the progress."""
        total = sum(self._size(unit) for unit in units)
        row_bytes = self.source.n_features * self.source.dtype.itemsize
        progress, done = count_reading(doing, total, total * row_bytes), 0
        needed = Columns(features=True)
        jobs = ((unit, job_of(unit)) for unit in units)
        with closing(self.source.run(jobs, needed)) as results:
            for unit, found in results:
                done += self._size(unit)
                self.rows_read += self._size(unit)
                announce_reading(progress(done))
                yield unit, found


class _Fill:
    """Copy a chunk to its place, or hand it over where the place is in another process."""

    def __init__(self, out: Raw, first: int) -> None:
        self.out: Raw | None = out
        self.first = first

    def __getstate__(self) -> dict[str, object]:
        return {"out": None, "first": self.first}

    def __call__(self, chunk: Chunk) -> tuple[int, Raw | None]:
        assert chunk.features is not None
        if self.out is None:
            return chunk.first, require_finite_rows(chunk.features.matrix())
        at = chunk.first - self.first
        out = self.out[at : at + chunk.n_rows]
        chunk.features.fill(out)
        require_finite_rows(out)
        return chunk.first, None


class _Take:
    """Take some rows of a unit."""

    def __init__(self, rows: Index) -> None:
        self.rows = rows

    def __call__(self, chunk: Chunk) -> Raw:
        assert chunk.features is not None
        lo, hi = np.searchsorted(self.rows, [chunk.first, chunk.stop])
        return require_finite_rows(chunk.features.take(self.rows[lo:hi] - chunk.first))
