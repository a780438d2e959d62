"""Newton's linear system ``(D + Σ_blocks H_block + μI) s = t``, solved the cheapest way.

``D`` is the penalty's curvature, a diagonal. With few variables the matrix is formed. With
more variables than rows it is inverted in the space of the rows (Woodbury): with ``V`` the
rows of all factors and ``W = V D⁻½``,

    (D + VᵀV)⁻¹ = D⁻½ (I − Wᵀ (I + W Wᵀ)⁻¹ W) D⁻½

where the intercept, which has no penalty, is eliminated beforehand. With many of both, by
conjugate gradients. Blocks are worked on by the threads of this package or by those of BLAS, not
by both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from operator import add
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from scipy.sparse.linalg import LinearOperator, cg
from threadpoolctl import ThreadpoolController

from groupcm.objective.smoothed import Curvature, Rows, SumsCurvature
from groupcm.utils.parallel import thread_map
from groupcm.utils.typing import Vector

__all__ = ["NewtonSystem", "newton_system", "over_blocks", "row_products"]

AnyCurvature = Curvature | SumsCurvature
Item = TypeVar("Item")
Result = TypeVar("Result")

# Fewer blocks than this do not pay for several threads.
_FEW_BLOCKS = 4
# Up to this many variables, or rows, a matrix of that size is formed.
_FORMED = 3000
# Up to this many variables the matrix is formed however few the rows.
_FEW = 100
# What a row costs in a product of matrices, for each of its partners, in looks at a row.
_PRODUCT = 0.02
# Rows of a product of rows that are multiplied at once.
_ROWS_OF_A_PRODUCT = 256
_CG_TOL = 1e-3
_CG_STEPS = 250


class NewtonSystem(Protocol):
    """What Newton's method needs of a linear system."""

    @property
    def cost(self) -> float:
        """What it cost so far, in looks at a row."""
        ...

    def solve(self, target: Vector, damping: float) -> Vector: ...


def newton_system(curvatures: Sequence[AnyCurvature], diagonal: Vector) -> NewtonSystem:
    """Return the system with these curvatures, ``diagonal`` that of the penalty."""
    n_variables, n_rows = len(diagonal), sum(c.n_factors for c in curvatures)
    if n_variables <= max(_FEW, min(n_rows, _FORMED)):
        return _Direct(curvatures, diagonal)
    return (_RowSpace if n_rows <= _FORMED else _Iterative)(curvatures, diagonal)


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()


