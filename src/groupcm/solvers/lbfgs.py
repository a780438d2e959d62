"""The paper's solver: limited-memory quasi-Newton with Armijo line search on the subgradient.

Each evaluation is one pass over all rows: the winner of each group gives the
group's loss and a subgradient. The same slopes give a feasible dual, whose
running mean is the lower bound; without a working set it is looser than that
of `groupcm.solvers.working_set`, but as rigorous.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from groupcm.objective.problem import DualSums
from groupcm.objective.smoothed import Block
from groupcm.solvers.objective import Evaluation, evaluate_blocks
from groupcm.solvers.solution import Solution, Task, Trace, mean_difference
from groupcm.utils.typing import Vector

__all__ = ["solve"]


_MEMORY = 10
_ARMIJO = 1e-4
_SHORTEST_STEP = 1e-10
# So cold that the smoothed objective is the true one and its gradient a subgradient.
_FROZEN = 1e-12
# Of the running mean of the duals, the weight of the newest.
_NEWEST = 0.1
# Give up after so many steps that changed nothing.
_STALLED = 20


def solve(task: Task, start: Vector | None = None) -> Solution:
    """Minimise to the task's tolerance, until it stalls, or until its passes are used up.

    An interrupt after the first pass ends it with the best point so far.
    """
    trace = Trace(task, mean_difference(task) if start is None else start)
    try:
        _minimise(trace)
    except KeyboardInterrupt:
        if not np.isfinite(trace.upper):
            raise
        trace.interrupted = True
    return trace.solution()


def _minimise(trace: Trace) -> None:
    task = trace.task
    alone = [block for terms in task.terms if terms.alone for block in task.rows.blocks(terms)]
    here = _evaluate(trace, alone, trace.latest)
    memory = _Memory()
    dual = (here.positive, here.negative)
    stalled = 0
    while not trace.closed and not trace.exhausted and stalled < _STALLED:
        there = _line_search(trace, alone, here, memory.direction(here.gradient))
        if there is None:
            if memory.is_empty:
                break
            memory = _Memory()
            continue
        memory.remember(there.theta - here.theta, here.gradient, there.gradient)
        least = 1e-3 * task.stop_rule.allowed(here.exact, here.exact)
        stalled = stalled + 1 if there.exact > here.exact - least else 0
        here = there
        dual = (_mix(dual[0], here.positive), _mix(dual[1], here.negative))
        trace.raise_lower(task.problem.lower_bound(*dual))
        trace.announce(working_rows=0)
    trace.announce(working_rows=0)


def _evaluate(trace: Trace, alone: list[Block], theta: Vector) -> Evaluation:
    """One pass: the true objective, a subgradient and its dual."""
    task = trace.task
    blocks = list(alone)
    for terms in task.terms:
        if not terms.alone:
            found = task.rows.worst(terms, theta)
            costly = np.flatnonzero(found.margin < task.problem.loss.zero_margin)
            rows = task.rows.take(found.row[costly])
            weight = terms.weight_of(costly)
            blocks.append(Block(lambda rows=rows: rows, None, terms.sign, weight))
    here = evaluate_blocks(task.problem, blocks, _FROZEN, theta)
    task.budget.spend(here.n_rows)
    trace.offer(theta, here.exact)
    trace.raise_lower(here.lower)
    return here


def _line_search(
    trace: Trace, alone: list[Block], here: Evaluation, direction: Vector
) -> Evaluation | None:
    promised = -float(here.gradient @ direction)
    length = 1.0
    while length >= _SHORTEST_STEP and promised > 0.0 and not trace.exhausted:
        there = _evaluate(trace, alone, here.theta + length * direction)
        if there.exact <= here.exact - _ARMIJO * length * promised:
            return there
        length *= 0.5
    return None


def _mix(old: DualSums, new: DualSums) -> DualSums:
    """Combine two duals convexly; the mean of the gains bounds the gain of the mean."""
    kept = 1.0 - _NEWEST
    return DualSums(
        kept * old.moment + _NEWEST * new.moment,
        kept * old.linear + _NEWEST * new.linear,
        kept * old.square + _NEWEST * new.square,
    )


class _Memory:
    """The last steps and what they did to the gradient: ``direction = −H ∇`` by two loops."""

    def __init__(self) -> None:
        self._pairs: deque[tuple[Vector, Vector, float]] = deque(maxlen=_MEMORY)

    @property
    def is_empty(self) -> bool:
        return not self._pairs

    def remember(self, step: Vector, before: Vector, after: Vector) -> None:
        """Keep the step unless the gradient changed along it by no more than its rounding."""
        change = after - before
        along = float(step @ change)
        size = np.linalg.norm(before) + np.linalg.norm(after)
        if along > 1e-12 * float(np.linalg.norm(step) * size):
            self._pairs.append((step, change, along))

    def direction(self, gradient: Vector) -> Vector:
        if self.is_empty:
            return -gradient / max(1.0, float(np.linalg.norm(gradient)))
        q = gradient.copy()
        shares = []
        for step, change, along in reversed(self._pairs):
            share = float(step @ q) / along
            q -= share * change
            shares.append(share)
        _, change, along = self._pairs[-1]
        q *= along / float(change @ change)
        for (step, change, along), share in zip(self._pairs, reversed(shares), strict=True):
            q += (share - float(change @ q) / along) * step
        return -q
