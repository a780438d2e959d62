"""Rows that count alone and stay on one piece of the loss, as their sums.

::

    Σ_i c L(t_i) = c (a₀ n + a₁ y m·θ + a₂ θᵀMθ),   m = Σ_i x_i,   M = Σ_i x_i x_iᵀ

where ``L(t) = a₀ + a₁ t + a₂ t²`` on the piece and ``t_i = y x_i·θ``. However many the rows are,
their value, their dual and their curvature are those of ``d + 1`` numbers and a matrix. They are
exact while no row leaves the piece, that is, inside the `Ball` that the rows were chosen for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.objective.losses.base import Piece
from groupcm.objective.problem import DualSums
from groupcm.utils.typing import Vector

__all__ = ["Ball", "PieceSums"]


@dataclass(frozen=True)
class Ball:
    """Where the point may go: ``‖w' − w‖ ≤ radius``, ``|b' − b| ≤ shift``."""

    theta: Vector
    radius: float
    shift: float

    def covers(self, other: Ball) -> bool:
        """Return whether the other ball is inside this one."""
        apart = float(np.linalg.norm(other.theta[:-1] - self.theta[:-1]))
        shifted = abs(float(other.theta[-1] - self.theta[-1]))
        return apart + other.radius <= self.radius and shifted + other.shift <= self.shift

    def holds(self, theta: Vector) -> bool:
        """Return whether a point is inside."""
        return self.covers(Ball(theta, 0.0, 0.0))

    def scaled(self, factor: float) -> Ball:
        """Return a larger or smaller ball around the same point."""
        return Ball(self.theta, factor * self.radius, factor * self.shift)


@dataclass(frozen=True)
class PieceSums:
    """The sums of the rows of one sign that are on one piece of the loss, all of one weight.

    Attributes
    ----------
    piece : Piece
    sign : int
    weight : float
        ``c``.
    count : int
        ``n``.
    total : ndarray of shape (d + 1,)
        ``m``; its last entry is ``n``.
    gram : ndarray of shape (d + 1, d + 1)
        ``M``; zero where the piece is a line.
    ball : Ball
        No row leaves the piece inside.
    """

    piece: Piece
    sign: int
    weight: float
    count: int
    total: Vector
    gram: NDArray[np.float64]
    ball: Ball

    def value(self, theta: Vector) -> float:
        """Return the loss of the rows; infinite outside the ball, where it is not known."""
        return self._value(theta) if self.ball.holds(theta) else np.inf

    def _value(self, theta: Vector) -> float:
        piece = self.piece
        line = piece.linear * self.sign * float(self.total @ theta)
        bend = piece.square * float(theta @ self.gram @ theta)
        return self.weight * (piece.constant * self.count + line + bend)

    def dual(self, theta: Vector) -> DualSums:
        """Return the sums of ``α_i = −L'(t_i)``.

        Since ``−L*(−α) = L(t) + α t``, the gain of the rows is ``value + y θ·moment``.
        """
        piece = self.piece
        moment = -piece.linear * self.total - 2.0 * piece.square * self.sign * (self.gram @ theta)
        moment = self.weight * moment
        gain = self._value(theta) + self.sign * float(moment @ theta)
        linear = float(moment[-1])
        return DualSums(moment, linear, max(0.0, linear - gain))

    def smooth(self, theta: Vector) -> float:
        """Return the value of the polynomial, also outside the ball."""
        return self._value(theta)

    def curvature(self) -> NDArray[np.float64]:
        """Return the second derivative."""
        return 2.0 * self.weight * self.piece.square * self.gram

    def slope_along(self, theta: Vector, step: Vector) -> Callable[[float], float]:
        """``t ↦ d/dt`` of the polynomial at ``theta + t · step``."""
        line = self.weight * self.piece.linear * self.sign * float(self.total @ step)
        along = self.curvature() @ step
        at_start, growth = line + float(along @ theta), float(along @ step)
        return lambda t: at_start + t * growth
