"""What a penalty answers: its value and derivatives, its conjugate, and whether it makes zeros.

::

    Σ_j h(w_j),   h convex and even, h(0) = 0, |h'| ≤ box
    h*(u) = max over t of  u t − h(t),   finite for |u| ≤ box

The certificate shrinks a dual by a factor ``θ ≤ 1`` until it is feasible and takes for granted
that ``h*(θu) ≤ θ² h*(u)``: with equality where ``h*`` is ``κ u²``, as that of all norms here.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from groupcm.utils.typing import Vector

__all__ = ["Penalty", "SmoothPenalty", "quadratic_conjugate"]


class SmoothPenalty(Protocol):
    """What Newton's method needs of a penalty."""

    def value(self, w: Vector) -> float:
        """``Σ_j h(w_j)``."""
        ...

    def gradient(self, w: Vector) -> Vector:
        """``h'(w_j)``; at a kink, any subgradient."""
        ...

    def curvature(self, w: Vector) -> Vector:
        """``h''(w_j)``; at a jump, that of either side."""
        ...


class Penalty(SmoothPenalty, Protocol):
    """What everything else needs of a penalty."""

    @property
    def box(self) -> float:
        """The largest slope ``|h'|``; infinite where there is none."""
        ...

    @property
    def conjugate_factor(self) -> float:
        """The ``κ`` with ``h*(u + m) ≤ h*(u) + m h*'(u) + κ m²`` inside the box."""
        ...

    @property
    def makes_zeros(self) -> bool:
        """Whether weights of useless features are exactly zero at the optimum."""
        ...

    def conjugate(self, u: Vector) -> float:
        """``Σ_j h*(u_j)``, infinite outside the box."""
        ...

    def smoothed(self, temperature: float | Vector) -> SmoothPenalty:
        """Return a penalty nearby that is curved; the temperature may differ by weight."""
        ...


def quadratic_conjugate(u: Vector, factor: float, box: float) -> float:
    """``Σ_j κ u_j²``, infinite where one is outside the box."""
    return np.inf if np.max(np.abs(u), initial=0.0) > box else factor * float(u @ u)
