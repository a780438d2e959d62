"""Candidates of tables that are read into memory whole."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.cli.commands.candidates import Candidates
from groupcm.cli.commands.fitting import fit_rows
from groupcm.cli.commands.side_columns import index_key
from groupcm.data.group_table import patient_of_groups
from groupcm.data.groups import GroupIndex, index_groups
from groupcm.data.tables.candidates import CandidateTable
from groupcm.estimators.scoring import GroupScores
from groupcm.estimators.training.profile import drawn_values
from groupcm.evaluation.leakage import RowsToCheck, rows_to_check
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.scoring import positive_rows, scores_of

__all__ = ["InMemory"]


class InMemory(Candidates):
    """All rows of a table, the groups in any order."""

    def __init__(self, table: CandidateTable) -> None:
        self.table = table
        self.n_rows, self.feature_names = len(table.X), table.feature_names
        self.dtype = table.X.dtype
        self.n_patients = None if table.patient is None else table.patient.n_distinct

    @property
    def group_index(self) -> GroupIndex:
        return index_key(self.table.group)

    @property
    def files(self) -> Sequence[Path]:
        return self.table.files

    @property
    def classes(self) -> NDArray[Any]:
        return np.unique(np.asarray(self.table.label))

    def rename_classes(self, names: NDArray[Any]) -> None:
        number = np.searchsorted(self.classes, np.asarray(self.table.label))
        self.table = replace(self.table, label=names[number])

    def groups_with(self, label: Any) -> NDArray[np.bool_]:
        return index_groups(self.table.group.codes).maxima(np.asarray(self.table.label) == label)

    def patient_of_groups(self) -> NDArray[np.intp] | None:
        table = self.table
        if table.patient is None:
            return None
        return patient_of_groups(index_key(table.group), index_key(table.patient))

    def fit(self, model: Any) -> None:
        self.patient_of_groups()  # a group of two patients is told by its name
        self._fit_rows(model, slice(None))

    def _fit_rows(self, model: Any, rows: slice | NDArray[np.intp]) -> None:
        table = self.table
        beside = {
            "groups": table.group.codes,
            "overlap": table.overlap,
            "patients": None if table.patient is None else table.patient.codes,
            **self._marks(),
            **self._weights_for(model, np.asarray(table.label) == self.positive),
        }
        beside = {name: v[rows] for name, v in beside.items() if v is not None}
        fit_rows(model, table.X[rows], np.asarray(table.label)[rows], beside, table.feature_names)

    def _marks(self) -> dict[str, NDArray[Any]]:
        if not self.has_marks:
            return {}
        return self._read_marks(
            self.table.files,
            index_key(self.table.group),
            np.asarray(self.table.label) == self.positive,
        )

    def fit_groups(self, model: Any, chosen: NDArray[np.bool_]) -> None:
        index = index_groups(self.table.group.codes)
        self._fit_rows(model, np.flatnonzero(chosen[index.codes]))

    def most_groups(self, n_bytes: int) -> int | None:
        return None

    def some_rows(self) -> tuple[NDArray[np.floating], RowsToCheck]:
        table = self.table
        labels, groups = np.asarray(table.label), index_groups(table.group.codes)
        found = rows_to_check(labels, groups, len(self.feature_names))
        return table.X[found.rows], found

    def group_scores(self, model: Any) -> GroupScores:
        table = self.table
        with _named_by_order():
            found = model.group_scores(table.X, table.group.codes)
        names = table.group.values(np.asarray(found.group)).to_numpy(zero_copy_only=False)
        return GroupScores(names, found.score, found.winner)

    def drawn_values(self) -> Any:
        return drawn_values(self.table.X, self.table.group.codes)

    def scored(self, model: Any) -> ScoredCandidates:
        table = self.table
        is_positive = positive_rows(model, np.asarray(table.label))
        with _named_by_order():
            scores = scores_of(model, table.X)
        index = index_key(table.group)
        marks = self._read_marks(table.files, index, is_positive) if self.has_marks else {}
        return ScoredCandidates(
            index,
            scores,
            is_positive,
            table.X.__getitem__,
            None if table.patient is None else index_key(table.patient),
            objects=marks.get("objects"),
            annotated=marks.get("annotated"),
        )


@contextmanager
def _named_by_order() -> Iterator[None]:
    """Within the block, a matrix without names is no reason to warn.

    It was put in the model's order by name when it was read.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield
