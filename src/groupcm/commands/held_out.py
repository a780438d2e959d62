"""What the groups that folds left out say about a model: its score, and where to put the alarm."""

from __future__ import annotations

import warnings

import numpy as np

from groupcm.classifier_cv import GroupClassifierCV
from groupcm.evaluation.decision import ChosenThreshold, choose_threshold
from groupcm.metrics import metric_name, operating_point

__all__ = ["held_out_point", "held_out_rows"]


def held_out_point(model: GroupClassifierCV, specificity: float) -> ChosenThreshold:
    """The threshold of this specificity on the groups that the folds left out."""
    known = np.isfinite(model.held_out_scores_)
    point = choose_threshold(
        model.held_out_labels_[known],
        model.held_out_scores_[known],
        where="groups that the folds left out",
        specificity=specificity,
    )
    if np.isinf(point.value):
        warnings.warn(
            f"no threshold keeps a specificity of {specificity:g} on the groups that the folds "
            "left out and finds any; the noted one never raises an alarm: lower --specificity.",
            UserWarning,
            stacklevel=2,
        )
    return point


def held_out_rows(model: GroupClassifierCV, point: ChosenThreshold) -> list[tuple[str, str]]:
    """The chosen λ and the threshold, as names and values."""
    best = int(np.flatnonzero(model.lams_ == model.lam_)[0])
    scores = model.scores_[:, best]
    known = np.isfinite(model.held_out_scores_)
    there = operating_point(
        model.held_out_labels_[known], model.held_out_scores_[known], threshold=point.value
    )
    folds = f"{len(scores)} folds, {scores.min():.4f} to {scores.max():.4f}"
    edge = {0: ", the smallest tried", len(model.lams_) - 1: ", the largest tried"}
    return [
        ("chosen λ", f"{model.lam_:.4g} of {len(model.lams_)}{edge.get(best, '')}"),
        (metric_name(model.scoring).replace("_", " "), f"{scores.mean():.4f} ({folds})"),
        (
            "threshold",
            f"{point.value:.4g}: sensitivity {there.sensitivity:.3f}, specificity "
            f"{there.specificity:.3f} on left-out groups",
        ),
    ]
