"""Growing trees on the group objective, one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.boosting.feature_kinds import check_codes
from groupcm.boosting.objective import BoostingTerms, GroupObjective
from groupcm.boosting.pair_loss import PairLoss
from groupcm.boosting.power_loss import PowerLoss
from groupcm.objective.terms import Index
from groupcm.utils.extras import BOOSTING

__all__ = ["BestNumber", "Fold", "Grown", "Plan", "Rows", "best_number", "grow"]


@dataclass(frozen=True)
class Plan:
    """How trees are grown.

    Attributes
    ----------
    parameters : dict
        LightGBM's.
    n_trees : int
        At most.
    loss : PowerLoss
        At the end of the annealing.
    first_power : float
        The power of the first tree's loss; it grows by a constant factor to that of ``loss``.
    n_annealed : int
        Trees until then.
    n_warm_up : int
        Trees before unannotated groups take part.
    background, min_overlap
        Which candidates take part; see `groupcm.objective.grouping.binary_terms`.
    class_weight : {"balanced", None} or dict
        What the classes weigh; see `groupcm.boosting.GroupObjective`.
    validation : int or float
        Folds, or a share of the groups, by which the number of trees is chosen; 0 for none.
    scoring : str
        The metric it is chosen by.
    patience : int
        Trees without a better validation after which there is no use going on.
    seed : int
        Of the groups left out, and of the random candidates of a stream.
    max_passes : int
        The most passes over the rows of a stream.
    categorical : tuple of int
        The numbers of the features that are categories.
    names : ndarray, optional
        The names of all features.
    """

    parameters: dict[str, Any]
    n_trees: int
    loss: PowerLoss
    first_power: float
    n_annealed: int
    n_warm_up: int
    background: str = "ignore"
    min_overlap: float = 0.0
    class_weight: Mapping[Any, float] | str | None = "balanced"
    validation: float = 0
    scoring: str = "group_roc_auc"
    patience: int = 50
    seed: int = 0
    max_passes: int = 5
    categorical: tuple[int, ...] = ()
    names: NDArray[Any] | None = None

    def loss_of(self, tree: int) -> PowerLoss:
        """Return the loss that this tree is grown on.

        Examples
        --------
        >>> plan = Plan({}, 9, PowerLoss(power=4.0), 1.0, 4, 0)
        >>> [plan.loss_of(tree).power for tree in (0, 2, 4, 8)]
        [1.0, 2.0, 4.0, 4.0]
        """
        if tree >= self.n_annealed:
            return self.loss
        share = tree / self.n_annealed
        power = self.first_power ** (1.0 - share) * self.loss.power**share
        if isinstance(self.loss, PairLoss):
            rate = float(self.loss.max_fpr**share)
            return replace(self.loss, power=float(power), max_fpr=rate)
        return replace(self.loss, power=float(power))


@dataclass(frozen=True)
class Grown:
    """Trees, how it was chosen how many, and what the trees of the folds score.

    Groups are in order of first appearance; a group that no fold left out has the score NaN.

    Attributes
    ----------
    text : str
    n_trees : int
    has_split : bool
        Whether any of them splits any rows.
    validation_curve, witnesses, held_out_scores
        As of `groupcm.GroupBoostingClassifier`.
    is_positive : ndarray of bool
        Which groups are positive.
    patient : ndarray of int or None
        The number of each group's patient.
    n_passes : int
        Passes over the rows of a stream; 0 for rows in memory.
    new_winners : int
        The groups whose winner was not among the rows that the trees were grown on.
    """

    text: str
    n_trees: int
    has_split: bool
    validation_curve: NDArray[np.float64]
    witnesses: Index
    held_out_scores: NDArray[np.float64]
    is_positive: NDArray[np.bool_]
    patient: NDArray[np.intp] | None = None
    n_passes: int = 0
    new_winners: int = 0

    @classmethod
    def of(cls, booster: Any, *more: Any, **named: Any) -> Grown:
        """Return the trees of a booster, with the fields from ``validation_curve`` on."""
        has_split = bool(booster.feature_importance("split").any())
        return cls(booster.model_to_string(), booster.num_trees(), has_split, *more, **named)


class Rows:
    """All candidates in LightGBM's bins, which are computed once."""

    def __init__(self, X: Any, plan: Plan) -> None:
        self._lightgbm = BOOSTING.load("lightgbm")
        check_codes(X, plan.categorical, plan.names)
        self.n_rows = X.shape[0]
        self._whole = self._lightgbm.Dataset(
            X,
            label=np.zeros(self.n_rows, dtype=np.float32),
            params=plan.parameters,
            categorical_feature=list(plan.categorical),
        ).construct()

    def at(self, rows: Index) -> Any:
        """Return the data set of these rows, ascending."""
        if len(rows) == self.n_rows:
            return self._whole
        return self._whole.subset(rows)


