"""Operating points: a threshold, and the counts and shares that result from it.

A group raises an alarm where its score is at least the threshold; a group without candidates, whose
score is -inf, never does (`is_alarm`). Thresholds are scores that occur, and nothing is
interpolated, so that every point can be reached exactly. `at_threshold` alone counts the outcomes
at a threshold: reports, the command line and the review page show its numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.groups import index_groups
from groupcm.metrics.curves import Tallies, tally
from groupcm.metrics.decision import is_alarm, require_threshold
from groupcm.metrics.free_response import checked_objects
from groupcm.metrics.guarantees import Guarantee, threshold_of_clusters
from groupcm.metrics.targets import read_target
from groupcm.metrics.truth import Truth, positive_rows, read_truth, valid_scores

__all__ = [
    "OperatingPoint",
    "at_threshold",
    "operating_point",
    "sensitivity_at_specificity",
    "sensitivity_at_threshold",
    "specificity_at_threshold",
]

# The targets that are chosen from the counts of groups alone, where no confidence is given.
_PLAIN = ("sensitivity", "specificity")


@dataclass(frozen=True)
class OperatingPoint:
    """A threshold and the confusion table of groups that it gives.

    Attributes
    ----------
    threshold : float
        A group whose score is at least this is an alarm; infinite where none may be.
    sensitivity, specificity : float
        Share of the positive groups that are alarms, of the negative ones that are not.
    precision : float
        Share of the alarms that are positive; NaN where there is no alarm.
    true_positives, false_negatives, false_positives, true_negatives : int
        Counts of groups.
    false_alarms : float
        Candidates that are not positive and score at least the threshold, per group.
    objects_found, n_objects : int
        Objects any of whose positive candidates scores at least the threshold, of how many.
    guarantee : Guarantee or None
        What the threshold keeps on new clusters, if a confidence was requested.

    Examples
    --------
    >>> point = operating_point([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.9], specificity=1.0)
    >>> point.threshold, point.sensitivity, point.false_positives
    (0.9, 0.5, 0)
    """

    threshold: float
    sensitivity: float
    specificity: float
    precision: float
    true_positives: int
    false_negatives: int
    false_positives: int
    true_negatives: int
    false_alarms: float = math.nan
    objects_found: int = 0
    n_objects: int = 0
    guarantee: Guarantee | None = None

    def at(
        self,
        y: ArrayLike,
        scores: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        pos_label: Any = None,
    ) -> OperatingPoint:
        """Apply the same threshold to other groups, such as a test set.

        Examples
        --------
        >>> point = operating_point([0, 1, 0], [0.1, 0.8, 0.5], specificity=1.0)
        >>> point.at([0, 1, 0], [0.9, 0.85, 0.1]).specificity
        0.5
        """
        return at_threshold(y, scores, groups, threshold=self.threshold, pos_label=pos_label)


def operating_point(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    specificity: float | None = None,
    sensitivity: float | None = None,
    patient_sensitivity: float | None = None,
    false_alarms: float | None = None,
    threshold: float | None = None,
    confidence: float | None = None,
    clusters: ArrayLike | None = None,
    most_per_group: int | None = None,
    pos_label: Any = None,
) -> OperatingPoint:
    """Choose a threshold on validation data, and count its outcomes there.

    Parameters
    ----------
    y, scores, groups, pos_label
        As for `group_roc_curve`.
    specificity : float, optional
        Choose the most sensitive threshold whose specificity is at least this, and of equally
        sensitive ones the most specific. It is infinite, and nothing an alarm, where no positive
        group can be found without too many negative ones.
    sensitivity : float, optional
        Choose the largest threshold whose sensitivity is at least this: the most specific one.
        It is refused where too many positive groups have no candidates for it to be reached.
    patient_sensitivity : float, optional
        Choose the largest threshold at which, of at least this share of the clusters with positive
        groups, one of these raises an alarm; needs ``clusters``, the patients.
    false_alarms : float, optional
        Choose the lowest threshold that at most so many candidates per group reach that are not
        positive.
    threshold : float, optional
        Use this one.
    confidence : float, optional
        Choose the threshold so that the target holds for new clusters with this confidence, over
        validation sets like this one. A sensitivity, a specificity and a number of false alarms
        per group are those of the average cluster. The threshold is stricter than the one that
        reaches the target on the validation data itself; see `groupcm.metrics.required_cases`.
    clusters : array-like of shape (n,), optional
        The cluster of each candidate, such as the patient; without it the groups are taken to be
        independent.
    most_per_group : int, optional
        With ``false_alarms`` and ``confidence``, the most false alarms that are counted in a
        group, by default the number of candidates that are not positive in the largest group. The
        smaller it is, the fewer clusters are needed.

    Returns
    -------
    OperatingPoint
        With none of the targets, the point of largest sensitivity + specificity (Youden's
        index), and of the largest threshold where several share it. Where ``confidence`` requires
        more clusters than there are, the threshold is NaN for both sensitivities, together with
        all shares, and infinite for the other targets.

    Warns
    -----
    TooFewCasesWarning
        Where no threshold has the guarantee, with the number of clusters that are needed.

    Examples
    --------
    >>> y, scores = [0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.7, 0.6, 0.8]
    >>> point = operating_point(y, scores, specificity=0.75)
    >>> point.threshold, point.sensitivity, point.specificity
    (0.6, 1.0, 0.75)
    >>> operating_point(y, scores, specificity=0.9).threshold
    0.8

    >>> y = np.repeat([0, 1], 100)
    >>> scores = y + np.linspace(0, 1.5, 200)
    >>> sure = operating_point(y, scores, sensitivity=0.9, confidence=0.95)
    >>> sure.sensitivity, sure.guarantee.n_clusters
    (0.96, 100)
    """
    wanted = {
        "specificity": specificity,
        "sensitivity": sensitivity,
        "patient_sensitivity": patient_sensitivity,
        "false_alarms": false_alarms,
        "threshold": threshold,
    }
    target = read_target(wanted)
    if confidence is not None and target is None:
        raise ValueError(
            "confidence needs a sensitivity, a specificity, a patient_sensitivity or a number of "
            "false_alarms that it is about."
        )
    if patient_sensitivity is not None and clusters is None:
        raise ValueError("patient_sensitivity needs clusters, the patient of each candidate.")
    truth = read_truth(y, scores, groups, pos_label=pos_label, finite=True)
    if threshold is not None:
        return at_threshold(y, scores, groups, threshold=threshold, pos_label=pos_label)
    if target is not None and (confidence is not None or target.name not in _PLAIN):
        chosen_at, guarantee = threshold_of_clusters(
            target,
            truth,
            positive_rows(y, pos_label),
            np.asarray(scores, dtype=np.float64),
            clusters,
            confidence,
            most_per_group,
        )
        if math.isnan(chosen_at):
            return OperatingPoint(
                math.nan, math.nan, math.nan, math.nan, 0, 0, 0, 0, guarantee=guarantee
            )
        found = at_threshold(y, scores, groups, threshold=chosen_at, pos_label=pos_label)
        return replace(found, guarantee=guarantee)
    at = tally(truth.is_positive, truth.scores)
    if specificity is not None:
        chosen = _most_sensitive(at, specificity)
    elif sensitivity is not None:
        if at.sensitivity[-1] < sensitivity:
            raise ValueError(
                f"no threshold reaches the sensitivity {sensitivity:g}: "
                f"{at.n_positive - at.tp[-1]} of {at.n_positive} positive groups have no "
                f"candidates (score -inf), so that it is at most {at.sensitivity[-1]:.6g}."
            )
        chosen = int(np.argmax(at.sensitivity >= sensitivity))
    else:
        gain = at.tp * at.n_negative - at.fp * at.n_positive
        # A finite threshold where one is as good as the infinite one.
        chosen = 1 + int(np.argmax(gain[1:])) if gain[1:].max(initial=-1) >= 0 else 0
    chosen_at = float(at.thresholds[chosen])
    return at_threshold(y, scores, groups, threshold=chosen_at, pos_label=pos_label)


def at_threshold(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    threshold: float,
    objects: ArrayLike | None = None,
    labelled: ArrayLike | None = None,
    pos_label: Any = None,
) -> OperatingPoint:
    """Count the outcomes at a threshold: a group whose score is at least it raises an alarm.

        tp = #{k positive : s_k >= t},    fp = #{k negative : s_k >= t},    s_k = max_{i∈k} s_i
        false_alarms  = #{i not positive : s_i >= t} / #groups
        objects_found = #{objects o : max_{i on o} s_i >= t}

    Parameters
    ----------
    y, scores, groups, pos_label
        As for `group_roc_curve`; scores may be infinite, and −∞ never raises an alarm.
    threshold : float
        May be infinite.
    objects : array-like of shape (n,), optional
        The id of the object that a candidate is on, read only where ``y`` is positive. Without it
        every positive group holds one object.
    labelled : array-like of bool of shape (n,), optional
        False for candidates whose own labels are not known, such as those of an unannotated
        positive group: their groups count, and their candidates and objects do not.

    Examples
    --------
    >>> y, scores, groups = [1, 0, 0, 0, 0], [0.6, 0.9, 0.6, 0.6, 0.2], list("aabbc")
    >>> found = at_threshold(y, scores, groups, threshold=0.6)
    >>> found.sensitivity, found.specificity, found.false_alarms, found.objects_found
    (1.0, 0.5, 1.0, 1)
    """
    threshold = require_threshold(threshold)
    truth = read_truth(y, scores, groups, pos_label=pos_label)
    is_positive = positive_rows(y, pos_label)
    alarm = is_alarm(valid_scores(scores, len(is_positive)), threshold)
    group = np.arange(len(alarm)) if truth.index is None else truth.index.codes
    known = np.ones(len(alarm), dtype=bool) if labelled is None else np.asarray(labelled, bool)
    object_of = group if objects is None else checked_objects(objects, is_positive & known)
    n_groups = int(np.count_nonzero(np.bincount(group[known])))
    found, n_objects = _objects(object_of, is_positive & known, alarm)
    return replace(
        _point(threshold, truth),
        false_alarms=float(np.count_nonzero(alarm & ~is_positive & known) / max(1, n_groups)),
        objects_found=found,
        n_objects=n_objects,
    )


def _objects(
    object_of: NDArray[Any], is_on: NDArray[np.bool_], alarm: NDArray[np.bool_]
) -> tuple[int, int]:
    """Count the objects that any alarm is on, and all of them."""
    if not is_on.any():
        return 0, 0
    index = index_groups(object_of[is_on])
    return int(np.count_nonzero(index.maxima(alarm[is_on]))), index.n_groups


def sensitivity_at_specificity(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    specificity: float = 0.9,
    pos_label: Any = None,
) -> float:
    """Compute the largest sensitivity whose specificity is at least the given one.

        max { tpr(t) : 1 − fpr(t) >= specificity }

    over the thresholds t that occur as scores; nothing is interpolated.

    Parameters
    ----------
    y, scores, groups, pos_label
        As for `group_roc_curve`.
    specificity : float
        Between 0 and 1.

    Returns
    -------
    float
        That of `operating_point` at the same specificity.

    Examples
    --------
    >>> y, scores = [0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.7, 0.6, 0.8]
    >>> sensitivity_at_specificity(y, scores, specificity=0.9)
    0.5
    """
    truth = read_truth(y, scores, groups, pos_label=pos_label)
    at = tally(truth.is_positive, truth.scores)
    return float(at.sensitivity[_most_sensitive(at, specificity)])


def sensitivity_at_threshold(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    threshold: float,
    pos_label: Any = None,
) -> float:
    """Compute the share of the positive groups that score at least the threshold.

    With ``functools.partial`` a metric for `bootstrap_interval`, where the threshold was
    chosen on other data.

    Examples
    --------
    >>> sensitivity_at_threshold([0, 1, 1], [0.1, 0.8, 0.3], threshold=0.5)
    0.5
    """
    return _point(threshold, read_truth(y, scores, groups, pos_label=pos_label)).sensitivity


def specificity_at_threshold(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    threshold: float,
    pos_label: Any = None,
) -> float:
    """Compute the share of the negative groups that score below the threshold.

    A metric as `sensitivity_at_threshold` is.

    Examples
    --------
    >>> specificity_at_threshold([0, 0, 1], [0.1, 0.8, 0.3], threshold=0.5)
    0.5
    """
    return _point(threshold, read_truth(y, scores, groups, pos_label=pos_label)).specificity


def _most_sensitive(at: Tallies, specificity: float) -> int:
    """Return the largest of the most sensitive thresholds of at least this specificity."""
    _require_share(specificity, "specificity")
    smallest = int(np.count_nonzero(at.specificity >= specificity)) - 1
    return int(np.searchsorted(at.tp, at.tp[smallest]))


def _require_share(value: float, name: str) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name}={value!r} is not a share; it must lie between 0 and 1.")


def _point(threshold: float, truth: Truth) -> OperatingPoint:
    threshold = require_threshold(threshold)
    alarm = is_alarm(truth.scores, threshold)
    tp = int(np.count_nonzero(alarm & truth.is_positive))
    fp = int(np.count_nonzero(alarm)) - tp
    return OperatingPoint(
        threshold=threshold,
        sensitivity=tp / truth.n_positive,
        specificity=(truth.n_negative - fp) / truth.n_negative,
        precision=tp / (tp + fp) if tp + fp else math.nan,
        true_positives=tp,
        false_negatives=truth.n_positive - tp,
        false_positives=fp,
        true_negatives=truth.n_negative - fp,
    )
