"""The method of multipliers on a working set, for wide rows in memory.

Each round reads all rows once, keeps their winners, and minimises the augmented Lagrangian of the
maxima (`groupcm.objective.proximal`) over the rows kept,

::

    ρ Σ_j h(f_j w_j) + Σ_k c_k e_k(m_k(θ))

by Newton steps, whose systems are as small as there are active rows. The shares ``a'`` at the
minimiser are those of the next round. They are a feasible dual of the whole problem, and they
converge for any ``T``: the smaller, the quicker, and the more Newton steps a round takes. Best is a
``T`` at which the margins of a group differ by ``T a ≈ 0.1``. Rows that join have the share 0,
so that nothing starts again, and a task near one that was solved starts from its shares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from groupcm.objective.proximal import ProximalBlock, ProximalValue
from groupcm.objective.smoothed import Block, Rows
from groupcm.solvers import row_space
from groupcm.solvers.kept_rows import KeptRows
from groupcm.solvers.newton import Newton
from groupcm.solvers.objective import Evaluation, whole_objective
from groupcm.solvers.row_space import RowSpace
from groupcm.solvers.solution import Task, Trace, WarmStart
from groupcm.utils.typing import Index, Vector

__all__ = ["State", "applies", "begin_in_row_space", "bracket", "is_large_enough", "start"]

# Fewer features than this are quicker by Newton's method on soft maxima.
_WIDE = 100
# Of each group near the margin a few rows are kept and those that count alone all: up to so many
# values of all groups, and of the latter.
_MOST_VALUES, _MOST_VALUES_ALONE = 1 << 26, 1 << 24
# A sample of fewer groups for each feature is nearly separable: its solution is far from the whole.
_GROUPS_PER_FEATURE = 8
# By how much the margins of active rows differ where the multipliers are still wrong.
_MARGIN, _LEAST_MARGIN = 0.1, 0.01
_FIRST_T, _SMALLEST_T, _LARGEST_T = 100.0, 1e-4, 1e6
_LARGEST_CHANGE = 10.0
# A task near one that was solved begins at a T so many times larger: its margins are others.
_WARMER = 100.0
_MOST_STEPS = 30
# The share of the gap that the distance from the minimiser may have.
_INEXACT = 0.1
# So many rounds without a gap this much smaller end the method.
_PATIENCE, _PROGRESS = 8, 0.7
# The penalty is not smoothed.
_COLD = 1e-12


def applies(task: Task) -> bool:
    """Return whether the method can solve a task, and is the quicker one."""
    n_groups = sum(len(terms) for terms in task.terms if not terms.alone)
    alone = sum(terms.n_rows for terms in task.terms if terms.alone)
    n_features = _n_features(task)
    return (
        n_groups > 0
        and n_features >= _WIDE
        and len(task.problem.loss.pieces) > 0
        and not task.problem.penalty.makes_zeros
        and n_groups * n_features <= _MOST_VALUES
        and alone * n_features <= _MOST_VALUES_ALONE
    )


def is_large_enough(sample: Task) -> bool:
    """Return whether the solution on a sample is a start for the whole."""
    n_groups = sum(len(terms) for terms in sample.terms if not terms.alone)
    return n_groups >= _GROUPS_PER_FEATURE * _n_features(sample)


def _n_features(task: Task) -> int:
    return task.rows.take(slice(0, 0)).shape[1] - 1  # of a map, those that it gives


@dataclass
class _Part:
    """The rows kept of some terms, and their shares."""

    rows: Rows
    ptr: Index
    sign: int
    weight: float | Vector
    shares: Vector

    def block(self, T: float) -> ProximalBlock:
        return ProximalBlock(self.rows, self.ptr, self.sign, self.weight, self.shares, T)


@dataclass(frozen=True)
class State:
    """Where a solve ended: its point, its ``T``, and the rows with their shares.

    ``alone`` has row numbers and shares for each of the terms whose rows count alone; of few wide
    rows there are their coordinates.
    """

    theta: Vector
    T: float
    kept: list[KeptRows]
    alone: list[tuple[Index, Vector]]
    row_space: RowSpace | None = None

    def forget_rows(self) -> None:
        """Keep the numbers of the rows only; those of a next task are taken again."""
        for kept in self.kept:
            kept.rows = kept.rows[:0]


def start(task: Task, *, on_sample: bool = False) -> tuple[Vector, list[KeptRows]] | None:
    """Return the point and the rows that an earlier solve left for a task, if it left any.

    That solve was of a similar task or, ``on_sample``, of a sample of this one.
    """
    state = task.warm.state
    grouped = [terms for terms in task.terms if not terms.alone]
    if not isinstance(state, State) or len(state.kept) != len(grouped):
        return None
    kept = [rows.on(terms) for rows, terms in zip(state.kept, grouped, strict=True)]
    if not on_sample:
        task.warm.state = replace(state, T=min(_WARMER * state.T, _FIRST_T))
    return state.theta, kept


def begin_in_row_space(trace: Trace, kept: Sequence[KeptRows]) -> None:
    """Move to the solution in the space of few wide rows, and keep its dual.

    See `groupcm.solvers.row_space`.
    """
    task, state = trace.task, trace.task.warm.state
    if not row_space.applies(task):
        return
    known = state.row_space if isinstance(state, State) else None
    space = known if known is not None and known.is_of(task) else RowSpace.of(task)
    inside = replace(space.task(task), warm=WarmStart(state))
    inner = Trace(inside, space.inside(trace.latest), silent=True)
    kept_inside = [rows.moved(inside.rows) for rows in kept]
    bracket(inner, kept_inside)
    found = inside.warm.state
    trace.latest = trace.best = space.outside(inner.best)
    for rows, of_inside in zip(kept, kept_inside, strict=True):
        rows.adopt(of_inside)
    task.warm.state = replace(found, theta=trace.latest, kept=list(kept), row_space=space)


def bracket(trace: Trace, kept: Sequence[KeptRows]) -> None:
    """Close the bracket around the optimum of the trace's task, as far as progress is made."""
    task, state = trace.task, trace.task.warm.state
    alone = [terms for terms in task.terms if terms.alone]
    numbers = [terms.rows(np.arange(terms.n_rows)) for terms in alone]
    blocks = [list(task.rows.blocks(terms)) for terms in alone]
    whole_blocks = [block for of_terms in blocks for block in of_terms]
    T, before = _FIRST_T, [(number[:0], np.empty(0)) for number in numbers]
    if isinstance(state, State) and len(state.alone) == len(alone):
        T, before = state.T, state.alone
    always = [
        part
        for of_terms, number, known in zip(blocks, numbers, before, strict=True)
        for part in _alone(of_terms, _known_shares(number, *known))
    ]
    since, narrowest = 0, np.inf
    while True:
        whole = whole_objective(task, whole_blocks, trace.latest)
        trace.offer(trace.latest, whole.value)
        if trace.closed or trace.exhausted or since >= _PATIENCE:
            break
        for rows, found in zip(kept, whole.winners, strict=True):
            rows.keep(found)
        parts = always + [_grouped(rows) for rows in kept if len(rows)]
        inner = Newton(
            task.problem,
            [part.block(T) for part in parts],
            trace.latest,
            budget=task.budget,
            whole_steps=True,
        )
        here = _minimise(inner)
        trace.raise_lower(inner.lower)
        for part, value in zip(parts, here.values, strict=True):
            part.shares[:] = _shares(value)
        margin = max(_MARGIN * min(1.0, trace.gap) ** 0.25, _LEAST_MARGIN)
        T = _next_T(T, margin / max(1e-300, *(_largest(part) for part in parts)))
        trace.latest = here.theta
        gap = trace.upper - trace.lower
        since = 0 if gap < _PROGRESS * narrowest else since + 1
        narrowest = min(narrowest, gap)
        trace.announce(sum(len(part.shares) for part in parts))
    trace.announce(sum(len(rows) for rows in kept))
    ends = np.cumsum([len(number) for number in numbers])[:-1]
    shares = np.split(np.concatenate([np.empty(0), *(part.shares for part in always)]), ends)
    left = list(zip(numbers, shares, strict=True)) if alone else []
    known = state.row_space if isinstance(state, State) else None
    task.warm.state = State(trace.latest, T, list(kept), left, known)


