"""The elastic net, a mixture of the norm 1 and the squared norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groupcm.objective.penalties.base import SmoothPenalty, Vector
from groupcm.objective.penalties.norms import Norm1, SoftNorm1, SquaredNorm

__all__ = ["ElasticNet"]

_L1, _L2 = Norm1(), SquaredNorm()


@dataclass(frozen=True)
class ElasticNet:
    """``h(t) = r |t| + (1 − r) t²``; ``h*(u) = max(|u| − r, 0)² / 4(1 − r)``.

    ``r`` is ``l1_ratio``, between 0, the squared norm, and 1, the norm 1.

    Examples
    --------
    >>> ElasticNet(0.5).value(np.array([0.5, -3.0]))
    6.375
    """

    l1_ratio: float = 0.5

    @property
    def box(self) -> float:
        return np.inf if self.l1_ratio < 1.0 else _L1.box

    @property
    def conjugate_factor(self) -> float:
        return 0.25 / (1.0 - self.l1_ratio) if self.l1_ratio < 1.0 else _L1.conjugate_factor

    @property
    def makes_zeros(self) -> bool:
        return self.l1_ratio > 0.0

    def value(self, w: Vector) -> float:
        return self.l1_ratio * _L1.value(w) + (1.0 - self.l1_ratio) * _L2.value(w)

    def gradient(self, w: Vector) -> Vector:
        return self.l1_ratio * _L1.gradient(w) + (1.0 - self.l1_ratio) * _L2.gradient(w)

    def curvature(self, w: Vector) -> Vector:
        return (1.0 - self.l1_ratio) * _L2.curvature(w)

    def conjugate(self, u: Vector) -> float:
        if self.l1_ratio == 1.0:
            return _L1.conjugate(u)
        above = np.maximum(np.abs(u) - self.l1_ratio, 0.0)
        return self.conjugate_factor * float(above @ above)

    def smoothed(self, temperature: float | Vector) -> SmoothPenalty:
        if self.l1_ratio == 0.0:
            return _L2
        return _SoftElasticNet(self.l1_ratio, SoftNorm1(temperature))


@dataclass(frozen=True)
class _SoftElasticNet:
    """``r √(t² + T²) + (1 − r) t²``, the elastic net with a round bottom."""

    l1_ratio: float
    soft: SoftNorm1

    def value(self, w: Vector) -> float:
        return self.l1_ratio * self.soft.value(w) + (1.0 - self.l1_ratio) * _L2.value(w)

    def gradient(self, w: Vector) -> Vector:
        return self.l1_ratio * self.soft.gradient(w) + (1.0 - self.l1_ratio) * _L2.gradient(w)

    def curvature(self, w: Vector) -> Vector:
        return self.l1_ratio * self.soft.curvature(w) + (1.0 - self.l1_ratio) * _L2.curvature(w)
