"""Folds that share out the annotated groups first, and then those nobody annotated."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from groupcm.candidates import Index
from groupcm.folds import Folds, resolve_folds

__all__ = ["annotated_folds"]


def annotated_folds(
    n_folds: int,
    positive: NDArray[np.bool_],
    unannotated: Index,
    patient: Index | None = None,
    random_state: Any = 0,
) -> Folds:
    """Every fold has its share of the annotated groups, and then of the others.

    A group nobody annotated goes where its patient is; patients who have no other groups are
    dealt to the folds in turn.

    Parameters
    ----------
    n_folds : int
    positive : ndarray of bool of shape (m,)
        Which groups are positive.
    unannotated : ndarray of int
        Numbers of the positive groups nobody annotated.
    patient : ndarray of int of shape (m,), optional
        The number of each group's patient.
    random_state : int, RandomState or None, default=0
        Which groups fall into which fold.

    Returns
    -------
    list of (train, test)
        Numbers of groups, ascending; every group is in exactly one test part.

    Examples
    --------
    >>> positive = np.array([True, True, False, False, True, True])
    >>> for train, test in annotated_folds(2, positive, np.array([4, 5])):
    ...     print(train.tolist(), test.tolist())
    [0, 3, 4] [1, 2, 5]
    [1, 2, 5] [0, 3, 4]
    """
    every = np.arange(len(positive))
    of_group = every if patient is None else patient
    known = np.setdiff1d(every, unannotated)
    _require_enough(n_folds, of_group[known[positive[known]]], patient is not None)
    of_known = None if patient is None else patient[known]
    folds = resolve_folds(n_folds, positive[known], known, of_known, random_state)
    fold_of_patient = np.full(int(of_group.max()) + 1, -1)
    for k, (_, test) in enumerate(folds):
        fold_of_patient[of_group[known[test]]] = k
    others = np.unique(of_group[fold_of_patient[of_group] < 0])
    dealt = check_random_state(random_state).permutation(others)
    fold_of_patient[dealt] = np.arange(len(dealt)) % n_folds
    fold = fold_of_patient[of_group]
    return [(every[fold != k], every[fold == k]) for k in range(n_folds)]


def _require_enough(n_folds: int, of_annotated: Index, has_patients: bool) -> None:
    n_known = len(np.unique(of_annotated))
    if n_known >= n_folds or n_folds < 2:  # less than two folds are refused as ever
        return
    plural = "" if n_known == 1 else "s"
    have = f"{n_known} annotated positive group{plural}"
    if has_patients:
        have = f"annotated positive groups of {n_known} patient{plural}"
    fewer = f"use cv={n_known} or fewer, or " if n_known >= 2 else ""
    verb = "is" if n_known == 1 and not has_patients else "are"
    raise ValueError(
        f"there {verb} {have}, fewer than the {n_folds} folds; {fewer}annotate more groups."
    )
