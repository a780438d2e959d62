"""Provides what a solver takes and returns: `Task`, its starting point, `Trace`, `Solution`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from scipy.optimize import minimize_scalar

from groupcm.errors import CertificateError
from groupcm.objective.problem import Problem
from groupcm.objective.terms import Terms
from groupcm.solvers.stop_rule import StopRule
from groupcm.sources.rows.solver_rows import SolverRows
from groupcm.utils.fitted_state import Array, Expected, Flag, ListOf, Number, Text
from groupcm.utils.progress import Step, announce, relative_gap
from groupcm.utils.state_check import Record
from groupcm.utils.typing import Vector

__all__ = [
    "Budget",
    "Solution",
    "Stop",
    "Task",
    "Trace",
    "WarmStart",
    "mean_difference",
    "mean_weights",
]

Stop = Literal["converged", "stalled", "passes", "work", "time", "interrupted", "rounding"]

# What a look at some rows costs in addition to the rows themselves, in rows; and how many rows may
# always be looked at, however few there are.
_CALL_ROWS = 12_000
_FEWEST_ROWS = 4e7
# A lower bound may exceed the objective by these shares of the objective and of the weights of
# all terms, which is what rounding of both explains.
_ROUNDING = 1e-9
_ROUNDING_OF_LOSSES = 1e-12
# As many rows of each part are enough for the direction of a starting point.
_START_ROWS = 1_000


@dataclass
class Budget:
    """The work that a solver may do on the rows it keeps in memory, and until when.

    Work is counted in rows that are looked at; a pass over all rows is not part of it.

    Attributes
    ----------
    rows : float
        Rows that may be looked at.
    deadline : float
        When to stop, on the clock of `time.perf_counter`.
    spent : float
        Rows looked at so far.

    Examples
    --------
    >>> budget = Budget.for_passes(2, n_rows=50_000_000)
    >>> budget.spend(100_000_000)
    >>> budget.stop
    'work'
    """

    rows: float = np.inf
    deadline: float = np.inf
    spent: float = field(default=0.0, init=False)

    @classmethod
    def for_passes(cls, passes: float, n_rows: int, deadline: float = np.inf) -> Budget:
        """Return a budget of what so many passes over all rows cost."""
        return cls(max(passes * n_rows, _FEWEST_ROWS), deadline)

    def spend(self, rows: float) -> None:
        """Count one look at some rows."""
        self.spent += rows + _CALL_ROWS

    @property
    def stop(self) -> Literal["work", "time"] | None:
        """Why to stop, if at all."""
        if self.spent >= self.rows:
            return "work"
        return "time" if time.perf_counter() >= self.deadline else None

    def share(self, n: int) -> None:
        """Leave ``1 / n`` of the budget, where a fit solves ``n`` problems."""
        self.rows /= n


@dataclass
class WarmStart:
    """What a solver leaves for the next task on the same rows, or on a part of them."""

    state: Any = None


@dataclass(frozen=True)
class Task:
    """A problem, its terms, where the rows are, and when to stop.

    Tasks on parts of the same rows share one budget. A solver that can begin from the state of
    another solve finds it in ``warm``, and leaves its own there. Where the terms are only
    a part of those of a whole problem, ``constant`` is the best intercept of that one and the
    objective there.
    """

    problem: Problem
    terms: list[Terms]
    rows: SolverRows
    tol: float
    max_passes: float
    seed: int = 0
    budget: Budget = field(default_factory=Budget)
    warm: WarmStart = field(default_factory=WarmStart)
    constant: tuple[float, float] | None = None

    @property
    def n_rows(self) -> int:
        """Rows that take part."""
        return sum(terms.n_rows for terms in self.terms)

    @property
    def total_weight(self) -> float:
        """The weights of all terms."""
        return sum(terms.total_weight for terms in self.terms)

    def best_constant(self) -> tuple[float, float]:
        """Return the intercept that is best for ``w = 0``, and the objective there."""
        if self.constant is not None:
            return self.constant
        weight = {
            sign: sum(terms.total_weight for terms in self.terms if terms.sign == sign)
            for sign in (1, -1)
        }
        return self.problem.best_constant(weight[1], weight[-1])

    @cached_property
    def stop_rule(self) -> StopRule:
        """When the bracket around the optimum is narrow enough."""
        return StopRule(self.tol, self.best_constant()[1])


def mean_difference(task: Task) -> Vector:
    """Return a point to start from along the difference of the class means.

    At ``w = 0`` every candidate ties.
    The margins of the means are ±1, or less where the penalty would make that worse than
    ``w = 0``.
    """
    w, middle = mean_weights(task)
    w *= _best_margin(task, w)
    return np.append(w, -w @ middle)


def mean_weights(task: Task) -> tuple[Vector, Vector]:
    """Return weights that put the class means at margins of ±1, and the point between the means.

    ``w = 2 m / ‖m‖²``, where ``m`` is the mean of the positive rows less that of the negative ones;
    of many rows a sample is enough.
    """
    rng = np.random.default_rng(task.seed)
    # Only sample_weight gives negative terms different weights.
    is_weighted = any(isinstance(t.weight, np.ndarray) for t in task.terms if t.sign < 0)
    means = {}
    for sign in (1, -1):
        parts = [terms for terms in task.terms if terms.sign == sign]
        chosen = [
            np.sort(rng.choice(part.n_rows, min(part.n_rows, _START_ROWS), False)) for part in parts
        ]
        rows = [part.rows(some) for part, some in zip(parts, chosen, strict=True)]
        taken = task.rows.take(np.concatenate(rows))
        if is_weighted:
            weights = [part.row_weights(some) for part, some in zip(parts, chosen, strict=True)]
            share = np.concatenate(weights)
            means[sign] = np.asarray((share / share.sum()) @ taken).ravel()[:-1]
        else:
            means[sign] = np.asarray(taken.mean(axis=0)).ravel()[:-1]
    difference = means[1] - means[-1]
    w = 2.0 * difference / max(float(difference @ difference), 1e-12)
    return w, (means[1] + means[-1]) / 2.0


def _best_margin(task: Task, w: Vector) -> float:
    """Return 1, or where that is too far the ``t`` that is best if all margins are ``t``."""

    def objective(t: float) -> float:
        loss = float(task.problem.loss.value(t))
        return task.problem.penalty_value(np.append(t * w, 0.0)) + task.total_weight * loss

    if objective(1.0) <= objective(0.0):
        return 1.0
    found: Any = minimize_scalar(lambda u: objective(10.0**u), bounds=(-20.0, 0.0))
    return 10.0 ** float(found.x)


@dataclass(frozen=True)
class Solution:
    """The best point found, and the proof of how good it is.

    Attributes
    ----------
    weights, intercept : the point, in the units of the penalty
        (standardised ones, or those of the features where they are not standardised)
    objective : float
        The paper's objective there, exactly.
    lower_bound : float
        A certified lower bound of the optimum.
    passes : float
        Rows read, in units of all rows.
    converged : bool
        Whether the gap is as small as the `StopRule` asks.
    steps : list of Step
        How it went.
    interrupted : bool
        Whether the user stopped it before.
    stop : str
        Why it ended: "converged"; "stalled", when no more progress was made; "passes", "work" or
        "time", when that was used up; "interrupted"; "rounding", when it converged, but the
        weights and the intercept for the raw features do not have enough digits for it.
        Empty in files of earlier versions.
    constant : float
        The objective of the best intercept without weights; infinite in files of earlier versions.
    """

    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        "weights": Array("f", "outputs"),
        "intercept": Number(),
        "objective": Number(low=0.0, finite=False),
        "lower_bound": Number(low=0.0),
        "passes": Number(low=0.0),
        "converged": Flag(),
        "interrupted": Flag(),
        "steps": ListOf(Record((Step,))),
        "stop": Text(("", *get_args(Stop))),
        "constant": Number(low=0.0, finite=False),
    }

    weights: Vector
    intercept: float
    objective: float
    lower_bound: float
    passes: float
    converged: bool
    steps: list[Step] = field(repr=False)
    interrupted: bool = False
    stop: Stop | Literal[""] = ""
    constant: float = np.inf

    @property
    def point(self) -> Vector:
        """Weights and intercept together."""
        return np.append(self.weights, self.intercept)

    @property
    def gap(self) -> float:
        """``(objective − lower_bound) / objective``."""
        return relative_gap(self.objective, self.lower_bound)

    @property
    def gap_of_gain(self) -> float:
        """The gap as a share of what any weights gain over an intercept alone.

        ``(objective − lower_bound) / (constant − lower_bound)``: at most this share of the gain is
        missing. 0 where weights gain nothing.
        """
        if self.constant == np.inf or StopRule(1.0, self.constant).gains_nothing(self.lower_bound):
            return 0.0
        return (self.objective - self.lower_bound) / (self.constant - self.lower_bound)


@dataclass
class Trace:
    """The bracket around the optimum as it closes.

    ``best`` is the point of the smallest objective so far, ``latest`` the one to look at next;
    ``first`` is the first point offered and its objective. Of a source that others read before,
    ``read_before`` is how much they read. ``out_of_passes`` is set where each look at rows in
    memory counts as a pass and no more are allowed.
    """

    task: Task
    latest: Vector
    upper: float = np.inf
    lower: float = 0.0
    steps: list[Step] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)
    silent: bool = False
    interrupted: bool = False
    out_of_passes: bool = False
    read_before: int = 0

    def __post_init__(self) -> None:
        self.best = self.latest
        self.latest_upper = np.inf
        self.first: tuple[Vector, float] | None = None

    @property
    def passes(self) -> float:
        return (self.task.rows.rows_read - self.read_before) / max(1, self.task.n_rows)

    @property
    def gap(self) -> float:
        """Relative gap; infinite before the first pass."""
        return relative_gap(self.upper, self.lower)

    @property
    def closed(self) -> bool:
        return self.would_close(self.upper)

    def would_close(self, upper: float) -> bool:
        """Return whether a point with this objective is within the tolerance."""
        return self.task.stop_rule.is_met(upper, self.lower)

    @property
    def exhausted(self) -> bool:
        return self.passes >= self.task.max_passes or self.task.budget.stop is not None

    def offer(self, theta: Vector, upper: float) -> None:
        """A point and its exact objective."""
        self.latest_upper = upper
        self.first = self.first or (theta, upper)
        if upper < self.upper:
            self.best, self.upper = theta, upper

    def raise_lower(self, lower: float) -> None:
        self.lower = max(self.lower, lower)

    def announce(self, working_rows: int) -> None:
        """Notify the listeners, if there is anything new."""
        if self.steps and (self.upper, self.lower) == (
            self.steps[-1].objective,
            self.steps[-1].lower_bound,
        ):
            return
        step = Step(
            passes=self.passes,
            objective=self.upper,
            lower_bound=self.lower,
            working_rows=working_rows,
            seconds=time.perf_counter() - self.began,
        )
        self.steps.append(step)
        if not self.silent:
            announce(step)

    @property
    def stop(self) -> Stop:
        """Why the solver ended here."""
        if self.closed:
            return "converged"
        if self.interrupted:
            return "interrupted"
        if self.out_of_passes or self.passes >= self.task.max_passes:
            return "passes"
        return self.task.budget.stop or "stalled"

    def solution(self) -> Solution:
        """Return the best point with its certificate, which is checked first.

        A fit that was stopped early may be worse than ``w = 0``, which needs no rows.
        """
        b, value = self.task.best_constant()
        if value < self.upper and (self.closed or self.upper < np.inf):
            self.best, self.upper = np.append(np.zeros(len(self.best) - 1), b), value
        allowed = _ROUNDING * self.upper + _ROUNDING_OF_LOSSES * self.task.total_weight
        if self.lower > self.upper + allowed:
            raise CertificateError(
                f"internal error: the lower bound {self.lower!r} exceeds the objective "
                f"{self.upper!r}, so this fit proves nothing; please report it with the data."
            )
        return Solution(
            weights=self.best[:-1].copy(),
            intercept=float(self.best[-1]),
            objective=float(self.upper),
            # Two bounds that meet may cross by rounding; the smaller of them is one, too.
            lower_bound=float(min(self.lower, self.upper)),
            passes=self.passes,
            converged=self.closed,
            steps=self.steps,
            interrupted=self.interrupted,
            stop=self.stop,
            constant=value,
        )
