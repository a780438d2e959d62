"""Provides `Candidates`, the candidates of tables: in memory, or streamed from Parquet files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.data.groups import GroupIndex, index_groups, owner_of_groups
from groupcm.data.labels import class_order, positive_label
from groupcm.data.leakage import rows_to_check, warn_of_leakage, warn_of_patients
from groupcm.data.tables.candidates import CandidateTable
from groupcm.data.tables.columns import KeyColumn
from groupcm.data.tables.role_columns import (
    count_distinct,
    index_key,
    place_of_row,
    read_annotation,
    read_key,
    read_weights,
    require_one_weight,
)
from groupcm.data.tables.roles import ColumnRoles, TableDescription
from groupcm.errors import Argument, InputError
from groupcm.sources.parquet import ParquetSource
from groupcm.sources.rows.reader import SourceReader

__all__ = ["Candidates", "InMemoryCandidates", "StreamedCandidates"]

Index = NDArray[np.intp]

# Twice as many row groups are read, at most, to look for features that are labels.
_MOST_UNITS = 4


class Candidates(ABC):
    """The candidates of some tables, with their labels, groups and patients.

    `groupcm.sources.read_candidates` makes one. Groups and patients are numbered in the order of
    their first appearance.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features), or a source
        The features; a source where the rows are streamed.
    roles : ColumnRoles
        The columns that are not features.
    description : TableDescription or None
        What the tables say of their own columns.
    files : list of Path
        The tables.
    n_rows : int
        The number of candidates.
    feature_names : list of str
        The columns of ``X``.
    dtype : dtype
        The type of the features as they are read.
    n_patients : int or None
        The number of patients, where there is a column of them.
    pos_label : label or None
        The positive one of two labels; None is the larger.
    is_streamed : bool
        Whether the rows are read from files whenever they are needed.
    """

    X: Any
    files: list[Path]
    n_rows: int
    feature_names: list[str]
    dtype: np.dtype[Any]
    n_patients: int | None
    pos_label: Any = None
    is_streamed: bool = False

    def __init__(self, roles: ColumnRoles, description: TableDescription | None) -> None:
        self.roles, self.description = roles, description

    def __array__(self, *args: Any, **kwargs: Any) -> NDArray[Any]:
        raise InputError(
            "candidates that were read from tables are not an array; fit a model with "
            "model.fit(**candidates.fit_arguments()), and score candidates.X with it"
        )

    @property
    def named(self) -> list[str | Path]:
        """What messages and notes call the candidates: their files, or the folder of them."""
        return list(self.files)

    @property
    @abstractmethod
    def classes(self) -> NDArray[Any]:
        """The labels that occur, sorted."""

    @property
    @abstractmethod
    def labels(self) -> NDArray[Any]:
        """The label of each candidate."""

    @property
    @abstractmethod
    def group_index(self) -> GroupIndex:
        """The group of each candidate, by the names in the tables."""

    @property
    @abstractmethod
    def patient_index(self) -> GroupIndex | None:
        """The patient of each candidate, by the names in the tables; None without patients."""

    @abstractmethod
    def rename_classes(self, names: NDArray[Any]) -> None:
        """Replace the labels that occur by others, one for each of ``classes``."""

    @abstractmethod
    def rows(self, rows: Index) -> NDArray[np.floating]:
        """Return the features of some candidates."""

    @property
    def is_positive(self) -> NDArray[np.bool_]:
        """Which candidates have the positive label."""
        return self.labels == self.positive

    @abstractmethod
    def fit_arguments(self, rows: Index | None = None, *, patients: bool = True) -> dict[str, Any]:
        """Return what the ``fit`` of an estimator takes, as keyword arguments.

        Parameters
        ----------
        rows : ndarray of int, optional
            Some candidates, whose features are then read into memory; by default all of them, as
            a source where they are streamed.
        patients : bool, default=True
            Whether the estimator takes the patients.

        Returns
        -------
        dict
            ``X`` and, as far as they are known and a source does not bring them, ``y``,
            ``groups``, ``overlap``, ``patients``, ``annotated``, ``objects`` and
            ``sample_weight``.
        """

    def most_groups(self, n_bytes: int) -> int | None:
        """Return the number of groups whose rows fit so many bytes; None for all."""
        return None

    def _rows_near(self) -> Index | None:
        """Return the rows that are cheap to read together; None for all."""
        return None

    @property
    def positive(self) -> Any:
        """The positive one of two labels."""
        return self.classes[-1] if self.pos_label is None else self.pos_label

    def name_positive(self, label: Any) -> None:
        """Set ``pos_label``; a number can be given as text, too.

        Parameters
        ----------
        label : label or None
            One of two labels that occur; None for the larger.
        """
        if isinstance(label, str):
            label = positive_label(label, self.classes, str(self.roles.label))
        elif label is not None:
            class_order(self.classes, label, where=f"the label column {self.roles.label!r}")
        self.pos_label = label

    def groups_with(self, label: Any) -> NDArray[np.bool_]:
        """Return which groups hold a candidate of this label."""
        return self.group_index.maxima(self.labels == label)

    def patient_of_groups(self) -> Index | None:
        """Return the number of each group's patient; raise where a group has two."""
        by_patient = self.patient_index
        if by_patient is None:
            return None
        return owner_of_groups(self.group_index, by_patient, "patients")

    def annotation(self) -> dict[str, NDArray[Any]]:
        """Return ``annotated`` and ``objects``, where there are such columns."""
        named = {"annotated": self.roles.annotated, "object": self.roles.object}
        given = next((role for role, column in named.items() if column is not None), None)
        if given is None:
            return {}
        if len(self.classes) > 2:
            raise InputError(
                Argument(given),
                f" goes with two classes, and the labels hold {len(self.classes)}; make a column "
                "of one of them against the rest",
            )
        return read_annotation(self.files, self.group_index, self.is_positive, self.roles)

    def weights(self) -> NDArray[np.float64] | None:
        """Return the ``sample_weight`` of each candidate, where there is such a column."""
        return None if self.roles.weight is None else read_weights(self.files, self.roles.weight)

    def weighted_groups(self) -> Index:
        """Return the groups with a weight above 0, in the order in which a fit knows them."""
        weight, index = self.weights(), self.group_index
        if weight is None or np.all(weight):
            return np.arange(index.n_groups)
        return index_groups(index.codes[weight > 0.0]).ids

    def require_one_weight(self) -> None:
        """Raise where the candidates of a negative group weigh differently; 0 leaves one out."""
        weight = self.weights()
        if weight is not None and len(self.classes) == 2:
            column = str(self.roles.weight)
            require_one_weight(self.group_index, self.is_positive, weight, column)

    def warn_of_leakage(self) -> None:
        """Warn of features that give the label away, or that identify patients.

        Features that a recipe measured in pictures are not checked.
        """
        names = self.feature_names
        found = rows_to_check(self.labels, self.group_index, len(names), self._rows_near())
        measured = () if self.description is None else self.description.measured
        warn_of_leakage(str(self.roles.label), self.rows(found.rows), found, names, measured)
        warn_of_patients(names, self.roles.patient)

    def require_complete(self, what_needs: str, remedy: str) -> None:
        """Raise where a feature is missing in a row.

        Parameters
        ----------
        what_needs : str
            What needs complete rows, with its verb, as in "the linear model needs".
        remedy : str
            What the user can do about it.
        """
        is_missing = np.isnan(self.rows(np.arange(self.n_rows)))
        if not is_missing.any():
            return
        row = int(np.argmax(is_missing.any(axis=1)))
        name = self.feature_names[int(np.argmax(is_missing[row]))]
        path, row = place_of_row(self.files, row)
        raise InputError(
            f"{path}: the feature {name!r} has no value in row {row} (counted from 0), and "
            f"{what_needs} complete rows; {remedy}"
        )


