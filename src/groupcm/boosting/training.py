"""From candidates to trees: the rows that take part, the number of trees, and the trees."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from groupcm.boosting.growing import Grown, Plan, Rows, grow
from groupcm.boosting.lightgbm_text import read_forest
from groupcm.boosting.objective import UNIT_COSTS, BoostingTerms
from groupcm.boosting.pair_loss import PairLoss
from groupcm.boosting.parameters import lightgbm_parameters
from groupcm.boosting.power_loss import PowerLoss
from groupcm.boosting.scorer import TreeScorer
from groupcm.boosting.streamed import train_on_stream
from groupcm.boosting.validation import TrainedRows, choose_number, count_trees
from groupcm.data.group_table import GroupTable
from groupcm.data.groups import index_groups
from groupcm.errors import Argument, InputError, TreesWarning
from groupcm.estimators.training.data import TrainingData
from groupcm.estimators.training.fit_setup import draw_seed
from groupcm.objective.grouping import binary_terms, class_factors
from groupcm.objective.terms import NO_ORDER, Index, Terms

__all__ = ["plan_of", "train", "train_classes"]


def plan_of(estimator: Any, n_rows: int, n_features: int) -> Plan:
    """Return how the trees of an estimator are grown on so many candidates and features."""
    seed = draw_seed(estimator.random_state)
    loss = PowerLoss(estimator.loss, estimator.delta, estimator.power)
    if estimator.objective == "partial_auc":
        loss = PairLoss(estimator.loss, estimator.delta, estimator.power, estimator.max_fpr)
    return Plan(
        parameters=lightgbm_parameters(estimator, seed, n_rows, n_features),
        n_trees=estimator.n_estimators,
        loss=loss,
        first_power=estimator.first_power,
        n_annealed=estimator.n_annealed,
        n_warm_up=estimator.n_warm_up,
        background=estimator.background,
        min_overlap=estimator.min_overlap,
        class_weight=estimator.class_weight,
        validation=estimator.validation if estimator.early_stopping else 0,
        scoring=estimator.scoring,
        patience=estimator.n_iter_no_change,
        seed=seed,
        max_passes=estimator.max_passes,
    )


def train_classes(plan: Plan, data: TrainingData, patients: Any = None) -> list[Grown | None]:
    """Grow the trees of two classes; of more, those of each class against the rest.

    A class that every group holds has none.
    """
    if len(data.classes) == 2:
        return [train(plan, data, patients)]
    if len(data.unannotated_groups()):
        raise ValueError(
            "some positive groups are not annotated, and candidates are chosen for two classes "
            f"only; y has {len(data.classes)}: make one of them against the rest."
        )
    grown = []
    for number in range(len(data.classes)):
        held = data.groups_of(data.rows_of(number))
        if data.groups is not None and len(held) == len(data.groups):
            grown.append(None)
            continue
        factors = class_factors(plan.class_weight, data.classes, number)
        weights = "balanced" if factors is None else dict(zip((True, False), factors, strict=True))
        of_class = replace(plan, class_weight=weights)
        grown.append(train(of_class, data.against_rest(number), patients))
    if all(each is None for each in grown):
        raise InputError(
            "every group holds every class, so there is no negative group for any of them; give "
            "groups that lack some"
        )
    return grown


def train(plan: Plan, data: TrainingData, patients: Any = None) -> Grown:
    """Grow trees on all groups, as many as validate best."""
    unannotated = data.unannotated_groups()
    _require_annotation(plan, data, unannotated)
    terms = binary_terms(
        data.n_rows,
        data.rows_of(1),
        data.groups,
        costs=UNIT_COSTS,
        background=plan.background,
        overlap=data.overlap,
        min_overlap=plan.min_overlap,
        objects=data.objects,
        without=unannotated,
        weights=data.weights,
    )
    choosable = Terms.of_groups(-1, data.groups, unannotated) if len(unannotated) else None
    if choosable is not None and data.weights is not None:
        choosable = replace(choosable, weight=data.weights.of_groups(choosable, data.groups))
    factors = class_factors(plan.class_weight, data.classes, 1)
    table = data.group_table(patients)
    has_patients = patients is not None
    if data.stream is None:
        found = BoostingTerms.of(terms, choosable, factors)
        grown = _train_in_memory(plan, data, found, table, has_patients)
    else:
        grown = train_on_stream(plan, data, terms, choosable, factors, table, has_patients)
    if not grown.has_split:
        warning = TreesWarning(
            f"no tree could split {data.n_rows:,} candidates, so all score the same; lower ",
            Argument("min_child_samples"),
            ", or add features that vary.",
        )
        warnings.warn(warning, stacklevel=3)
    return replace(grown, patient=table.patient) if has_patients else grown


def _require_annotation(plan: Plan, data: TrainingData, unannotated: Index) -> None:
    """Raise where trees have no annotated positive group to start from."""
    if len(unannotated) == len(data.groups_of(data.rows_of(1))):
        raise ValueError(
            "no positive group is annotated, and trees need some to start from; annotate some, "
            "or use MISVMClassifier, which needs only the labels of groups."
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


def _train_in_memory(
    plan: Plan, data: TrainingData, terms: BoostingTerms, table: GroupTable, has_patients: bool
) -> Grown:
    binned = Rows(data.X, plan.parameters)
    weight = None if data.weights is None else data.weights.values
    rows = TrainedRows(data.X, terms, table.index.codes, weight)
    chosen = choose_number(plan, rows, binned, data.is_positive, table, has_patients)
    held_out = np.full(table.index.n_groups, np.nan)
    for test, text in zip(chosen.left_out, chosen.texts, strict=True):
        held = rows.of_groups(test)
        scores = TreeScorer([read_forest(text)]).of_rows(data.X[held])[:, 0]
        of_fold = index_groups(table.index.codes[held])
        held_out[of_fold.ids] = of_fold.maxima(scores)
    on_tree = count_trees("growing", chosen.n_trees)
    booster = grow(binned, terms, plan, chosen.n_trees, on_tree)
    text = booster.model_to_string()
    witnesses = NO_ORDER
    if len(terms.unannotated):
        scores = np.zeros(data.n_rows)
        open_rows = terms.unannotated.rows
        scores[open_rows] = TreeScorer([read_forest(text)]).of_rows(data.X[open_rows])[:, 0]
        witnesses = data.as_given(terms.unannotated.winners(scores))
    return Grown.of(booster, chosen.curve, witnesses, held_out, table.positive)
