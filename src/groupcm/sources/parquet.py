"""Provides `from_parquet`: candidates in Parquet files, read one row group at a time."""

from __future__ import annotations

import glob
import os
import shlex
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from groupcm.data.tables.column_selection import (
    ChosenColumns,
    check_roles,
    choose_columns,
    described_features,
    expand_features,
    require_column,
)
from groupcm.data.tables.columns import Piece, numbers_of, with_constants
from groupcm.data.tables.formats import TableFile, find_tables, is_parquet, open_table, readable
from groupcm.data.tables.parquet import open_parquet
from groupcm.data.tables.roles import ColumnRoles
from groupcm.errors import InputError
from groupcm.objective.terms import Index
from groupcm.sources.base import Columns, LocalSource, require_batch_rows
from groupcm.sources.rows.arrow_columns import (
    feature_list,
    key_labels,
    key_runs,
    list_numbers,
    whole_column,
)
from groupcm.sources.rows.chunk import Chunk, ColumnMajorFeatures, Features, RowMajorFeatures
from groupcm.sources.rows.index import Keys
from groupcm.utils.memory import parse_memory
from groupcm.utils.parallel import n_threads

__all__ = ["ParquetSource", "from_parquet", "list_column"]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def from_parquet(
    path: Paths,
    *,
    group: str | None,
    label: str | None = None,
    overlap: str | None = None,
    patient: str | None = None,
    features: str | Sequence[str] | None = None,
    exclude: str | Sequence[str] = (),
    batch_rows: int = 1 << 20,
    memory: str | int | None = None,
) -> ParquetSource:
    """Candidates in Parquet files, streamed where they do not fit the memory allowed.

    Parameters
    ----------
    path : str, path or list of them
        A file, a folder (the Parquet files directly in it, by name, and in folders of the form
        ``patient=7``, which give a column), a pattern such as ``"frames/*.parquet"``, or a list
        of these. Rows are numbered through all files.
    group : str or None
        The column that holds the group of each row. The rows of a group are contiguous; a
        group may continue in the next row group or file. None: every row is its own group.
    label, overlap : str, optional
        The class of a row, which a fit needs, and how well it fits the annotation.
    patient : str, optional
        A column that is not a feature.
    features : str or sequence of str, optional
        The feature columns, of any numeric type, or one column of fixed-size lists. Patterns
        such as ``"f*"`` and families such as ``"shape"``, for all columns that begin with
        ``shape_``, select several; see `groupcm.data.tables.column_selection`. By default those
        that the files describe (see `groupcm.data.tables.roles`), the only column of fixed-size
        lists, or else every column not named above.
    exclude : str or sequence of str, optional
        Columns, patterns and families to leave out of these.
    batch_rows : int
        The largest number of rows that a thread decodes at once.
    memory : int or str, optional
        How much a fit may use, such as ``"2GB"``; the estimator's own ``memory`` counts first.
        At least one row group is held whole, so write row groups that are small against it.

    Returns
    -------
    ParquetSource

    Examples
    --------
    >>> import tempfile
    >>> from groupcm import GroupClassifier, sources
    >>> from groupcm.simulate import capsule_to_parquet
    >>> path = Path(tempfile.mkdtemp()) / "frames.parquet"
    >>> _ = capsule_to_parquet(path, 40, n_positive=10, layout="list")
    >>> source = sources.from_parquet(path, group="frame", label="label", overlap="overlap")
    >>> model = GroupClassifier().fit(source)
    >>> bool(model.gap_ <= 1e-4), len(model.group_scores(source).score)
    (True, 50)
    """
    files = [open_table(file) for file in _find(path)]
    roles = ColumnRoles(group, label, overlap, patient)
    features = expand_features(files, roles, features, exclude)
    if features is None:
        features = described_features(files, roles)
    listed = list_column(files, set(roles.values()), features)
    require_batch_rows(batch_rows)
    if listed is not None:
        check_roles(files, roles, [listed])
        chosen = feature_list(files, listed)
    else:
        chosen = choose_columns(files, roles, features)
    return ParquetSource(files, roles, chosen, listed, batch_rows, memory)