class InMemoryCandidates(Candidates):
    """Candidates in memory, the rows of a group in any order."""

    def __init__(
        self,
        table: CandidateTable,
        roles: ColumnRoles,
        description: TableDescription | None = None,
    ) -> None:
        super().__init__(roles, description)
        self.table, self.X, self.files = table, table.X, table.files
        self.n_rows, self.feature_names = len(table.X), table.feature_names
        self.dtype = table.X.dtype
        self.n_patients = None if table.patient is None else table.patient.n_distinct
        self._group_index: GroupIndex | None = None

    @property
    def classes(self) -> NDArray[Any]:
        return np.unique(self.labels)

    @property
    def labels(self) -> NDArray[Any]:
        return np.asarray(self.table.label)

    @property
    def group_index(self) -> GroupIndex:
        if self._group_index is None:
            self._group_index = index_key(self.table.group)
        return self._group_index

    @property
    def patient_index(self) -> GroupIndex | None:
        return None if self.table.patient is None else index_key(self.table.patient)

    def rename_classes(self, names: NDArray[Any]) -> None:
        number = np.searchsorted(self.classes, self.labels)
        self.table = replace(self.table, label=names[number])

    def rows(self, rows: Index) -> NDArray[np.floating]:
        return self.X[rows]

    def fit_arguments(self, rows: Index | None = None, *, patients: bool = True) -> dict[str, Any]:
        table = self.table
        self.patient_of_groups()  # the error for a group of two patients names it
        known = {
            "X": table.X,
            "y": self.labels,
            "groups": table.group.codes,
            "overlap": table.overlap,
            "patients": table.patient.codes if patients and table.patient is not None else None,
            "sample_weight": self.weights(),
            **self.annotation(),
        }
        chosen = slice(None) if rows is None else rows
        return {name: values[chosen] for name, values in known.items() if values is not None}


