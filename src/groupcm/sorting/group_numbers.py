"""Groups by number, in the order of their first appearance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groupcm.table_columns import KeyColumn

__all__ = ["GroupNumbers"]


class GroupNumbers:
    """Numbers for groups in the order of their first appearance, and how many rows each has."""

    def __init__(self) -> None:
        self._number_of: dict[Any, int] = {}
        self._sizes = np.zeros(1024, np.int64)
        self._runs = np.zeros(1024, np.int64)
        self._last = -1

    @property
    def n_groups(self) -> int:
        return len(self._number_of)

    @property
    def n_apart(self) -> int:
        return int(np.count_nonzero(self._runs > 1))

    def of(self, key: KeyColumn) -> NDArray[np.int64]:
        """Number the groups of some rows; new ones get the next numbers."""
        codes, names = key.codes, key.names
        if names is None:
            encoded = pa.array(codes).dictionary_encode()
            codes, names = encoded.indices.to_numpy(), encoded.dictionary
        known = self._number_of
        numbers = (known.setdefault(name, len(known)) for name in names.to_pylist())
        return np.fromiter(numbers, np.int64, len(names))[codes]

    def count(self, numbers: NDArray[np.int64]) -> None:
        """Count the rows that come next, and the runs of rows that stand together."""
        if len(numbers) == 0:
            return
        if (missing := self.n_groups - len(self._sizes)) > 0:
            more = np.zeros(missing + len(self._sizes), np.int64)
            self._sizes, self._runs = np.append(self._sizes, more), np.append(self._runs, more)
        edges = np.flatnonzero(np.diff(numbers, prepend=-1, append=-1))
        of_run = numbers[edges[:-1]]
        np.add.at(self._sizes, of_run, np.diff(edges))
        np.add.at(self._runs, of_run, 1)
        self._runs[numbers[0]] -= numbers[0] == self._last
        self._last = numbers[-1]

    def numbered(
        self, batches: Iterable[tuple[pa.RecordBatch, KeyColumn]]
    ) -> Iterator[pa.RecordBatch]:
        """Put the number of the group before the other columns."""
        for batch, key in batches:
            schema = batch.schema.insert(0, pa.field("number", pa.int64()))
            yield pa.RecordBatch.from_arrays([self.of(key), *batch.columns], schema=schema)

    def rows_before(self) -> NDArray[np.int64]:
        """Count the rows before each group in the sorted table; the last number is of all."""
        return np.concatenate([[0], np.cumsum(self._sizes[: self.n_groups])])
