"""From candidates to trees: which rows take part, how many trees, and the trees themselves."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.boosting.extra import require_lightgbm
from groupcm.boosting.growing import Fold, Plan, Rows, best_number, grow
from groupcm.boosting.metric import GroupEvaluation
from groupcm.boosting.objective import ONE_A_GROUP, BoostingTerms
from groupcm.candidates import NO_ORDER, Index, Terms
from groupcm.folds import Folds, group_folds
from groupcm.group_table import group_level
from groupcm.grouping import binary_terms
from groupcm.progress import Reading, announce_reading
from groupcm.training_data import TrainingData

__all__ = ["Grown", "train"]


@dataclass(frozen=True)
class Grown:
    """Trees, and how it was chosen how many."""

    text: str
    n_trees: int
    validation_curve: NDArray[np.float64]
    witnesses: Index


def train(plan: Plan, data: TrainingData, patients: Any = None) -> Grown:
    """Grow trees on all groups, as many as validate best."""
    _require_two_classes_in_memory(data)
    unannotated = data.unannotated_groups()
    if len(unannotated) == len(data.groups_of(data.rows_of(1))):
        raise ValueError(
            "no positive group is annotated, and trees need some to start from; annotate some, "
            "or use MISVMClassifier, which needs the labels of groups alone."
        )
    terms = _terms(plan, data, unannotated, NO_ORDER)
    rows = Rows(data.X, plan.parameters)
    n_trees, curve = plan.n_trees, np.empty(0)
    folds = _folds(plan, data, patients)
    if folds:
        parts = [_fold(plan, data, unannotated, train, test) for train, test in folds]
        n_trees, curve = best_number(rows, parts, plan, _count("validating", plan.n_trees))
    text = grow(rows, terms, plan, n_trees, _count("growing", n_trees))
    witnesses = NO_ORDER
    if len(unannotated):
        open_rows = terms.unannotated.rows
        scores = np.zeros(data.n_rows)
        booster = require_lightgbm().Booster(model_str=text)
        scores[open_rows] = booster.predict(data.X[open_rows], raw_score=True)
        witnesses = terms.unannotated.winners(scores)
    return Grown(text, n_trees, curve, witnesses)


def _require_two_classes_in_memory(data: TrainingData) -> None:
    if len(data.classes) > 2:
        # In scikit-learn's words, which its checks look for.
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: y has "
            f"{len(data.classes)} classes; make one of them against the rest."
        )
    if data.stream is not None:
        raise ValueError(
            f"trees need all {data.n_rows:,} candidates in memory, and they do not fit; raise "
            "memory, or train on fewer groups."
        )


def _terms(plan: Plan, data: TrainingData, unannotated: Index, without: Index) -> BoostingTerms:
    """The terms when the groups ``without`` take no part."""
    left = np.setdiff1d(unannotated, without)
    terms = binary_terms(
        data.n_rows,
        data.rows_of(1),
        data.groups,
        costs=ONE_A_GROUP,
        background=plan.background,
        overlap=data.overlap,
        min_overlap=plan.min_overlap,
        objects=data.objects,
        without=np.union1d(unannotated, without),
    )
    return BoostingTerms.of(terms, Terms.of_groups(-1, data.groups, left) if len(left) else None)


def _folds(plan: Plan, data: TrainingData, patients: Any) -> Folds:
    """Rows to grow on and rows to validate with; none where too few groups are there."""
    if not plan.validation:
        return []
    positive = data.y == data.labels[1]
    groups = _group_of_rows(data)
    table = group_level(positive, groups, patients)
    is_folds = isinstance(plan.validation, Integral)
    wanted = int(plan.validation) if is_folds else max(2, round(1.0 / plan.validation))
    fewest = min(
        _n_patients(table.positive, table.patient), _n_patients(~table.positive, table.patient)
    )
    if fewest < 2:
        warnings.warn(
            f"all {plan.n_trees} trees are grown: to leave out groups of both classes, and "
            "patients where they are given, takes two of each class.",
            UserWarning,
            stacklevel=4,
        )
        return []
    n_splits = min(wanted, fewest)
    folds = group_folds(positive, groups, patients, n_splits=n_splits, random_state=plan.seed)
    return folds if is_folds else folds[:1]


def _n_patients(chosen: NDArray[np.bool_], patient: NDArray[np.intp]) -> int:
    return len(np.unique(patient[chosen]))


def _group_of_rows(data: TrainingData) -> NDArray[np.int64] | None:
    if data.groups is None:
        return None
    return data.groups.of_rows(np.arange(data.n_rows))


def _fold(plan: Plan, data: TrainingData, unannotated: Index, train: Index, test: Index) -> Fold:
    with warnings.catch_warnings():
        # What is left out for its overlap is said once, when all groups are read.
        warnings.filterwarnings("ignore", ".*below min_overlap", UserWarning)
        terms = _terms(plan, data, unannotated, data.groups_of(test))
    groups = _group_of_rows(data)
    evaluate = GroupEvaluation(data.y[test], None if groups is None else groups[test], plan.scoring)
    return Fold(terms, test, evaluate)


def _count(doing: str, n_trees: int) -> Callable[[int], None]:
    began = time.perf_counter()

    def told(n: int) -> None:
        announce_reading(Reading(doing, n, n_trees, None, time.perf_counter() - began, "trees"))

    return told