def over_blocks(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Return ``function`` of each block: many blocks by our threads, each with one of BLAS.

    The results come in the order of the blocks, so that sums do not depend on the threads.
    """
    if len(items) < _FEW_BLOCKS:
        return [function(item) for item in items]
    with _threadpools().limit(limits=1, user_api="blas"):
        return thread_map(function, items)


@dataclass(frozen=True)
class _Direct:
    curvatures: Sequence[AnyCurvature]
    diagonal: Vector

    @property
    def cost(self) -> float:
        n_rows = sum(c.n_factors for c in self.curvatures)
        return _PRODUCT * len(self.diagonal) * (n_rows + len(self.diagonal))

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        parts = over_blocks(lambda curvature: curvature.matrix(), self.curvatures)
        return reduce(add, parts) + np.diag(self.diagonal)

    def solve(self, target: Vector, damping: float) -> Vector:
        # NumPy factorises: SciPy brings a BLAS of its own, whose threads and those of NumPy's
        # products would wait for each other.
        # Rounding may leave a matrix that is nearly zero with a negative diagonal.
        scale = float(np.max(np.abs(np.diagonal(self.matrix))))
        damping += 1e-14 * scale + 1e-300
        while damping <= 1e6 * (scale + 1.0):
            try:
                factor = np.linalg.cholesky(self.matrix + damping * np.eye(len(target)))
                solved = cho_solve((factor, True), target, check_finite=False)
                if np.all(np.isfinite(solved)):
                    return solved
            except np.linalg.LinAlgError:
                pass
            damping *= 100.0
        return target


@dataclass(frozen=True)
class _RowSpace:
    curvatures: Sequence[AnyCurvature]
    diagonal: Vector

    @property
    def cost(self) -> float:
        return _PRODUCT * sum(c.n_factors for c in self.curvatures) ** 2

    @cached_property
    def _factors(self) -> Rows:
        """``V``."""
        parts = over_blocks(lambda curvature: curvature.factors(), self.curvatures)
        pieces = [rows for part in parts for rows in part]
        if isinstance(pieces[0], np.ndarray):
            return np.concatenate(pieces)
        return sp.csr_array(sp.vstack(pieces, format="csr"))

    def solve(self, target: Vector, damping: float) -> Vector:
        scale = float(np.max(self.diagonal))
        damping += 1e-12 * scale + 1e-300
        while damping <= 1e6 * (scale + 1.0):
            try:
                solved = self._solve_damped(target, damping)
                if np.all(np.isfinite(solved)) and solved @ target > 0.0:
                    return solved
            except np.linalg.LinAlgError:
                pass
            damping *= 1e4
        return target

    def _solve_damped(self, target: Vector, damping: float) -> Vector:
        V = self._factors
        root = 1.0 / np.sqrt(self.diagonal[:-1] + damping)
        rows, ones = V[:, :-1], np.asarray(V[:, [-1]].sum(axis=1)).ravel()
        W = rows * root if isinstance(rows, np.ndarray) else rows @ sp.diags_array(root)
        inner = row_products(W)
        inner[np.diag_indices_from(inner)] += 1.0
        factor = np.linalg.cholesky(inner)
        # Two systems at once: for the target, and for the column of the intercept.
        column = rows.T @ ones
        both = np.stack([target[:-1], column], axis=1) * root[:, None]
        both = both - W.T @ cho_solve((factor, True), W @ both, check_finite=False)
        both *= root[:, None]
        corner = float(ones @ ones) + damping - float(column @ both[:, 1])
        intercept = (float(target[-1]) - float(column @ both[:, 0])) / max(corner, damping)
        return np.append(both[:, 0] - intercept * both[:, 1], intercept)


def row_products(W: Rows) -> NDArray[np.float64]:
    """Return the lower half of ``W Wᵀ``, and at least that; the blocks do not depend on threads."""
    if not isinstance(W, np.ndarray):
        return (W @ W.T).toarray()
    out = np.empty((len(W), len(W)))
    cuts = range(0, len(W), _ROWS_OF_A_PRODUCT)

    def multiply(lo: int) -> None:
        hi = min(lo + _ROWS_OF_A_PRODUCT, len(W))
        np.matmul(W[lo:hi], W[:hi].T, out=out[lo:hi, :hi])

    thread_map(multiply, cuts[::-1])
    return out


@dataclass
class _Iterative:
    """A direction needs few digits; the diagonal makes the steps count."""

    curvatures: Sequence[AnyCurvature]
    diagonal: Vector
    cost: float = 0.0

    def solve(self, target: Vector, damping: float) -> Vector:
        preconditioner = reduce(add, (c.diagonal() for c in self.curvatures)) + self.diagonal
        damping += 1e-12 * float(np.max(preconditioner)) + 1e-300

        n_rows = sum(c.n_factors for c in self.curvatures)

        def product(u: Vector) -> Vector:
            self.cost += 2.0 * n_rows
            parts = over_blocks(lambda curvature: curvature.product(u), self.curvatures)
            return reduce(add, parts) + (self.diagonal + damping) * u

        operator: Any = LinearOperator(
            (len(target), len(target)),
            matvec=product,  # pyright: ignore[reportCallIssue]
            dtype=np.float64,  # pyright: ignore[reportCallIssue]
        )
        inverse: Any = sp.diags_array(1.0 / (preconditioner + damping))
        solved, _ = cg(operator, target, rtol=_CG_TOL, maxiter=_CG_STEPS, M=inverse)
        return solved if solved @ target > 0.0 else target
