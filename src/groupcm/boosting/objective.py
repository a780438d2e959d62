"""The group objective and metrics of groups, as LightGBM and XGBoost call them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.boosting.pair_loss import PairLoss
from groupcm.boosting.parameters import check_tree_parameters
from groupcm.boosting.power_loss import Groupwise, PowerLoss, Slopes, Vector
from groupcm.data.group_table import weights_of_groups
from groupcm.data.groups import index_groups, no_groups
from groupcm.data.labels import order_classes
from groupcm.data.validation import (
    as_labels,
    as_objects,
    as_overlap,
    as_sample_weight,
    check_length,
    distinct,
    rows_with,
)
from groupcm.metrics import metric_named
from groupcm.metrics.registry import weighted_value
from groupcm.metrics.truth import positive_rows
from groupcm.objective.grouping import Costs, RowWeights, binary_terms, class_factors
from groupcm.objective.terms import Groups, Index, Terms

__all__ = ["BoostingTerms", "Derivatives", "GroupEvaluation", "GroupObjective"]

# Every group weighs 1, or its sample_weight, however many candidates represent it.
UNIT_COSTS = Costs(lam=0.5, C=1.0)


class GroupObjective:
    """``c+ Σ_{k positive} ω_k L(s_k*) + c− Σ_{k negative} ω_k ‖(L(−s_i))_{i in k}‖_p``, for trees.

    A function of the scores and the data set, as LightGBM and XGBoost call an objective:
    it returns its derivatives by each candidate's score. By default positive and negative groups
    weigh the same, and a group 1 on average. With ``p = 1`` the losses of a negative group's
    candidates add up; with ``p = ∞`` the largest counts, as in the GCM.

    Parameters
    ----------
    y : array-like of shape (n,)
        One label per candidate; the positive one is ``pos_label``.
    groups : array-like of shape (n,), or "none", optional
        The group of each candidate, in any order; without it every row is its own group.
    overlap : array-like of shape (n,), optional
        How well each candidate fits the annotation: a positive group counts by its positive
        candidate of largest overlap. Without it its positive candidates share its weight.
    objects : array-like of shape (n,), optional
        Which object of its group a positive candidate shows; each counts by its best candidate.
    power : float, default=5.0
        ``p``, at least 1; ``inf`` for the maximum.
    loss : {"logistic", "smoothed_hinge"}
        ``L(t) = log(1 + e^{−t})``, or the paper's loss.
    delta : float, default=0.5
        Half the length of the smoothed hinge's quadratic piece.
    background : {"ignore", "negative"}
        Whether the other candidates of a positive group take no part, or are one more
        negative group.
    min_overlap : float, default=0.0
        Positive groups whose best overlap is below this are left out, with a warning.
    pos_label : label, optional
        The positive one of the two labels; None is the larger.
    class_weight : {"balanced", None} or dict, default="balanced"
        With ``W±``, the weights ``ω`` of the groups of each class together (how many they are,
        without ``sample_weight``): "balanced" is ``c± = (W+ + W−) / 2W±``; None is ``c± = 1``;
        a dict of ``{label: weight}`` gives ``c±``, 1 for labels that are missing from it.
    objective : {"gcm", "partial_auc"}
        The objective above, or that of `GroupClassifier` for the part of the ROC curve up to
        ``max_fpr``, where ``class_weight`` has no effect.
    max_fpr : float, default=1.0
        The share of the negative groups, those of the largest scores, that count with
        ``objective="partial_auc"``.
    sample_weight : array-like of shape (n,), optional
        One weight per candidate, above 0, which multiplies its term; see `GroupClassifier.fit`.
        All candidates of a negative group need the same.

    Examples
    --------
    >>> import lightgbm, numpy
    >>> from groupcm.boosting import GroupObjective
    >>> from groupcm.simulate import capsule
    >>> data = capsule(60, n_positive=20, group_size=20)
    >>> objective = GroupObjective(data.y, data.groups, data.overlap)
    >>> parameters = {"objective": objective, "num_leaves": 7, "verbosity": -1}
    >>> trees = lightgbm.train(parameters, lightgbm.Dataset(data.X, data.y), 20)
    >>> before = objective.derivatives(numpy.zeros(len(data.y))).value
    >>> bool(objective.derivatives(trees.predict(data.X)).value < 0.2 * before)
    True
    """

    def __init__(
        self,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        overlap: ArrayLike | None = None,
        *,
        objects: ArrayLike | None = None,
        power: float = 5.0,
        loss: str = "logistic",
        delta: float = 0.5,
        background: str = "ignore",
        min_overlap: float = 0.0,
        pos_label: Any = None,
        class_weight: Mapping[Any, float] | str | None = "balanced",
        objective: str = "gcm",
        max_fpr: float = 1.0,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        check_tree_parameters(
            {
                "objective": objective,
                "max_fpr": max_fpr,
                "class_weight": class_weight,
                "power": power,
                "loss": loss,
                "delta": delta,
                "background": background,
                "min_overlap": min_overlap,
            }
        )
        labels = as_labels(y, len(np.asarray(y)))
        classes = distinct(labels)
        if len(classes) != 2:
            raise ValueError(f"y holds {len(classes)} classes; the objective needs two.")
        classes = order_classes(classes, pos_label)
        together = ids = weights = None
        if groups is not None and not no_groups(groups):
            check_length("groups", groups, len(labels), whole="y")
            index = index_groups(groups)
            together, ids = Groups.from_index(index), index.ids
        weight = as_sample_weight(sample_weight, len(labels))
        if weight is not None:
            if not np.all(weight):
                row = int(np.argmin(weight))
                raise ValueError(
                    f"sample_weight is 0 at row {row}; leave such candidates out of the data set."
                )
            weights = RowWeights(weight, ids)
        terms = binary_terms(
            len(labels),
            rows_with(labels, classes[1]),
            together,
            costs=UNIT_COSTS,
            background=background,
            overlap=as_overlap(overlap, len(labels)),
            min_overlap=min_overlap,
            objects=as_objects(objects, len(labels)),
            weights=weights,
        )
        found = BoostingTerms.of(terms, factors=class_factors(class_weight, classes, 1))
        group_loss = PowerLoss(loss, delta, power)
        if objective == "partial_auc":
            group_loss = PairLoss(loss, delta, power, max_fpr)
        self._start(len(labels), found, group_loss)

    def _start(self, n_rows: int, terms: BoostingTerms, group_loss: PowerLoss) -> None:
        self.n_rows = n_rows
        self.terms = terms
        self.group_loss = group_loss
        # Whether each unannotated group takes part, by the candidate it scores highest now.
        self.chooses = False

    @classmethod
    def of_terms(cls, n_rows: int, terms: BoostingTerms, group_loss: PowerLoss) -> GroupObjective:
        """Return the objective of terms of so many rows that are there already."""
        objective = cls.__new__(cls)
        objective._start(n_rows, terms, group_loss)
        return objective

    def __call__(self, scores: Any, dataset: Any = None) -> tuple[Slopes, Slopes]:
        """Return the gradient and (diagonal) Hessian at these scores.

        The scikit-learn estimators of both libraries call it with labels and scores.
        """
        if isinstance(dataset, np.ndarray):
            scores = dataset
        # In the precision that both libraries keep them in.
        found = self.derivatives(np.asarray(scores, dtype=np.float64), np.float32)
        return found.gradient, found.hessian

    def derivatives(self, scores: Vector, dtype: Any = np.float64) -> Derivatives:
        """Return the value, gradient and curvatures at these scores, one per candidate.

        A curvature is a candidate's share in the norm times that of its own loss: the diagonal
        of the Hessian, but for what the shares themselves change. Candidates of hardly any
        share get none, which costs the others' slopes up to a percent.
        """
        if len(scores) != self.n_rows:
            raise ValueError(
                f"the objective was made for {self.n_rows:,} candidates and received "
                f"{len(scores):,} scores; make one for each part of the data, as folds need."
            )
        gradient, hessian = (np.zeros(len(scores), dtype=dtype) for _ in range(2))
        terms, loss = self.terms, self.group_loss
        positive, weight = terms.positive, terms.positive_weight
        if self.chooses and len(terms.unannotated):
            chosen = terms.unannotated.winners(scores)
            positive = np.concatenate([positive, chosen])
            weight = np.concatenate([weight, terms.unannotated.weight])
        totals = weight.sum(), terms.negative.weight.sum()
        if isinstance(loss, PairLoss):
            parts = (positive, weight, terms.negative, gradient, hessian)
            return Derivatives(loss.set_pairs(scores, *parts), gradient, hessian)
        costs = Costs(0.5 * sum(totals), factors=terms.class_factors)
        of_positive, of_negative = costs.of_weights(*totals)
        value = loss.set_negative(scores, terms.negative, of_negative, gradient, hessian)
        value += loss.add_positive(scores, positive, weight * of_positive, gradient, hessian)
        return Derivatives(value, gradient, hessian)


class GroupEvaluation:
    """A metric of groups in the form that boosting libraries call.

    Parameters
    ----------
    y : array-like of shape (n,)
        One label per candidate of the data set that is watched.
    groups : array-like of shape (n,), or "none", optional
        The group of each candidate, in any order; without it every row is its own group.
    metric : str, default="group_roc_auc"
        Or "group_average_precision", or "sensitivity_at_specificity".
    pos_label : label, optional
        The positive one of the two labels; None is the larger.
    sample_weight : array-like of shape (n,), optional
        One weight per candidate. A positive group weighs the mean of its positive candidates, a
        negative group that of all.

    Examples
    --------
    ``lightgbm.train`` takes ``feval=watch.lightgbm``, its scikit-learn estimators
    ``eval_metric=watch.lightgbm``; ``xgboost.train`` takes ``custom_metric=watch.xgboost``,
    its scikit-learn estimators, which minimise, ``eval_metric=watch.cost``.

    >>> watch = GroupEvaluation([0, 1, 0, 0], groups=["a", "a", "b", "b"])
    >>> watch([0.1, 0.9, 0.2, 0.3])
    1.0
    >>> watch.lightgbm([0.1, 0.9, 0.2, 0.3])
    ('group_roc_auc', 1.0, True)
    >>> watch.xgboost([0.1, 0.9, 0.2, 0.3])
    ('group_roc_auc', 1.0)
    >>> watch.cost([0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4])
    1.0
    """

    def __init__(
        self,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        metric: str = "group_roc_auc",
        *,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        self._y = positive_rows(as_labels(y, len(np.asarray(y))), pos_label)
        self._groups = None
        if groups is not None and not no_groups(groups):
            check_length("groups", groups, len(self._y), whole="y")
            self._groups = index_groups(groups).codes
        self._metric = metric_named(metric)
        self.name = metric
        self._weight = None
        weight = as_sample_weight(sample_weight, len(self._y))
        if weight is not None:
            rows = np.arange(len(self._y)) if self._groups is None else self._groups
            self._index = index_groups(rows)
            self._weight = weights_of_groups(weight, self._index.codes, self._y)
            self._is_positive_group = self._index.maxima(self._y)

    def __call__(self, scores: ArrayLike) -> float:
        """Return the metric of these scores, one per candidate."""
        if self._weight is None:
            return float(self._metric(self._y, scores, self._groups))
        of_groups = self._index.maxima(scores)
        return weighted_value(self._metric, self._is_positive_group, of_groups, self._weight)

    def lightgbm(self, scores: Any, dataset: Any = None) -> tuple[str, float, bool]:
        """Return the name, the value, and that larger is better.

        The scikit-learn estimators of LightGBM call it with labels and scores.
        """
        return self.name, self(dataset if isinstance(dataset, np.ndarray) else scores), True

    def xgboost(self, scores: Any, matrix: Any = None) -> tuple[str, float]:
        """Return name and value, for ``xgboost.train`` with ``maximize=True``."""
        if isinstance(matrix, np.ndarray):
            raise TypeError(
                "the scikit-learn estimators of XGBoost minimise one number; pass the method "
                "`cost` as eval_metric, and `xgboost` to xgboost.train alone."
            )
        return self.name, self(scores)

    def cost(self, _labels: Any, scores: ArrayLike) -> float:
        """``1 − metric``, for the scikit-learn estimators of XGBoost."""
        return 1.0 - self(scores)


class Derivatives(NamedTuple):
    """The derivatives of the objective by the score of each candidate."""

    value: float
    gradient: Slopes
    hessian: Slopes


@dataclass(frozen=True)
class BoostingTerms:
    """The rows that take part and what they weigh.

    Attributes
    ----------
    positive : ndarray
        Rows that represent positive groups.
    positive_weight : ndarray
        Of each; those of a group add up to 1, or to its ``sample_weight``.
    negative : Groupwise
        The candidates of each negative group.
    unannotated : Groupwise
        The candidates of each positive group without annotation.
    class_factors : (float, float) or None
        The weights of the two classes; see `groupcm.objective.grouping.class_factors`.
    """

    positive: Index
    positive_weight: Vector
    negative: Groupwise
    unannotated: Groupwise
    class_factors: tuple[float, float] | None = None

    @classmethod
    def of(
        cls,
        terms: Sequence[Terms],
        unannotated: Terms | None = None,
        factors: tuple[float, float] | None = None,
    ) -> BoostingTerms:
        """Return the terms of `binary_terms` for boosting; those of the positives are first."""
        positive, *negative = terms
        open_groups = Groupwise.of_terms([] if unannotated is None else [unannotated])
        rows = positive.rows(np.arange(positive.n_rows))
        weight = np.broadcast_to(positive.weight, len(rows)).astype(np.float64)
        return cls(rows, weight, Groupwise.of_terms(negative), open_groups, factors)

    @property
    def rows(self) -> Index:
        """All rows that take part, ascending."""
        parts = (self.positive, self.negative.rows, self.unannotated.rows)
        takes_part = np.zeros(1 + max(int(part.max(initial=0)) for part in parts), dtype=bool)
        for part in parts:
            takes_part[part] = True
        return np.flatnonzero(takes_part)

    def without(self, group_of_row: Index, groups: Index) -> BoostingTerms:
        """Return the terms that are left when some groups take no part."""

        def is_left(rows: Index) -> NDArray[np.bool_]:
            return ~np.isin(group_of_row[rows], groups)

        positive = is_left(self.positive)
        return replace(
            self,
            positive=self.positive[positive],
            positive_weight=self.positive_weight[positive],
            negative=self.negative.only(is_left(self.negative.rows[self.negative.ptr[:-1]])),
            unannotated=self.unannotated.only(
                is_left(self.unannotated.rows[self.unannotated.ptr[:-1]])
            ),
        )

    def at(self, rows: Index) -> BoostingTerms:
        """Return the same terms when only these rows, ascending, are there."""
        return replace(
            self,
            positive=np.searchsorted(rows, self.positive),
            negative=self.negative.at(rows),
            unannotated=self.unannotated.at(rows),
        )