class Trees:
    """A booster that grows by the group objective."""

    def __init__(self, rows: Rows, terms: BoostingTerms, plan: Plan) -> None:
        used = terms.rows
        self._plan = plan
        self._objective = GroupObjective.of_terms(len(used), terms.at(used), plan.loss)
        parameters = {**plan.parameters, "objective": "none", "metric": "none"}
        self.booster = BOOSTING.load("lightgbm").Booster(parameters, rows.at(used))
        self._n_grown = 0

    @property
    def first_complete(self) -> int:
        """The first tree that all groups take part in."""
        return self._plan.n_warm_up if len(self._objective.terms.unannotated) else 0

    def grow(self) -> None:
        """Grow one more tree."""
        objective, tree = self._objective, self._n_grown
        objective.group_loss = self._plan.loss_of(tree)
        objective.chooses = tree >= self.first_complete
        self.booster.update(fobj=objective)
        self._n_grown += 1


@dataclass(frozen=True)
class Fold:
    """Terms to grow on, and rows to validate with: all candidates of groups left out."""

    terms: BoostingTerms
    held_out: Index
    evaluate: Callable[[NDArray[np.float64]], float]


def grow(
    rows: Rows, terms: BoostingTerms, plan: Plan, n_trees: int, on_tree: Callable[[int], None]
) -> Any:
    """Return a booster of ``n_trees`` trees, fewer where nothing can be split.

    ``on_tree`` is called with the number of trees after each.
    """
    trees = Trees(rows, terms, plan)
    for k in range(n_trees):
        trees.grow()
        on_tree(k + 1)
    return trees.booster


@dataclass(frozen=True)
class BestNumber:
    """How many trees validate best on average over the folds.

    Attributes
    ----------
    n_trees : int
    averages : ndarray
        The average after each tree.
    texts : list of str
        So many trees of each fold, in LightGBM's text form.
    """

    n_trees: int
    averages: NDArray[np.float64]
    texts: list[str]


def best_number(
    rows: Rows, folds: Sequence[Fold], plan: Plan, on_tree: Callable[[int], None]
) -> BestNumber:
    """Return how many trees validate best on average over the folds."""
    grown = [Trees(rows, fold.terms, plan) for fold in folds]
    for trees, fold in zip(grown, folds, strict=True):
        trees.booster.add_valid(rows.at(fold.held_out), "held out")
    # Before it, the trees have not seen all that is known.
    first = max((trees.first_complete for trees in grown), default=0)
    averages: list[float] = []
    best = first
    for k in range(plan.n_trees):
        found = []
        for trees, fold in zip(grown, folds, strict=True):
            trees.grow()
            found.append(_validate(trees.booster, fold.evaluate))
        averages.append(float(np.mean(found)))
        on_tree(k + 1)
        if k > best and averages[k] > averages[best]:
            best = k
        elif k - max(best, plan.n_annealed) >= plan.patience:
            break
    texts = [trees.booster.model_to_string(num_iteration=best + 1) for trees in grown]
    return BestNumber(best + 1, np.array(averages), texts)


def _validate(booster: Any, evaluate: Callable[[NDArray[np.float64]], float]) -> float:
    ((_, _, value, _),) = booster.eval_valid(
        feval=lambda scores, _dataset: ("group metric", evaluate(scores), True)
    )
    return value
