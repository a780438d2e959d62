"""The logistic loss, whose scores are log odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlog1py, xlogy

from groupcm.objective.losses.base import DualGain, Jet, Piece, as_floats

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Logistic"]

# Beyond it torch's softplus drops its exponential, which float64 no longer sees.
_FAR = 50.0


@dataclass(frozen=True)
class Logistic:
    """The logistic loss, also called log loss, which never becomes zero.

    ::

        L(t)   = log(1 + exp(−t))
        L'(t)  = −a,   a = 1 / (1 + exp(t))
        L''(t) = a (1 − a)

        L*(−a) = a log a + (1 − a) log(1 − a)

    Examples
    --------
    A margin of 0 costs log 2, and a large one nearly nothing.

    >>> Logistic().value([0.0, 30.0]).round(15)
    array([6.93147181e-01, 9.40000000e-14])
    """

    zero_margin: ClassVar[float] = np.inf
    pieces: ClassVar[tuple[Piece, ...]] = ()
    steepest: ClassVar[float] = 1.0
    least_curvature: ClassVar[float] = 1e-3

    def value(self, t: ArrayLike) -> NDArray[np.float64]:
        """``L(t)``."""
        return np.logaddexp(0.0, -np.asarray(t, dtype=np.float64))

    def slope(self, t: ArrayLike) -> NDArray[np.float64]:
        """``L'(t)``."""
        return self.jet(t).slope

    def curvature(self, t: ArrayLike) -> NDArray[np.float64]:
        """``L''(t)``."""
        return self.jet(t).curvature

    def jet(self, t: ArrayLike) -> Jet:
        """Return value, slope and curvature, which share one exponential."""
        t = as_floats(t)
        tail = np.exp(-np.abs(t))
        slope = np.where(t >= 0.0, -tail, -1.0) / (1.0 + tail)
        return Jet(np.log1p(tail) - np.minimum(t, 0.0), slope, tail / (1.0 + tail) ** 2)

    def conjugate(self, a: ArrayLike) -> NDArray[np.float64]:
        """``L*(−a)``."""
        a = np.asarray(a, dtype=np.float64)
        return xlogy(a, a) + xlog1py(1.0 - a, -a)

    def dual_gain(self, a: ArrayLike) -> DualGain:
        """``(a − a log a) − (a + (1 − a) log(1 − a))``.

        The second part is ``Σ_{k≥2} a^k / k(k−1)``, so that ``θ a`` instead of ``a`` shrinks it
        by ``θ²`` at least; the first shrinks by ``θ`` at most.
        """
        a = np.asarray(a, dtype=np.float64)
        return DualGain(a - xlogy(a, a), np.maximum(a + xlog1py(1.0 - a, -a), 0.0))

    def smoothed(self, temperature: float) -> Logistic:
        """Return the loss itself, which is curved everywhere."""
        return self

    def curved(self, temperature: float) -> Logistic:
        """Return the loss itself."""
        return self

    def of_tensor(self, t: Tensor, temperature: float | None) -> Tensor:
        """``L(t)`` of a tensor, whatever the temperature."""
        from torch.nn.functional import softplus

        return softplus(-t, threshold=_FAR)
