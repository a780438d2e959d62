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
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from groupcm.kernels.maxima import share_out, soft_minima
from groupcm.objective.losses.base import Jet
from groupcm.objective.problem import DualSums, Problem
from groupcm.objective.sums import PieceSums
from groupcm.utils.typing import Vector

__all__ = [
    "Block",
    "BlockValue",
    "Curvature",
    "Matrix",
    "Rows",
    "SumsCurvature",
    "evaluate",
    "exact_loss",
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
class Curvature:
    """``Σ_i a_i x_i x_iᵀ`` and, over the mixed terms ``k``, ``Σ_i a_i (x_i − β_k g_k)(…)ᵀ``.

    ``g_k``, the rows of ``average @ rows[mixed]``, are weighted means with the weights ``a_i``; the
    mixed rows of a term follow one another, ``sizes`` are their numbers. With ``s_k = Σ_i a_i`` the
    sum over a term is ``Σ_i a_i x_i x_iᵀ − s_k (1 − (1 − β_k)²) g_k g_kᵀ``.
    """

    load: Callable[[], Rows]
    row_weight: Vector
    mixed: NDArray[np.int64]
    average: sp.csr_array | None
    beta: Vector

    @property
    def n_factors(self) -> int:
        """How many rows `factors` has."""
        return int(np.count_nonzero(self.row_weight))

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        assert self.average is not None
        return np.diff(self.average.indptr)

    def factors(self) -> list[Rows]:
        """Return rows ``V``, in pieces, with ``VᵀV`` the sum itself."""
        rows = self.load()
        if self.average is None:
            return [_root_rows(rows, self.row_weight)]
        alone = self.row_weight.copy()
        alone[self.mixed] = 0.0
        mixed = rows[self.mixed]
        means = self.average @ mixed
        if isinstance(mixed, np.ndarray):
            mixed -= np.repeat(self.beta[:, None] * means, self._sizes, axis=0)
        else:
            of_row = sp.diags_array(np.repeat(self.beta, self._sizes))
            spread = sp.csr_array(
                (
                    np.ones(len(self.mixed)),
                    np.repeat(np.arange(len(self.beta)), self._sizes),
                    np.arange(len(self.mixed) + 1),
                ),
                shape=(len(self.mixed), len(self.beta)),
            )
            mixed = sp.csr_array(mixed - of_row @ (spread @ means))
        return [_root_rows(rows, alone), _root_rows(mixed, self.row_weight[self.mixed])]

    def matrix(self) -> NDArray[np.float64]:
        """Return the sum itself."""
        return reduce(add, map(_gram, self.factors()))

    def diagonal(self) -> Vector:
        """About its diagonal: as if every ``β`` were zero."""
        rows = self.load()
        squares = rows * rows if isinstance(rows, np.ndarray) else rows.multiply(rows)
        return squares.T @ self.row_weight

    def product(self, u: Vector) -> Vector:
        """Return the sum times ``u``."""
        rows = self.load()
        along = rows @ u
        weight = self.row_weight * along
        if self.average is not None:
            of_mixed = self.row_weight[self.mixed]
            total = np.add.reduceat(of_mixed, self.average.indptr[:-1]) if len(of_mixed) else 0.0
            less = total * (1.0 - (1.0 - self.beta) ** 2) * (self.average @ along[self.mixed])
            weight[self.mixed] -= self.average.T @ less
        return rows.T @ weight


@dataclass(frozen=True)
class SumsCurvature:
    """A `Curvature` whose matrix is known."""

    formed: NDArray[np.float64]

    @property
    def n_factors(self) -> int:
        """How many rows `factors` has."""
        return len(self.formed) if self.formed.any() else 0

    def factors(self) -> list[Rows]:
        """Return the roots of its eigenvalues times its eigenvectors."""
        values, vectors = np.linalg.eigh(self.formed)
        return [_root_rows(vectors.T, values)]

    def matrix(self) -> NDArray[np.float64]:
        """Return the matrix."""
        return self.formed

    def diagonal(self) -> Vector:
        """Return its diagonal."""
        return np.diagonal(self.formed)

    def product(self, u: Vector) -> Vector:
        """Return the matrix times ``u``."""
        return self.formed @ u


@dataclass(frozen=True)
class BlockValue:
    """The smoothed objective's share of one block, and the true one's.

    Where ``is_known`` is false, the point is outside the ball that the sums of a block are exact
    in: ``exact`` is infinite, and ``dual`` bounds nothing.
    """

    n_rows: int
    smooth: float
    exact: float
    dual: DualSums
    curvature: Callable[[], Curvature | SumsCurvature]
    is_known: bool = True


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


def evaluate(
    block: Block | PieceSums, problem: Problem, temperature: float, theta: Vector
) -> BlockValue:
    """Compute the value, the dual sums and, on demand, the curvature of a block at ``theta``."""
    if isinstance(block, PieceSums):
        exact = block.value(theta)
        return BlockValue(
            n_rows=len(theta),
            smooth=block.smooth(theta),
            exact=exact,
            dual=block.dual(theta),
            curvature=lambda: SumsCurvature(block.curvature()),
            is_known=bool(np.isfinite(exact)),
        )
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


def exact_loss(block: Block | PieceSums, problem: Problem, theta: Vector) -> float:
    """Return the true loss of a block whose rows all count alone; infinite where not known."""
    if isinstance(block, PieceSums):
        return block.value(theta)
    margin = block.sign * (block.load() @ theta)
    return float(np.sum(block.weight * problem.loss.value(margin)))


def slope_along(
    block: Block | PieceSums, problem: Problem, temperature: float, theta: Vector, step: Vector
) -> Callable[[float], float]:
    """``t ↦ d/dt`` of the block's smoothed loss at ``theta + t · step``, without rows."""
    if isinstance(block, PieceSums):
        return block.slope_along(theta, step)
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
    # s (1 − (1 − β)²) = spread − bend for s = spread.
    ratio = np.divide(
        bend[terms], spread[terms], out=np.ones(len(terms)), where=spread[terms] > 0.0
    )
    beta = 1.0 - np.sqrt(ratio)
    return Curvature(block.load, row_weight, rows, average, beta)


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
