"""Provides `StopRule`: when a certified gap is small enough to stop.

::

    gap ≤ tol · objective   and   gap ≤ √tol · (constant − lower bound)

``constant`` is the objective of the best intercept without weights, so that the second bracket is
the most that any weights can gain. For λ near 0 the objective hardly depends on the weights, and
the first condition alone would hold for weights that rank at random. There, and with a penalty that
grows with the square of the weights, the second one bounds their distance from the optimum: it is
at most ``tol^¼`` of their norm.

Where the best weights are all 0 there is nothing to gain, and the second condition could never
hold. It is then enough that the gap is at most 1e-8 of the objective.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["StopRule"]

# A gain of less than this share of the objective counts as none.
_NO_GAIN = 1e-8


@dataclass(frozen=True)
class StopRule:
    """When the gap between an objective and its lower bound is small enough.

    Parameters
    ----------
    tol : float
    constant : float
        The objective of the best intercept without weights; infinite where it is not known, and
        then the gap need only be small relative to the objective.
    share : float
        How much of what is allowed may be used up.

    Examples
    --------
    >>> rule = StopRule(1e-4, constant=1.0)
    >>> rule.is_met(0.5, 0.49999), rule.is_met(0.99999, 0.99998)
    (True, False)
    """

    tol: float
    constant: float = math.inf
    share: float = 1.0

    @property
    def of_gain(self) -> float:
        """The largest gap as a share of what weights can gain."""
        return math.sqrt(self.tol)

    def allowed(self, upper: float, lower: float) -> float:
        """Return how large the gap may be at an objective, with this lower bound."""
        of_gain = self.of_gain * max(0.0, self.constant - lower)
        return self.share * min(self.tol * upper, max(of_gain, _NO_GAIN * upper))

    def is_met(self, upper: float, lower: float) -> bool:
        """Return whether an objective, or that without weights, is close to its lower bound."""
        upper = min(upper, self.constant)
        return math.isfinite(upper) and upper - lower <= self.allowed(upper, lower)

    def gains_nothing(self, objective: float) -> bool:
        """Return whether the weights are no better than none."""
        return self.constant - objective <= _NO_GAIN * self.constant
