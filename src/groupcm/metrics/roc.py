"""The area under the ROC curve, for candidates and for groups, and rankings for its resamples.

    AUC = ( #{s+ > s-} + ½ #{s+ = s-} ) / (n+ n-)

over all pairs of a positive and a negative. For groups, ``s_k = max_{i∈G_k} s_i``
and group k is positive if any of its candidates is. A `Ranking` holds groups in falling order of
their scores, sorted once for any number of resamples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.errors import Argument, ParameterError
from groupcm.metrics.truth import read_truth

__all__ = [
    "Ranking",
    "candidate_roc_auc",
    "group_partial_auc",
    "group_roc_auc",
    "partial_area",
    "rank",
    "standardised_area",
]


def group_roc_auc(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> float:
    """Compute the area under the ROC curve of groups, each scored by its winner.

        AUC = ( #{s_k > s_l} + ½ #{s_k = s_l} ) / (m+ m-),    s_k = max_{i∈G_k} s_i

    over all positive groups k and negative groups l.

    Parameters
    ----------
    y : array-like of shape (n,)
        The label of every candidate; ``pos_label`` is the positive one.
        A group is positive if any of its candidates is.
    scores : array-like of shape (n,)
        The score of every candidate, larger for more positive.
    groups : array-like of shape (n,), or "none", optional
        The group id of every candidate, in any order. Without it every row is a group.
    pos_label : label, optional
        The positive one of the two labels; None is the larger.

    Returns
    -------
    float
        Between 0 and 1; one half for uninformative scores.

    Examples
    --------
    >>> y = [0, 0, 1, 0, 0, 0]
    >>> scores = [0.1, 0.9, 0.8, 0.2, 0.3, 0.4]
    >>> group_roc_auc(y, scores, groups=["a", "a", "b", "b", "c", "c"])
    0.5
    """
    truth = read_truth(y, scores, groups, pos_label=pos_label)
    return _auc(truth.is_positive, truth.scores)


def candidate_roc_auc(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> float:
    """Compute the area under the ROC curve of candidates, whatever their groups.

        AUC = ( #{s_i > s_j} + ½ #{s_i = s_j} ) / (n+ n-)

    over all positive candidates i and negative candidates j.

    Parameters
    ----------
    y : array-like of shape (n,)
        The label of every candidate; ``pos_label`` is the positive one.
    scores : array-like of shape (n,)
        The score of every candidate, larger for more positive.
    groups : optional
        Ignored; present so that the function can be used in place of a metric of groups.
    pos_label : label, optional
        The positive one of the two labels; None is the larger.

    Returns
    -------
    float

    Examples
    --------
    >>> candidate_roc_auc([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8])
    0.875
    """
    return group_roc_auc(y, scores, pos_label=pos_label)


def _auc(is_positive: NDArray[np.bool_], scores: NDArray[Any]) -> float:
    """Compute the share of pairs in the right order, ties half, by one sort and one search."""
    positives = scores[is_positive]
    negatives = np.sort(scores[~is_positive])
    # Counting in integers makes the result exact, and independent of the order of rows.
    below = np.searchsorted(negatives, positives, side="left").sum(dtype=np.int64)
    not_above = np.searchsorted(negatives, positives, side="right").sum(dtype=np.int64)
    return float((int(below) + int(not_above)) / (2 * len(positives) * len(negatives)))


def group_partial_auc(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    max_fpr: float = 0.1,
    pos_label: Any = None,
) -> float:
    """Compute the standardised area under the ROC curve of groups up to a false-positive rate.

        A   = ∫ tpr d fpr   from 0 to β
        AUC = ½ (1 + (A − β²/2) / (β − β²/2))

    (McClish 1989). It is one half for uninformative scores and 1 for a curve that finds all
    positive groups without a false alarm; with ``β = 1`` it is `group_roc_auc`.

    Parameters
    ----------
    y, scores, groups, pos_label
        As for `group_roc_auc`.
    max_fpr : float, default=0.1
        ``β``, above 0 and at most 1. Where the curve has no point at it, it is interpolated.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> y, scores = [0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.7, 0.6, 0.8]
    >>> group_partial_auc(y, scores, max_fpr=0.25)
    0.7142857142857143
    """
    if not 0.0 < max_fpr <= 1.0:
        raise ParameterError(
            Argument("max_fpr"), f" must be a share above 0, at most 1; got {max_fpr!r}."
        )
    truth = read_truth(y, scores, groups, pos_label=pos_label)
    return partial_area(truth.is_positive, truth.scores, max_fpr)


def partial_area(
    is_positive: NDArray[np.bool_],
    scores: NDArray[Any],
    max_fpr: float,
    weight: NDArray[np.float64] | None = None,
) -> float:
    """Return `group_partial_auc` of one label, score and weight per group.

    Examples
    --------
    >>> partial_area(np.array([True, False]), np.array([1.0, 0.0]), 0.1)
    1.0
    """
    falling = np.argsort(scores, kind="stable")[::-1]
    ends = np.append(scores[falling][1:] != scores[falling][:-1], True)
    weight = np.ones(len(scores)) if weight is None else weight
    rates = []
    for of_class in (is_positive, ~is_positive):
        reached = np.cumsum(np.where(of_class, weight, 0.0)[falling])
        rates.append(np.append(0.0, reached[ends] / reached[-1]))
    tpr, fpr = rates
    inside = int(np.count_nonzero(fpr <= max_fpr))
    at_end = np.interp(max_fpr, fpr[inside - 1 : inside + 1], tpr[inside - 1 : inside + 1])
    x, t = np.append(fpr[:inside], max_fpr), np.append(tpr[:inside], at_end)
    return standardised_area(float(np.sum(np.diff(x) * (t[1:] + t[:-1]) / 2.0)), max_fpr)


def standardised_area(area: float, max_fpr: float) -> float:
    """Return the partial area as McClish standardises it.

    Examples
    --------
    >>> standardised_area(0.1, 0.1), standardised_area(0.005, 0.1)
    (1.0, 0.5)
    """
    least = max_fpr * max_fpr / 2.0
    return 0.5 * (1.0 + (area - least) / (max_fpr - least))


@dataclass(frozen=True)
class Ranking:
    """Groups, or candidates, in falling order of score.

    Attributes
    ----------
    scores, is_positive : ndarray of shape (n,)
    cluster : ndarray of shape (n,)
        The number of the cluster of each entry.
    ends_tie : ndarray of shape (n,)
        Whether the next score is smaller.
    positives, negatives : ndarray of shape (n_clusters,)
        The numbers of positives and negatives per cluster.
    """

    scores: NDArray[Any]
    is_positive: NDArray[np.bool_]
    cluster: NDArray[np.int32]
    ends_tie: NDArray[np.bool_]
    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]

    @cached_property
    def with_candidates(self) -> tuple[NDArray[Any], NDArray[np.bool_], NDArray[np.bool_]]:
        """The cluster, class and end of tie of each entry that a threshold can reach.

        A group without candidates, whose score is -inf, is not among them.
        """
        reached = int(np.count_nonzero(self.scores > -np.inf))
        return self.cluster[:reached], self.is_positive[:reached], self.ends_tie[:reached]


def rank(
    is_positive: NDArray[np.bool_],
    scores: NDArray[Any],
    cluster: NDArray[np.intp],
    n_clusters: int,
) -> Ranking:
    """Sort groups, or candidates, by score, and count them by cluster.

    Examples
    --------
    >>> groups = rank(np.array([True, False]), np.array([1.0, 2.0]), np.array([0, 1]), 2)
    >>> groups.cluster.tolist(), groups.positives.tolist()
    ([1, 0], [1, 0])
    """
    falling = np.argsort(scores)[::-1]
    scores = scores[falling]
    return Ranking(
        scores,
        is_positive[falling],
        cluster[falling].astype(np.int32),
        np.append(scores[1:] != scores[:-1], True),
        np.bincount(cluster[is_positive], minlength=n_clusters),
        np.bincount(cluster[~is_positive], minlength=n_clusters),
    )
