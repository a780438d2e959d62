"""The threshold that is shipped, and what it does.

A group is an alarm where its score is at least the threshold. Thresholds are scores that
occur; nothing is interpolated, so a point can be reached as it is stated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.metrics.tallies import Tallies, tally
from groupcm.metrics.truth import Truth, read_truth

__all__ = [
    "OperatingPoint",
    "operating_point",
    "sensitivity_at_specificity",
    "sensitivity_at_threshold",
    "specificity_at_threshold",
]


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
    """

    threshold: float
    sensitivity: float
    specificity: float
    precision: float
    true_positives: int
    false_negatives: int
    false_positives: int
    true_negatives: int

    def at(
        self,
        y: ArrayLike,
        scores: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        pos_label: Any = None,
    ) -> OperatingPoint:
        """The same threshold on other groups, such as a test set.

        Examples
        --------
        >>> point = operating_point([0, 1, 0], [0.1, 0.8, 0.5], specificity=1.0)
        >>> point.at([0, 1, 0], [0.9, 0.85, 0.1]).specificity
        0.5
        """
        return _point(self.threshold, read_truth(y, scores, groups, pos_label=pos_label))


def operating_point(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    specificity: float | None = None,
    sensitivity: float | None = None,
    threshold: float | None = None,
    pos_label: Any = None,
) -> OperatingPoint:
    """Choose a threshold on validation data, and count what it does there.

    Parameters
    ----------
    y, scores, groups, pos_label
        As for `group_roc_curve`.
    specificity : float, optional
        Choose the smallest threshold whose specificity is at least this: the most sensitive
        one. It is infinite, and nothing an alarm, where even the largest score is a negative
        group's and that is one too many.
    sensitivity : float, optional
        Choose the largest threshold whose sensitivity is at least this: the most specific one.
    threshold : float, optional
        Use this one.

    Returns
    -------
    OperatingPoint
        With none of the three, the point of largest sensitivity + specificity (Youden's
        index), and of the largest threshold where several share it.

    Examples
    --------
    >>> y, scores = [0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.7, 0.6, 0.8]
    >>> point = operating_point(y, scores, specificity=0.75)
    >>> point.threshold, point.sensitivity, point.specificity
    (0.6, 1.0, 0.75)
    >>> operating_point(y, scores, specificity=0.9).threshold
    0.8
    """
    wanted = {"specificity": specificity, "sensitivity": sensitivity, "threshold": threshold}
    given = [name for name, value in wanted.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} are both given; an operating point follows one.")
    truth = read_truth(y, scores, groups, pos_label=pos_label, finite=True)
    if threshold is not None:
        if math.isnan(threshold):
            raise ValueError("threshold is NaN; it must be a number.")
        return _point(threshold, truth)
    at = tally(truth.is_positive, truth.scores)
    if specificity is not None:
        chosen = _most_sensitive(at, specificity)
    elif sensitivity is not None:
        _require_share(sensitivity, "sensitivity")
        chosen = int(np.argmax(at.sensitivity >= sensitivity))
    else:
        # Some finite threshold is always as good as the infinite one: the smallest score is.
        chosen = 1 + int(np.argmax(at.tp[1:] * at.n_negative - at.fp[1:] * at.n_positive))
    return _point(float(at.thresholds[chosen]), truth)


def sensitivity_at_specificity(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    specificity: float = 0.9,
    pos_label: Any = None,
) -> float:
    """The largest sensitivity whose specificity is at least the one given.

        max { tpr(t) : 1 − fpr(t) >= specificity }

    over the thresholds t that occur as scores; nothing is interpolated.

    Parameters
    ----------
    y, scores, groups, pos_label
        As for `group_roc_curve`; infinite scores are ordered too.
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
    """Share of the positive groups that score at least the threshold.

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
    """Share of the negative groups that score below the threshold.

    A metric as `sensitivity_at_threshold` is.

    Examples
    --------
    >>> specificity_at_threshold([0, 0, 1], [0.1, 0.8, 0.3], threshold=0.5)
    0.5
    """
    return _point(threshold, read_truth(y, scores, groups, pos_label=pos_label)).specificity


def _most_sensitive(at: Tallies, specificity: float) -> int:
    """The last, so the smallest, threshold of at least this specificity."""
    _require_share(specificity, "specificity")
    return int(np.count_nonzero(at.specificity >= specificity)) - 1


def _require_share(value: float, name: str) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name}={value!r} is not a share; it must lie between 0 and 1.")


def _point(threshold: float, truth: Truth) -> OperatingPoint:
    # A float64 array, because a Python float beside float32 scores would be rounded to theirs.
    is_alarm = truth.scores >= np.asarray([threshold], dtype=np.float64)
    tp = int(np.count_nonzero(is_alarm & truth.is_positive))
    fp = int(np.count_nonzero(is_alarm)) - tp
    return OperatingPoint(
        threshold=float(threshold),
        sensitivity=tp / truth.n_positive,
        specificity=(truth.n_negative - fp) / truth.n_negative,
        precision=tp / (tp + fp) if tp + fp else math.nan,
        true_positives=tp,
        false_negatives=truth.n_positive - tp,
        false_positives=fp,
        true_negatives=truth.n_negative - fp,
    )
