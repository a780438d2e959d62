"""What an evaluation looks at: every candidate's score and truth, and how to see a few of them.

Conventions: ``n`` candidates (rows), ``m`` groups in order of first appearance. A few numbers
a row are in memory; features are read for the rows asked for only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.candidates import Index
from groupcm.evaluation.annotated_groups import require_whole_groups
from groupcm.evaluation.numbers import DataCounts
from groupcm.group_index import GroupIndex
from groupcm.group_table import patient_of_groups

__all__ = ["ScoredCandidates"]

Vector = NDArray[np.float64]
Rows = Callable[[Index], NDArray[np.floating]]


@dataclass(frozen=True)
class ScoredCandidates:
    """Candidates with their scores and their truth.

    Attributes
    ----------
    index : GroupIndex
        Which rows belong to which group.
    score : ndarray of shape (n,)
    is_positive : ndarray of bool of shape (n,)
    rows : callable
        From row numbers to the features of these rows.
    by_patient : GroupIndex, or None where patients are not known
        Which rows belong to which patient.
    objects : ndarray of shape (n,), or None
        The object a positive candidate lies on; of no meaning where it is not positive.
    overlap : ndarray of shape (n,), or None
        How well each candidate fits an object of its group.
    annotated : ndarray of bool of shape (n,), or None
        False for the candidates of positive groups nobody annotated: of those the label of the
        group is known, and those of its candidates mean nothing.
    """

    index: GroupIndex
    score: Vector
    is_positive: NDArray[np.bool_]
    rows: Rows
    by_patient: GroupIndex | None = None
    objects: NDArray[Any] | None = None
    overlap: NDArray[np.floating] | None = None
    annotated: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        positive = self.group_positive
        if positive.all() or not positive.any():
            found = "positive" if positive.all() else "negative"
            raise ValueError(
                f"every group is {found}; an evaluation needs positive and negative groups."
            )
        if self.annotated is not None:
            require_whole_groups(self.index, positive, self.annotated)

    @cached_property
    def group_score(self) -> Vector:
        """The largest score of each group."""
        return self.index.maxima(self.score)

    @cached_property
    def group_positive(self) -> NDArray[np.bool_]:
        """Whether any candidate of the group is positive."""
        return self.index.maxima(self.is_positive)

    @cached_property
    def winner(self) -> NDArray[np.intp]:
        """The row of each group that has the largest score."""
        return self.index.winners(self.score)

    @cached_property
    def group_patient(self) -> NDArray[np.intp] | None:
        """The number of each group's patient."""
        return None if self.by_patient is None else patient_of_groups(self.index, self.by_patient)

    @property
    def group_clusters(self) -> NDArray[np.intp]:
        """What is drawn together, a number a group: its patient, or the group itself."""
        patient = self.group_patient
        return np.arange(self.index.n_groups) if patient is None else patient

    @cached_property
    def group_has_labels(self) -> NDArray[np.bool_]:
        """Whether the candidates of a group have labels of their own: it is annotated, or negative.

        What tells candidates apart counts these groups only.
        """
        if self.annotated is None:
            return np.ones(self.index.n_groups, dtype=bool)
        return self.index.maxima(self.annotated) | ~self.group_positive

    @cached_property
    def has_label(self) -> NDArray[np.bool_]:
        """Whether a candidate has a label of its own."""
        return self.group_has_labels[self.index.codes]

    @property
    def n_positive(self) -> int:
        """How many groups are positive."""
        return int(self.group_positive.sum())

    @property
    def n_unannotated(self) -> int:
        """How many positive groups nobody annotated."""
        return int(np.count_nonzero(~self.group_has_labels))

    @cached_property
    def n_objects(self) -> int | None:
        """How many objects the positive candidates lie on."""
        if self.objects is None:
            return None
        return len(np.unique(self.objects[self.is_positive & self.has_label]))

    def counts(self, name: str) -> DataCounts:
        """How much there is."""
        return DataCounts(
            name,
            self.index.n_rows,
            self.n_positive,
            self.index.n_groups - self.n_positive,
            None if self.by_patient is None else self.by_patient.n_groups,
            self.n_objects,
        )
