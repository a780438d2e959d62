"""Sources whose units are read by threads of this process."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from groupcm.errors import InputError
from groupcm.parallel import thread_stream
from groupcm.sources.arrays import NonFiniteValue
from groupcm.sources.chunk import Chunk
from groupcm.sources.source import Columns, Job, Source

__all__ = ["LocalSource", "require_batch_rows"]

Result = TypeVar("Result")


class LocalSource(Source):
    """A source that decodes a unit whenever a job asks for it."""

    @abstractmethod
    def chunks(self, unit: int, columns: Columns) -> Iterator[Chunk]:
        """Decode a unit, in one chunk or several; any thread may ask."""

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
    """Refuse what is no number of rows."""
    if isinstance(batch_rows, bool) or not isinstance(batch_rows, int) or batch_rows < 1:
        raise ValueError(f"batch_rows must be a whole number of at least 1; got {batch_rows!r}.")
