"""Scores of several folds' models on one scale.

    t_f(s) = ( #{l : s_l < s} + ½ #{l : s_l = s} ) / n−_f

over the negative groups l of fold f that its model did not see, ``n−_f`` of them.

Each fold has a model of its own, and two models' scores are not in the same units: pooled as
they are, a pair of groups from two folds would compare units. So a score becomes its
percentile among the negative groups of its fold: the specificity that a threshold there would
have. The order within a fold stays, and with it every curve and area of the fold. Pooled, the
area is

    AUC = Σ_f (n+_f / n+) AUC_f

the mean of the folds' areas by their positive groups, because ``AUC_f`` is the mean of
``t_f`` over the positive groups of fold f. This holds exactly where every fold has the same
number of negative groups and none of them tie; otherwise within half the largest share of a
fold's negative groups that tie, which is ``1 / (2 n−_f)`` where none do.

One vector of scores then serves curves, intervals that draw patients again, and paired
comparisons. These tell how the trained models do on other patients of the same kind; that
other training data would give other models is not in them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.group_table import group_level

__all__ = ["fold_percentiles"]


def fold_percentiles(
    y: ArrayLike, scores: ArrayLike, groups: ArrayLike | None, fold: ArrayLike
) -> NDArray[np.float64]:
    """Every candidate's score as a percentile among the negative groups of its fold.

    Parameters
    ----------
    y, scores : array-like of shape (n,)
        A label and a score a candidate.
    groups : array-like of shape (n,), optional
        The group of each candidate. Without it every row counts alone, which is the scale for
        curves of candidates.
    fold : array-like of shape (n,)
        The fold whose model gave the score; the same for all candidates of a group.

    Returns
    -------
    ndarray of shape (n,)
        Between 0 and 1.

    Examples
    --------
    >>> y = [1, 0, 0, 1, 0, 0]
    >>> scores = [2.0, 1.0, 3.0, 250.0, 100.0, 200.0]
    >>> fold_percentiles(y, scores, None, fold=[0, 0, 0, 1, 1, 1])
    array([0.5 , 0.25, 0.75, 1.  , 0.25, 0.75])
    """
    table = group_level(y, groups)
    scores, fold = np.asarray(scores, dtype=np.float64), np.asarray(fold)
    largest, of_row = table.index.maxima(scores), table.positive[table.index.codes]
    fold_of_group = table.index.maxima(fold)
    percentiles = np.empty(len(scores))
    for number in np.unique(fold):
        rows = fold == number
        negatives = np.sort(largest[(fold_of_group == number) & ~table.positive])
        if len(negatives) == 0 or not np.any(of_row[rows]):
            found = "positive" if len(negatives) == 0 else "negative"
            raise ValueError(f"fold {number} has only {found} groups; it needs both classes.")
        percentiles[rows] = _percentile(scores[rows], negatives)
    return percentiles


def _percentile(scores: NDArray[np.float64], among: NDArray[Any]) -> NDArray[np.float64]:
    below = np.searchsorted(among, scores, side="left")
    not_above = np.searchsorted(among, scores, side="right")
    return (below + not_above) / (2 * len(among))
