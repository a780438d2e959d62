"""Group AUC against the number of negative groups trained on.

The folds are those of the comparison. In each training part negative groups are put in a
random order, the same for all contenders; a model of size m is trained on all positive
groups and the first m negative ones, so that each size contains the smaller ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.comparison.common_scale import fold_percentiles
from groupcm.comparison.contender import Contender, Setting
from groupcm.comparison.crossfit import CrossFits, Progress
from groupcm.comparison.data import LabelledCandidates
from groupcm.evaluation.numbers import LearningCurve, LearningLine
from groupcm.folds import Folds
from groupcm.group_table import group_level
from groupcm.metrics import bootstrap_interval

__all__ = ["learning_curve", "learning_sizes"]

_SMALLEST = 25  # groups; about the 5,000 candidates of the paper's smallest training set
_STEP = 4


def learning_sizes(n_groups: int) -> list[int]:
    """Numbers of groups to train on, each four times the one before, and all at the end.

    Examples
    --------
    >>> learning_sizes(2000), learning_sizes(90)
    ([25, 100, 400, 2000], [5, 20, 90])
    """
    size = min(_SMALLEST, max(1, n_groups // _STEP**2))
    sizes = []
    while 2 * size < n_groups:
        sizes.append(size)
        size *= _STEP
    return [*sizes, n_groups]


def learning_curve(
    data: LabelledCandidates,
    fits: CrossFits,
    *,
    sizes: Sequence[int] | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
    **interval: Any,
) -> LearningCurve:
    """Train every contender again on fewer negative groups, with its most often chosen setting.

    Parameters
    ----------
    data : LabelledCandidates
    fits : CrossFits
        What `crossfit` found on this data.
    sizes : sequence of int, optional
        Numbers of negative groups; by default `learning_sizes` of the smallest training part,
        the last being all that it has.
    random_state : int, default=0
        Of the order of negative groups, and of the intervals.
    progress : callable, optional
        Hears in words what begins now.
    **interval
        Options of `groupcm.metrics.bootstrap_interval`, such as ``n_resamples``.

    Returns
    -------
    LearningCurve
        Scores of the folds pooled as in `groupcm.comparison.common_scale`.
    """
    say = progress or (lambda text: None)
    orders = [_NegativesInOrder(data, train, random_state) for train, _ in fits.folds]
    fewest = min(len(order) for order in orders)
    sizes = learning_sizes(fewest) if sizes is None else [int(size) for size in sizes]
    if not sizes or min(sizes) < 1 or max(sizes) > fewest:
        raise ValueError(
            f"sizes must lie between 1 and {fewest}, the negative groups that every training "
            f"part has; got {sizes}."
        )
    left_out = fits.left_out
    truth, fold = data.take(left_out), fits.fold[left_out]
    lines = []
    for result in fits.results:
        contender = result.contender
        setting = contender.settings[result.most_chosen]
        found = []
        for size in sizes:
            say(f"{contender.name}: learning curve, {size:,} negative groups")
            scores = _out_of_fold(contender, setting, data, fits.folds, orders, size)
            pooled = fold_percentiles(truth.y, scores[left_out], truth.groups, fold)
            found.append(
                bootstrap_interval(
                    truth.y,
                    pooled,
                    truth.groups,
                    clusters=truth.clusters,
                    random_state=random_state,
                    **interval,
                )
            )
        lines.append(LearningLine(contender.name, found))
    return LearningCurve(sizes, "negative groups", lines)


class _NegativesInOrder:
    """The negative groups of a training part in a random order."""

    def __init__(self, data: LabelledCandidates, train: NDArray[np.int64], seed: int) -> None:
        table = group_level(data.y[train], data.groups[train])
        negative = np.flatnonzero(~table.positive)
        place = np.full(len(table.positive), -1)  # positive groups come before all others
        place[negative] = np.random.default_rng(seed).permutation(len(negative))
        self._train, self._place, self._n = train, place[table.index.codes], len(negative)

    def __len__(self) -> int:
        return self._n

    def rows(self, size: int) -> NDArray[np.int64]:
        """Those of all positive groups, and of the first ``size`` negative ones."""
        return self._train[self._place < size]


def _out_of_fold(
    contender: Contender,
    setting: Setting,
    data: LabelledCandidates,
    folds: Folds,
    orders: Sequence[_NegativesInOrder],
    size: int,
) -> NDArray[np.float64]:
    scores = np.full(len(data.y), np.nan)
    for (_, test), order in zip(folds, orders, strict=True):
        model = contender.fit(setting, data.take(order.rows(size)))
        scores[test] = model.decision_function(data.X[test])
    return scores
