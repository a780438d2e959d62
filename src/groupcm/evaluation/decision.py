"""The threshold: who chose it, and what it does on the groups evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.evaluation.numbers import Decision
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.metrics import index_groups, operating_point
from groupcm.metrics.proportion import share_interval
from groupcm.metrics.tallies import is_alarm

__all__ = ["ChosenThreshold", "choose_threshold", "decide", "own_threshold"]

# Between these scores a probability of one half is looked for, until they meet.
_FARTHEST = 1e9
_HALVINGS = 90
# A model says positive where the score is above 0, and an alarm is at or above a threshold.
_ABOVE_ZERO = float(np.nextafter(0.0, 1.0))


@dataclass(frozen=True)
class ChosenThreshold:
    """A threshold and how it came about.

    Attributes
    ----------
    value : float
        A group that scores at least this is an alarm.
    chosen : str
        Such as "given", or "chosen for a specificity of 0.9 on 120 validation groups".
    is_chosen_here : bool
        Whether it was chosen on the groups that are evaluated, which flatters it.
    """

    value: float
    chosen: str
    is_chosen_here: bool = False


def choose_threshold(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    specificity: float | None = None,
    sensitivity: float | None = None,
    where: str = "validation groups",
    is_chosen_here: bool = False,
) -> ChosenThreshold:
    """Choose a threshold that keeps a specificity or a sensitivity on some groups.

    Parameters
    ----------
    y, scores, groups
        A label, a score and a group a candidate; the larger label is the positive one.
    specificity, sensitivity : float, optional
        What to keep, one of them; with neither, the largest sum of both.
    where : str
        What these groups are, in words.
    is_chosen_here : bool
        Whether they are the groups that are evaluated.

    Examples
    --------
    >>> choose_threshold([0, 1, 0, 1], [0.1, 0.8, 0.5, 0.6], specificity=1.0).chosen
    'chosen for a specificity of 1 on 4 validation groups'
    """
    point = operating_point(y, scores, groups, specificity=specificity, sensitivity=sensitivity)
    if specificity is not None:
        goal = f"a specificity of {specificity:g}"
    elif sensitivity is not None:
        goal = f"a sensitivity of {sensitivity:g}"
    else:
        goal = "the largest sum of sensitivity and specificity"
    n_groups = len(np.asarray(scores)) if groups is None else index_groups(groups).n_groups
    return ChosenThreshold(
        point.threshold, f"chosen for {goal} on {n_groups:,} {where}", is_chosen_here
    )


def own_threshold(model: Any) -> ChosenThreshold:
    """What the model itself decides by: a score above 0, or where a probability passes one half."""
    probability = getattr(model, "calibrator_", None)
    if probability is None:
        return ChosenThreshold(_ABOVE_ZERO, "the model's own: it decides by the sign of the score")
    low, high = -_FARTHEST, _FARTHEST
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        is_above = probability(np.array([middle]))[0] > 0.5
        low, high = (low, middle) if is_above else (middle, high)
    return ChosenThreshold(high, "the model's own: where the probability passes one half")


def decide(candidates: ScoredCandidates, threshold: ChosenThreshold, level: float) -> Decision:
    """What a threshold does: counts of groups, shares with their intervals, winners."""
    positive, score = candidates.group_positive, candidates.group_score
    point = operating_point(positive, score, threshold=threshold.value)
    alarms = is_alarm(score, threshold.value)
    clusters = candidates.group_clusters
    judged = alarms & positive & candidates.group_has_labels
    detected = candidates.winner[judged]
    return Decision(
        point=point,
        chosen=threshold.chosen,
        is_chosen_here=threshold.is_chosen_here,
        sensitivity=share_interval(alarms[positive], clusters[positive], level=level),
        specificity=share_interval(~alarms[~positive], clusters[~positive], level=level),
        n_winners_on_object=int(candidates.is_positive[detected].sum()),
        n_winners_judged=len(detected),
    )
