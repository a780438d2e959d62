"""The problem family, its dual and the certificate.

::

    P(w, b) = ρ Σ_j h(w_j) + Σ_k c_k L(min over i in term k of y_k s_i),    s_i = w·x_i + b

    D(α)    = Σ_k c_k (A_k − δ A_k²) − ρ Σ_j h*(v_j / ρ)

with ``α_i ≥ 0``, ``A_k = Σ_i α_i ≤ 1`` over the rows of term ``k``,
``v = Σ_k c_k y_k Σ_i α_i x_i`` and, because ``b`` is free,
``Σ_k c_k y_k A_k = 0``. Any such α bounds the optimum from below, also one
that is zero on rows nobody has looked at.

Conventions
-----------
``theta = (w, b)`` has ``d + 1`` entries and every row a last entry of 1, so
that ``s = rows @ theta``. Rows are in the standardised units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.losses import SmoothedHinge
from groupcm.penalties import Penalty

__all__ = ["DualSums", "Problem"]

Vector = NDArray[np.float64]

# What the sums of the certificate may be wrong by, as a share.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class DualSums:
    """What the certificate needs of an α, for the terms of one sign.

    Attributes
    ----------
    moment : ndarray of shape (d + 1,)
        ``Σ_k c_k Σ_i α_i (x_i, 1)``; its last entry is ``Σ_k c_k A_k``.
    square : float
        ``Σ_k c_k A_k²``.
    """

    moment: Vector
    square: float

    def __add__(self, other: DualSums) -> DualSums:
        return DualSums(self.moment + other.moment, self.square + other.square)

    @property
    def mass(self) -> float:
        return float(self.moment[-1])


@dataclass(frozen=True)
class Problem:
    """Loss, penalty and ``ρ``; the terms come from `groupcm.grouping`."""

    loss: SmoothedHinge
    penalty: Penalty
    rho: float

    def penalty_value(self, theta: Vector) -> float:
        return self.rho * self.penalty.value(theta[:-1])

    def lower_bound(self, positive: DualSums, negative: DualSums) -> float:
        """The best ``D`` among the feasible multiples of a given α.

        The heavier side is scaled until ``Σ c y A = 0`` holds. What is left,
        ``D(θ α) = θ · gain − θ² · cost`` for ``θ ≤ 1`` and inside the box
        ``|v_j| ≤ ρ``, has its maximum in closed form.
        """
        if positive.mass <= 0.0 or negative.mass <= 0.0:
            return 0.0
        on_positive = min(1.0, negative.mass / positive.mass)
        on_negative = min(1.0, positive.mass / negative.mass)
        u = (on_positive * positive.moment - on_negative * negative.moment)[:-1] / self.rho
        gain = on_positive * positive.mass + on_negative * negative.mass
        cost = self.loss.delta * (
            on_positive**2 * positive.square + on_negative**2 * negative.square
        ) + self.rho * self.penalty.conjugate_factor * float(u @ u)
        largest = float(np.max(np.abs(u), initial=0.0))
        scale = min(1.0, self.penalty.box / largest) if largest > 0.0 else 1.0
        if cost > 0.0:
            scale = min(scale, gain / (2.0 * cost))
        return scale * (gain - scale * cost) - _ROUNDING * gain
