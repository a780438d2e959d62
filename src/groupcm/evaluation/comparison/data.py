"""Candidates with all that is known of them, and some of their rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.group_table import group_level
from groupcm.data.groups import index_groups, no_groups
from groupcm.data.labels import order_classes
from groupcm.data.validation import (
    as_annotated,
    as_labels,
    as_matrix,
    as_objects,
    as_overlap,
    distinct,
    warn_without_groups,
)
from groupcm.evaluation.scored import require_whole_groups
from groupcm.objective.smoothed import Matrix

__all__ = ["LabelledCandidates"]


@dataclass(frozen=True, eq=False)
class LabelledCandidates:
    """Candidates of two classes, their groups, and what else is known of them.

    Attributes
    ----------
    X : array or CSR matrix of shape (n, d)
    y : ndarray of shape (n,)
        1 where the candidate is positive, else 0.
    groups : ndarray of shape (n,)
    overlap, patients : ndarray of shape (n,), or None
    annotated : ndarray of bool of shape (n,), or None
        False for the candidates of unannotated positive groups: the label of the group is known,
        and those of its candidates are ignored.
    objects : ndarray of shape (n,), or None
        Which object of its group each positive candidate shows.
    """

    X: Matrix
    y: NDArray[np.int8]
    groups: NDArray[Any]
    overlap: NDArray[np.floating] | None = None
    patients: NDArray[Any] | None = None
    annotated: NDArray[np.bool_] | None = None
    objects: NDArray[Any] | None = None

    @classmethod
    def check(
        cls,
        X: Any,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        overlap: ArrayLike | None = None,
        patients: ArrayLike | None = None,
        annotated: ArrayLike | None = None,
        objects: ArrayLike | None = None,
        *,
        pos_label: Any = None,
    ) -> LabelledCandidates:
        """From what a user passes, or one sentence about what is wrong with it.

        Examples
        --------
        >>> LabelledCandidates.check([[1.0], [2.0]], ["no", "yes"]).y
        array([0, 1], dtype=int8)
        >>> LabelledCandidates.check([[1.0], [2.0], [3.0]], ["a", "b", "c"])
        Traceback (most recent call last):
        ValueError: y holds 3 labels (a, b, c); models are compared on two classes: ...
        """
        X = as_matrix(X)
        n_rows = X.shape[0]
        labels = as_labels(y, n_rows)
        classes = distinct(labels)
        if len(classes) > 2:
            shown = ", ".join(map(str, classes[:3])) + (", …" if len(classes) > 3 else "")
            raise ValueError(
                f"y holds {len(classes)} labels ({shown}); models are compared on two classes: "
                "make one of them against the rest."
            )
        if len(classes) == 2:
            classes = order_classes(classes, pos_label)
        is_forgotten = groups is None
        groups = np.arange(n_rows) if no_groups(groups) else np.asarray(groups)
        patients = None if patients is None else np.asarray(patients)
        table = group_level(labels, groups, patients, pos_label=classes[-1])
        if table.positive.all():
            raise ValueError(
                f"every group holds a candidate of the positive class {classes[-1]!s}; "
                "models are compared on positive and negative groups."
            )
        is_positive = (labels == classes[-1]).astype(np.int8)
        if is_forgotten:
            warn_without_groups(n_rows, int(is_positive.sum()))
        data = cls(
            X,
            is_positive,
            groups,
            as_overlap(overlap, n_rows),
            patients,
            as_annotated(annotated, n_rows),
            as_objects(objects, n_rows),
        )
        if data.annotated is not None:
            require_whole_groups(table.index, table.positive, data.annotated)
            if not data.y[data.has_candidate_labels].any():
                raise ValueError(
                    "no positive group is annotated; annotate some, so that models have positive "
                    "candidates to learn from."
                )
        return data

    @property
    def clusters(self) -> NDArray[Any]:
        """What stays together: the patients, or the groups where there are none."""
        return self.groups if self.patients is None else self.patients

    @cached_property
    def has_candidate_labels(self) -> NDArray[np.bool_]:
        """Which rows have a label of their own: all but those of unannotated groups."""
        if self.annotated is None:
            return np.ones(len(self.y), dtype=bool)
        index = index_groups(self.groups)
        return self.annotated | ~index.maxima(self.y == 1)[index.codes]

    @cached_property
    def n_unannotated(self) -> int:
        """The number of unannotated positive groups."""
        return len(np.unique(self.groups[~self.has_candidate_labels]))

    def with_candidate_labels(self) -> LabelledCandidates:
        """Return the same without the unannotated positive groups."""
        if self.n_unannotated == 0:
            return self
        return self.take(np.flatnonzero(self.has_candidate_labels))

    @property
    def labels_are_of_groups(self) -> bool:
        """Whether every candidate carries its group's label, so that none is distinguished."""
        table = group_level(self.y, self.groups)
        of_group = table.positive[table.index.codes]
        return bool(np.sum(of_group) > np.sum(table.positive) and np.all(of_group == self.y))

    def take(self, rows: NDArray[np.int64]) -> LabelledCandidates:
        """Some of the rows."""
        columns = ("X", "y", "groups", "overlap", "patients", "annotated", "objects")
        chosen = {name: getattr(self, name) for name in columns}
        return replace(
            self, **{name: None if of is None else of[rows] for name, of in chosen.items()}
        )

    def numbered(self) -> LabelledCandidates:
        """The same with whole numbers as ids of groups and patients, in order of appearance."""
        table = group_level(self.y, self.groups, self.patients)
        codes = table.index.codes
        patients = None if self.patients is None else table.patient[codes]
        return replace(self, groups=codes, patients=patients)
