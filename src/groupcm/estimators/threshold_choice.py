"""The choice of a threshold on labelled groups: for a target, at a level, with a confidence.

`groupcm.metrics.operating_point` chooses the score; here it becomes a threshold between two scores
and a record of what it was chosen for.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.groups import index_groups, no_groups, owner_of_groups
from groupcm.errors import Argument, ParameterError, ThresholdWarning
from groupcm.metrics.decision import ChosenThreshold, DecisionRule
from groupcm.metrics.guarantees import TooFewCasesWarning, required_cases
from groupcm.metrics.levels import level_scores
from groupcm.metrics.operating import OperatingPoint, operating_point
from groupcm.metrics.truth import Truth, read_truth
from groupcm.utils.merged_warnings import WARNINGS_LOCK
from groupcm.utils.text import plural, printable
from groupcm.utils.typing import Vector

__all__ = ["Goal", "TooFewCasesError", "choose_threshold", "goal_of", "require_enough"]

_GROUP = "group"
_PATIENT = "patient"


class TooFewCasesError(ValueError):
    """No threshold has the guarantee that was asked for."""


@dataclass(frozen=True)
class Goal:
    """What a threshold is chosen for; see `choose_threshold`.

    Attributes
    ----------
    targets : mapping of str to float
        The target that is given, by its name; empty for the largest sum of both shares.
    confidence : float or None
    level : str
    k : int
    most_per_group : int or None
    """

    targets: Mapping[str, float] = field(default_factory=dict)
    confidence: float | None = None
    level: str = _GROUP
    k: int = 1
    most_per_group: int | None = None

    def __post_init__(self) -> None:
        if len(self.targets) > 1:
            raise ParameterError(
                *_listed(self.targets), " are both given; a threshold is chosen for one of them."
            )
        if self.confidence is not None and not 0.0 < self.confidence < 1.0:
            raise ParameterError(
                Argument("confidence"),
                f" is {self.confidence:g}; it must be between 0 and 1, exclusively.",
            )
        if self.confidence is not None and not self.targets:
            raise ParameterError(
                Argument("confidence"),
                " needs a target that it is about, such as ",
                Argument("sensitivity"),
                ".",
            )
        if self.level != _GROUP:
            for name in ("patient_sensitivity", "false_alarms"):
                if name in self.targets:
                    raise ParameterError(
                        Argument(name), " is about groups; it has no level above them."
                    )
        elif self.k != 1:
            raise ParameterError(
                Argument("k"), " counts the groups of a unit; name its level, such as 'patient'."
            )


def goal_of(
    *,
    specificity: float | None = None,
    sensitivity: float | None = None,
    patient_sensitivity: float | None = None,
    false_alarms: float | None = None,
    **options: Any,
) -> Goal:
    """Return what a threshold is chosen for; raise one sentence where the options contradict.

    Examples
    --------
    >>> goal_of(sensitivity=0.9, confidence=0.95).targets
    {'sensitivity': 0.9}
    """
    wanted = {
        "specificity": specificity,
        "sensitivity": sensitivity,
        "patient_sensitivity": patient_sensitivity,
        "false_alarms": false_alarms,
    }
    return Goal({name: value for name, value in wanted.items() if value is not None}, **options)


def require_enough(
    goal: Goal, is_positive: NDArray[np.bool_], patients: NDArray[np.intp] | None
) -> None:
    """Raise where there are too few patients for the guarantee, whatever the scores.

    Parameters
    ----------
    goal : Goal
    is_positive : ndarray of bool of shape (n_groups,)
    patients : ndarray of shape (n_groups,), or None where groups are independent

    Examples
    --------
    >>> goal = goal_of(sensitivity=0.95, confidence=0.9)
    >>> require_enough(goal, np.repeat([True, False], 10), None)
    Traceback (most recent call last):
    groupcm.estimators.threshold_choice.TooFewCasesError: 10 groups are positive, and a sensitivity
    of 0.95 with a confidence of 0.9 needs at least 45.
    """
    if goal.confidence is None or "false_alarms" in goal.targets:
        return
    ((target, value),) = goal.targets.items()
    if not 0.0 < value < 1.0 or not 0.0 < goal.confidence < 1.0:
        raise ParameterError(
            Argument("confidence"),
            f" {goal.confidence:g} of a {target} of {value:g} is not possible; both must be "
            "between 0 and 1, exclusively.",
        )
    kind = "negative" if target == "specificity" else "positive"
    counted = np.flatnonzero(is_positive == (kind == "positive"))
    n, found = len(counted), f"groups are {kind}"
    if patients is not None:
        n, found = len(np.unique(patients[counted])), f"patients have {kind} groups"
    needed = required_cases(value, goal.confidence)
    if n < needed:
        raise TooFewCasesError(
            f"{n} {found}, and a {target} of {value:g} with a confidence of {goal.confidence:g} "
            f"needs at least {needed}."
        )


def choose_threshold(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    specificity: float | None = None,
    sensitivity: float | None = None,
    patient_sensitivity: float | None = None,
    false_alarms: float | None = None,
    confidence: float | None = None,
    most_per_group: int | None = None,
    patients: ArrayLike | None = None,
    levels: Mapping[str, ArrayLike] | None = None,
    level: str = "group",
    k: int = 1,
    where: str = "validation groups",
    is_chosen_here: bool = False,
    pos_label: Any = None,
) -> ChosenThreshold:
    """Choose the threshold that keeps a target on some groups.

    It is halfway between the score of the operating point and the next lower score of a group:
    the alarms are the same, and a group keeps its decision where another way of computing its
    score, such as in single precision, rounds differently.

    Parameters
    ----------
    y, scores, groups, pos_label
        One label, one score and one group per candidate, as for `groupcm.metrics.operating_point`.
    specificity, sensitivity, patient_sensitivity, false_alarms : float, optional
        The value to keep; give at most one. By default, the sum of sensitivity and specificity is
        maximised. `groupcm.metrics.operating_point` describes each.
    confidence : float, optional
        Choose the threshold so that the target holds for new patients with this confidence.
    most_per_group : int, optional
        With ``false_alarms`` and ``confidence``, the most that are counted in one group.
    patients : array-like of shape (n,), optional
        The patient of each candidate; without it groups are taken to be independent.
    levels : mapping of str to array-like of shape (n,), optional
        The unit of each candidate at levels above the group. ``patients`` are the level "patient".
    level : str
        What the target is about, "group" or one of the levels: a unit, such as a patient, raises an
        alarm where at least ``k`` of its groups do.
    k : int
    where : str
        What these groups are, in words.
    is_chosen_here : bool
        Whether they are the groups that are evaluated.

    Raises
    ------
    ValueError
        Also where no threshold has the guarantee, with the number of patients that are needed.

    Examples
    --------
    >>> choose_threshold([0, 1, 0, 1], [0.1, 0.8, 0.5, 0.6], specificity=1.0).chosen
    'chosen for a specificity of 1 on 4 validation groups'
    >>> choose_threshold([0, 1, 0, 1], [0.1, 0.8, 0.5, 0.7], specificity=1.0).value
    0.6
    >>> choose_threshold([0, 1, 0, 1], [0.1, 0.8, 0.5, 0.7], patients=list("ppqq"),
    ...                  patient_sensitivity=1.0).chosen
    'chosen for finding a positive group of 1 of the patients on 4 validation groups, of 2
    patients'
    """
    goal = goal_of(
        specificity=specificity,
        sensitivity=sensitivity,
        patient_sensitivity=patient_sensitivity,
        false_alarms=false_alarms,
        confidence=confidence,
        level=level,
        k=k,
        most_per_group=most_per_group,
    )
    groups = None if no_groups(groups) else groups
    truth = read_truth(y, scores, groups, pos_label=pos_label)
    group_scores = truth.scores.astype(np.float64)
    target, value = next(iter(goal.targets.items()), ("youden", None))
    on = f"{len(group_scores):,} {where}"
    by_patient = confidence is not None or level != _GROUP or target == "patient_sensitivity"
    if patients is not None and by_patient:
        n_patients = len(np.unique(np.asarray(patients)))
        on += f", of {n_patients:,} patient{'s' * (n_patients != 1)}"
    if level == _GROUP:
        point = _point(goal, y, scores, groups, patients, pos_label)
    else:
        point = _point_of_level(goal, truth, _per_group(truth, patients, levels))
    rule = DecisionRule(level, target, value, confidence, on, int(k))
    if point.threshold == math.inf and target != "false_alarms":
        warnings.warn(
            f"no threshold keeps a {target} of {value:g} on {on} and finds any positive one; the "
            "threshold chosen never raises an alarm: ask for a lower specificity.",
            ThresholdWarning,
            stacklevel=2,
        )
    between = group_scores
    if target == "false_alarms":
        between = np.asarray(scores, dtype=np.float64)
    return ChosenThreshold(_between_scores(point.threshold, between), rule, is_chosen_here)


def _point(
    goal: Goal,
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None,
    clusters: ArrayLike | None,
    pos_label: Any = None,
) -> OperatingPoint:
    """Return the operating point; raise the sentence where no threshold has the guarantee."""
    with WARNINGS_LOCK, warnings.catch_warnings():
        warnings.simplefilter("error", TooFewCasesWarning)
        try:
            return operating_point(
                y,
                scores,
                groups,
                **goal.targets,
                confidence=goal.confidence,
                clusters=clusters,
                most_per_group=goal.most_per_group,
                pos_label=pos_label,
            )
        except TooFewCasesWarning as warning:
            raise TooFewCasesError(str(warning)) from None


def _point_of_level(goal: Goal, truth: Truth, levels: Mapping[str, NDArray[Any]]) -> OperatingPoint:
    """Return the operating point of the units of a level."""
    name = goal.level
    if name not in levels:
        known = ", ".join(printable(each) for each in (_GROUP, *levels))
        raise ParameterError(Argument("level", name), f" is not known; the levels are {known}.")
    units = {_GROUP: np.arange(len(truth.scores)), name: levels[name]}
    if _PATIENT in levels and name != _PATIENT:
        units[_PATIENT] = levels[_PATIENT]
    found = level_scores(
        truth.is_positive,
        truth.scores,
        units,
        aggregate="max" if goal.k == 1 else "kth_largest",
        k=goal.k,
    )[name]
    if found.is_positive.all() or not found.is_positive.any():
        kind = "positive" if found.is_positive.all() else "negative"
        raise ValueError(
            f"every {printable(name)} is {kind}; a threshold for {plural(name)} needs both classes."
        )
    return _point(goal, found.is_positive, found.scores, None, found.cluster)


def _per_group(
    truth: Truth, patients: ArrayLike | None, levels: Mapping[str, ArrayLike] | None
) -> dict[str, NDArray[Any]]:
    """Return the unit of each group at each level, the patients last."""
    given = dict(levels or {})
    if patients is not None:
        given.pop(_PATIENT, None)
        given[_PATIENT] = patients
    found = {}
    for name, ids in given.items():
        by_unit = index_groups(np.asarray(ids))
        if truth.index is None:
            found[name] = np.asarray(ids)
        else:
            owner = owner_of_groups(truth.index, by_unit, f"units of level {printable(name)}")
            found[name] = by_unit.ids[owner]
    return found


def _between_scores(threshold: float, scores: Vector) -> float:
    """Return a threshold of the same alarms as one of the scores, but away from all of them."""
    if not math.isfinite(threshold):
        return threshold
    levels = np.unique(scores[np.isfinite(scores)])
    place = int(np.searchsorted(levels, threshold))
    if place > 0:
        below = float(levels[place - 1])
    elif len(levels) > 1:  # as far below the lowest score as the next one is above it
        below = threshold - (float(levels[1]) - threshold)
    else:
        below = threshold - max(1.0, abs(threshold))
    between = threshold / 2 + below / 2
    return between if below < between < threshold else threshold


def _listed(names: Mapping[str, Any]) -> list[Any]:
    first, second, *_ = names
    return [Argument(first), " and ", Argument(second)]
