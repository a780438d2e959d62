"""The Huber penalty, a square near zero and the norm 1 beyond."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from groupcm.objective.penalties.base import Vector, quadratic_conjugate
from groupcm.objective.penalties.norms import SoftNorm1

__all__ = ["Huber"]


@dataclass(frozen=True)
class Huber:
    """``h(t) = t²/2ε`` for ``|t| ≤ ε``, ``|t| − ε/2`` beyond; ``h*(u) = ε u²/2``, ``|u| ≤ 1``.

    Examples
    --------
    >>> Huber(1.0).value(np.array([0.5, -3.0]))
    2.625
    """

    epsilon: float = 1.0
    box: ClassVar[float] = 1.0
    makes_zeros: ClassVar[bool] = False

    @property
    def conjugate_factor(self) -> float:
        return self.epsilon / 2.0

    def value(self, w: Vector) -> float:
        size = np.abs(w)
        core = np.minimum(size, self.epsilon)
        return float(np.sum(core * core / (2.0 * self.epsilon) + (size - core)))

    def gradient(self, w: Vector) -> Vector:
        return np.clip(w / self.epsilon, -1.0, 1.0)

    def curvature(self, w: Vector) -> Vector:
        return np.where(np.abs(w) <= self.epsilon, 1.0 / self.epsilon, 0.0)

    def conjugate(self, u: Vector) -> float:
        return quadratic_conjugate(u, self.conjugate_factor, self.box)

    def smoothed(self, temperature: float | Vector) -> Huber | SoftNorm1:
        return SoftNorm1(temperature) if self.epsilon < np.max(temperature) else self
