"""What a comparison of models found: plain numbers, before anybody draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groupcm.evaluation.results import DataCounts, LearningCurve, Roc
from groupcm.metrics import Comparison

__all__ = ["ModelComparison", "ModelResult", "Pair"]


@dataclass(frozen=True)
class ModelResult:
    """One model, scored on groups its fold left out.

    Attributes
    ----------
    name, about : str
        Its short name, and one sentence on what it is and what it was trained on.
    chosen : sequence of str
        The setting chosen inside each fold.
    seconds : float
        To tune and train, over all folds.
    """

    name: str
    about: str
    group_roc: Roc
    candidate_roc: Roc | None
    chosen: Sequence[str]
    seconds: float


@dataclass(frozen=True)
class Pair:
    """Two models on the same groups."""

    a: str
    b: str
    group: Comparison


@dataclass(frozen=True)
class ModelComparison:
    """Several models on the same folds, with the same number of settings each.

    ``notes`` are sentences on what the data lacks and what became of it.
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
