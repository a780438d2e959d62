"""Candidates of Parquet files that are read as often as they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groupcm.any_estimator import fit_with
from groupcm.commands.candidates import Candidates
from groupcm.commands.side_columns import index_key, read_key, read_objects
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.scoring import index_source, positive_in_source, score_source
from groupcm.group_table import patient_of_groups
from groupcm.scoring import GroupScores
from groupcm.sources.parquet import ParquetSource
from groupcm.sources.stream import Stream
from groupcm.table_columns import KeyColumn, Piece, check_key
from groupcm.table_formats import open_table

__all__ = ["Streamed"]


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
        patient = self._patient() if "patients" in signature(model.fit).parameters else None
        if patient is None:
            model.fit(self.source)
            return
        # A group of two patients is told by its name.
        patient_of_groups(index_source(self.source), index_key(patient))
        model.fit(self.source, patients=patient.codes)

    def _patient(self) -> KeyColumn | None:
        column = self.source.roles["patient"]
        return None if column is None else read_key(self.source.files, column, "patient")

    def group_scores(self, model: Any) -> GroupScores:
        return model.group_scores(self.source)

    def scored(self, model: Any) -> ScoredCandidates:
        source, column, patient = self.source, self.object_column, self._patient()
        objects = None
        if column is not None:
            objects = read_objects(source.files, column, positive_in_source(model, source))
        by_patient = None if patient is None else index_key(patient)
        return score_source(model, source, by_patient=by_patient, objects=objects)

    def fit_groups(self, model: Any, chosen: NDArray[np.bool_]) -> None:
        if chosen.all():
            self.fit(model)
            return
        source, known = self.source, self.source.index()
        codes = index_source(source).codes
        rows = np.flatnonzero(chosen[codes])
        overlap = source.overlap_of(rows) if source.has_overlap else None
        labels = known.labels_of_rows()[rows]
        X = Stream(source).raw(rows)
        fit_with(model, X, labels, groups=codes[rows], overlap=overlap)
        model.feature_names_in_ = np.array(self.feature_names, dtype=object)

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
