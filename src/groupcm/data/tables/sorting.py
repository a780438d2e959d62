"""Sort tables larger than memory so that the rows of every group are contiguous.

1. A pass over the group column numbers the groups in the order in which they first appear.
2. A pass over the rows appends each to one of a few temporary files, the buckets; a bucket
   holds groups of consecutive numbers.
3. Bucket by bucket, the rows are sorted by the number of their group and written. A bucket
   that does not fit the memory is cut again in the same way.

Where all rows fit the memory, or are contiguous already, there are no temporary files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groupcm.data.tables._concatenation import Listener, open_tables
from groupcm.data.tables._external_sort import RowGroups, Sorter, open_writer
from groupcm.data.tables.columns import KeyColumn
from groupcm.data.tables.roles import ColumnRoles, described
from groupcm.errors import InputError
from groupcm.utils.files import temporary_name, whole_file
from groupcm.utils.memory import parse_memory

__all__ = ["SortedTable", "sort_tables"]


# Rows are held once as they were read and once joined; the last third is for all the rest.
_SHARE_OF_MEMORY = 1 / 3


@dataclass(frozen=True)
class SortedTable:
    """The counts of a sorted table.

    Attributes
    ----------
    n_rows, n_groups, n_apart : int
        Rows, groups, and groups whose rows were not contiguous.
    """

    n_rows: int
    n_groups: int
    n_apart: int


def sort_tables(
    paths: Sequence[str | Path],
    output: str | Path,
    *,
    group: str | None = None,
    memory: int | str = "2GB",
    temporary: str | Path | None = None,
    on_rows: Listener | None = None,
) -> SortedTable:
    """Write the rows of tables to one Parquet file, those of every group contiguous.

    Groups come in the order in which they first appear, and the rows of a group in their
    original order. All columns are kept, with their types (Parquet itself turns seconds into
    milliseconds). In addition to rows, the memory holds one entry per group, and a CSV or Arrow
    file while it is read.

    Parameters
    ----------
    paths : sequence of str or Path
        Parquet, CSV or Arrow files or folders of them, all with the same columns.
    output : str or Path
        The Parquet file; it is written completely or not at all.
    group : str, optional
        The column of groups; by default the one that the tables describe.
    memory : int or str
        Bytes, or text like ``"2GB"``: the memory to use before rows are written to temporary files.
    temporary : str or Path, optional
        Folder for temporary files, as large as the rows; by default that of the output.
    on_rows : callable, optional
        Called with what is being done, the number of rows done and of all rows.

    Raises
    ------
    InputError
        One sentence that names the file, the column and, counted from 0, the row.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow.parquet
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "apart.csv").write_text("frame,size\\nb,1\\na,2\\nb,3\\n")
    >>> sort_tables([folder / "apart.csv"], folder / "sorted.parquet", group="frame")
    SortedTable(n_rows=3, n_groups=2, n_apart=1)
    >>> pyarrow.parquet.read_table(folder / "sorted.parquet").to_pydict()
    {'frame': ['b', 'b', 'a'], 'size': [1, 3, 2]}
    """
    about = described(paths)
    roles = ColumnRoles(group=group).filled_in(about, ["group"])
    roles.require(["group"], paths[0], about)
    group = roles["group"]
    share = max(1, int(parse_memory(memory) * _SHARE_OF_MEMORY))
    output, folder = Path(output), Path(temporary or Path(os.path.realpath(output)).parent)
    if temporary is not None and not folder.is_dir():
        raise InputError(f"{folder} is not a folder; temporary files need one that exists")
    tables = open_tables(paths, group)
    listener = on_rows or (lambda doing, done, n_rows: None)
    with whole_file(output) as unfinished, temporary_name(folder / output.name) as buckets:
        groups = _GroupNumbers()
        for _, key in tables.read([group], "numbering groups", listener):
            groups.count(groups.of(key))
        everything = tables.read(tables.schema.names, "reading", listener)
        with open_writer(unfinished, tables.schema) as writer:
            rows = RowGroups(writer, tables.n_rows, listener)
            if groups.n_apart == 0:
                for batch, _ in everything:
                    rows.add(pa.Table.from_batches([batch]))
            else:
                sorter = Sorter(groups.rows_before(), share, buckets, rows)
                sorter.sort(groups.numbered(everything), 0, groups.n_groups)
            rows.write_rest()
    return SortedTable(tables.n_rows, groups.n_groups, groups.n_apart)


class _GroupNumbers:
    """Number groups in the order of their first appearance, and count the rows of each."""

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
        """Count the rows that come next, and the runs of contiguous rows."""
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
