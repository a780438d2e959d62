"""Provides the objective on a task: smoothed over blocks with both bounds, and exact by a pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

import numpy as np

from groupcm.objective.problem import DualSums, Problem
from groupcm.objective.proximal import ProximalBlock
from groupcm.objective.smoothed import Block, BlockValue, evaluate, exact_loss, slope_along
from groupcm.objective.sums import PieceSums
from groupcm.solvers.newton_system import NewtonSystem, newton_system, over_blocks
from groupcm.solvers.solution import Task, Trace
from groupcm.sources.rows.solver_rows import Winners
from groupcm.utils.typing import Vector

__all__ = [
    "AloneBlock",
    "AnyBlock",
    "Evaluation",
    "WholeObjective",
    "evaluate_blocks",
    "losses_alone",
    "round_to_zero",
    "slope_of_blocks",
    "whole_objective",
]

AloneBlock = Block | PieceSums
AnyBlock = AloneBlock | ProximalBlock

# Weights are rounded to zero below these shares of the largest, the most zeros first.
_SHARES = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8)


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

    @property
    def n_rows(self) -> int:
        """Rows that were looked at."""
        return sum(value.n_rows for value in self.values)

    @property
    def direction_rows(self) -> float:
        """What the Newton directions so far cost, in looks at a row."""
        return self._system.cost

    def newton_direction(self, gradient: Vector, radius: float) -> Vector:
        """``−(H + μI)⁻¹ gradient``, with μ = 0 where that is no longer than ``radius``."""
        step = self._system.solve(-gradient, 0.0)
        if not np.max(np.abs(step)) <= radius:
            step = self._system.solve(-gradient, float(np.linalg.norm(gradient)) / radius)
        return step

    @cached_property
    def _system(self) -> NewtonSystem:
        curvatures = over_blocks(lambda value: value.curvature(), self.values)
        return newton_system(curvatures, self.penalty_curvature)


def evaluate_blocks(
    problem: Problem, blocks: Sequence[AnyBlock], temperature: float, theta: Vector
) -> Evaluation:
    """Sum the blocks, add the penalty, bound the optimum over the rows of the blocks.

    Where the sums of a block are not exact, ``exact`` is infinite and ``lower`` is minus infinity.
    """

    def value_of(block: AnyBlock) -> BlockValue:
        if isinstance(block, ProximalBlock):
            return block.evaluate(problem, theta)
        return evaluate(block, problem, temperature, theta)

    values = over_blocks(value_of, blocks)
    nothing = DualSums(np.zeros_like(theta), 0.0, 0.0)
    duals = {
        sign: reduce(
            add, (v.dual for b, v in zip(blocks, values, strict=True) if b.sign == sign), nothing
        )
        for sign in (1, -1)
    }
    penalty = problem.smoothed_penalty(temperature, theta)
    is_known = all(value.is_known for value in values)
    return Evaluation(
        theta=theta,
        smooth=penalty.value + sum(v.smooth for v in values),
        exact=problem.penalty_value(theta) + sum(v.exact for v in values),
        lower=problem.lower_bound(duals[1], duals[-1]) if is_known else -np.inf,
        gradient=penalty.gradient - duals[1].moment + duals[-1].moment,
        positive=duals[1],
        negative=duals[-1],
        penalty_curvature=penalty.curvature,
        values=values,
    )


def slope_of_blocks(
    problem: Problem, blocks: Sequence[AnyBlock], temperature: float, theta: Vector, step: Vector
) -> Callable[[float], float]:
    """``t ↦ d/dt`` of the smoothed objective at ``theta + t · step``; each call is cheap."""

    def slope_of(block: AnyBlock) -> Callable[[float], float]:
        if isinstance(block, ProximalBlock):
            return block.slope_along(problem, theta, step)
        return slope_along(block, problem, temperature, theta, step)

    slopes = over_blocks(slope_of, blocks)
    of_penalty = problem.penalty_slope(temperature, theta, step)

    def slope(t: float) -> float:
        return of_penalty(t) + sum(over_blocks(lambda of_block: of_block(t), slopes))

    return slope


def losses_alone(problem: Problem, blocks: Sequence[AloneBlock], theta: Vector) -> list[float]:
    """Return the true loss of each block whose rows all count alone."""
    return over_blocks(lambda block: exact_loss(block, problem, theta), blocks)


@dataclass(frozen=True)
class WholeObjective:
    """The paper's objective, and the winners of each of the task's grouped terms."""

    value: float
    winners: list[Winners]


def whole_objective(task: Task, alone: Sequence[AloneBlock], theta: Vector) -> WholeObjective:
    """``P(theta)``, the rows that count alone given as blocks."""
    grouped = [terms for terms in task.terms if not terms.alone]
    winners = [task.rows.worst(terms, theta) for terms in grouped]
    losses = losses_alone(task.problem, alone, theta)
    for terms, found in zip(grouped, winners, strict=True):
        losses.append(float(np.sum(terms.weight * task.problem.loss.value(found.margin))))
    return WholeObjective(task.problem.penalty_value(theta) + sum(losses), winners)


def round_to_zero(trace: Trace, value_at: Callable[[Vector], float]) -> None:
    """Replace the best point by one with zeros where that keeps the gap within the tolerance.

    ``value_at`` computes the objective at a point.

    Weights that the norm 1 wants at zero come out of a smoothed problem only near it. Where λ is so
    small that the best model is an intercept, all of them are near zero, and none is small compared
    with the largest; a penalty below the tolerance shows that.
    """
    size = np.abs(trace.best[:-1])
    penalty = trace.task.problem.penalty_value(trace.best)
    is_intercept = penalty <= trace.task.tol * trace.upper
    for share in (1.0, *_SHARES) if is_intercept else _SHARES:
        small = np.append((size > 0.0) & (size <= share * np.max(size)), False)
        if not np.any(small) or trace.exhausted:
            continue
        rounded = np.where(small, 0.0, trace.best)
        value = value_at(rounded)
        if trace.would_close(value):
            trace.best, trace.upper = rounded, value
            return
