"""Learning curves: the group AUC against the number of negative groups trained on.

Negative groups are put in a random order. A training set of size m has all positive groups and
the first m negative ones, so that larger sets hold the smaller. `learning_curve` tests one model
on other groups; `groupcm.evaluation.comparison.learning_curve` tests each contender on left-out
folds. Both draw their training sets and put their curve together here, with one confidence interval
for several draws of a training set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from groupcm.estimators.adapters import require_finished
from groupcm.estimators.classifier import GroupClassifier
from groupcm.estimators.classifier_cv import GroupClassifierCV
from groupcm.evaluation.results import LearningCurve, LearningLine
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.training_summary import model_name
from groupcm.metrics import Interval, bootstrap_interval
from groupcm.utils.merged_warnings import merge_warnings

__all__ = [
    "LearningGroups",
    "joined",
    "learning_curve",
    "learning_sizes",
    "places_of_groups",
    "trace_curve",
    "untrained",
]

#: From a size and the number of a draw to the group AUC of what is trained on it.
Measure = Callable[[int, int], Interval]
_N_SIZES = 8
_SMALLEST = 10
_N_DRAWS = 3
_SMALL_SHARE = 0.25  # sizes up to this share of all are drawn several times


def joined(draws: Sequence[Interval], level: float = 0.95) -> Interval:
    """One interval for several draws of the training groups.

        half² = mean half² over the draws + (z · deviation between the draws)²

    Examples
    --------
    >>> one = Interval(0.8, 0.7, 0.9)
    >>> joined([one]) == one
    True
    >>> joined([Interval(0.7, 0.6, 0.8), Interval(0.9, 0.8, 1.0)]).low < 0.6
    True
    """
    if len(draws) == 1:
        return draws[0]
    estimate, low, high = np.array(draws).T
    between = NormalDist().inv_cdf(0.5 + level / 2.0) * float(estimate.std(ddof=1))
    mean = float(estimate.mean())
    below = float(np.hypot(np.sqrt(np.mean((estimate - low) ** 2)), between))
    above = float(np.hypot(np.sqrt(np.mean((high - estimate) ** 2)), between))
    # Unlike min and max, these keep a bound that is not known as NaN.
    low, high = np.maximum(0.0, mean - below), np.minimum(1.0, mean + above)
    return Interval(mean, float(low), float(high)).or_unknown()


@dataclass(frozen=True)
class LearningGroups:
    """Groups that a learning curve trains on.

    Attributes
    ----------
    is_positive : ndarray of bool, one per group
    fit : callable
        Fits a model to the groups marked in an array of bool, one per group.
    most_negatives : int, optional
        More negative groups than this are too many to be picked out; all of them still work.
    """

    is_positive: NDArray[np.bool_]
    fit: Callable[[Any, NDArray[np.bool_]], None]
    most_negatives: int | None = None

    @property
    def n_negative(self) -> int:
        """How many are negative."""
        return int(np.count_nonzero(~self.is_positive))

    def sizes(self) -> list[int]:
        """Numbers of negative groups to train on, without those that are too many but not all.

        Examples
        --------
        >>> LearningGroups(np.zeros(1000, bool), print, most_negatives=100).sizes()
        [10, 19, 37, 72, 1000]
        """
        most = self.n_negative if self.most_negatives is None else self.most_negatives
        grid = learning_sizes(self.n_negative, smallest=_SMALLEST, n_sizes=_N_SIZES)
        return [size for size in grid if size <= most or size == self.n_negative]


def learning_sizes(n_groups: int, *, smallest: int, n_sizes: int) -> list[int]:
    """Return numbers of groups at equal ratios, up to all there are.

    Parameters
    ----------
    n_groups : int
        How many there are.
    smallest : int
        The first size.
    n_sizes : int
        How many sizes at most; some coincide where groups are few.

    Examples
    --------
    >>> learning_sizes(1000, smallest=10, n_sizes=8)
    [10, 19, 37, 72, 139, 268, 518, 1000]
    """
    grid = np.geomspace(min(smallest, n_groups), n_groups, max(2, n_sizes))
    return np.unique(grid.round().astype(int)).tolist()


def places_of_groups(is_positive: NDArray[np.bool_], seed: Any) -> NDArray[np.intp]:
    """Return the place of each negative group in a random order; -1 of positive ones, before all.

    Parameters
    ----------
    is_positive : ndarray of bool, one per group
    seed : int or sequence of int

    Examples
    --------
    >>> places = places_of_groups(np.array([False, True, False, False]), seed=0)
    >>> int(places[1]), sorted(places.tolist()), int(np.sum(places < 2))
    (-1, [-1, 0, 1, 2], 3)
    """
    places = np.full(len(is_positive), -1)
    negative = np.flatnonzero(~is_positive)
    places[negative] = np.random.default_rng(seed).permutation(len(negative))
    return places


def trace_curve(
    sizes: Sequence[int],
    measures: Sequence[tuple[str, Measure]],
    *,
    n_draws: Callable[[int], int] = lambda size: 1,
    level: float = 0.95,
) -> LearningCurve:
    """Measure each model at each size.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of negative groups.
    measures : sequence of (str, callable)
        The name of each model, and what trains it on a draw of a size and tests it.
    n_draws : callable, optional
        From a size to how often it is drawn; by default once.
    level : float
        Of the intervals.

    Returns
    -------
    LearningCurve
        Of several draws the estimate is the mean, and the interval also has the spread between
        them.

    Examples
    --------
    >>> rising = lambda size, draw: Interval(1 - 1 / size, 0.0, 1.0)
    >>> trace_curve([2, 4], [("GCM", rising)]).lines[0].auc[1].estimate
    0.75
    """
    lines = []
    for name, measure in measures:
        points = [
            joined([measure(size, draw) for draw in range(n_draws(size))], level) for size in sizes
        ]
        lines.append(LearningLine(name, points))
    return LearningCurve(list(sizes), "negative groups", lines)


def untrained(model: Any) -> Any:
    """A model with the same settings that has seen nothing.

    Of a calibrated model that is the model within; of one that chose λ by cross-validation,
    the one it chose.
    """
    if hasattr(model, "calibrator_"):
        return untrained(model.estimator_)
    fresh: Any = clone(model)
    if isinstance(model, GroupClassifierCV):
        settings = fresh.get_params(deep=False)
        for name in ("lams", "cv", "scoring"):
            del settings[name]
        fresh = GroupClassifier(model.lam_, **settings)
    quiet = {"verbose": 0, "checkpoint": None}
    return fresh.set_params(**{k: v for k, v in quiet.items() if k in fresh.get_params()})


def learning_curve(
    model: Any,
    training: LearningGroups,
    test: ScoredCandidates,
    score: Callable[[Any], NDArray[np.float64]],
    *,
    sizes: Sequence[int] | None = None,
    on_fit: Callable[[int, int, int], None] | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
    random_state: int = 0,
) -> LearningCurve:
    """Group AUC on test groups against the number of negative groups trained on.

    Parameters
    ----------
    model : estimator
        Its settings are used; what it has learnt is not.
    training : LearningGroups
    test : ScoredCandidates
        The groups to test on; their scores are not looked at.
    score : callable
        From a fitted model to the score of each test group.
    sizes : sequence of int, optional
        Numbers of negative groups; by default those of ``training``.
    on_fit : callable, optional
        Called before each fit with the size, the number of the fit and how many there are.
    n_resamples, level, random_state
        Of the intervals, and of the groups drawn.

    Returns
    -------
    LearningCurve
        Small sizes are drawn several times: the estimate is the mean, and the interval also
        has the spread between draws.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.evaluation import score_candidates
    >>> from groupcm.simulate import capsule
    >>> train, test = (capsule(60, n_positive=20, group_size=10, seed=seed) for seed in (0, 1))
    >>> def fit(model, chosen):
    ...     rows = chosen[train.groups]
    ...     model.fit(train.X[rows], train.y[rows], groups=train.groups[rows])
    >>> is_positive = np.bincount(train.groups, train.y) > 0
    >>> model = GroupClassifier()
    >>> fit(model, np.ones(80, bool))
    >>> curve = learning_curve(
    ...     model,
    ...     LearningGroups(is_positive, fit),
    ...     score_candidates(model, test.X, test.y, test.groups),
    ...     lambda fitted: fitted.group_scores(test.X, test.groups).score,
    ...     sizes=[10, 60],
    ...     n_resamples=50,
    ... )
    >>> list(curve.sizes)
    [10, 60]
    """
    n_negative = training.n_negative
    if sizes is None:
        sizes = training.sizes()

    def n_draws(size: int) -> int:
        return _N_DRAWS if size <= _SMALL_SHARE * n_negative else 1

    n_fits, n_done = sum(map(n_draws, sizes)), 0

    def trained_on(size: int, draw: int) -> Interval:
        nonlocal n_done
        n_done += 1
        if on_fit is not None:
            on_fit(size, n_done, n_fits)
        fresh = untrained(model)
        places = places_of_groups(training.is_positive, [random_state, draw])
        training.fit(fresh, places < size)
        require_finished(fresh)
        return bootstrap_interval(
            test.group_positive,
            score(fresh),
            clusters=test.group_patient,
            n_resamples=n_resamples,
            level=level,
            random_state=random_state,
        )

    name = model_name(untrained(model))
    with merge_warnings():
        return trace_curve(sizes, [(name, trained_on)], n_draws=n_draws, level=level)
