"""The true objective over all rows: one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.smoothing import Block
from groupcm.solvers.objective import losses_alone
from groupcm.solvers.solution import Task, Trace
from groupcm.sources.arrays import Winners

__all__ = ["WholeObjective", "round_to_zero", "whole_objective"]

Vector = NDArray[np.float64]

# Weights are rounded to zero below these shares of the largest, the most zeros first.
_SHARES = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8)


@dataclass(frozen=True)
class WholeObjective:
    """The paper's objective, and the winners of each of the task's grouped terms."""

    value: float
    winners: list[Winners]


def whole_objective(task: Task, alone: Sequence[Block], theta: Vector) -> WholeObjective:
    """``P(theta)``, the rows that count alone given as blocks."""
    grouped = [terms for terms in task.terms if not terms.alone]
    winners = [task.source.worst(terms, theta) for terms in grouped]
    losses = losses_alone(task.problem, alone, theta)
    for terms, found in zip(grouped, winners, strict=True):
        losses.append(float(np.sum(terms.weight * task.problem.loss.value(found.margin))))
    return WholeObjective(task.problem.penalty_value(theta) + sum(losses), winners)


def round_to_zero(trace: Trace, alone: Sequence[Block]) -> None:
    """Replace the best point by one with zeros where that keeps the gap within the tolerance.

    Weights that the norm 1 wants at zero come out of a smoothed problem only near it.
    """
    size = np.abs(trace.best[:-1])
    for share in _SHARES:
        small = np.append((size > 0.0) & (size <= share * np.max(size)), False)
        if not np.any(small) or trace.exhausted:
            continue
        rounded = np.where(small, 0.0, trace.best)
        value = whole_objective(trace.task, alone, rounded).value
        if trace.would_close(value):
            trace.best, trace.upper = rounded, value
            return
