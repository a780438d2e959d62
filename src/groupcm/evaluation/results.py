"""The results of an evaluation, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.evaluation.explanation import FeatureContribution
from groupcm.evaluation.provenance import Computation, DataCounts, DataStep, FileDigest
from groupcm.metrics import (
    FrocCurve,
    FrocSensitivity,
    Interval,
    OperatingPoint,
    PrecisionRecallCurve,
    RocCurve,
    YieldCurve,
)
from groupcm.metrics.decision import DecisionRule
from groupcm.utils.typing import Vector

__all__ = [
    "Case",
    "Computation",
    "DataCounts",
    "DataStep",
    "Decision",
    "Evaluation",
    "FileDigest",
    "Froc",
    "Importance",
    "LearningCurve",
    "LearningLine",
    "LevelResult",
    "Localisation",
    "ObjectResult",
    "Reliability",
    "Roc",
    "Subgroup",
    "Subgroups",
    "Training",
    "Weight",
]


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
    found is significantly below the one that the threshold was chosen for. ``rule`` has the target
    of the threshold and its guarantee.
    """

    point: OperatingPoint
    chosen: str
    is_chosen_here: bool
    sensitivity: Interval
    specificity: Interval
    n_winners_on_object: int | None = None
    n_winners_judged: int | None = None
    contradiction: str | None = None
    rule: DecisionRule | None = None

    @property
    def n_judged(self) -> int:
        """The number of groups found whose winner is judged: all of them by default."""
        found = self.point.true_positives
        return found if self.n_winners_judged is None else self.n_winners_judged


@dataclass(frozen=True)
class Localisation:
    """The number of winners of positive groups that overlap the object.

    A winner does if its overlap is ``least_overlap`` or more. In ``n_reachable`` positive
    groups some candidate does; in the others no winner can overlap the object.
    """

    n_positive_groups: int
    n_on_object: int
    share: Interval
    n_reachable: int
    least_overlap: float = 0.3


@dataclass(frozen=True)
class LevelResult:
    """The results at one level above the group, such as the video or the patient.

    Attributes
    ----------
    name : str
        The user's word for a unit of the level, such as "patient".
    aggregate : {"max", "kth_largest", "top_mean"}
        How the scores of groups make the score of a unit; see `groupcm.metrics.level_scores`.
    k : int
    n_positive, n_negative : int
        Numbers of units.
    roc : Roc or None
        None where every unit is positive, or every one negative.
    metrics : mapping
        As ``Evaluation.metrics``, of units; empty where there is no ``roc``.
    decision : Decision or None
        The outcomes of the threshold that applies at this level; None like ``roc``, and where no
        threshold applies.
    positive_scores, negative_scores : ndarray
    note : str or None
        Why there is no ``roc`` or no ``decision``, as a sentence.
    reliability : Reliability or None
        Of the probabilities of units; None where there are none.
    probability : str or None
        What the probability of a unit is, in words, where there is a ``reliability``.
    """

    name: str
    aggregate: str
    k: int
    n_positive: int
    n_negative: int
    roc: Roc | None
    metrics: Mapping[str, Interval]
    decision: Decision | None
    positive_scores: Vector
    negative_scores: Vector
    note: str | None = None
    reliability: Reliability | None = None
    probability: str | None = None


@dataclass(frozen=True)
class ObjectResult:
    """The free-response analysis: how well objects are found, and at which false alarms.

    Attributes
    ----------
    rule : str
        When a candidate is on an object, in words, such as "an overlap of 0.3 or more".
    sensitivity_at : FrocSensitivity
        The sensitivity at ⅛, ¼, ½, 1, 2, 4 and 8 false alarms per group, and their mean (CPM).
    band : FrocSensitivity
        The same at many rates: the confidence band of the FROC curve.
    afroc_auc, wafroc_auc : Interval or None
        The areas; None where there is no negative group.
    found : Interval
        The share of the objects that are found at the threshold.
    n_found, n_objects, n_without_candidates : int
        Numbers of objects; the last ones have no candidate and are missed at every threshold.
    false_alarms_per_negative : Interval or None
        Candidates of negative groups that reach the threshold, per negative group.
    false_alarms_per_patient : Interval or None
        Candidates on no object that reach it, per patient; None where patients are not known.
    false_alarms_per_group : float or None
        The same per group, positive ones included: the x-axis of the FROC curve.
    hit : {"highest_score", "best_overlap"}
        Which candidate gives an object its score where several are on it.
    """

    rule: str
    sensitivity_at: FrocSensitivity
    band: FrocSensitivity
    afroc_auc: Interval | None
    wafroc_auc: Interval | None
    found: Interval
    n_found: int
    n_objects: int
    n_without_candidates: int
    false_alarms_per_negative: Interval | None = None
    false_alarms_per_patient: Interval | None = None
    false_alarms_per_group: float | None = None
    hit: str = "highest_score"


@dataclass(frozen=True)
class Subgroup:
    """The main metrics of one subgroup, such as the frames of one site.

    Attributes
    ----------
    value : str
        The value, or the range of values, that its groups share.
    n_positive, n_negative : int
        Numbers of groups.
    n_patients : int or None
    auc, sensitivity, specificity : Interval or None
        None where the subgroup lacks the groups that they are about.
    is_small : bool
        Whether the subgroup is too small for its intervals to be trusted.
    """

    value: str
    n_positive: int
    n_negative: int
    n_patients: int | None
    auc: Interval | None
    sensitivity: Interval | None
    specificity: Interval | None
    is_small: bool


@dataclass(frozen=True)
class Subgroups:
    """The subgroups by the values of one column.

    If ``is_of_objects``, the column describes objects, such as their size: the
    positive groups are split, and each part is compared with all negative groups.
    """

    column: str
    rows: Sequence[Subgroup]
    is_of_objects: bool = False


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
    """A group to look at, and the candidate that locates the object.

    It is the winner, or the choice of the place model; the contributions explain the score.
    """

    group: str
    score: float
    winner_row: int
    patient: str | None = None
    is_winner_positive: bool | None = None
    contributions: Sequence[FeatureContribution] = ()
    winner_overlap: float | None = None


@dataclass(frozen=True)
class Reliability:
    """Predicted probability against the observed share, in bins of groups or of units above."""

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
    exclude them. ``baseline`` is what the contributions of features are relative to. ``levels`` are
    those above the group, from the lowest to the highest, and ``unit`` is the user's word for a
    group, such as "frame". ``objects`` is by the first hit rule and ``localisation`` by the first
    least overlap; ``objects_by_rule`` and ``localisations`` have one entry for each of several.
    ``typical`` has a group of median score for each outcome: "found", "missed" and "false_alarm".
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
    unit: str = "group"
    levels: Sequence[LevelResult] = ()
    objects: ObjectResult | None = None
    yields: YieldCurve | None = None
    groups_per_second: float | None = None
    subgroups: Sequence[Subgroups] = ()
    flow: Sequence[DataStep] = ()
    prevalence: float | None = None
    objects_by_rule: Sequence[ObjectResult] = ()
    localisations: Sequence[Localisation] = ()
    object_word: str = "object"
    typical: Mapping[str, Case] = field(default_factory=dict)
    computation: Computation | None = None

    @property
    def average_precision(self) -> Interval:
        """The average precision of groups."""
        return self.metrics["average_precision"]
