"""The learning curves of a comparison: `groupcm.evaluation.learning_curve` on its folds.

Each training part has its own training sets, the same for all contenders.

The scores of the models of several folds are brought to one scale,

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

One vector of scores then serves curves, patient-level bootstrap intervals and paired
comparisons. These estimate how the trained models do on other patients of the same kind; that
other training data would give other models is not in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.folds import Folds
from groupcm.data.group_table import group_level
from groupcm.evaluation._learning_curve import learning_sizes, places_of_groups, trace_curve
from groupcm.evaluation.comparison.crossfit import CrossFit, CrossFits, Progress
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.evaluation.results import LearningCurve
from groupcm.metrics import Interval, bootstrap_interval

__all__ = ["default_sizes", "fold_percentiles", "learning_curve"]

_SMALLEST = 25  # groups; about the 5,000 candidates of the paper's smallest training set
_STEP = 4


def fold_percentiles(
    y: ArrayLike, scores: ArrayLike, groups: ArrayLike | None, fold: ArrayLike
) -> NDArray[np.float64]:
    """Every candidate's score as a percentile among the negative groups of its fold.

    Parameters
    ----------
    y, scores : array-like of shape (n,)
        One label and one score per candidate.
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


def default_sizes(n_groups: int) -> list[int]:
    """Numbers of groups to train on, each about four times the one before, up to all.

    Examples
    --------
    >>> default_sizes(2000), default_sizes(90)
    ([25, 108, 464, 2000], [5, 21, 90])
    """
    smallest = min(_SMALLEST, max(1, n_groups // _STEP**2))
    n_steps = round(log(n_groups / smallest, _STEP))
    return learning_sizes(n_groups, smallest=smallest, n_sizes=1 + n_steps)


def learning_curve(
    data: LabelledCandidates,
    fits: CrossFits,
    *,
    sizes: Sequence[int] | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
    **interval: Any,
) -> LearningCurve:
    """Train every contender again on fewer negative groups.

    In each fold it has the setting that was chosen there, which the fold's test groups had no
    part in.

    Parameters
    ----------
    data : LabelledCandidates
    fits : CrossFits
        What `crossfit` found on this data.
    sizes : sequence of int, optional
        Numbers of negative groups; by default `default_sizes` of the smallest training part,
        the last being all that it has.
    random_state : int, default=0
        Of the order of negative groups, and of the intervals.
    progress : callable, optional
        Called with a description of each fit before it begins.
    **interval
        Options of `groupcm.metrics.bootstrap_interval`, such as ``n_resamples``.

    Returns
    -------
    LearningCurve
        Scores of the folds pooled as in `groupcm.evaluation.comparison.learning_curve`.
    """
    say = progress or (lambda text: None)
    orders = [_NegativesInOrder(data, train, random_state) for train, _ in fits.folds]
    fewest = min(len(order) for order in orders)
    sizes = default_sizes(fewest) if sizes is None else [int(size) for size in sizes]
    if not sizes or min(sizes) < 1 or max(sizes) > fewest:
        raise ValueError(
            f"sizes must lie between 1 and {fewest}, the negative groups that every training "
            f"part has; got {sizes}."
        )
    left_out = fits.left_out
    truth, fold = data.take(left_out), fits.fold[left_out]

    def measure(result: CrossFit, size: int, draw: int) -> Interval:
        say(f"{result.contender.name}: learning curve, {size:,} negative groups")
        scores = _out_of_fold(result, data, fits.folds, orders, size)
        pooled = fold_percentiles(truth.y, scores[left_out], truth.groups, fold)
        return bootstrap_interval(
            truth.y,
            pooled,
            truth.groups,
            clusters=truth.clusters,
            random_state=random_state,
            **interval,
        )

    measures = [(each.contender.name, partial(measure, each)) for each in fits.results]
    return trace_curve(sizes, measures)


class _NegativesInOrder:
    """The negative groups of a training part in a random order."""

    def __init__(self, data: LabelledCandidates, train: NDArray[np.int64], seed: int) -> None:
        table = group_level(data.y[train], data.groups[train])
        places = places_of_groups(table.positive, seed)
        self._train, self._place = train, places[table.index.codes]
        self._n = int(np.count_nonzero(~table.positive))

    def __len__(self) -> int:
        return self._n

    def rows(self, size: int) -> NDArray[np.int64]:
        """Those of all positive groups, and of the first ``size`` negative ones."""
        return self._train[self._place < size]


def _out_of_fold(
    result: CrossFit,
    data: LabelledCandidates,
    folds: Folds,
    orders: Sequence[_NegativesInOrder],
    size: int,
) -> NDArray[np.float64]:
    contender = result.contender
    scores = np.full(len(data.y), np.nan)
    for (_, test), order, chosen in zip(folds, orders, result.chosen, strict=True):
        model = contender.fit(contender.settings[chosen], data.take(order.rows(size)))
        scores[test] = model.decision_function(data.X[test])
    return scores
