"""From candidates to trees: the rows that take part, the number of trees, and the trees.

The number of trees is chosen on groups that are held out.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.boosting.growing import Fold, Plan, Rows, best_number, grow
from groupcm.boosting.lightgbm_text import read_forest
from groupcm.boosting.objective import UNIT_COSTS, BoostingTerms, GroupEvaluation
from groupcm.boosting.scorer import TreeScorer
from groupcm.data.folds import Folds, annotated_folds
from groupcm.data.group_table import GroupTable
from groupcm.data.groups import index_groups
from groupcm.errors import Argument, InputError, OverlapWarning, TreesWarning
from groupcm.estimators.training.data import TrainingData
from groupcm.objective.grouping import binary_terms, class_factors
from groupcm.objective.terms import NO_ORDER, Index, Terms
from groupcm.utils.progress import Reading, announce_reading

__all__ = ["Grown", "groups_held_out", "train"]


def train(plan: Plan, data: TrainingData, patients: Any = None) -> Grown:
    """Grow trees on all groups, as many as validate best."""
    data.require_two_classes_in_memory("trees need")
    unannotated = data.unannotated_groups()
    if len(unannotated) == len(data.groups_of(data.rows_of(1))):
        raise ValueError(
            "no positive group is annotated, and trees need some to start from; annotate some, "
            "or use MISVMClassifier, which needs the labels of groups alone."
        )
    if len(unannotated) and plan.n_trees <= plan.n_warm_up:
        raise InputError(
            f"the {len(unannotated):,} positive groups without annotation would take no part: ",
            Argument("n_estimators", plan.n_trees),
            " trees end before ",
            Argument("n_warm_up", plan.n_warm_up),
            " have been grown; lower ",
            Argument("n_warm_up"),
            " or raise ",
            Argument("n_estimators"),
            ".",
        )
    terms = _terms(plan, data, unannotated, NO_ORDER)
    rows = Rows(data.X, plan.parameters)
    n_trees, curve = plan.n_trees, np.empty(0)
    table = data.group_table(patients)
    held_out = np.full(table.index.n_groups, np.nan)
    if plan.validation:
        folds = _folds(plan, data, table, terms, unannotated, patients is not None)
        if folds:
            best = best_number(rows, folds, plan, _count("validating", plan.n_trees))
            n_trees, curve = best.n_trees, best.averages
            for fold, text in zip(folds, best.texts, strict=True):
                scores = TreeScorer([read_forest(text)]).of_rows(data.X[fold.held_out])[:, 0]
                of_fold = index_groups(table.index.codes[fold.held_out])
                held_out[of_fold.ids] = of_fold.maxima(scores)
    booster = grow(rows, terms, plan, n_trees, _count("growing", n_trees))
    if not booster.feature_importance("split").any():
        warning = TreesWarning(
            f"no tree could split {data.n_rows:,} candidates, so all score the same; lower ",
            Argument("min_child_samples"),
            ", or add features that vary.",
        )
        warnings.warn(warning, stacklevel=3)
    text = booster.model_to_string()
    witnesses = NO_ORDER
    if len(unannotated):
        scores = np.zeros(data.n_rows)
        open_rows = terms.unannotated.rows
        scores[open_rows] = TreeScorer([read_forest(text)]).of_rows(data.X[open_rows])[:, 0]
        witnesses = data.as_given(terms.unannotated.winners(scores))
    return Grown(text, booster.num_trees(), curve, witnesses, held_out, table.positive)


@dataclass(frozen=True)
class Grown:
    """Trees, how it was chosen how many, and what the trees of the folds score.

    Groups are in order of first appearance; a group that no fold left out has the score NaN.
    """

    text: str
    n_trees: int
    validation_curve: NDArray[np.float64]
    witnesses: Index
    held_out_scores: NDArray[np.float64]
    is_positive: NDArray[np.bool_]


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


def _terms(plan: Plan, data: TrainingData, unannotated: Index, without: Index) -> BoostingTerms:
    """Return the terms when the groups ``without`` take no part."""
    left = np.setdiff1d(unannotated, without)
    terms = binary_terms(
        data.n_rows,
        data.rows_of(1),
        data.groups,
        costs=UNIT_COSTS,
        background=plan.background,
        overlap=data.overlap,
        min_overlap=plan.min_overlap,
        objects=data.objects,
        without=np.union1d(unannotated, without),
        weights=data.weights,
    )
    factors = class_factors(plan.class_weight, data.classes, 1)
    chosen = Terms.of_groups(-1, data.groups, left) if len(left) else None
    if chosen is not None and data.weights is not None:
        chosen = replace(chosen, weight=data.weights.of_groups(chosen, data.groups))
    return BoostingTerms.of(terms, chosen, factors)


def _folds(
    plan: Plan,
    data: TrainingData,
    table: GroupTable,
    terms: BoostingTerms,
    unannotated: Index,
    has_patients: bool,
) -> list[Fold]:
    """Terms to grow on and candidates to validate with; none where too few groups are there."""
    groups = None if data.groups is None else table.index.codes
    is_positive = data.is_positive
    untrained = np.setdiff1d(np.flatnonzero(table.positive), data.groups_of(terms.positive))
    patient = table.patient if has_patients else None
    found = groups_held_out(plan.validation, table.positive, untrained, patient, plan.seed)
    if not found:
        warnings.warn(
            f"all {plan.n_trees} trees are grown: to hold out groups of both classes, by patient "
            "where patients are given, takes two of each class.",
            TreesWarning,
            stacklevel=4,
        )
    folds = []
    for _, test in found:
        rows = test if data.groups is None else np.sort(data.groups.rows_of(test))
        evaluate = GroupEvaluation(
            is_positive[rows],
            None if groups is None else groups[rows],
            plan.scoring,
            sample_weight=None if data.weights is None else data.weights.values[rows],
        )
        with warnings.catch_warnings():
            # The warning is issued once, when all groups are read.
            warnings.simplefilter("ignore", OverlapWarning)
            folds.append(Fold(_terms(plan, data, unannotated, test), rows, evaluate))
    return folds


def _count(doing: str, n_trees: int) -> Callable[[int], None]:
    began = time.perf_counter()

    def on_tree(n: int) -> None:
        announce_reading(Reading(doing, n, n_trees, None, time.perf_counter() - began, "trees"))

    return on_tree
