"""What a loss answers: its value and derivatives, its conjugate, and where it is zero.

::

    L convex, never increasing, L ≥ 0 with infimum 0, −L' ≤ steepest
    L(t) = max over 0 ≤ a ≤ steepest of  −L*(−a) − a t,   reached at a = −L'(t)

Since ``L`` never increases, the largest loss of a group is that of its smallest margin, and the
conjugate of the group's loss is that of the loss at ``A = Σ_i a_i``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.utils.typing import Vector

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["DualGain", "Jet", "Loss", "Piece", "SmoothLoss", "as_floats"]


def as_floats(t: ArrayLike) -> NDArray[Any]:
    """Return an array of single precision where it is one, of double precision elsewhere."""
    t = np.asarray(t)
    return t if t.dtype == np.float32 else t.astype(np.float64, copy=False)


@dataclass(frozen=True)
class Jet:
    """A function's value, slope and curvature at the same points."""

    value: Vector
    slope: Vector
    curvature: Vector


@dataclass(frozen=True)
class DualGain:
    """``−L*(−θa) ≥ θ · linear − θ² · square`` for ``0 ≤ θ ≤ 1``, with equality at ``θ = 1``.

    What the certificate needs to shrink a dual until it is feasible: both parts are zero at
    ``a = 0`` and neither is negative.
    """

    linear: Vector
    square: Vector


@dataclass(frozen=True)
class Piece:
    """``L(t) = constant + linear · t + square · t²`` up to the margin ``end``."""

    end: float
    constant: float
    linear: float
    square: float


class SmoothLoss(Protocol):
    """What Newton's method needs of a loss."""

    def jet(self, t: ArrayLike) -> Jet:
        """Return value, slope and curvature together, which share what is costly.

        Of single precision where ``t`` is, as boosting has it.
        """
        ...


class Loss(SmoothLoss, Protocol):
    """What everything else needs of a loss."""

    @property
    def zero_margin(self) -> float:
        """The margin from which the loss is zero, infinite where it never is.

        A group whose smallest margin is above it costs nothing, so that none of its rows is kept.
        """
        ...

    @property
    def steepest(self) -> float:
        """The largest ``−L'``: how much the loss changes at most per unit of the margin."""
        ...

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The polynomials of degree two that the loss consists of, by rising margin.

        The last one ends at infinity. Empty if the loss is not such a function. If it is, the
        linear part of its `DualGain` is ``a`` itself.
        """
        ...

    @property
    def least_curvature(self) -> float:
        """What boosting takes for ``L''`` where it is less.

        Zero where the loss has no curvature at all, and no trees can be grown on it.
        """
        ...

    def value(self, t: ArrayLike) -> Vector:
        """``L(t)``."""
        ...

    def slope(self, t: ArrayLike) -> Vector:
        """``L'(t)``, between ``−steepest`` and 0; at a kink, any subgradient."""
        ...

    def curvature(self, t: ArrayLike) -> Vector:
        """``L''(t)``; at a jump, that of either side."""
        ...

    def conjugate(self, a: ArrayLike) -> Vector:
        """``L*(−a)`` for ``0 ≤ a ≤ steepest``."""
        ...

    def dual_gain(self, a: ArrayLike) -> DualGain:
        """``−L*(−a)`` in the two parts that the certificate needs to shrink a dual."""
        ...

    def smoothed(self, temperature: float) -> SmoothLoss:
        """Return a loss nearby that is curved everywhere; itself where it is."""
        ...

    def curved(self, temperature: float) -> Loss:
        """Return the loss itself where it has curvature; else one nearby that is never above it.

        Of a loss that consists of pieces, the other one does, too.
        """
        ...

    def of_tensor(self, t: Tensor, temperature: float | None) -> Tensor:
        """``L(t)`` as torch differentiates it, or with a temperature that of `smoothed`."""
        ...
