"""Candidates of tables in memory: a matrix of features, and one column per role."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groupcm.data.tables.column_selection import choose_columns, expand_features, require_rows
from groupcm.data.tables.columns import KeyColumn, Missing, Piece, fill, key_column, number_column
from groupcm.data.tables.formats import TableFile, find_tables, open_tables
from groupcm.data.tables.roles import ColumnRoles
from groupcm.errors import InputError
from groupcm.utils.text import printable

__all__ = ["CandidateTable", "read_tables"]


@dataclass(frozen=True)
class CandidateTable:
    """Candidates read from one or more tables, in the order of the tables.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        C-contiguous; float32 where that holds every feature column exactly, else float64. NaN
        where a value is missing, if that was allowed.
    feature_names : list of str
        The columns of ``X``.
    group : KeyColumn
        The group of each row.
    label : ndarray or None
        The class of each row.
    overlap : ndarray or None
        How well each row overlaps the annotation.
    patient : KeyColumn or None
        The patient of each row.
    files : list of Path
        The tables read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "candidates.csv"
    >>> _ = path.write_text("frame,label,size\\na,0,1.5\\na,1,2.5\\n")
    >>> table = read_tables([path], group="frame", label="label")
    >>> table.X.tolist(), table.feature_names, table.label.tolist()
    ([[1.5], [2.5]], ['size'], [0, 1])
    """

    X: np.ndarray
    feature_names: list[str]
    group: KeyColumn
    label: np.ndarray | None
    overlap: np.ndarray | None
    patient: KeyColumn | None
    files: list[Path]


def read_tables(
    paths: Sequence[str | Path],
    *,
    group: str,
    label: str | None = None,
    overlap: str | None = None,
    patient: str | None = None,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    on_file: Callable[[Path], None] | None = None,
    allow_missing: bool = False,
    allow_empty: bool = False,
) -> CandidateTable:
    """Read candidates from Parquet, CSV, TSV or Arrow files, or folders of them.

    Parameters
    ----------
    paths : sequence of str or Path
        Files and folders; a folder means the tables directly in it, sorted by name, and for
        those in folders of the form ``patient=7``, whose names give a column. A group is in one
        table, or goes on where the next table begins.
    group, label, overlap, patient : str
        Columns by name; all but ``group`` may be left out. Groups and patients of CSV files
        stay as they are written where numbers would change them, such as 007.
    features : sequence of str, optional
        Feature columns in the order wanted, and patterns and families of them (see
        `groupcm.data.tables.column_selection.expand_features`). By default every column not named
        above, and each must hold numbers.
    exclude : sequence of str, optional
        Columns, patterns and families to leave out of these.
    on_file : callable, optional
        Called with the path of each file before its rows are read.
    allow_missing : bool, default=False
        Whether a feature that is missing becomes NaN, as trees take it, or is refused.
    allow_empty : bool, default=False
        Whether the tables may have no rows at all.

    Returns
    -------
    CandidateTable

    Raises
    ------
    InputError
        One sentence that names the file, the column and, counted from 0, the row.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,polyp,size,red\\na,1,2.5,7\\na,0,1.5,3\\nb,0,2.0,4\\n")
    >>> table = read_tables([path], group="frame", label="polyp")
    >>> table.feature_names, table.X.shape, table.group.per_row().tolist()
    (['size', 'red'], (3, 2), ['a', 'a', 'b'])
    """
    roles = ColumnRoles(group, label, overlap, patient)
    files = open_tables(find_tables(paths), (group, patient))
    if not allow_empty:
        require_rows(files)
    features = expand_features(files, roles, features, exclude)
    chosen = choose_columns(files, roles, features)
    names, taken = chosen.features, chosen.taken
    missing = Missing(allow_missing, "; groupcm fit --model trees takes missing values")

    X = _empty(files, len(names), chosen.dtype)
    others: dict[str, list[Piece]] = {column: [] for column in taken}
    row = 0
    for file in files:
        if on_file is not None:
            on_file(file.path)
        first = row
        for batch in file.batches([*names, *taken]):
            block = X[row : row + batch.num_rows]
            fill(block, batch, names, file.path, row - first, missing=missing)
            for column, pieces in others.items():
                pieces.append(Piece(file.path, row - first, batch.column(column)))
            row += batch.num_rows

    def key(column: str | None) -> KeyColumn | None:
        return None if column is None else key_column(column, taken[column], others[column])

    group_column, label_column = key_column(group, "group", others[group]), key(label)
    _require_own_groups(group_column, files)
    return CandidateTable(
        X=X,
        feature_names=names,
        group=group_column,
        label=None if label_column is None else label_column.per_row(),
        overlap=None if overlap is None else number_column(overlap, others[overlap]),
        patient=key(patient),
        files=[file.path for file in files],
    )


def _require_own_groups(group: KeyColumn, files: Sequence[TableFile]) -> None:
    """Refuse a group of several tables, but for one that goes on where the next table begins."""
    codes, n_rows = group.codes, [file.n_rows for file in files]
    if np.count_nonzero(n_rows) < 2:
        return
    table = np.repeat(np.arange(len(files)), n_rows)
    found, first, count = np.unique(codes, return_index=True, return_counts=True)
    last = len(codes) - 1 - np.unique(codes[::-1], return_index=True)[1]
    is_apart = (table[first] != table[last]) & (last - first + 1 != count)
    if not is_apart.any():
        return
    at = np.flatnonzero(is_apart)[np.argmin(first[is_apart])]
    (name,) = group.values(found[[at]]).to_pylist()
    rows = np.flatnonzero(codes == found[at])
    other = rows[table[rows] != table[rows[0]]][0]
    begin = np.cumsum([0, *n_rows])
    here, there = (
        f"row {row - begin[number]} of {files[number].path}"
        for row, number in ((rows[0], int(table[rows[0]])), (other, int(table[other])))
    )
    raise InputError(
        f"the rows of group {printable(name)} are not contiguous: {here} and {there} (counted "
        "from 0) hold it, with other groups between; give the groups of every table their own ids, "
        "or, where it is one group, join the tables with groupcm sort"
    )


def _empty(files: Sequence[TableFile], n_features: int, dtype: np.dtype) -> np.ndarray:
    """Allocate the matrix for the rows that the tables declare."""
    n_rows = sum(file.n_rows for file in files)
    try:
        return np.empty((n_rows, n_features), dtype)
    except (MemoryError, ValueError) as error:
        most = max(files, key=lambda file: file.n_rows)
        raise InputError(
            f"{n_rows:,} rows of {n_features:,} features do not fit in memory; {most.path} "
            f"declares {most.n_rows:,} rows"
        ) from error
