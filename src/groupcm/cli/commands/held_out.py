"""What the groups that folds left out say about a model: its score, and where to put the alarm."""

from __future__ import annotations

from typing import Any

import numpy as np

from groupcm.estimators.classifier_cv import GroupClassifierCV
from groupcm.estimators.path import chosen_lams
from groupcm.estimators.thresholds import held_out_groups_of
from groupcm.metrics import at_threshold, group_roc_auc, metric_name

__all__ = ["held_out_rows"]


def held_out_rows(model: Any) -> list[tuple[str, str]]:
    """Return how groups that folds left out were ranked, and the threshold, as names and values."""
    found = held_out_groups_of(model)
    if found is None:
        return []
    positive, scores = found
    there = at_threshold(positive, scores, threshold=model.threshold_)
    if isinstance(model, GroupClassifierCV):
        rows = _chosen_lam(model)
    else:
        auc = group_roc_auc(positive, scores)
        rows = [("group AUC", f"{auc:.4f} on the {len(scores):,} groups that folds left out")]
    return [
        *rows,
        (
            "threshold",
            f"{model.threshold_:.4g}: sensitivity {there.sensitivity:.3f}, specificity "
            f"{there.specificity:.3f} on left-out groups",
        ),
    ]


def _chosen_lam(model: GroupClassifierCV) -> list[tuple[str, str]]:
    best = int(np.flatnonzero(model.lams_ == model.lam_)[0])
    scores = model.scores_[:, best]
    folds = f"minimum {scores.min():.4f}, maximum {scores.max():.4f}"
    edge = {0: ", the smallest tried", len(model.lams_) - 1: ", the largest tried"}
    more = len(model.lams_) - len(chosen_lams(model.lams))
    extended = f", {more} of them beyond the end of the grid" if more else ""
    tried = f" of {len(model.lams_)}{extended}{edge.get(best, '')}"
    if len(model.lams_) == 1:
        tried = ", the only one tried"
    return [
        ("chosen λ", f"{model.lam_:.4g}{tried}"),
        (
            metric_name(model.scoring).replace("_", " "),
            f"{scores.mean():.4f}, the mean over {len(scores)} folds ({folds})",
        ),
    ]
