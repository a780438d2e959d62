"""What the groups that folds left out say about a model: its score, and where to put the alarm."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.classifier_cv import GroupClassifierCV
from groupcm.evaluation.decision import ChosenThreshold, choose_threshold
from groupcm.metrics import group_roc_auc, metric_name, operating_point
from groupcm.selection import chosen_lams

__all__ = ["held_out_point", "held_out_rows"]


def held_out_point(model: Any, specificity: float) -> ChosenThreshold:
    """The threshold of this specificity on the groups that the folds left out."""
    labels, scores = _scored(model)
    point = choose_threshold(
        labels, scores, where="groups that the folds left out", specificity=specificity
    )
    if np.isinf(point.value):
        warnings.warn(
            f"no threshold keeps a specificity of {specificity:g} on the groups that the folds "
            "left out and finds any; the noted one never raises an alarm: lower --specificity.",
            UserWarning,
            stacklevel=2,
        )
    return point


def held_out_rows(model: Any, point: ChosenThreshold) -> list[tuple[str, str]]:
    """How groups that folds left out were told apart, and the threshold, as names and values."""
    labels, scores = _scored(model)
    there = operating_point(labels, scores, threshold=point.value)
    if isinstance(model, GroupClassifierCV):
        rows = _chosen_lam(model)
    else:
        auc = group_roc_auc(labels, scores)
        rows = [("group AUC", f"{auc:.4f} on the {len(scores):,} groups that folds left out")]
    return [
        *rows,
        (
            "threshold",
            f"{point.value:.4g}: sensitivity {there.sensitivity:.3f}, specificity "
            f"{there.specificity:.3f} on left-out groups",
        ),
    ]


def _scored(model: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Labels and scores of the groups that some fold left out."""
    known = np.isfinite(model.held_out_scores_)
    return model.held_out_labels_[known], model.held_out_scores_[known]


def _chosen_lam(model: GroupClassifierCV) -> list[tuple[str, str]]:
    best = int(np.flatnonzero(model.lams_ == model.lam_)[0])
    scores = model.scores_[:, best]
    folds = f"minimum {scores.min():.4f}, maximum {scores.max():.4f}"
    edge = {0: ", the smallest tried", len(model.lams_) - 1: ", the largest tried"}
    more = len(model.lams_) - len(chosen_lams(model.lams))
    extended = f", {more} of them beyond the end of the grid" if more else ""
    return [
        ("chosen λ", f"{model.lam_:.4g} of {len(model.lams_)}{extended}{edge.get(best, '')}"),
        (
            metric_name(model.scoring).replace("_", " "),
            f"{scores.mean():.4f}, the mean over {len(scores)} folds ({folds})",
        ),
    ]