def _alone(blocks: Sequence[Block], shares: Vector) -> Iterator[_Part]:
    """Yield the rows of blocks that count alone, with their shares."""
    for block in blocks:
        rows = block.load()
        n = rows.shape[0]
        yield _Part(rows, np.arange(n + 1), block.sign, block.weight, shares[:n].copy())
        shares = shares[n:]


def _known_shares(number: Index, known: Index, shares: Vector) -> Vector:
    """Return the shares of these rows, 0 where they are not known."""
    if len(known) == 0:
        return np.zeros(len(number))
    order = np.argsort(known)
    at = order[np.minimum(np.searchsorted(known, number, sorter=order), len(known) - 1)]
    return np.where(known[at] == number, shares[at], 0.0)


def _grouped(kept: KeptRows) -> _Part:
    ptr, weight = kept.terms_kept()
    return _Part(kept.rows, ptr, kept.terms.sign, weight, kept.shares)


def _next_T(T: float, wanted: float) -> float:
    wanted = float(np.clip(wanted, T / _LARGEST_CHANGE, T * _LARGEST_CHANGE))
    return float(np.clip(wanted, _SMALLEST_T, _LARGEST_T))


def _shares(value: Any) -> Vector:
    assert isinstance(value, ProximalValue)
    return value.shares


def _largest(part: _Part) -> float:
    return float(np.max(np.add.reduceat(part.shares, part.ptr[:-1])))


def _minimise(inner: Newton) -> Evaluation:
    """Take Newton steps until what is left of the gradient hardly widens the gap."""
    here = inner.evaluate(inner.best, _COLD)
    for _ in range(_MOST_STEPS):
        # Rows that have just joined widen the gap, however far the minimiser is.
        gap = min(here.exact - here.lower, _INEXACT * here.smooth)
        if inner.repair_cost(here) <= _INEXACT * gap:
            break
        there = inner.step(here, _COLD)
        if there is None:
            break
        here = there
    return here