def _find(path: Paths) -> list[Path]:
    given = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not given:
        raise InputError("no Parquet file is given; name a file, a folder or a pattern")
    found: list[str | Path] = []
    for item in [os.fspath(item) for item in given]:
        if not os.path.exists(item) and glob.has_magic(item):
            matching = sorted(glob.glob(item))
            if not matching:
                raise InputError(f"no file matches the pattern {item}")
            found += matching
        elif os.path.isdir(item):
            inside = [file for file in find_tables([item]) if is_parquet(file)]
            if not inside:
                raise InputError(f"the folder {item} holds no Parquet files (.parquet or .pq)")
            found += inside
        else:
            found.append(item)
    files = find_tables(found)
    for file in files:
        if not is_parquet(file):
            raise InputError(
                f"the name of {file} is not that of a Parquet file; use .parquet or .pq"
            )
    return files


def list_column(
    files: list[TableFile], taken: set[str], features: str | Sequence[str] | None
) -> str | None:
    """Return the column of fixed-size lists to use, if there is one."""
    schema = files[0].schema
    if features is not None:
        named = [features] if isinstance(features, str) else list(features)
        whole = named[0].rpartition("[")[0] if named else ""
        by_place = [f"{whole}[{place}]" for place in range(len(named))]
        if whole and named == by_place and named[0] not in schema.names:
            named = [whole]  # by the names of its elements, as a model knows them
        if len(named) != 1:
            return None
        require_column(files[0], named[0], "the features")
    else:
        named = [n for n in schema.names if n not in taken and n not in files[0].partitions]
    # Not field by name: two columns may have the same, which is refused later.
    fixed = {field.name for field in schema if pa.types.is_fixed_size_list(field.type)}
    lists = [name for name in named if name in fixed]
    if len(lists) > 1:
        raise InputError(
            f"{files[0].path} has several columns of lists ({', '.join(lists)}); "
            "say which one holds the features"
        )
    return lists[0] if lists else None


@dataclass(frozen=True)
class _Unit:
    """One row group of one file."""

    file: int
    row_group: int
    first_in_file: int
    n_rows: int


