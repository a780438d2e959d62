"""The problem family, its dual and the certificate.

::

    P(w, b) = ρ Σ_j h(f_j w_j) + Σ_k c_k L(min over i in term k of y_k s_i),   s_i = w·x_i + b

    D(α)    = −Σ_k c_k L*(−A_k) − ρ Σ_j h*(v_j / (ρ f_j))

with ``α_i ≥ 0``, ``A_k = Σ_i α_i`` at most the loss's steepest slope over the rows of term ``k``,
``v = Σ_k c_k y_k Σ_i α_i x_i`` and, because ``b`` is free,
``Σ_k c_k y_k A_k = 0``. Any such α bounds the optimum from below, also one
that is zero on rows that have not been read.

Conventions
-----------
``theta = (w, b)`` has ``d + 1`` entries and every row a last entry of 1, so
that ``s = rows @ theta``. Rows are in the solver's units, where every feature has a mean near 0
and a deviation of at most about 1; ``f_j`` turns a weight into the units of the penalty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from groupcm.objective.losses.base import Loss
from groupcm.objective.penalties.base import Penalty, SmoothPenalty
from groupcm.utils.typing import Vector

__all__ = ["DualSums", "PenaltyAt", "Problem"]


# Where the best intercept without weights is looked for if the loss never becomes zero: so far
# the classes differ in weight by a factor of exp(100) at least.
_FARTHEST_INTERCEPT = 100.0
# What the sums of the certificate may be wrong by, as a share.
_ROUNDING = 1e-13
# What a sum of weighted rows may be wrong by, as a share of the weights.
_MOMENT_ROUNDING = 64.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class DualSums:
    """What the certificate needs of an α, for the terms of one sign.

    Attributes
    ----------
    moment : ndarray of shape (d + 1,)
        ``Σ_k c_k Σ_i α_i (x_i, 1)``; its last entry is ``Σ_k c_k A_k``.
    linear, square : float
        The parts of ``−Σ_k c_k L*(−A_k)``, as the loss's `DualGain` divides it.
    """

    moment: Vector
    linear: float
    square: float

    def __add__(self, other: DualSums) -> DualSums:
        return DualSums(
            self.moment + other.moment, self.linear + other.linear, self.square + other.square
        )

    @property
    def mass(self) -> float:
        return float(self.moment[-1])


@dataclass(frozen=True)
class PenaltyAt:
    """The weighted penalty ``ρ Σ_j h(f_j w_j)`` at one point; the intercept has none."""

    value: float
    gradient: Vector
    curvature: Vector


@dataclass(frozen=True)
class Problem:
    """Loss, penalty, ``ρ`` and ``f`` (``units``); the terms come from `grouping`."""

    loss: Loss
    penalty: Penalty
    rho: float
    units: Vector | float = 1.0

    def penalty_value(self, theta: Vector) -> float:
        return self.rho * self.penalty.value(self.units * theta[:-1])

    def smoothed_penalty(self, temperature: float, theta: Vector) -> PenaltyAt:
        """Return the penalty smoothed at this temperature, with its derivatives."""
        penalty, w, f = self._smoothed(temperature), self.units * theta[:-1], self.units
        return PenaltyAt(
            self.rho * penalty.value(w),
            np.append(self.rho * f * penalty.gradient(w), 0.0),
            np.append(self.rho * f * f * penalty.curvature(w), 0.0),
        )

    def penalty_slope(
        self, temperature: float, theta: Vector, step: Vector
    ) -> Callable[[float], float]:
        """Return ``t ↦ d/dt`` of the smoothed penalty at ``theta + t · step``."""
        penalty = self._smoothed(temperature)
        w, change = self.units * theta[:-1], self.units * step[:-1]
        return lambda t: self.rho * float(penalty.gradient(w + t * change) @ change)

    def best_constant(self, positive: float, negative: float) -> tuple[float, float]:
        """Return the intercept that is best for ``w = 0``, and the objective there.

        The arguments are what the terms of each sign weigh together.
        """
        # Beyond the margin from which one side costs nothing, it only costs the other more.
        far = min(self.loss.zero_margin, _FARTHEST_INTERCEPT)

        def objective(b: float) -> float:
            loss = self.loss.value(np.array([b, -b]))
            return float(positive * loss[0] + negative * loss[1])

        found: Any = minimize_scalar(objective, bounds=(-far, far), method="bounded")
        b = min((float(found.x), -far, far), key=objective)
        return b, objective(b)

    def _smoothed(self, temperature: float) -> SmoothPenalty:
        # A weight of the solver's units is rounded off at the temperature.
        return self.penalty.smoothed(temperature * self.units)

    def lower_bound(self, positive: DualSums, negative: DualSums) -> float:
        """Return the best lower bound among the feasible multiples of a given α.

        The heavier side is scaled until ``Σ c y A = 0`` holds, then both until ``v`` is inside
        the box of the penalty. What is left, ``D(θ α) ≥ θ · gain − θ² · cost`` for ``θ ≤ 1``, has
        its maximum in closed form.
        """
        if positive.mass <= 0.0 or negative.mass <= 0.0:
            return 0.0
        on_positive = min(1.0, negative.mass / positive.mass)
        on_negative = min(1.0, positive.mass / negative.mass)
        v = (on_positive * positive.moment - on_negative * negative.moment)[:-1]
        mass = on_positive * positive.mass + on_negative * negative.mass
        # Rows are of about unit size: so much larger than its sum any of the v_j may really be.
        u = (np.abs(v) + _MOMENT_ROUNDING * mass) / (self.rho * self.units)
        box, largest = self.penalty.box, float(np.max(u, initial=0.0))
        if largest > box:
            on_positive, on_negative = (on * box / largest for on in (on_positive, on_negative))
            u = np.minimum(u * (box / largest), box)
        gain = on_positive * positive.linear + on_negative * negative.linear
        cost = on_positive**2 * positive.square + on_negative**2 * negative.square
        cost += self.rho * self.penalty.conjugate(u)
        scale = min(1.0, gain / (2.0 * cost)) if cost > 0.0 else 1.0
        return scale * (gain - scale * cost) - _ROUNDING * gain
