"""Whether predicted probabilities of groups are the shares observed."""

from __future__ import annotations

from typing import Any

from groupcm.evaluation.numbers import Reliability
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.metrics.reliability import group_brier_score, reliability_curve

__all__ = ["reliability_of"]


def reliability_of(model: Any, candidates: ScoredCandidates, level: float) -> Reliability | None:
    """The reliability of a calibrated model; None of one that gives no probabilities."""
    probability = getattr(model, "calibrator_", None)
    if probability is None:
        return None
    positive = candidates.group_positive
    predicted = probability(candidates.group_score)
    curve = reliability_curve(positive, predicted, level=level)
    return Reliability(**curve._asdict(), brier=group_brier_score(positive, predicted))
