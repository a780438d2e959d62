"""ROC and precision-recall curves of groups and of candidates, from counts at every threshold.

    tp(t) = #{k positive : s_k >= t},    fp(t) = #{k negative : s_k >= t},    s_k = max_{i∈G_k} s_i

A group is an alarm at the threshold t where ``s_k >= t``. A group without candidates has the score
-inf, which reaches no threshold. Points inside a straight horizontal or vertical stretch of a curve
are left out: the others draw the same curve. FROC curves and operating points are derived from the
same counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.metrics.results import PrecisionRecallCurve, RocCurve
from groupcm.metrics.truth import read_truth

__all__ = [
    "Tallies",
    "candidate_roc_curve",
    "corners",
    "group_average_precision",
    "group_precision_recall_curve",
    "group_roc_curve",
    "tally",
]

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Tallies:
    """Counts at every distinct score, thresholds falling; the first is infinite, with none.

    ``n_positive`` and ``n_negative`` count those that reach no threshold as well.
    """

    thresholds: NDArray[np.float64]
    tp: Counts
    fp: Counts
    n_positive: int
    n_negative: int

    @property
    def sensitivity(self) -> NDArray[np.float64]:
        return self.tp / self.n_positive

    @property
    def specificity(self) -> NDArray[np.float64]:
        # The integer first: 9 of 10 is then the same number as a given 0.9.
        return (self.n_negative - self.fp) / self.n_negative


def tally(is_positive: NDArray[np.bool_], scores: NDArray[Any]) -> Tallies:
    """Count positives and negatives at every distinct score.

    Examples
    --------
    >>> at = tally(np.array([True, False, True]), np.array([3.0, 2.0, 2.0]))
    >>> at.thresholds.tolist(), at.tp.tolist(), at.fp.tolist()
    ([inf, 3.0, 2.0], [0, 1, 2], [0, 0, 1])
    """
    n_positive = int(np.count_nonzero(is_positive))
    n_negative = len(is_positive) - n_positive
    falling = np.argsort(scores)[::-1][: np.count_nonzero(scores > -np.inf)]
    scores, is_positive = scores[falling], is_positive[falling]
    if len(scores) == 0:
        none = np.zeros(1, dtype=np.int64)
        return Tallies(np.array([np.inf]), none, none, n_positive, n_negative)
    last_of_tie = np.append(np.flatnonzero(scores[1:] != scores[:-1]), len(scores) - 1)
    tp = np.cumsum(is_positive, dtype=np.int64)[last_of_tie]
    fp = last_of_tie + 1 - tp
    return Tallies(
        np.concatenate([[np.inf], scores[last_of_tie]]).astype(np.float64),
        np.concatenate([[0], tp]),
        np.concatenate([[0], fp]),
        n_positive,
        n_negative,
    )


def corners(tp: Counts, fp: Counts) -> NDArray[np.intp]:
    """Return the points of a curve except those inside a horizontal or vertical stretch.

    They draw the same curve; a few positives among a million negatives leave a few points.

    Examples
    --------
    >>> corners(np.array([0, 1, 2, 2]), np.array([0, 0, 0, 1])).tolist()
    [0, 2, 3]
    """
    return np.flatnonzero(~(_inside_a_level(tp) | _inside_a_level(fp)))


def _inside_a_level(values: Counts) -> NDArray[np.bool_]:
    """Return where a rising sequence equals both its neighbours.

    Examples
    --------
    >>> _inside_a_level(np.array([0, 1, 1, 1, 2])).tolist()
    [False, False, True, False, False]
    """
    if len(values) == 1:
        return np.zeros(1, dtype=bool)
    level = np.diff(values) == 0
    return np.concatenate([[False], level[1:] & level[:-1], [False]])


def group_roc_curve(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> RocCurve:
    """Compute the ROC curve of groups, each scored by its winner.

        tpr(t) = #{k positive : s_k >= t} / m+,    fpr(t) = #{k negative : s_k >= t} / m-

    Parameters
    ----------
    y : array-like of shape (n,)
        The label of every candidate; ``pos_label`` is the positive one.
        A group is positive if any of its candidates is.
    scores : array-like of shape (n,)
        The score of every candidate, larger for more positive; -inf for a group without
        candidates.
    groups : array-like of shape (n,), or "none", optional
        The group id of every candidate, in any order. Without it every row is a group.
    pos_label : label, optional
        The positive one of the two labels; None is the larger.

    Returns
    -------
    RocCurve
        From (0, 0) at an infinite threshold to (1, 1) at the smallest score. Where some groups
        have no candidates, the last point, (1, 1) at the threshold -inf, is a convention that no
        threshold reaches: the area under the curve is that of `group_roc_auc`.

    Examples
    --------
    >>> curve = group_roc_curve([0, 1, 0, 0], [0.1, 0.8, 0.9, 0.2], ["a", "a", "b", "c"])
    >>> curve.fpr.tolist(), curve.tpr.tolist(), curve.thresholds.tolist()
    ([0.0, 0.5, 0.5, 1.0], [0.0, 0.0, 1.0, 1.0], [inf, 0.9, 0.8, 0.2])
    """
    truth = read_truth(y, scores, groups, pos_label=pos_label, finite=True)
    at = tally(truth.is_positive, truth.scores)
    tp, fp, thresholds = at.tp, at.fp, at.thresholds
    if tp[-1] < at.n_positive or fp[-1] < at.n_negative:
        tp, fp = np.append(tp, at.n_positive), np.append(fp, at.n_negative)
        thresholds = np.append(thresholds, -np.inf)
    kept = corners(tp, fp)
    return RocCurve(fp[kept] / at.n_negative, tp[kept] / at.n_positive, thresholds[kept])


def candidate_roc_curve(y: ArrayLike, scores: ArrayLike, *, pos_label: Any = None) -> RocCurve:
    """Compute the ROC curve of candidates, whatever their groups; see `group_roc_curve`.

    Examples
    --------
    >>> candidate_roc_curve([0, 1, 0], [0.1, 0.8, 0.9]).tpr.tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    return group_roc_curve(y, scores, pos_label=pos_label)


