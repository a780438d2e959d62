"""Bringing the rows of every group together, for tables larger than memory.

1. A pass over the group column numbers the groups in the order in which they first appear.
2. A pass over the rows appends each to one of a few temporary files, the buckets; a bucket
   holds groups of consecutive numbers.
3. Bucket by bucket, the rows are sorted by the number of their group and written. A bucket
   that does not fit the memory is cut again in the same way.

Where all rows fit the memory, or stand together already, there are no temporary files.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from groupcm.errors import InputError
from groupcm.files import temporary_name, whole_file
from groupcm.memory import parse_memory
from groupcm.sorting.buckets import Sorter
from groupcm.sorting.group_numbers import GroupNumbers
from groupcm.sorting.row_groups import RowGroups, open_writer
from groupcm.sorting.tables import Listener, open_tables

__all__ = ["SortedTable", "sort_tables"]

# Rows are held once as they were read and once joined; the last third is for all the rest.
_SHARE_OF_MEMORY = 1 / 3


@dataclass(frozen=True)
class SortedTable:
    """What was sorted.

    Attributes
    ----------
    n_rows, n_groups, n_apart : int
        Rows, groups, and groups whose rows did not stand together.
    """

    n_rows: int
    n_groups: int
    n_apart: int


def sort_tables(
    paths: Sequence[str | Path],
    output: str | Path,
    *,
    group: str,
    memory: int | str = "2GB",
    temporary: str | Path | None = None,
    on_rows: Listener | None = None,
) -> SortedTable:
    """Write the rows of some tables to one Parquet file, those of every group together.

    Groups come in the order in which they first appear, and the rows of a group in their
    original order. All columns are kept, with their types (Parquet itself turns seconds into
    milliseconds). Beside the rows, the memory holds an entry for every group, and a CSV or
    Arrow file while it is read.

    Parameters
    ----------
    paths : sequence of str or Path
        Parquet, CSV or Arrow files or folders of them, all with the same columns.
    output : str or Path
        The Parquet file; it appears whole or not at all.
    group : str
        The column that says which group a row is in.
    memory : int or str
        Bytes, or text like ``"2GB"``: how much to hold before rows go to temporary files.
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
    share = max(1, int(parse_memory(memory) * _SHARE_OF_MEMORY))
    output, folder = Path(output), Path(temporary or Path(os.path.realpath(output)).parent)
    if temporary is not None and not folder.is_dir():
        raise InputError(f"{folder} is not a folder; temporary files need one that exists")
    tables = open_tables(paths, group)
    listener = on_rows or (lambda doing, done, n_rows: None)
    with whole_file(output) as beside, temporary_name(folder / output.name) as buckets:
        groups = GroupNumbers()
        for _, key in tables.read([group], "numbering groups", listener):
            groups.count(groups.of(key))
        everything = tables.read(tables.schema.names, "reading", listener)
        with open_writer(beside, tables.schema) as writer:
            rows = RowGroups(writer, tables.n_rows, listener)
            if groups.n_apart == 0:
                for batch, _ in everything:
                    rows.add(pa.Table.from_batches([batch]))
            else:
                sorter = Sorter(groups.rows_before(), share, buckets, rows)
                sorter.sort(groups.numbered(everything), 0, groups.n_groups)
            rows.write_rest()
    return SortedTable(tables.n_rows, groups.n_groups, groups.n_apart)
