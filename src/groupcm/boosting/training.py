"""From candidates to trees: the rows that take part, the number of trees, and the trees."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.boosting.feature_kinds import (
    categorical_numbers,
    encode,
    learn_categories,
    monotone_directions,
)
from groupcm.boosting.growing import Grown, Plan, Rows, grow
from groupcm.boosting.lightgbm_text import read_forest
from groupcm.boosting.objective import UNIT_COSTS, BoostingTerms
from groupcm.boosting.pair_loss import PairLoss
from groupcm.boosting.parameters import lightgbm_parameters
from groupcm.boosting.power_loss import PowerLoss
from groupcm.boosting.scorer import TreeScorer
from groupcm.boosting.streamed import train_on_stream
from groupcm.boosting.validation import TrainedRows, choose_number, count_trees
from groupcm.data.frames import as_frame
from groupcm.data.group_table import GroupTable
from groupcm.data.groups import index_groups
from groupcm.data.validation import check_length
from groupcm.errors import Argument, InputError, TreesWarning
from groupcm.estimators.training.data import TrainingData
from groupcm.estimators.training.fit_setup import draw_seed
from groupcm.estimators.training.input import read_training_data
from groupcm.objective.grouping import binary_terms, class_factors
from groupcm.objective.terms import NO_ORDER, Index, Terms
from groupcm.sources.base import Source

__all__ = ["Trained", "plan_of", "train", "train_classes", "train_estimator"]


@dataclass(frozen=True)
class Trained:
    """The trees of an estimator, and what they were grown on.

    Attributes
    ----------
    data : TrainingData
    grown : list of Grown
        Of more than two classes one for each, None for one that every group holds.
    categories, is_categorical
        As of `groupcm.GroupBoostingClassifier`.
    """

    data: TrainingData
    grown: list[Grown | None]
    categories: dict[str, list[Any]]
    is_categorical: NDArray[np.bool_]


def train_estimator(
    estimator: Any, X: Any, y: Any, groups: Any, overlap: Any, patients: Any, **given: Any
) -> Trained:
    """Grow the trees of an estimator on what its ``fit`` is given."""
    listed = estimator.categorical_features
    X = X if isinstance(X, str | os.PathLike | Source) else as_frame(X)
    categories = learn_categories(X, listed)
    X = encode(X, categories)
    data = read_training_data(estimator, X, y, groups, overlap, **given)
    if patients is not None:
        check_length("patients", patients, data.n_given or data.n_rows)
    categorical = categorical_numbers(X, categories, listed, data.names, data.n_features)
    plan = plan_of(estimator, data, categorical)
    grown = train_classes(plan, data, data.left_of(patients))
    is_categorical = np.isin(np.arange(data.n_features), categorical)
    return Trained(data, grown, categories, is_categorical)


def plan_of(estimator: Any, data: TrainingData, categorical: Index = NO_ORDER) -> Plan:
    """Return how the trees of an estimator are grown on these candidates.

    ``categorical`` are the numbers of the features that are categories.
    """
    seed = draw_seed(estimator.random_state)
    loss = PowerLoss(estimator.loss, estimator.delta, estimator.power)
    if estimator.objective == "partial_auc":
        loss = PairLoss(estimator.loss, estimator.delta, estimator.power, estimator.max_fpr)
    parameters = lightgbm_parameters(estimator, seed, data.n_rows, data.n_features)
    if estimator.monotone_constraints is not None:
        given = estimator.monotone_constraints
        directions = monotone_directions(given, data.names, data.n_features)
        both = next((number for number in categorical if directions[number]), None)
        if both is not None:
            name = both if data.names is None else repr(data.names[both])
            raise InputError(
                Argument("monotone_constraints"),
                f" names the feature {name}, whose categories have no order.",
            )
        parameters["monotone_constraints"] = directions
    return Plan(
        parameters=parameters,
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
        categorical=tuple(categorical.tolist()),
        names=data.names,
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
    binned = Rows(data.X, plan)
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
