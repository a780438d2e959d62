"""The smoothed hinge, the hinge, and both with a soft corner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.objective.losses.base import DualGain, Jet, Piece, as_floats

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["SmoothedHinge", "SoftHinge", "hinge"]

# Beyond it torch's softplus drops its exponential, which float64 no longer sees.
_FAR = 50.0


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
    zero_margin: ClassVar[float] = 1.0
    steepest: ClassVar[float] = 1.0

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The line, the parabola where ``delta`` is above 0, and zero."""
        line = Piece(1.0 - 2.0 * self.delta, 1.0 - self.delta, -1.0, 0.0)
        zero = Piece(np.inf, 0.0, 0.0, 0.0)
        if self.delta == 0.0:
            return line, zero
        bend = 0.25 / self.delta
        return line, Piece(1.0, bend, -2.0 * bend, bend), zero

    @property
    def least_curvature(self) -> float:
        """Newton's steps need some where the smoothed hinge is zero or a line."""
        return 0.1 if self.delta > 0.0 else 0.0

    def value(self, t: ArrayLike) -> NDArray[np.float64]:
        """``L(t)``."""
        short = np.maximum(1.0 - np.asarray(t, dtype=np.float64), 0.0)
        alpha = self.alpha(short)
        return alpha * (short - self.delta * alpha)

    def slope(self, t: ArrayLike) -> NDArray[np.float64]:
        """``L'(t)``; at the kink of the hinge, 0."""
        return -self.alpha(np.maximum(1.0 - np.asarray(t, dtype=np.float64), 0.0))

    def curvature(self, t: ArrayLike) -> NDArray[np.float64]:
        """``L''(t)``, at the ends of the quadratic piece 0."""
        return self.jet(t).curvature

    def jet(self, t: ArrayLike) -> Jet:
        """Return value, slope and curvature."""
        short = np.maximum(1.0 - as_floats(t), 0.0)
        alpha = self.alpha(short)
        inside = (alpha > 0.0) & (alpha < 1.0)
        bend = 0.5 / self.delta if self.delta > 0.0 else 0.0
        return Jet(alpha * (short - self.delta * alpha), -alpha, bend * inside.astype(short.dtype))

    def conjugate(self, a: ArrayLike) -> NDArray[np.float64]:
        """``L*(−a) = δ a² − a``."""
        a = np.asarray(a, dtype=np.float64)
        return (self.delta * a - 1.0) * a

    def dual_gain(self, a: ArrayLike) -> DualGain:
        """``a − δ a²``."""
        a = np.asarray(a, dtype=np.float64)
        return DualGain(a, self.delta * a * a)

    def smoothed(self, temperature: float) -> SoftHinge:
        """Return the loss with a soft corner."""
        return SoftHinge(self, temperature)

    def curved(self, temperature: float) -> SmoothedHinge:
        """Return the loss itself, and of the hinge a narrow smoothed one below it."""
        return self if self.delta > 0.0 else SmoothedHinge(temperature)

    def of_tensor(self, t: Tensor, temperature: float | None) -> Tensor:
        """``L(t)`` of a tensor, and with a temperature `SoftHinge`."""
        from torch.nn.functional import smooth_l1_loss, softplus

        from torch import relu, zeros_like

        if temperature is None:
            short = relu(1.0 - t)
        else:
            short = softplus(1.0 - t, beta=1.0 / temperature, threshold=_FAR)
        if self.delta == 0.0:
            return short
        # z² / 2β up to β and z − β / 2 beyond it, in one step.
        return smooth_l1_loss(short, zeros_like(short), beta=2.0 * self.delta, reduction="none")

    def alpha(self, short: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the maximiser of ``α · short − δ α²`` over ``0 ≤ α ≤ 1``."""
        if self.delta == 0.0:
            return (short > 0.0).astype(short.dtype)
        return np.minimum(short / (2.0 * self.delta), 1.0)


def hinge() -> SmoothedHinge:
    """Return the hinge, ``L(t) = max(0, 1 − t)``."""
    return SmoothedHinge(0.0)


@dataclass(frozen=True)
class SoftHinge:
    """A (smoothed) hinge ``L`` with a soft corner at ``t = 1``.

    ::

        L_T(t) = L(1 − z),    z = T log(1 + exp((1 − t) / T))

    Newton's method wants it: the hinge has no second derivative, and the smoothed one
    none that shows where the margins are that do not cost yet.

    Examples
    --------
    >>> float(SoftHinge(SmoothedHinge(0.0), 0.1).slope(1.0))
    -0.5
    """

    of: SmoothedHinge
    temperature: float

    def value(self, t: ArrayLike) -> NDArray[np.float64]:
        """``L_T(t)``."""
        return self.jet(t).value

    def slope(self, t: ArrayLike) -> NDArray[np.float64]:
        """``L_T'(t)``, between −1 and 0."""
        return self.jet(t).slope

    def curvature(self, t: ArrayLike) -> NDArray[np.float64]:
        """``L_T''(t)``."""
        return self.jet(t).curvature

    def jet(self, t: ArrayLike) -> Jet:
        """Compute all three at once: they share the exponential, which is the expensive part."""
        u = (1.0 - np.asarray(t, dtype=np.float64)) / self.temperature
        tail = np.exp(-np.abs(u))
        z = self.temperature * (np.maximum(u, 0.0) + np.log1p(tail))
        sigmoid = np.where(u >= 0.0, 1.0, tail) / (1.0 + tail)
        alpha = self.of.alpha(z)
        # σ(1 − σ) is the same on both sides of zero.
        curvature = alpha * tail / (1.0 + tail) ** 2 / self.temperature
        if self.of.delta > 0.0:
            curvature += np.where(z <= 2.0 * self.of.delta, sigmoid**2 / (2.0 * self.of.delta), 0.0)
        return Jet(alpha * (z - self.of.delta * alpha), -alpha * sigmoid, curvature)
