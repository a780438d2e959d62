"""Synthetic frames written to Parquet, a few chunks at a time."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from groupcm.data.tables.parquet import parquet_writer
from groupcm.errors import Argument, ParameterError
from groupcm.simulate.frames import draw_chunk
from groupcm.simulate.world import N_FEATURES, WORLD, Capsule, Plan, make_plan, require_whole
from groupcm.utils import parallel
from groupcm.utils.files import whole_file, whole_folder

__all__ = ["capsule_to_parquet"]

_LIST = pa.list_(pa.field("item", pa.float32(), nullable=False), N_FEATURES)
_FEATURES: dict[str, list[pa.Field]] = {
    "wide": [pa.field(name, pa.float32()) for name in WORLD],
    "list": [pa.field("features", _LIST)],
}
_OTHERS = [
    pa.field("frame", pa.int32()),
    pa.field("label", pa.int8()),
    pa.field("overlap", pa.float32()),
    pa.field("polyp", pa.int32()),
    pa.field("patient", pa.int32()),
]


def capsule_to_parquet(
    path: str | os.PathLike[str],
    n_negative: int = 2000,
    *,
    n_positive: int = 293,
    n_polyps: int | None = None,
    n_patients: int | None = None,
    group_size: int = 200,
    seed: int = 0,
    world: int = 1,
    layout: str = "wide",
    rows_a_row_group: int = 131_072,
    n_files: int = 1,
    n_threads: int | None = None,
    on_rows: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Write the rows of `capsule` to Parquet, for data larger than memory.

    The columns are the features and then ``frame``, ``label``, ``overlap``, ``polyp`` and
    ``patient``. The values equal those of ``capsule(...)`` of the same arguments bit for bit.
    A frame may begin in one row group or file and end in the next.

    Parameters
    ----------
    path : path
        The file to write; with several files, the folder, which must be new or empty.
    n_negative, n_positive, n_polyps, n_patients, group_size, seed, world
        As for `capsule`.
    layout : {"wide", "list"}
        ``"wide"`` has one float32 column per feature, under its name; ``"list"`` has one column
        ``features`` of 13 float32 values per row.
    rows_a_row_group : int
        Rows of every row group except the last of a file.
    n_files : int
        Number of files, with about equally many rows. Several files are called
        ``part-00000.parquet`` and so on.
    n_threads : int, optional
        Threads that draw candidates; by default one for each core.
    on_rows : callable, optional
        Called with the number of rows written so far and of all rows.

    Returns
    -------
    list of Path
        The files, in the order of their rows. They appear whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "made"
    >>> [file.name for file in capsule_to_parquet(folder, 30, n_positive=3, n_files=2)]
    ['part-00000.parquet', 'part-00001.parquet']
    >>> import pyarrow.parquet
    >>> pyarrow.parquet.read_table(folder).column_names[-5:]
    ['frame', 'label', 'overlap', 'polyp', 'patient']
    """
    if layout not in _FEATURES:
        raise ParameterError(Argument("layout"), f" must be 'wide' or 'list'; got {layout!r}.")
    n_threads = parallel.n_threads() if n_threads is None else n_threads
    require_whole("n_threads", n_threads, 1)
    require_whole("rows_a_row_group", rows_a_row_group, 1)
    plan = make_plan(n_negative, n_positive, n_polyps, n_patients, group_size, seed, world)
    require_whole("n_files", n_files, 1, plan.n_rows, "the number of rows")

    def write(files: list[Path]) -> None:
        edges = np.linspace(0, plan.n_rows, len(files) + 1).astype(np.int64).tolist()
        with _RowsInOrder(plan, layout, n_threads) as rows:
            for file, (begin, end) in zip(files, pairwise(edges), strict=True):
                with whole_file(file) as temporary, _writer(temporary, layout) as writer:
                    for first in range(begin, end, rows_a_row_group):
                        last = min(first + rows_a_row_group, end)
                        writer.write_table(rows.take(last - first), rows_a_row_group)
                        if on_rows is not None:
                            on_rows(last, plan.n_rows)

    if n_files == 1:
        write([Path(path)])
        return [Path(path)]
    names = [f"part-{number:05}.parquet" for number in range(n_files)]
    with whole_folder(path) as folder:
        write([folder / name for name in names])
    return [Path(path) / name for name in names]


class _RowsInOrder:
    """The rows of a plan in order, while threads draw the next few chunks."""

    def __init__(self, plan: Plan, layout: str, n_threads: int) -> None:
        self._plan, self._layout = plan, layout
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix="simulate")
        self._chunks = iter(range(plan.n_chunks))
        self._ahead: deque[Future[pa.Table]] = deque()
        self._rest = _schema(layout).empty_table()
        for _ in range(n_threads + 2):
            self._draw_one_more()

    def __enter__(self) -> _RowsInOrder:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def take(self, n_rows: int) -> pa.Table:
        parts = [self._rest]
        missing = n_rows - len(self._rest)
        while missing > 0:
            parts.append(self._ahead.popleft().result())
            missing -= len(parts[-1])
            self._draw_one_more()
        rows = pa.concat_tables(parts)
        self._rest = rows.slice(n_rows)
        return rows.slice(0, n_rows)

    def _draw_one_more(self) -> None:
        chunk = next(self._chunks, None)
        if chunk is not None:
            self._ahead.append(self._pool.submit(self._draw, chunk))

    def _draw(self, chunk: int) -> pa.Table:
        return _table(draw_chunk(self._plan, chunk)[0], self._layout)


def _table(piece: Capsule, layout: str) -> pa.Table:
    if layout == "wide":
        features = [pa.array(column) for column in np.ascontiguousarray(piece.X.T)]
    else:
        features = [pa.FixedSizeListArray.from_arrays(pa.array(piece.X.ravel()), type=_LIST)]
    others = (piece.groups, piece.y, piece.overlap, piece.polyp, piece.patient)
    columns = [*features, *(pa.array(values) for values in others)]
    return pa.Table.from_arrays(columns, schema=_schema(layout))


def _schema(layout: str) -> pa.Schema:
    # Columns that are declared to have no missing values are decoded twice as fast.
    return pa.schema([field.with_nullable(False) for field in (*_FEATURES[layout], *_OTHERS)])


def _writer(file: Path, layout: str) -> AbstractContextManager[pyarrow.parquet.ParquetWriter]:
    # A dictionary of random floats is larger than the floats; ids and labels repeat.
    with_dictionary: Any = [field.name for field in _OTHERS]
    return parquet_writer(file, _schema(layout), use_dictionary=with_dictionary)
