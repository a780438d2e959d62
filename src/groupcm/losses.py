"""Losses: convex, never increasing functions of a margin ``t = y (w·x + b)``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

__all__ = ["SmoothedHinge", "SoftHinge", "make_loss"]


@dataclass(frozen=True)
class SmoothedHinge:
    """The paper's smoothed hinge, and the hinge itself at ``delta = 0``.

    ::

        L(t) = 0                    t ≥ 1
               (1 − t)² / 4δ        1 − 2δ ≤ t < 1
               1 − t − δ            t < 1 − 2δ

        L(t) = max over 0 ≤ α ≤ 1 of  α (1 − t) − δ α²

    Examples
    --------
    A margin of −½ costs 8 times a margin of ½; with the hinge only 3 times.

    >>> smoothed, hinge = SmoothedHinge(0.5), SmoothedHinge(0.0)
    >>> float(smoothed.value(-0.5) / smoothed.value(0.5))
    8.0
    >>> float(hinge.value(-0.5) / hinge.value(0.5))
    3.0
    """

    delta: float = 0.5

    def value(self, t: ArrayLike) -> NDArray[np.float64]:
        """``L(t)``."""
        short = np.maximum(1.0 - np.asarray(t, dtype=np.float64), 0.0)
        alpha = self._alpha(short)
        return alpha * (short - self.delta * alpha)

    def slope(self, t: ArrayLike) -> NDArray[np.float64]:
        """``L'(t)``; at the kink of the hinge, 0."""
        return -self._alpha(np.maximum(1.0 - np.asarray(t, dtype=np.float64), 0.0))

    def curvature(self, t: ArrayLike) -> NDArray[np.float64]:
        """``L''(t)``, taken from the quadratic piece at its ends."""
        t = np.asarray(t, dtype=np.float64)
        if self.delta == 0.0:
            return np.zeros_like(t)
        inside = (t < 1.0) & (t >= 1.0 - 2.0 * self.delta)
        return np.where(inside, 0.5 / self.delta, 0.0)

    def smoothed(self, temperature: float) -> SmoothedHinge | SoftHinge:
        """Itself where it is smooth already, else a loss with curvature everywhere."""
        return SoftHinge(temperature) if self.delta < temperature else self

    def _alpha(self, short: NDArray[np.float64]) -> NDArray[np.float64]:
        """The maximiser of ``α · short − δ α²`` over ``0 ≤ α ≤ 1``."""
        if self.delta == 0.0:
            return (short > 0.0).astype(np.float64)
        return np.minimum(short / (2.0 * self.delta), 1.0)


@dataclass(frozen=True)
class SoftHinge:
    """``L(t) = T log(1 + exp((1 − t) / T))``, the hinge with a soft corner.

    Examples
    --------
    >>> float(SoftHinge(0.1).slope(1.0))
    -0.5
    """

    temperature: float

    def value(self, t: ArrayLike) -> NDArray[np.float64]:
        """``L(t)``."""
        return self.temperature * np.logaddexp(0.0, (1.0 - np.asarray(t)) / self.temperature)

    def slope(self, t: ArrayLike) -> NDArray[np.float64]:
        """``L'(t)``, between −1 and 0."""
        return -expit((1.0 - np.asarray(t)) / self.temperature)

    def curvature(self, t: ArrayLike) -> NDArray[np.float64]:
        """``L''(t)``."""
        z = (1.0 - np.asarray(t)) / self.temperature
        return expit(z) * expit(-z) / self.temperature


def make_loss(name: str, delta: float) -> SmoothedHinge:
    """The loss an estimator's ``loss`` and ``delta`` speak of.

    Examples
    --------
    >>> make_loss("hinge", delta=0.5)
    SmoothedHinge(delta=0.0)
    """
    return SmoothedHinge({"smoothed_hinge": float(delta), "hinge": 0.0}[name])
