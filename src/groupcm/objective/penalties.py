"""Penalties: sums over the weights, ``Σ_j h(w_j)``, each with its conjugate.

The conjugate of every penalty here is ``h*(u) = κ u²`` on ``|u| ≤ box``
(infinite outside); ``κ`` is `conjugate_factor`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from groupcm.utils.typing import Vector

__all__ = [
    "Huber",
    "Norm1",
    "Penalty",
    "SmoothPenalty",
    "SoftNorm1",
    "SquaredNorm",
    "make_penalty",
]


class SmoothPenalty(Protocol):
    """What Newton's method asks of a penalty."""

    def value(self, w: Vector) -> float: ...
    def gradient(self, w: Vector) -> Vector: ...
    def curvature(self, w: Vector) -> Vector: ...


class Penalty(SmoothPenalty, Protocol):
    """What a problem asks of a penalty."""

    @property
    def conjugate_factor(self) -> float: ...
    @property
    def box(self) -> float: ...
    @property
    def makes_zeros(self) -> bool: ...
    def conjugate(self, u: Vector) -> float: ...
    def smoothed(self, temperature: float | Vector) -> SmoothPenalty:
        """Return a penalty nearby that is curved; the temperature may differ by weight."""
        ...


def _quadratic(u: Vector, factor: float, box: float) -> float:
    """``Σ_j κ u_j²``, infinite where one is outside the box."""
    return np.inf if np.max(np.abs(u), initial=0.0) > box else factor * float(u @ u)


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
        return _quadratic(u, self.conjugate_factor, self.box)

    def smoothed(self, temperature: float | Vector) -> Huber | SoftNorm1:
        return SoftNorm1(temperature) if self.epsilon < np.max(temperature) else self


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
        return _quadratic(u, self.conjugate_factor, self.box)

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
        return _quadratic(u, self.conjugate_factor, self.box)

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


def make_penalty(name: str, epsilon: float) -> Penalty:
    """The penalty an estimator's ``penalty`` and ``epsilon`` speak of.

    Examples
    --------
    >>> make_penalty("huber", epsilon=0.5)
    Huber(epsilon=0.5)
    """
    return {"huber": Huber(float(epsilon)), "l2": SquaredNorm(), "l1": Norm1()}[name]
