"""The squared norm, the norm 1, and the latter with a round bottom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from groupcm.objective.penalties.base import Vector, quadratic_conjugate

__all__ = ["Norm1", "SoftNorm1", "SquaredNorm"]


@dataclass(frozen=True)
class SquaredNorm:
    """``h(t) = t²``; ``h*(u) = u²/4``.

    Examples
    --------
    >>> SquaredNorm().value(np.array([0.5, -3.0]))
    9.25
    """

    conjugate_factor: ClassVar[float] = 0.25
    box: ClassVar[float] = np.inf
    makes_zeros: ClassVar[bool] = False

    def value(self, w: Vector) -> float:
        return float(w @ w)

    def gradient(self, w: Vector) -> Vector:
        return 2.0 * w

    def curvature(self, w: Vector) -> Vector:
        return np.full_like(w, 2.0)

    def conjugate(self, u: Vector) -> float:
        return quadratic_conjugate(u, self.conjugate_factor, self.box)

    def smoothed(self, temperature: float | Vector) -> SquaredNorm:
        return self


@dataclass(frozen=True)
class Norm1:
    """``h(t) = |t|``; ``h*(u) = 0``, ``|u| ≤ 1``.

    Examples
    --------
    >>> Norm1().value(np.array([0.5, -3.0]))
    3.5
    """

    conjugate_factor: ClassVar[float] = 0.0
    box: ClassVar[float] = 1.0
    makes_zeros: ClassVar[bool] = True

    def value(self, w: Vector) -> float:
        return float(np.sum(np.abs(w)))

    def gradient(self, w: Vector) -> Vector:
        return np.sign(w)

    def curvature(self, w: Vector) -> Vector:
        return np.zeros_like(w)

    def conjugate(self, u: Vector) -> float:
        return quadratic_conjugate(u, self.conjugate_factor, self.box)

    def smoothed(self, temperature: float | Vector) -> SoftNorm1:
        return SoftNorm1(temperature)


@dataclass(frozen=True)
class SoftNorm1:
    """``h(t) = √(t² + T²)``, the norm 1 with a round bottom.

    Examples
    --------
    >>> SoftNorm1(4.0).value(np.array([3.0]))
    5.0
    """

    temperature: float | Vector

    def value(self, w: Vector) -> float:
        return float(np.sum(np.hypot(w, self.temperature)))

    def gradient(self, w: Vector) -> Vector:
        return w / np.hypot(w, self.temperature)

    def curvature(self, w: Vector) -> Vector:
        return self.temperature**2 / np.hypot(w, self.temperature) ** 3
