"""The groups of training data, numbered in order of first appearance, and folds of them."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.data.folds import Folds, annotated_folds, resolve_folds
from groupcm.data.group_table import weights_of_groups
from groupcm.data.groups import no_groups
from groupcm.data.validation import check_length
from groupcm.estimators.training.data import TrainingData, folds_of_rows
from groupcm.estimators.training.fit_setup import Prepared
from groupcm.objective.terms import Groups, Index

__all__ = ["TrainingGroups"]


class TrainingGroups:
    """The groups of training data.

    Parameters
    ----------
    prepared : Prepared
    ids : array-like of shape (n,), str or None
        The group of each row as a user names it; anything else than ids is not looked at.
    patients : array-like of shape (n,) or None
        The patient of each row. Like the ids, and the folds of `folds`, they are of the rows as the
        user gave them: those of weight 0 are left out here.

    Attributes
    ----------
    groups : Groups
        Without groups in the data every row is one.
    positive : ndarray of bool of shape (n_groups,)
    unannotated : ndarray of int
        Numbers of the positive groups without annotation.
    patient : ndarray of int of shape (n_groups,), or None
        The number of each group's patient.
    weight : ndarray of shape (n_groups,), or None
        What each group weighs, where there is ``sample_weight``.
    """

    def __init__(
        self, prepared: Prepared, ids: ArrayLike | None, patients: ArrayLike | None
    ) -> None:
        data: TrainingData = prepared.data
        self.groups = data.groups or Groups.of_each_row(data.n_rows)
        self.positive = np.zeros(len(self.groups), dtype=np.bool_)
        self.positive[self.groups.of_rows(data.rows_of(1))] = True
        self.unannotated = prepared.unannotated
        self._is_positive_row = data.is_positive
        self._data = data
        self.patient = None
        if patients is not None:
            if data.rows is not None:
                check_length("patients", patients, data.n_given)
                ids = None if no_groups(ids) or isinstance(ids, str) else data.left_of(ids)
            self.patient = data.group_table(data.left_of(patients), ids).patient
        self.weight = None
        if data.weights is not None:
            rows = (self.groups.numbers(), self._is_positive_row)
            self.weight = weights_of_groups(data.weights.values, *rows)

    @property
    def n_groups(self) -> int:
        """How many there are."""
        return len(self.groups)

    def folds(self, cv: Any, random_state: Any) -> Folds:
        """Numbers of groups to train and to test on; ``cv`` as for `resolve_folds`."""
        if isinstance(cv, Integral) or hasattr(cv, "split"):
            if isinstance(cv, Integral) and len(self.unannotated):
                return annotated_folds(
                    int(cv), self.positive, self.unannotated, self.patient, random_state
                )
            every = np.arange(self.n_groups)
            return resolve_folds(cv, self.positive, every, self.patient, random_state)
        if self._data.rows is not None:
            cv = folds_of_rows(cv, self._data.rows, self._data.n_given)
        of_row = self.groups.numbers()
        patients = None if self.patient is None else self.patient[of_row]
        folds = resolve_folds(cv, self._is_positive_row, of_row, patients, random_state)
        return [(np.unique(of_row[train]), np.unique(of_row[test])) for train, test in folds]

    def require_annotated(self, train: Index, number: int) -> None:
        """Refuse a fold whose training part has no positive group that trains."""
        if np.any(self.positive[np.setdiff1d(train, self.unannotated)]):
            return
        raise ValueError(
            f"fold {number} of cv trains on no annotated positive group; annotate more groups, "
            "or use fewer folds."
        )

    def without(self, train: Index) -> Index:
        """The groups that are not among those to train on."""
        return np.setdiff1d(np.arange(self.n_groups), train)
