"""Candidates of Parquet files that are read as often as they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groupcm.cli.commands.candidates import Candidates
from groupcm.cli.commands.fitting import fit_rows
from groupcm.cli.commands.side_columns import index_key, read_key
from groupcm.data.group_table import patient_of_groups
from groupcm.data.groups import GroupIndex
from groupcm.data.tables.columns import KeyColumn, Piece, check_key
from groupcm.data.tables.formats import open_table
from groupcm.errors import InputError
from groupcm.estimators.calibration import CalibratedGroupClassifier
from groupcm.estimators.scoring import GroupScores
from groupcm.estimators.training.profile import drawn_values
from groupcm.evaluation.leakage import RowsToCheck, rows_to_check
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.scoring import index_source, positive_in_source, score_source
from groupcm.sources.parquet import ParquetSource
from groupcm.sources.rows.stream import Stream
from groupcm.utils.memory import memory_to_use

__all__ = ["Streamed"]

# Twice as many row groups are read, at most, to look for features that are labels.
_MOST_UNITS = 4


class Streamed(Candidates):
    """Rows of Parquet files, read as often as they are needed; those of a group together."""

    def __init__(self, source: ParquetSource) -> None:
        self.source = source
        self.n_rows, self.dtype = source.n_rows, source.dtype
        self.feature_names = source.feature_names or []
        patient = source.roles["patient"]
        self.n_patients = None if patient is None else _count_distinct(source.files, patient)

    @property
    def group_index(self) -> GroupIndex:
        return index_source(self.source)

    @property
    def files(self) -> Sequence[Path]:
        return self.source.files

    @property
    def classes(self) -> NDArray[Any]:
        classes = self.source.index().classes
        return np.empty(0) if classes is None else classes

    def rename_classes(self, names: NDArray[Any]) -> None:
        self.source.rename_classes(names)

    def groups_with(self, label: Any) -> NDArray[np.bool_]:
        return self.source.index().group_labels(label)

    def patient_of_groups(self) -> NDArray[np.intp] | None:
        patient = self._patient()
        return None if patient is None else self._one_patient_a_group(patient)

    def _one_patient_a_group(self, patient: KeyColumn) -> NDArray[np.intp]:
        return patient_of_groups(index_source(self.source), index_key(patient))

    def fit(self, model: Any) -> None:
        if isinstance(model, CalibratedGroupClassifier):
            self._require_memory(model.estimator.memory)
            self._fit_rows(model, np.arange(self.n_rows))
            return
        model.fit(self.source, **self._beside(model))

    def _beside(self, model: Any) -> dict[str, NDArray[Any]]:
        """What is known of the rows, does not come with the source, and the model asks for."""
        source, known = self.source, self.source.index()
        beside: dict[str, NDArray[Any]] = {}
        if self.has_marks:
            is_positive = np.asarray(self.classes == self.positive)[known.codes]
            beside = self._read_marks(source.files, index_source(source), is_positive)
        if self.weight_column is not None:
            is_positive = np.asarray(self.classes == self.positive)[known.codes]
            beside |= self._weights_for(model, is_positive)
        takes_patients = "patients" in signature(model.fit).parameters
        patient = self._patient() if takes_patients else None
        if patient is not None:
            self._one_patient_a_group(patient)  # a group of two patients is told by its name
            beside["patients"] = patient.codes
        return beside

    def _require_memory(self, memory: int | str | None) -> None:
        if self.source.nbytes > memory_to_use(memory, self.source.memory):
            raise InputError(
                f"folds of trees need all {self.n_rows:,} candidates in memory, and they do not "
                "fit; raise --memory, or train on fewer groups"
            )

    def _patient(self) -> KeyColumn | None:
        column = self.source.roles["patient"]
        return None if column is None else read_key(self.source.files, column, "patient")

    def some_rows(self) -> tuple[NDArray[np.floating], RowsToCheck]:
        source = self.source
        labels, groups = source.index().labels_of_rows(), index_source(source)
        # The row groups with the most rows of the last class, the positive one of two, and those
        # with the most groups without it.
        is_last = labels == self.classes[-1]
        is_without = np.zeros(len(labels), dtype=bool)
        is_without[groups.run_starts] = ~groups.maxima(is_last)
        inside = np.zeros(len(labels), dtype=bool)
        for counted in (is_last, is_without):
            held = np.diff(np.append(0, np.cumsum(counted))[source.unit_ptr])
            for unit in np.argsort(-held, kind="stable")[:_MOST_UNITS]:
                inside[source.unit_ptr[unit] : source.unit_ptr[unit + 1]] = True
        found = rows_to_check(labels, groups, source.n_features, np.flatnonzero(inside))
        return Stream(source).raw(found.rows), found

    def group_scores(self, model: Any) -> GroupScores:
        return model.group_scores(self.source)

    def drawn_values(self) -> Any:
        return drawn_values(self.source, None)

    def scored(self, model: Any) -> ScoredCandidates:
        source, patient = self.source, self._patient()
        marks: dict[str, NDArray[Any]] = {}
        if self.has_marks:
            is_positive = positive_in_source(model, source)
            marks = self._read_marks(source.files, index_source(source), is_positive)
        by_patient = None if patient is None else index_key(patient)
        return score_source(model, source, by_patient=by_patient, **marks)

    def fit_groups(self, model: Any, chosen: NDArray[np.bool_]) -> None:
        if chosen.all():
            self.fit(model)
            return
        self._fit_rows(model, np.flatnonzero(chosen[index_source(self.source).codes]))

    def _fit_rows(self, model: Any, rows: NDArray[np.intp]) -> None:
        source = self.source
        beside = self._beside(model) | {"groups": index_source(source).codes}
        beside = {name: values[rows] for name, values in beside.items()}
        if source.has_overlap:
            beside["overlap"] = source.overlap_of(rows)
        labels = source.index().labels_of_rows()[rows]
        fit_rows(model, Stream(source).raw(rows), labels, beside, self.feature_names)

    def most_groups(self, n_bytes: int) -> int | None:
        n_groups = index_source(self.source).n_groups
        return int(n_groups * n_bytes / max(1, self.source.nbytes))


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
