"""The smoothed objective summed over blocks: value, gradient, Hessian and both bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial, reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from scipy.sparse.linalg import LinearOperator, cg
from threadpoolctl import ThreadpoolController

from groupcm.parallel import n_threads, thread_map
from groupcm.problem import DualSums, Problem
from groupcm.smoothing import Block, BlockValue, Curvature, evaluate, slope_along

__all__ = ["Evaluation", "evaluate_blocks", "losses_alone", "slope_of_blocks"]

Vector = NDArray[np.float64]
Item = TypeVar("Item")
Result = TypeVar("Result")

# Up to this many variables the Hessian is formed; beyond it only multiplied with.
_DENSE_HESSIAN = 1100
_CG_TOL = 1e-3
_CG_STEPS = 250


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()


def _over_blocks(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Many blocks by our threads, each with one of BLAS; few by one of ours with all of BLAS."""
    if len(items) < 2 * n_threads():
        return [function(item) for item in items]
    with _threadpools().limit(limits=1, user_api="blas"):
        return thread_map(function, items)


@dataclass(frozen=True)
class Evaluation:
    """The objective at one point and temperature.

    Attributes
    ----------
    smooth, exact : float
        The smoothed objective and the true one, over the rows of the blocks.
    lower : float
        Certified lower bound from the dual that belongs to the slopes here.
    gradient : ndarray
        Of the smoothed objective.
    positive, negative : DualSums
        The dual that belongs to the slopes here.
    """

    theta: Vector
    smooth: float
    exact: float
    lower: float
    gradient: Vector
    positive: DualSums
    negative: DualSums
    penalty_curvature: Vector
    values: list[BlockValue]

    def newton_direction(self, gradient: Vector, radius: float) -> Vector:
        """``−(H + μI)⁻¹ gradient``, with μ = 0 where that is no longer than ``radius``."""
        if len(self.theta) <= _DENSE_HESSIAN:
            solve = partial(_direct_solve, self.hessian, -gradient)
        else:
            diagonal = reduce(add, (c.diagonal() for c in self._curvatures))
            diagonal = diagonal + self.penalty_curvature
            solve = partial(_iterative_solve, self._hessian_product, diagonal, -gradient)
        step = solve(0.0)
        if not np.max(np.abs(step)) <= radius:
            step = solve(float(np.linalg.norm(gradient)) / radius)
        return step

    @cached_property
    def hessian(self) -> Vector:
        parts = _over_blocks(lambda value: value.curvature().matrix(), self.values)
        return reduce(add, parts) + np.diag(self.penalty_curvature)

    @cached_property
    def _curvatures(self) -> list[Curvature]:
        return [value.curvature() for value in self.values]

    def _hessian_product(self, u: Vector) -> Vector:
        parts = _over_blocks(lambda curvature: curvature.product(u), self._curvatures)
        return reduce(add, parts) + self.penalty_curvature * u


def _direct_solve(hessian: Vector, target: Vector, damping: float) -> Vector:
    # NumPy factorises: SciPy brings a BLAS of its own, whose threads and those of NumPy's
    # products would wait for each other.
    scale = float(np.max(np.diagonal(hessian)))
    damping += 1e-14 * scale + 1e-300
    while damping <= 1e6 * (scale + 1.0):
        try:
            factor = np.linalg.cholesky(hessian + damping * np.eye(len(target)))
            solved = cho_solve((factor, True), target, check_finite=False)
            if np.all(np.isfinite(solved)):
                return solved
        except np.linalg.LinAlgError:
            pass
        damping *= 100.0
    return target


def _iterative_solve(
    product: Callable[[Vector], Vector], diagonal: Vector, target: Vector, damping: float
) -> Vector:
    """Conjugate gradients, preconditioned by the diagonal; a direction needs few digits."""
    damping += 1e-12 * float(np.max(diagonal)) + 1e-300
    operator: Any = LinearOperator(
        (len(target), len(target)),
        matvec=lambda u: product(u) + damping * u,  # pyright: ignore[reportCallIssue]
        dtype=np.float64,  # pyright: ignore[reportCallIssue]
    )
    inverse: Any = sp.diags_array(1.0 / (diagonal + damping))
    solved, _ = cg(operator, target, rtol=_CG_TOL, maxiter=_CG_STEPS, M=inverse)
    return solved if solved @ target > 0.0 else target


def evaluate_blocks(
    problem: Problem, blocks: Sequence[Block], temperature: float, theta: Vector
) -> Evaluation:
    """Sum the blocks, add the penalty, bound the optimum over the rows of the blocks."""
    values = _over_blocks(lambda block: evaluate(block, problem, temperature, theta), blocks)
    nothing = DualSums(np.zeros_like(theta), 0.0)
    duals = {
        sign: reduce(
            add, (v.dual for b, v in zip(blocks, values, strict=True) if b.sign == sign), nothing
        )
        for sign in (1, -1)
    }
    penalty, w = problem.penalty.smoothed(temperature), theta[:-1]
    return Evaluation(
        theta=theta,
        smooth=problem.rho * penalty.value(w) + sum(v.smooth for v in values),
        exact=problem.penalty_value(theta) + sum(v.exact for v in values),
        lower=problem.lower_bound(duals[1], duals[-1]),
        gradient=np.append(problem.rho * penalty.gradient(w), 0.0)
        - duals[1].moment
        + duals[-1].moment,
        positive=duals[1],
        negative=duals[-1],
        penalty_curvature=np.append(problem.rho * penalty.curvature(w), 0.0),
        values=values,
    )


def slope_of_blocks(
    problem: Problem, blocks: Sequence[Block], temperature: float, theta: Vector, step: Vector
) -> Callable[[float], float]:
    """``t ↦ d/dt`` of the smoothed objective at ``theta + t · step``; each call is cheap."""
    slopes = _over_blocks(
        lambda block: slope_along(block, problem, temperature, theta, step), blocks
    )
    penalty = problem.penalty.smoothed(temperature)

    def slope(t: float) -> float:
        of_penalty = problem.rho * float(penalty.gradient(theta[:-1] + t * step[:-1]) @ step[:-1])
        return of_penalty + sum(_over_blocks(lambda of_block: of_block(t), slopes))

    return slope


def losses_alone(problem: Problem, blocks: Sequence[Block], theta: Vector) -> list[float]:
    """The true loss of each block whose rows all count alone."""
    return _over_blocks(
        lambda block: float(
            np.sum(block.weight * problem.loss.value(block.sign * (block.load() @ theta)))
        ),
        blocks,
    )
