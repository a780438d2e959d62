"""Group AUC against the number of negative groups trained on.

The folds are those of the comparison. Each training part has its own training sets, as
`groupcm.evaluation.learning_sets` makes them, the same for all contenders.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.comparison.common_scale import fold_percentiles
from groupcm.comparison.crossfit import CrossFit, CrossFits, Progress
from groupcm.comparison.data import LabelledCandidates
from groupcm.evaluation.learning_sets import learning_sizes, places_of_groups
from groupcm.evaluation.numbers import LearningCurve, LearningLine
from groupcm.folds import Folds
from groupcm.group_table import group_level
from groupcm.metrics import bootstrap_interval

__all__ = ["default_sizes", "learning_curve"]

_SMALLEST = 25  # groups; about the 5,000 candidates of the paper's smallest training set
_STEP = 4


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
    sizes = default_sizes(fewest) if sizes is None else [int(size) for size in sizes]
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
        found = []
        for size in sizes:
            say(f"{contender.name}: learning curve, {size:,} negative groups")
            scores = _out_of_fold(result, data, fits.folds, orders, size)
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
