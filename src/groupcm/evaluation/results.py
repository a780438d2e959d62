"""The results of an evaluation, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.evaluation.explanation import FeatureContribution
from groupcm.metrics import FrocCurve, Interval, OperatingPoint, PrecisionRecallCurve, RocCurve
from groupcm.utils.typing import Vector

__all__ = [
    "Case",
    "DataCounts",
    "Decision",
    "Evaluation",
    "Froc",
    "Importance",
    "LearningCurve",
    "LearningLine",
    "Localisation",
    "Reliability",
    "Roc",
    "Training",
    "Weight",
]


@dataclass(frozen=True)
class DataCounts:
    """The numbers of candidates, groups, patients and objects in a data set."""

    name: str
    n_candidates: int
    n_positive_groups: int
    n_negative_groups: int
    n_patients: int | None = None
    n_objects: int | None = None


@dataclass(frozen=True)
class Training:
    """The model, its hyperparameters, and the certificate of its optimum where there is one."""

    model: str
    parameters: Mapping[str, str]
    trained_on: DataCounts | None = None
    objective: float | None = None
    lower_bound: float | None = None
    gap: float | None = None
    tol: float | None = None
    passes: float | None = None


@dataclass(frozen=True)
class Roc:
    """A ROC curve, its area, and the band of its sensitivity at each ``band_fpr``."""

    curve: RocCurve
    auc: Interval
    band_fpr: Vector
    band_low: Vector
    band_high: Vector


@dataclass(frozen=True)
class Froc:
    """Share of objects found against false alarms per group, at every threshold.

    The counts at the chosen threshold are in the ``point`` of the decision.
    """

    curve: FrocCurve
    n_objects: int
    object_word: str = "object"


@dataclass(frozen=True)
class Decision:
    """A threshold, how it was chosen, and its outcomes on these groups.

    Of ``n_winners_judged`` positive groups that are found and annotated, the winner of
    ``n_winners_on_object`` is positive. ``contradiction`` is a sentence where the share of groups
    found is significantly below the one that the threshold was chosen for.
    """

    point: OperatingPoint
    chosen: str
    is_chosen_here: bool
    sensitivity: Interval
    specificity: Interval
    n_winners_on_object: int | None = None
    n_winners_judged: int | None = None
    contradiction: str | None = None

    @property
    def n_judged(self) -> int:
        """The number of groups found whose winner is judged: all of them by default."""
        found = self.point.true_positives
        return found if self.n_winners_judged is None else self.n_winners_judged


@dataclass(frozen=True)
class Localisation:
    """The number of winners of positive groups that lie on the object.

    A winner does where its overlap is ``least_overlap`` or more. In ``n_reachable`` positive
    groups some candidate does; in the others no winner can lie on the object.
    """

    n_positive_groups: int
    n_on_object: int
    share: Interval
    n_reachable: int
    least_overlap: float = 0.3


@dataclass(frozen=True)
class Weight:
    """The weight of a feature: per standard deviation, and per unit."""

    feature: str
    per_deviation: float
    per_unit: float


@dataclass(frozen=True)
class Importance:
    """The mean absolute contribution of a feature to the score of a winner."""

    feature: str
    moves: float


@dataclass(frozen=True)
class Case:
    """A group to look at, and the candidate that gave it its score."""

    group: str
    score: float
    winner_row: int
    patient: str | None = None
    is_winner_positive: bool | None = None
    contributions: Sequence[FeatureContribution] = ()
    winner_overlap: float | None = None


@dataclass(frozen=True)
class Reliability:
    """Predicted probability against the observed share, in bins of groups."""

    predicted: Vector
    observed: Vector
    low: Vector
    high: Vector
    count: NDArray[np.int64]
    brier: float


@dataclass(frozen=True)
class LearningLine:
    """The group AUC of one model at each training size."""

    model: str
    auc: Sequence[Interval | None]


@dataclass(frozen=True)
class LearningCurve:
    """Group AUC against the size of the training data, which is counted in ``unit``."""

    sizes: Sequence[int]
    unit: str
    lines: Sequence[LearningLine]


@dataclass(frozen=True)
class Evaluation:
    """The evaluation of one model on groups that it has not seen.

    ``metrics`` holds what `groupcm.evaluation.metric_table` computes, by name. ``n_unannotated``
    positive groups are not annotated: metrics of groups include them, and metrics of candidates
    exclude them. ``baseline`` is what the contributions of features are relative to.
    """

    title: str
    version: str
    training: Training
    data: DataCounts
    group_roc: Roc
    candidate_roc: Roc | None
    precision_recall: PrecisionRecallCurve
    metrics: Mapping[str, Interval]
    froc: Froc | None
    decision: Decision
    weights: Sequence[Weight]
    highest_negatives: Sequence[Case]
    lowest_positives: Sequence[Case]
    positive_scores: Vector
    negative_scores: Vector
    reliability: Reliability | None = None
    learning: LearningCurve | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    level: float = 0.95
    cautions: Sequence[str] = ()
    localisation: Localisation | None = None
    highest_positives: Sequence[Case] = ()
    importances: Sequence[Importance] = ()
    n_unannotated: int = 0
    baseline: str = ""

    @property
    def average_precision(self) -> Interval:
        """The average precision of groups."""
        return self.metrics["average_precision"]
