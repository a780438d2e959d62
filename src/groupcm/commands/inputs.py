"""Candidates as commands ask for them: streamed from Parquet, in memory from other tables."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groupcm.commands.display import Display
from groupcm.group_index import index_groups
from groupcm.scoring import GroupScores
from groupcm.sources.parquet import ParquetSource, from_parquet
from groupcm.table_columns import Piece, check_key
from groupcm.table_formats import find_tables, is_parquet, open_table
from groupcm.tables import CandidateTable, read_tables

__all__ = ["Candidates", "InMemory", "Streamed", "open_candidates"]


class Candidates(ABC):
    """Rows of some tables, and what a fit, a score and their summaries ask of them.

    Attributes
    ----------
    n_rows : int
    feature_names : list of str
    dtype : dtype
        Of the features as they are read.
    n_patients : int or None
        Where a column tells whose row it is.
    """

    n_rows: int
    feature_names: list[str]
    dtype: np.dtype[Any]
    n_patients: int | None

    @property
    @abstractmethod
    def classes(self) -> NDArray[Any]:
        """The labels that occur."""

    @abstractmethod
    def groups_with(self, label: Any) -> NDArray[np.bool_]:
        """Which groups hold a row of this label, in the order of their first appearance."""

    @abstractmethod
    def fit(self, model: Any) -> None:
        """Train a model, which also learns the names of the features."""

    @abstractmethod
    def group_scores(self, model: Any) -> GroupScores:
        """The score and the winner of each group, with the table's own names of groups."""


class InMemory(Candidates):
    """All rows of a table, the groups in any order."""

    def __init__(self, table: CandidateTable) -> None:
        self.table = table
        self.n_rows, self.feature_names = len(table.X), table.feature_names
        self.dtype = table.X.dtype
        self.n_patients = None if table.patient is None else table.patient.n_distinct

    @property
    def classes(self) -> NDArray[Any]:
        return np.unique(np.asarray(self.table.label))

    def groups_with(self, label: Any) -> NDArray[np.bool_]:
        return index_groups(self.table.group.codes).maxima(np.asarray(self.table.label) == label)

    def fit(self, model: Any) -> None:
        table = self.table
        model.fit(table.X, table.label, groups=table.group.codes, overlap=table.overlap)
        # The matrix has no names; the model shall know them all the same.
        model.feature_names_in_ = np.array(table.feature_names, dtype=object)

    def group_scores(self, model: Any) -> GroupScores:
        table = self.table
        with warnings.catch_warnings():
            # The matrix was put in the model's order by name when it was read.
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            found = model.group_scores(table.X, table.group.codes)
        names = table.group.values(np.asarray(found.group)).to_numpy(zero_copy_only=False)
        return GroupScores(names, found.score, found.winner)


class Streamed(Candidates):
    """Rows of Parquet files, read as often as they are needed; those of a group together."""

    def __init__(self, source: ParquetSource) -> None:
        self.source = source
        self.n_rows, self.dtype = source.n_rows, source.dtype
        self.feature_names = source.feature_names or []
        patient = source.roles["patient"]
        self.n_patients = None if patient is None else _count_distinct(source.files, patient)

    @property
    def classes(self) -> NDArray[Any]:
        classes = self.source.index().classes
        return np.empty(0) if classes is None else classes

    def groups_with(self, label: Any) -> NDArray[np.bool_]:
        return self.source.index().group_labels(label)

    def fit(self, model: Any) -> None:
        model.fit(self.source)

    def group_scores(self, model: Any) -> GroupScores:
        return model.group_scores(self.source)


def open_candidates(
    paths: Sequence[str | Path],
    display: Display,
    *,
    features: Sequence[str] | None = None,
    **roles: str | None,
) -> Candidates:
    """Open tables of which ``roles`` names the columns: ``group``, ``label`` and so on.

    Where all are Parquet files they are streamed, else they are read into memory.
    """
    files = find_tables(paths)
    columns: dict[str, Any] = dict.fromkeys(("group", "label", "overlap", "patient"))
    columns |= roles
    if not all(map(is_parquet, files)):
        table = read_tables(
            files,
            **columns,
            features=features,
            on_file=lambda path: display.status(f"reading {path}"),
        )
        return InMemory(table)
    display.status("looking at " + (str(files[0]) if len(files) == 1 else f"{len(files)} files"))
    source = from_parquet(files, **columns, features=_list_column(files[0], features))
    if columns["label"] is not None:
        display.status(f"reading the groups and labels of {source.n_rows:,} rows")
        source.index()
    return Streamed(source)


def _list_column(file: Path, features: Sequence[str] | None) -> Sequence[str] | None:
    """The one column of lists where the features are named by their places in it."""
    if not features:
        return features
    column = str(features[0]).removesuffix("[0]")
    by_place = [f"{column}[{place}]" for place in range(len(features))]
    if list(features) != by_place or features[0] in open_table(file).schema.names:
        return features
    return [column]


def _count_distinct(files: Sequence[Path], column: str) -> int:
    """How many values a column has, read in memory for these values only."""
    found: set[Any] = set()
    for file in files:
        row = 0
        for batch in open_table(file).batches([column]):
            values: pa.Array = batch.column(0)
            check_key(column, "patient", Piece(file, row, values))
            found.update(values.unique().to_pylist())
            row += len(values)
    return len(found)