def group_precision_recall_curve(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> PrecisionRecallCurve:
    """Compute precision and recall of groups, each scored by its winner.

        precision(t) = tp(t) / (tp(t) + fp(t)),    recall(t) = tp(t) / m+

    Parameters
    ----------
    y, scores, groups, pos_label
        As for `group_roc_curve`.

    Returns
    -------
    PrecisionRecallCurve
        Recall rises; the first point (precision 1, recall 0) is a convention. Where recall
        is constant, only the ends of the stretch are kept. Recall ends below 1 where positive
        groups have no candidates.

    Examples
    --------
    >>> curve = group_precision_recall_curve([0, 1, 0, 0], [0.1, 0.8, 0.9, 0.2], list("aabc"))
    >>> curve.precision.round(2).tolist(), curve.recall.tolist()
    ([1.0, 0.0, 0.5, 0.33], [0.0, 0.0, 1.0, 1.0])
    """
    truth = read_truth(y, scores, groups, pos_label=pos_label, finite=True)
    at = tally(truth.is_positive, truth.scores)
    kept = ~_inside_a_level(at.tp)
    tp, fp = at.tp[kept], at.fp[kept]
    precision = np.concatenate([[1.0], tp[1:] / (tp[1:] + fp[1:])])
    return PrecisionRecallCurve(precision, tp / at.n_positive, at.thresholds[kept])


def group_average_precision(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> float:
    """Compute the mean precision of groups over the thresholds at which recall rises.

        AP = Σ_t (recall(t) − recall(t before)) · precision(t)

    Parameters
    ----------
    y, scores, groups, pos_label
        As for `group_roc_curve`. Positive groups without candidates (-inf) are never found and
        add nothing.

    Returns
    -------
    float
        Between 0 and 1; about the share of positive groups for uninformative scores.

    Examples
    --------
    >>> group_average_precision([0, 1, 0, 0], [0.1, 0.8, 0.9, 0.2], ["a", "a", "b", "c"])
    0.5
    """
    truth = read_truth(y, scores, groups, pos_label=pos_label)
    at = tally(truth.is_positive, truth.scores)
    precision = at.tp[1:] / (at.tp[1:] + at.fp[1:])
    return float(np.diff(at.tp) @ precision / at.n_positive)