class ParquetSource(LocalSource):
    """Candidates in Parquet files; see `from_parquet`."""

    def __init__(
        self,
        files: list[TableFile],
        roles: ColumnRoles,
        chosen: ChosenColumns,
        list_column: str | None,
        batch_rows: int,
        memory: str | int | None,
    ) -> None:
        self.files = [file.path for file in files]
        self.roles = roles
        self.feature_names = chosen.features
        self.n_features = len(chosen.features)
        self.dtype = chosen.dtype
        self.memory = None if memory is None else parse_memory(memory)
        self.batch_rows = batch_rows
        self._list_column = list_column
        self._constants = [dict(file.partitions) for file in files]
        self.has_group = roles.group is not None
        self.has_label = roles.label is not None
        self.has_overlap = roles.overlap is not None
        self._readers = threading.local()
        self._metadata = [_metadata(path) for path in self.files]
        self._units = [
            unit for number, data in enumerate(self._metadata) for unit in _row_groups(number, data)
        ]
        self._unit_ptr = np.cumsum([0] + [unit.n_rows for unit in self._units])

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs: open files stay where they are."""
        return {name: value for name, value in vars(self).items() if name != "_readers"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _readers=threading.local())

    def __repr__(self) -> str:
        shown = str(self.files[0]) if len(self.files) == 1 else f"{len(self.files)} files"
        return f"<ParquetSource {shown}: {self.n_rows:,} rows × {self.n_features} features>"

    @property
    def unit_ptr(self) -> Index:
        return self._unit_ptr

    def where(self, row: int) -> str:
        at = int(np.searchsorted(self._unit_ptr, row, side="right")) - 1
        unit = self._units[at]
        return (
            f"row {row - int(self._unit_ptr[at]) + unit.first_in_file} of {self.files[unit.file]}"
        )

    def sort_advice(self) -> str:
        folders = {file.parent for file in self.files}
        if len(self.files) > 3 and len(folders) == 1:
            named = shlex.quote(str(folders.pop()))
        else:
            named = " ".join(shlex.quote(str(file)) for file in self.files)
        group = shlex.quote(self.roles.group or "")
        return f"sort first: groupcm sort {named} --group {group} -o sorted.parquet"

    def chunks(self, unit: int, columns: Columns) -> Iterator[Chunk]:
        here = self._units[unit]
        path = self.files[here.file]
        names, constants = self._columns_to_read(columns), self._constants[here.file]
        stored = [name for name in names if name not in constants]
        first = int(self._unit_ptr[unit])
        if not stored:
            table = with_constants(None, here.n_rows, constants, names) if names else pa.table({})
            yield self._chunk(table, first, here, here.first_in_file, columns, here.n_rows)
            return
        row = 0
        with readable(path, f"row group {here.row_group}"):
            for table in self._tables(here, stored):
                if len(stored) < len(names):
                    table = with_constants(table, table.num_rows, constants, names)
                at = here.first_in_file + row
                row += table.num_rows
                if row > here.n_rows:
                    break
                yield self._chunk(
                    table, first + row - table.num_rows, here, at, columns, table.num_rows
                )
        if row != here.n_rows:
            raise InputError(
                f"{path}, row group {here.row_group}, claims to have {here.n_rows:,} rows and "
                f"has {'more' if row > here.n_rows else f'{row:,}'}; it is damaged, so write it "
                "again"
            )

    def _tables(self, unit: _Unit, names: list[str]) -> Iterator[pa.Table | pa.RecordBatch]:
        reader = self._reader(unit.file)
        if unit.n_rows <= self.batch_rows:
            yield reader.read_row_group(unit.row_group, columns=names, use_threads=False)
        else:
            yield from reader.iter_batches(
                self.batch_rows,
                row_groups=[unit.row_group],
                columns=names,
                use_threads=self.n_units < n_threads(),
            )

    def _reader(self, file: int) -> pq.ParquetFile:
        """Each thread's own, because a reader serves one at a time."""
        if getattr(self._readers, "file", None) != file:
            self._readers.reader = open_parquet(self.files[file], self._metadata[file])
            self._readers.file = file
        return self._readers.reader

    def _columns_to_read(self, columns: Columns) -> list[str]:
        names: list[str] = []
        if columns.features:
            listed = self._list_column
            names += [listed] if listed is not None else self.feature_names or []
        for role in ("group", "label", "overlap"):
            name = self.roles.get(role)
            if getattr(columns, role) and name is not None:
                names.append(name)
        return names

    def _chunk(
        self,
        table: Any,
        first: int,
        unit: _Unit,
        first_in_file: int,
        columns: Columns,
        n_rows: int,
    ) -> Chunk:
        def piece(role: str) -> Piece:
            values = whole_column(table.column(self.roles[role]))
            return Piece(self.files[unit.file], first_in_file, values)

        features = runs = labels = overlap = None
        if columns.features:
            features = self._features(table, self.files[unit.file], first_in_file)
        if columns.group and self.has_group:
            runs = key_runs(self.roles.group or "", piece("group"))
        if columns.label and self.has_label:
            labels = key_labels(self.roles.label or "", piece("label"))
        if columns.overlap and self.has_overlap:
            values = piece("overlap").values
            overlap = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
        return Chunk(first, n_rows, features, Keys(runs, labels, overlap))

    def _features(self, table: Any, path: Path, first: int) -> Features:
        listed = self._list_column
        if listed is not None:
            piece = Piece(path, first, whole_column(table.column(listed)))
            matrix = list_numbers(listed, self.feature_names or [], piece)
            return RowMajorFeatures(np.ascontiguousarray(matrix, dtype=self.dtype))
        columns = (
            numbers_of(whole_column(table.column(name)), name, path, first)
            for name in self.feature_names or ()
        )
        return ColumnMajorFeatures(
            tuple(np.ascontiguousarray(c, dtype=self.dtype) for c in columns)
        )


def _metadata(path: Path) -> pq.FileMetaData:
    with readable(path):
        metadata = open_parquet(path).metadata
        rows = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    if min(rows, default=0) < 0 or sum(rows) != metadata.num_rows:
        raise InputError(
            f"{path} claims to have {metadata.num_rows:,} rows, and its row groups that they "
            f"have {sum(rows):,}; it is damaged, so write it again"
        )
    return metadata


def _row_groups(file: int, metadata: pq.FileMetaData) -> Iterator[_Unit]:
    row = 0
    for number in range(metadata.num_row_groups):
        n_rows = metadata.row_group(number).num_rows
        if n_rows:
            yield _Unit(file, number, row, n_rows)
        row += n_rows
