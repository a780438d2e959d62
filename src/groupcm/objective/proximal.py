"""Provides `ProximalBlock`: terms with their rows, and the augmented Lagrangian of their maxima.

::

    e_k(m) = min over z of  L(min_i z_i) + Σ_i (z_i − m_i + T a_i)² / 2T
    ∂e_k/∂m_i = −a_i',   a_i' = (τ_k − m_i + T a_i)₊ / T,   Σ_i a_i' = −L'(τ_k)
    Hessian = Σ_k (c_k / T) [ Σ_i x_i x_iᵀ − (Σ_i x_i)(Σ_i x_i)ᵀ / (n_k + T L''(τ_k)) ]

with the sums over the ``n_k`` rows of positive ``a_i'``, the active ones. The ``a'`` are feasible
in the dual. At the optimum they are the shares ``a`` themselves, whatever ``T``:
unlike the log-sum-exp of `groupcm.objective.smoothed` this needs no temperature near zero, and
only active rows have curvature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from groupcm.kernels.maxima import proximal_minima
from groupcm.objective.losses.base import Loss
from groupcm.objective.problem import DualSums, Problem
from groupcm.objective.smoothed import BlockValue, Curvature, Rows
from groupcm.utils.typing import Index, Vector

__all__ = ["ProximalBlock", "ProximalValue"]


@dataclass(frozen=True)
class ProximalValue(BlockValue):
    """A `BlockValue` with ``a'``, the new share of each row."""

    shares: Vector = field(kw_only=True)


@dataclass(frozen=True)
class _Minima:
    level: Vector
    shares: Vector
    stiffness: Vector


@dataclass(frozen=True)
class ProximalBlock:
    """Terms of one sign with their rows in memory, ``ptr`` as in `Block`, and their shares ``a``.

    The loss must have `pieces`.
    """

    rows: Rows
    ptr: Index
    sign: int
    weight: float | Vector
    shares: Vector
    T: float

    def _minima(self, loss: Loss, margin: Vector) -> _Minima:
        n_terms = len(self.ptr) - 1
        level, stiffness = np.empty((2, n_terms))
        shares = np.empty(len(margin))
        pieces = np.array([(p.end, p.linear, 2.0 * p.square) for p in loss.pieces])
        given = (margin, self.shares, self.ptr, self.T, loss.steepest, pieces)
        proximal_minima(*given, level, shares, stiffness)
        return _Minima(level, shares, stiffness)

    def _of_rows(self, of_term: float | Vector) -> Vector:
        size = np.diff(self.ptr)
        return np.repeat(np.broadcast_to(of_term, len(size)), size)

    def evaluate(self, problem: Problem, theta: Vector) -> ProximalValue:
        """Compute value, dual sums and, on demand, the curvature at ``theta``."""
        margin = self.sign * (self.rows @ theta)
        at = self._minima(problem.loss, margin)
        first = self.ptr[:-1]
        A, squares = np.add.reduceat(at.shares, first), np.add.reduceat(at.shares**2, first)
        hard = np.minimum.reduceat(margin, first)
        gain = problem.loss.dual_gain(A)
        smooth = problem.loss.value(at.level) + 0.5 * self.T * squares
        return ProximalValue(
            n_rows=self.rows.shape[0],
            smooth=float(np.sum(self.weight * smooth)),
            exact=float(np.sum(self.weight * problem.loss.value(hard))),
            dual=DualSums(
                self.rows.T @ (self._of_rows(self.weight) * at.shares),
                float(np.sum(self.weight * gain.linear)),
                float(np.sum(self.weight * gain.square)),
            ),
            curvature=lambda: self._curvature(at),
            shares=at.shares,
        )

    def slope_along(
        self, problem: Problem, theta: Vector, step: Vector
    ) -> Callable[[float], float]:
        """``t ↦ d/dt`` of the value at ``theta + t · step``, without rows."""
        margin, change = self.sign * (self.rows @ theta), self.sign * (self.rows @ step)
        weight = self._of_rows(self.weight)

        def slope(t: float) -> float:
            at = self._minima(problem.loss, margin + t * change)
            return -float(np.sum(weight * at.shares * change))

        return slope

    def _curvature(self, at: _Minima) -> Curvature:
        is_active = at.shares > 0.0
        n_active = np.add.reduceat(is_active.astype(np.int64), self.ptr[:-1])
        several = n_active > 1
        # The two parts of a term of one active row are one.
        weight = np.broadcast_to(self.weight, len(several)) / self.T
        of_term = np.where(several, weight, weight * (1.0 - at.stiffness))
        row_weight = self._of_rows(of_term) * is_active
        mixed: NDArray[np.int64] = np.flatnonzero(is_active & np.repeat(several, np.diff(self.ptr)))
        size = n_active[several]
        means = sp.csr_array(
            (np.repeat(1.0 / size, size), np.arange(len(mixed)), np.append(0, np.cumsum(size))),
            shape=(len(size), len(mixed)),
        )
        beta = 1.0 - np.sqrt(np.maximum(1.0 - size * at.stiffness[several], 0.0))
        rows = self.rows
        return Curvature(lambda: rows, row_weight, mixed, means, beta)
