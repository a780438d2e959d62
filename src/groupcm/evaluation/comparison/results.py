"""The results of a comparison of models, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from groupcm.evaluation.results import DataCounts, LearningCurve, Roc
from groupcm.metrics import Comparison

__all__ = ["LevelComparison", "ModelComparison", "ModelResult", "Pair"]


@dataclass(frozen=True)
class ModelResult:
    """The result of one model on groups that its folds left out.

    Attributes
    ----------
    name, about : str
        The short name, and one sentence on the model and its training data.
    chosen : sequence of str
        The hyperparameters chosen inside each fold.
    seconds : float
        The time to tune and train, over all folds.
    """

    name: str
    about: str
    group_roc: Roc
    candidate_roc: Roc | None
    chosen: Sequence[str]
    seconds: float


@dataclass(frozen=True)
class Pair:
    """The comparison of two models on the same groups."""

    a: str
    b: str
    group: Comparison

    def is_clear(self, level: float = 0.95) -> bool:
        """Return whether the interval of the difference excludes zero, and its p-value agrees."""
        difference = self.group.difference
        leaves_out_zero = difference.low > 0 or difference.high < 0
        return leaves_out_zero and self.group.p_value < 1 - level

    def is_tie(self, level: float = 0.95) -> bool:
        """Return whether the paired test says that the difference is within chance.

        Where the interval of the difference is not known, chance is not known either.
        """
        difference = self.group.difference
        is_known = isfinite(difference.low) and isfinite(difference.high)
        return is_known and self.group.p_value >= 1 - level


@dataclass(frozen=True)
class LevelComparison:
    """The comparison at one level above the group, such as the video or the patient.

    Attributes
    ----------
    name : str
        The user's word for a unit of the level, such as "patient".
    aggregate : {"max", "kth_largest", "top_mean"}
        How the scores of groups make the score of a unit; see `groupcm.metrics.level_scores`.
    k : int
    n_positive, n_negative : int
        Numbers of units.
    rocs : mapping of str to Roc
        By the names of the models; empty where a fold has units of one class only.
    pairs : sequence of Pair
    note : str or None
        Why there are no ``rocs``, as a sentence.
    """

    name: str
    aggregate: str
    k: int
    n_positive: int = 0
    n_negative: int = 0
    rocs: Mapping[str, Roc] = field(default_factory=dict)
    pairs: Sequence[Pair] = ()
    note: str | None = None


@dataclass(frozen=True)
class ModelComparison:
    """Several models on the same folds, each tuned over ``n_settings`` hyperparameters.

    ``notes`` are sentences on missing annotation and on grids that were too narrow. ``labels`` are
    the negative and the positive label, where they are known, and ``unit`` is the user's word for a
    group, such as "frame". ``levels`` are those above the group, from the lowest to the highest.
    """

    title: str
    version: str
    data: DataCounts
    n_folds: int
    n_settings: int
    folds_by: str
    models: Sequence[ModelResult]
    pairs: Sequence[Pair]
    learning: LearningCurve | None = None
    level: float = 0.95
    notes: Sequence[str] = ()
    labels: tuple[Any, Any] | None = None
    unit: str = "group"
    levels: Sequence[LevelComparison] = ()

    @property
    def reference(self) -> str | None:
        """The model that the others are tested against; None where no pair is tested."""
        return self.pairs[0].a if self.pairs else None
