"""One interval for several draws of what was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from groupcm.metrics import Interval

__all__ = ["joined"]


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