class StreamedCandidates(Candidates):
    """Candidates in Parquet files, read as often as needed; the rows of a group are contiguous."""

    X: ParquetSource
    is_streamed = True

    def __init__(
        self,
        source: ParquetSource,
        roles: ColumnRoles,
        description: TableDescription | None = None,
    ) -> None:
        super().__init__(roles, description)
        self.X, self.files = source, source.files
        self.n_rows, self.dtype = source.n_rows, source.dtype
        self.feature_names = source.feature_names or []
        patient = roles.patient
        self.n_patients = (
            None if patient is None else count_distinct(self.files, patient, "patient")
        )

    @property
    def classes(self) -> NDArray[Any]:
        classes = self.X.index().classes
        return np.empty(0) if classes is None else classes

    @property
    def labels(self) -> NDArray[Any]:
        return self.X.index().labels_of_rows()

    @property
    def group_index(self) -> GroupIndex:
        return self.X.group_index()

    @property
    def patient_index(self) -> GroupIndex | None:
        patient = self._patient()
        return None if patient is None else index_key(patient)

    def rename_classes(self, names: NDArray[Any]) -> None:
        self.X.rename_classes(names)

    def rows(self, rows: Index) -> NDArray[np.floating]:
        return SourceReader(self.X).raw(rows)

    def groups_with(self, label: Any) -> NDArray[np.bool_]:
        return self.X.index().group_labels(label)

    @property
    def is_positive(self) -> NDArray[np.bool_]:
        return np.asarray(self.classes == self.positive)[self.X.index().codes]

    def fit_arguments(self, rows: Index | None = None, *, patients: bool = True) -> dict[str, Any]:
        known: dict[str, Any] = self.annotation()
        weight = self.weights()
        if weight is not None:
            known["sample_weight"] = weight
        patient = self._patient() if patients else None
        if patient is not None:
            self.patient_of_groups()  # the error for a group of two patients names it
            known["patients"] = patient.codes
        if rows is None:
            return {"X": self.X, **known}
        known |= {"y": self.labels, "groups": self.group_index.codes}
        known = {name: values[rows] for name, values in known.items()}
        if self.X.has_overlap:
            known["overlap"] = self.X.overlap_of(rows)
        return {"X": self.rows(rows), **known}

    def most_groups(self, n_bytes: int) -> int | None:
        return int(self.group_index.n_groups * n_bytes / max(1, self.X.nbytes))

    def _rows_near(self) -> Index:
        """Return the rows of the row groups that hold most of both classes.

        Those are the row groups with the most rows of the last class, the positive one of two,
        and those with the most groups without it.
        """
        labels, groups, ptr = self.labels, self.group_index, self.X.unit_ptr
        is_last = labels == self.classes[-1]
        is_without = np.zeros(len(labels), dtype=bool)
        is_without[groups.run_starts] = ~groups.maxima(is_last)
        inside = np.zeros(len(labels), dtype=bool)
        for counted in (is_last, is_without):
            held = np.diff(np.append(0, np.cumsum(counted))[ptr])
            for unit in np.argsort(-held, kind="stable")[:_MOST_UNITS]:
                inside[ptr[unit] : ptr[unit + 1]] = True
        return np.flatnonzero(inside)

    def _patient(self) -> KeyColumn | None:
        column = self.roles.patient
        return None if column is None else read_key(self.files, column, "patient")
