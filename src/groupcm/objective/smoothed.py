"""Provides `Block`, terms with their rows, and the smoothed objective on it.

::

    t_k = −T log Σ_i exp(−m_i / T),   m_i = y_k s_i            (soft minimum)
    value = Σ_k c_k L(t_k)
    α_i = −L'(t_k) p_i,   p_i = exp(−m_i / T) / Σ exp(−m / T)   (a feasible dual)
    Hessian = Σ_k c_k [ L''(t_k) g_k g_kᵀ + (A_k / T) (Σ_i p_i x_i x_iᵀ − g_k g_kᵀ) ]

with ``g_k = Σ_i p_i x_i``. As ``T → 0`` this is the problem itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add, sub
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from groupcm.kernels.maxima import share_out, soft_minima
from groupcm.objective.losses.base import Jet
from groupcm.objective.problem import DualSums, Problem
from groupcm.utils.typing import Vector

__all__ = [
    "Block",
    "BlockValue",
    "Curvature",
    "Factors",
    "Matrix",
    "Rows",
    "evaluate",
    "slope_along",
]

# Dense or CSR; SciPy's sparse arrays have no types a checker could follow.
Matrix = Any
Rows = Any

# A term whose winner has this share of the soft minimum has no curvature between rows.
_SETTLED = 1.0 - 1e-10
# Terms that bend less than this share of the most bent do not change a Newton step.
_NEGLIGIBLE = 1e-8


@dataclass(frozen=True)
class Block:
    """Terms of one sign with their rows.

    ``load()`` gives the rows, term ``k`` the ``ptr[k]``-th to ``ptr[k + 1]``-th
    of them; without ``ptr`` every row is a term. Loading may read the rows
    again each time, so that they need not stay in memory.
    """

    load: Callable[[], Rows]
    ptr: NDArray[np.int64] | None
    sign: int
    weight: float | Vector


@dataclass(frozen=True)
class Factors:
    """Rows ``P`` and ``N`` of ``PᵀP − NᵀN``, in pieces."""

    positive: list[Rows]
    negative: list[Rows]


@dataclass(frozen=True)
class Curvature:
    """``Σ_i a_i x_i x_iᵀ + Σ_k e_k g_k g_kᵀ``, the second sum over the mixed terms.

    ``g_k`` are the rows of ``average @ rows[mixed]``.
    """

    load: Callable[[], Rows]
    row_weight: Vector
    mixed: NDArray[np.int64]
    average: sp.csr_array | None
    mean_weight: Vector

    @property
    def n_factors(self) -> int:
        """How many rows `factors` has."""
        return int(np.count_nonzero(self.row_weight) + np.count_nonzero(self.mean_weight))

    def factors(self) -> Factors:
        """``P`` and ``N`` with ``PᵀP − NᵀN`` the sum itself."""
        rows = self.load()
        positive = _root_rows(rows, self.row_weight)
        if self.average is None:
            return Factors([positive], [])
        means = self.average @ rows[self.mixed]
        more, less = _root_rows(means, self.mean_weight), _root_rows(means, -self.mean_weight)
        return Factors([positive, more], [less])

    def matrix(self) -> NDArray[np.float64]:
        """Return the sum itself."""
        factors = self.factors()
        total = reduce(add, map(_gram, factors.positive))
        return reduce(sub, map(_gram, factors.negative), total)

    def diagonal(self) -> Vector:
        """About its diagonal: without the second sum, which is never positive by much."""
        rows = self.load()
        squares = rows * rows if isinstance(rows, np.ndarray) else rows.multiply(rows)
        return squares.T @ np.maximum(self.row_weight, 0.0)

    def product(self, u: Vector) -> Vector:
        """Return the sum times ``u``."""
        rows = self.load()
        along = rows @ u
        weight = self.row_weight * along
        if self.average is not None:
            weight[self.mixed] += self.average.T @ (
                self.mean_weight * (self.average @ along[self.mixed])
            )
        return rows.T @ weight


@dataclass(frozen=True)
class BlockValue:
    """The smoothed objective's share of one block, and the true one's."""

    n_rows: int
    smooth: float
    exact: float
    dual: DualSums
    curvature: Callable[[], Curvature]


@dataclass(frozen=True)
class _TermsAt:
    """Terms at given margins of their rows: minima, each row's share, and the smoothed loss."""

    soft: Vector
    hard: Vector
    share: Vector | None
    loss: Jet

    @property
    def A(self) -> Vector:
        return -self.loss.slope


