"""Rows of tables as commands ask for them, wherever they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.cli.commands.marks import read_marks, require_one_weight
from groupcm.cli.commands.side_columns import read_weights
from groupcm.data.groups import GroupIndex, index_groups
from groupcm.errors import InputError
from groupcm.estimators.scoring import GroupScores
from groupcm.evaluation.leakage import RowsToCheck
from groupcm.evaluation.scored import ScoredCandidates

__all__ = ["Candidates"]


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
    object_column : str or None
        The column that tells which object a positive row lies on.
    annotated_column : str or None
        The column that tells whether somebody annotated the row's group.
    weight_column : str or None
        The column of ``sample_weight``.
    pos_label : label or None
        The positive one of two labels; None is the larger.
    """

    n_rows: int
    feature_names: list[str]
    dtype: np.dtype[Any]
    n_patients: int | None
    object_column: str | None = None
    annotated_column: str | None = None
    weight_column: str | None = None
    pos_label: Any = None

    @property
    @abstractmethod
    def classes(self) -> NDArray[Any]:
        """The labels that occur."""

    @property
    def positive(self) -> Any:
        """The positive label, of two."""
        return self.classes[-1] if self.pos_label is None else self.pos_label

    @abstractmethod
    def rename_classes(self, names: NDArray[Any]) -> None:
        """Call the labels that occur by other names, one for each of ``classes``."""

    @abstractmethod
    def groups_with(self, label: Any) -> NDArray[np.bool_]:
        """Which groups hold a row of this label, in the order of their first appearance."""

    @abstractmethod
    def patient_of_groups(self) -> NDArray[np.intp] | None:
        """The number of each group's patient, groups in the order of their first appearance."""

    @abstractmethod
    def fit(self, model: Any) -> None:
        """Train a model, which also learns the names of the features."""

    @abstractmethod
    def group_scores(self, model: Any) -> GroupScores:
        """The score and the winner of each group, with the table's own names of groups."""

    @abstractmethod
    def drawn_values(self) -> Any:
        """Features of some thousand candidates, drawn so that every group counts the same."""

    @abstractmethod
    def scored(self, model: Any) -> ScoredCandidates:
        """The score and the truth of every row."""

    @property
    @abstractmethod
    def group_index(self) -> GroupIndex:
        """Which rows belong to which group, by the tables' own names."""

    @property
    @abstractmethod
    def files(self) -> Sequence[Path]:
        """The files of the tables."""

    def weights(self) -> NDArray[np.float64] | None:
        """The ``sample_weight`` of each row, where there is such a column."""
        return None if self.weight_column is None else read_weights(self.files, self.weight_column)

    def groups_that_count(self) -> NDArray[np.intp]:
        """The groups with a weight above 0, in the order in which a fit knows them."""
        weight, index = self.weights(), self.group_index
        if weight is None or np.all(weight):
            return np.arange(index.n_groups)
        return index_groups(index.codes[weight > 0.0]).ids

    def _weights_for(self, model: Any, is_positive: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
        """What a fit takes as ``sample_weight``; groups are named where their rows differ."""
        weight = self.weights()
        if weight is None:
            return {}
        part = getattr(model, "estimator", model)
        if getattr(part, "grouping", "negative") != "none" and len(self.classes) == 2:
            column = str(self.weight_column)
            require_one_weight(self.group_index, is_positive, weight, column)
        return {"sample_weight": weight}

    @abstractmethod
    def fit_groups(self, model: Any, chosen: NDArray[np.bool_]) -> None:
        """Train a model on the groups marked, in memory for their rows."""

    @abstractmethod
    def most_groups(self, n_bytes: int) -> int | None:
        """How many groups' rows can be picked out in so much memory; None for all."""

    @abstractmethod
    def some_rows(self) -> tuple[NDArray[np.floating], RowsToCheck]:
        """Features of some rows of every class and of some groups, cheap to read."""

    @property
    def has_marks(self) -> bool:
        """Whether a column tells which groups are annotated, or which object a row lies on."""
        return self.annotated_column is not None or self.object_column is not None

    def _read_marks(
        self, files: Sequence[Path], groups: GroupIndex, is_positive: NDArray[np.bool_]
    ) -> dict[str, NDArray[Any]]:
        """What a fit takes as ``annotated`` and ``objects``, where there are such columns."""
        named = {"annotated": self.annotated_column, "object": self.object_column}
        if len(self.classes) > 2:
            given = next(role for role, column in named.items() if column)
            raise InputError(
                f"--{given} goes with two classes, and the labels hold {len(self.classes)}; make "
                "a column of one of them against the rest"
            )
        return read_marks(files, groups, is_positive, **named)
