"""What more negative groups buy: the same model, trained on some of them and on all.

A draw puts the negative groups in random order; its training sets are the first few of them,
the first many, and so on, each with all positive groups, so that larger sets hold the smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from groupcm.classifier import GroupClassifier
from groupcm.classifier_cv import GroupClassifierCV
from groupcm.evaluation.numbers import LearningCurve, LearningLine
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.warning_once import each_warning_once
from groupcm.metrics import Interval, bootstrap_interval

__all__ = ["TrainingGroups", "learning_curve", "negative_sizes", "untrained"]

_N_SIZES = 8
_FEWEST = 10
_N_DRAWS = 3
_SMALL_SHARE = 0.25  # sizes up to this share of all are drawn several times


@dataclass(frozen=True)
class TrainingGroups:
    """Groups to train on.

    Attributes
    ----------
    is_positive : ndarray of bool, one a group
    fit : callable
        Fits a model to the groups marked in an array of bool, one a group.
    most_negatives : int, optional
        More negative groups than this are too many to be picked out; all of them still work.
    """

    is_positive: NDArray[np.bool_]
    fit: Callable[[Any, NDArray[np.bool_]], None]
    most_negatives: int | None = None


def negative_sizes(n_negative: int, most: int | None = None) -> list[int]:
    """Numbers of negative groups at equal ratios, up to all there are.

    Those above ``most`` are left out, but for all.

    Examples
    --------
    >>> negative_sizes(1000)
    [10, 19, 37, 72, 139, 268, 518, 1000]
    >>> negative_sizes(1000, most=100)
    [10, 19, 37, 72, 1000]
    """
    grid = np.geomspace(min(_FEWEST, n_negative), n_negative, _N_SIZES).round().astype(int)
    return [n for n in np.unique(grid).tolist() if most is None or n <= most or n == n_negative]


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
    training: TrainingGroups,
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
    training : TrainingGroups
    test : ScoredCandidates
        The groups to test on; their scores are not looked at.
    score : callable
        From a fitted model to the score of each test group.
    sizes : sequence of int, optional
        Numbers of negative groups; by default `negative_sizes`.
    on_fit : callable, optional
        Hears before each fit the size, the number of the fit and how many there are.
    n_resamples, level, random_state
        Of the intervals, and of the groups drawn.

    Returns
    -------
    LearningCurve
        Small sizes are drawn several times: the estimate is the mean, and the interval also
        has the spread between draws.
    """
    n_negative = int(np.count_nonzero(~training.is_positive))
    if sizes is None:
        sizes = negative_sizes(n_negative, training.most_negatives)
    n_draws = [_N_DRAWS if n <= _SMALL_SHARE * n_negative else 1 for n in sizes]
    n_done = 0

    def trained_on(size: int, draw: int) -> Interval:
        fresh = untrained(model)
        training.fit(fresh, _drawn(training.is_positive, size, [random_state, draw]))
        return bootstrap_interval(
            test.group_positive,
            score(fresh),
            clusters=test.group_patient,
            n_resamples=n_resamples,
            level=level,
            random_state=random_state,
        )

    points: list[Interval | None] = []
    with each_warning_once():
        for size, draws in zip(sizes, n_draws, strict=True):
            found = []
            for draw in range(draws):
                n_done += 1
                if on_fit is not None:
                    on_fit(size, n_done, sum(n_draws))
                found.append(trained_on(size, draw))
            points.append(joined(found, level))
    return LearningCurve(
        list(sizes), "negative groups", [LearningLine(type(model).__name__, points)]
    )


def _drawn(
    is_positive: NDArray[np.bool_], n_negative: int, seed: Sequence[int]
) -> NDArray[np.bool_]:
    """All positive groups and the first few of the negative ones in a random order."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(~is_positive))
    chosen = is_positive.copy()
    chosen[order[:n_negative]] = True
    return chosen


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
    return Interval(
        mean, float(np.maximum(0.0, mean - below)), float(np.minimum(1.0, mean + above))
    )
