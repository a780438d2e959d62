"""How many trees are grown: as many as rank best groups that are left out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.boosting.growing import Fold, Plan, Rows, best_number
from groupcm.boosting.objective import BoostingTerms, GroupEvaluation
from groupcm.data.folds import Folds, annotated_folds
from groupcm.data.group_table import GroupTable
from groupcm.errors import TreesWarning
from groupcm.objective.terms import Index
from groupcm.utils.progress import Reading, announce_reading
from groupcm.utils.typing import Vector

__all__ = ["ChosenNumber", "TrainedRows", "choose_number", "count_trees", "groups_held_out"]


@dataclass(frozen=True)
class TrainedRows:
    """Rows in memory that trees are grown on and validated with.

    Attributes
    ----------
    X : array or CSR matrix of shape (n, d)
    terms : BoostingTerms
        Which of them take part.
    group : ndarray of int of shape (n,)
        The number of each row's group.
    weight : ndarray of shape (n,), optional
        ``sample_weight``.
    """

    X: Any
    terms: BoostingTerms
    group: Index
    weight: Vector | None = None

    def of_groups(self, groups: Index) -> Index:
        """Return the rows of some groups, ascending."""
        return np.flatnonzero(np.isin(self.group, groups))


@dataclass(frozen=True)
class ChosenNumber:
    """How many trees there are to be.

    Attributes
    ----------
    n_trees : int
    curve : ndarray
        The average of the metric over the folds after each tree; empty where none was left out.
    left_out : list of ndarray
        The groups that each fold left out.
    texts : list of str
        The trees of each fold.
    """

    n_trees: int
    curve: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    left_out: list[Index] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


def choose_number(
    plan: Plan,
    rows: TrainedRows,
    binned: Rows,
    is_positive: NDArray[np.bool_],
    table: GroupTable,
    has_patients: bool,
) -> ChosenNumber:
    """Return how many trees rank best the groups that folds leave out.

    Parameters
    ----------
    plan : Plan
    rows : TrainedRows
    binned : Rows
        The same rows in LightGBM's bins.
    is_positive : ndarray of bool of shape (n,)
        Which rows are positive.
    table : GroupTable
    has_patients : bool
        Whether the groups of a patient must be on one side.
    """
    if not plan.validation:
        return ChosenNumber(plan.n_trees)
    untrained = np.setdiff1d(np.flatnonzero(table.positive), rows.group[rows.terms.positive])
    patient = table.patient if has_patients else None
    found = groups_held_out(plan.validation, table.positive, untrained, patient, plan.seed)
    if not found:
        warnings.warn(
            f"all {plan.n_trees} trees are grown: to hold out groups of both classes, by patient "
            "where patients are given, takes two of each class.",
            TreesWarning,
            stacklevel=4,
        )
        return ChosenNumber(plan.n_trees)
    left_out = [test for _, test in found]
    folds = []
    for test in left_out:
        held = rows.of_groups(test)
        evaluate = GroupEvaluation(
            is_positive[held],
            rows.group[held],
            plan.scoring,
            sample_weight=None if rows.weight is None else rows.weight[held],
        )
        folds.append(Fold(rows.terms.without(rows.group, test), held, evaluate))
    best = best_number(binned, folds, plan, count_trees("validating", plan.n_trees))
    return ChosenNumber(best.n_trees, best.averages, left_out, best.texts)


def count_trees(doing: str, n_trees: int) -> Callable[[int], None]:
    """Return a function that announces how many trees there are."""
    began = time.perf_counter()

    def on_tree(n: int) -> None:
        announce_reading(Reading(doing, n, n_trees, None, time.perf_counter() - began, "trees"))

    return on_tree


def groups_held_out(
    validation: float,
    positive: NDArray[np.bool_],
    untrained: Index,
    patient: Index | None,
    seed: int,
) -> Folds:
    """Groups to grow on and groups to validate with, numbers of both; none where too few are there.

    Parameters
    ----------
    validation : int or float
        A number of folds, fewer where there are fewer positive groups (patients), or the share
        of groups that one fold holds out.
    positive : ndarray of bool of shape (m,)
        Which groups are positive.
    untrained : ndarray of int
        Positive groups no candidate of which is known to be positive. They validate too.
    patient : ndarray of int of shape (m,), optional
        The number of each group's patient: none is on both sides.
    seed : int
        Which groups fall into which fold.

    Examples
    --------
    >>> positive = np.array([True, True, False, False, True, False, False, False])
    >>> groups_held_out(2, positive, np.array([4]), None, seed=0)[0][1].tolist()
    [1, 3, 4, 5, 7]
    >>> [(len(train), len(test)) for train, test in
    ...  groups_held_out(0.25, np.arange(40) < 8, np.array([]), None, seed=0)]
    [(30, 10)]
    """
    of_group = np.arange(len(positive)) if patient is None else patient
    trained = positive.copy()
    trained[untrained.astype(np.int64)] = False
    fewest = min(len(np.unique(of_group[trained])), len(np.unique(of_group[~positive])))
    if fewest < 2:
        return []
    is_share = not isinstance(validation, Integral)
    if is_share:
        share = _share(validation, positive, trained, of_group, seed)
        if share is not None:
            return [share]
        validation = max(2, round(1.0 / validation))
    n_folds = min(int(validation), fewest)
    folds = annotated_folds(n_folds, positive, untrained.astype(np.int64), patient, seed)
    return folds[:1] if is_share else folds


def _share(
    share: float,
    positive: NDArray[np.bool_],
    trained: NDArray[np.bool_],
    patient: Index,
    seed: int,
) -> tuple[Index, Index] | None:
    """About this share of the groups, drawn by patient; None where a side would lack a class."""
    random = np.random.default_rng(seed)
    with_positive = np.unique(patient[trained])
    held_out = []
    for patients in (with_positive, np.setdiff1d(patient, with_positive)):
        if len(patients):
            drawn = random.permutation(patients)
            size = np.cumsum(np.bincount(patient, minlength=int(patient.max()) + 1)[drawn])
            n = int(np.searchsorted(size, share * size[-1] - 0.5, side="left")) + 1
            held_out.append(drawn[: min(n, max(1, len(drawn) - 1))])
    is_out = np.isin(patient, np.concatenate(held_out))
    for side in (is_out, ~is_out):
        if not (np.any(trained & side) and np.any(~positive & side)):
            return None
    return np.flatnonzero(~is_out), np.flatnonzero(is_out)
