"""The mean of repeats whose training parts overlap, and what it leaves open.

    mean ± t_{R−1} · s · sqrt(1 / R + 1 / (K − 1))

over R repeats with standard deviation s, each of which left one of K folds out. The second
term under the root is Nadeau and Bengio's: training parts share most of their groups, so that
their scores vary less than those of independent ones would.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from groupcm.metrics import Interval

__all__ = ["mean_interval"]


def mean_interval(values: NDArray[np.float64], n_folds: int, level: float = 0.95) -> Interval:
    """Return the mean of one value per repeat, with its interval.

    Fewer than two repeats, or repeats that are all the same, do not show how much others would
    vary: the bounds are then NaN.

    Examples
    --------
    >>> found = mean_interval(np.array([0.8, 0.82, 0.81, 0.83, 0.79]), n_folds=5)
    >>> [round(number, 3) for number in found]
    [0.81, 0.781, 0.839]
    """
    n = len(values)
    mean = float(np.mean(values))
    if n < 2 or np.ptp(values) == 0.0:
        return Interval(mean, math.nan, math.nan)
    error = float(np.std(values, ddof=1)) * np.sqrt(1 / n + 1 / (n_folds - 1))
    reach = float(t.ppf((1 + level) / 2, n - 1) * error)
    return Interval(mean, mean - reach, mean + reach)