def _terms_at(block: Block, problem: Problem, temperature: float, margin: Vector) -> _TermsAt:
    soft = hard = margin
    share = None
    if block.ptr is not None:
        soft, hard = np.empty((2, len(block.ptr) - 1))
        share = np.empty(len(margin))
        soft_minima(margin, block.ptr, temperature, soft, hard, share)
    return _TermsAt(soft, hard, share, problem.loss.smoothed(temperature).jet(soft))


def _to_rows(block: Block, of_term: Vector, share: Vector | None) -> Vector:
    """Return the share of each row in the number of its term."""
    if block.ptr is None or share is None:
        return of_term
    of_row = np.empty(len(share))
    share_out(of_term, block.ptr, share, of_row)
    return of_row


def evaluate(block: Block, problem: Problem, temperature: float, theta: Vector) -> BlockValue:
    """Compute the value, the dual sums and, on demand, the curvature of a block at ``theta``."""
    rows = block.load()
    at = _terms_at(block, problem, temperature, block.sign * (rows @ theta))
    mass, gain = block.weight * at.A, problem.loss.dual_gain(at.A)
    return BlockValue(
        n_rows=rows.shape[0],
        smooth=float(np.sum(block.weight * at.loss.value)),
        exact=float(np.sum(block.weight * problem.loss.value(at.hard))),
        dual=DualSums(
            rows.T @ _to_rows(block, mass, at.share),
            float(np.sum(block.weight * gain.linear)),
            float(np.sum(block.weight * gain.square)),
        ),
        curvature=lambda: _curvature(
            block, at, block.weight * at.loss.curvature, mass / temperature, temperature
        ),
    )


def slope_along(
    block: Block, problem: Problem, temperature: float, theta: Vector, step: Vector
) -> Callable[[float], float]:
    """``t ↦ d/dt`` of the block's smoothed loss at ``theta + t · step``, without rows."""
    rows = block.load()
    margin, change = block.sign * (rows @ theta), block.sign * (rows @ step)

    def slope(t: float) -> float:
        at = _terms_at(block, problem, temperature, margin + t * change)
        toward = change
        if block.ptr is not None:
            toward = np.add.reduceat(at.share * change, block.ptr[:-1])
        return -float(np.sum(block.weight * at.A * toward))

    return slope


def _curvature(
    block: Block, at: _TermsAt, bend: Vector, spread: Vector, temperature: float
) -> Curvature:
    """``bend_k = c L''`` along a term's mean row, ``spread_k = c A / T`` between its rows."""
    bend = np.where(bend > _NEGLIGIBLE * np.max(bend, initial=0.0), bend, 0.0)
    if block.ptr is None or at.share is None:
        return Curvature(block.load, bend, np.empty(0, dtype=np.int64), None, np.empty(0))
    # The winner's share is exp((soft − hard) / T).
    mixed = at.soft - at.hard < temperature * np.log(_SETTLED)
    row_weight = _to_rows(block, np.where(mixed, spread, bend), at.share)
    terms = np.flatnonzero(mixed)
    size = block.ptr[terms + 1] - block.ptr[terms]
    ptr = np.concatenate([[0], np.cumsum(size)])
    rows = np.repeat(block.ptr[terms] - ptr[:-1], size) + np.arange(ptr[-1])
    average = sp.csr_array(
        (at.share[rows], np.arange(len(rows)), ptr), shape=(len(terms), len(rows))
    )
    return Curvature(block.load, row_weight, rows, average, bend[terms] - spread[terms])


def _root_rows(rows: Rows, weight: Vector) -> Rows:
    """``√weight_i x_i`` for the rows of positive weight."""
    used = np.flatnonzero(weight > 0.0)
    chosen = rows if len(used) == len(weight) else rows[used]
    root = np.sqrt(weight[used])
    return chosen * root[:, None] if isinstance(rows, np.ndarray) else sp.diags_array(root) @ chosen


def _gram(factor: Rows) -> NDArray[np.float64]:
    # The same factor twice: BLAS computes one half and mirrors it.
    product = factor.T @ factor
    return product if isinstance(product, np.ndarray) else product.toarray()
