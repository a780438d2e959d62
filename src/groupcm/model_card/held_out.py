"""How well groups that folds left out are told apart."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.metrics import at_threshold, bootstrap_interval
from groupcm.metrics.few_clusters import FewClustersWarning

__all__ = ["HeldOut", "held_out_of"]

# Resamples, fewer where there are so many groups that they take long.
_FEWEST_RESAMPLES, _MOST_RESAMPLES, _MOST_DRAWS = 200, 1000, 100_000_000
_LEVEL = 0.95


@dataclass(frozen=True)
class HeldOut:
    """Scores of all folds taken together, though each fold has a model of its own.

    Attributes
    ----------
    n_positive_groups, n_negative_groups : int
    group_auc, group_auc_low, group_auc_high : float
        The area and its interval; NaN where there are too few groups for bounds.
    level : float
        Of the interval.
    drawn : str
        What was drawn again for it: "patients" or "groups".
    sensitivity, specificity : float or None
        At the noted threshold.
    caution : str or None
        Why the interval is not to be trusted, in words.
    """

    n_positive_groups: int
    n_negative_groups: int
    group_auc: float
    group_auc_low: float
    group_auc_high: float
    level: float
    drawn: str
    sensitivity: float | None = None
    specificity: float | None = None
    caution: str | None = None


def held_out_of(
    model: Any, threshold: float | None = None, patient_of_groups: ArrayLike | None = None
) -> HeldOut:
    """From the held-out scores of a fitted model.

    Parameters
    ----------
    model : estimator
        With ``held_out_scores_`` and ``held_out_labels_``.
    threshold : float, optional
        From this score on a group is an alarm.
    patient_of_groups : array-like, optional
        Whose each group is; the interval then draws patients.

    Examples
    --------
    >>> from groupcm import GroupClassifierCV
    >>> from groupcm.simulate import capsule
    >>> data = capsule(60, n_positive=20, group_size=10)
    >>> model = GroupClassifierCV(lams=[0.5]).fit(data.X, data.y, data.groups, data.overlap)
    >>> found = held_out_of(model, threshold=0.0)
    >>> found.group_auc_low < found.group_auc <= found.group_auc_high, found.drawn
    (True, 'groups')
    """
    known = np.isfinite(model.held_out_scores_)
    is_positive = model.held_out_labels_[known] == model.classes_[-1]
    scores = model.held_out_scores_[known]
    clusters = None if patient_of_groups is None else np.asarray(patient_of_groups)[known]
    n_resamples = max(_FEWEST_RESAMPLES, _MOST_DRAWS // max(1, len(scores)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FewClustersWarning)
        auc = bootstrap_interval(
            is_positive,
            scores,
            clusters=clusters,
            level=_LEVEL,
            n_resamples=min(_MOST_RESAMPLES, n_resamples),
        )
    there = None if threshold is None else at_threshold(is_positive, scores, threshold=threshold)
    return HeldOut(
        n_positive_groups=int(np.count_nonzero(is_positive)),
        n_negative_groups=int(np.count_nonzero(~is_positive)),
        group_auc=float(auc.estimate),
        group_auc_low=float(auc.low),
        group_auc_high=float(auc.high),
        level=_LEVEL,
        drawn="groups" if clusters is None else "patients",
        sensitivity=None if there is None else float(there.sensitivity),
        specificity=None if there is None else float(there.specificity),
        caution=" ".join(str(caught[0].message).split()) if caught else None,
    )
