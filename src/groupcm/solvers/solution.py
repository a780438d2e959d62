"""What a solver is given and what it returns."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from groupcm.candidates import Terms
from groupcm.model_state import Array, Expected, Flag, ListOf, Number, Record
from groupcm.problem import Problem
from groupcm.progress import Step, announce, relative_gap
from groupcm.sources.arrays import RowSource

__all__ = ["Solution", "Task", "Trace"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Task:
    """A problem, its terms, where the rows are, and when to stop."""

    problem: Problem
    terms: list[Terms]
    source: RowSource
    tol: float
    max_passes: float
    seed: int = 0

    @property
    def n_rows(self) -> int:
        """Rows that take part."""
        return sum(terms.n_rows for terms in self.terms)


@dataclass(frozen=True)
class Solution:
    """The best point found, and the proof of how good it is.

    Attributes
    ----------
    weights, intercept : the point, in standardised units
    objective : float
        The paper's objective there, exactly.
    lower_bound : float
        A certified lower bound of the optimum.
    passes : float
        Rows read, in units of all rows.
    converged : bool
        Whether the relative gap reached the tolerance.
    interrupted : bool
        Whether the user stopped it before.
    steps : list of Step
        How it went.
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
    }

    weights: Vector
    intercept: float
    objective: float
    lower_bound: float
    passes: float
    converged: bool
    steps: list[Step] = field(repr=False)
    interrupted: bool = False

    @property
    def point(self) -> Vector:
        """Weights and intercept together."""
        return np.append(self.weights, self.intercept)

    @property
    def gap(self) -> float:
        """``(objective − lower_bound) / objective``."""
        return relative_gap(self.objective, self.lower_bound)


@dataclass
class Trace:
    """The bracket around the optimum as it closes.

    ``best`` is the point of the smallest objective so far, ``latest`` the one to look at next;
    ``first`` is the first point offered and its objective. Of a source that others read before,
    ``read_before`` is how much they read.
    """

    task: Task
    latest: Vector
    upper: float = np.inf
    lower: float = 0.0
    steps: list[Step] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)
    silent: bool = False
    interrupted: bool = False
    read_before: int = 0

    def __post_init__(self) -> None:
        self.best = self.latest
        self.latest_upper = np.inf
        self.first: tuple[Vector, float] | None = None

    @property
    def passes(self) -> float:
        return (self.task.source.rows_read - self.read_before) / max(1, self.task.n_rows)

    @property
    def gap(self) -> float:
        """Relative gap; infinite before the first pass."""
        return relative_gap(self.upper, self.lower)

    @property
    def closed(self) -> bool:
        return self.would_close(self.upper)

    def would_close(self, upper: float) -> bool:
        """Whether a point with this objective is within the tolerance."""
        return relative_gap(upper, self.lower) <= self.task.tol

    @property
    def exhausted(self) -> bool:
        return self.passes >= self.task.max_passes

    def offer(self, theta: Vector, upper: float) -> None:
        """A point and its exact objective."""
        self.latest_upper = upper
        self.first = self.first or (theta, upper)
        if upper < self.upper:
            self.best, self.upper = theta, upper

    def raise_lower(self, lower: float) -> None:
        self.lower = max(self.lower, lower)

    def announce(self, working_rows: int) -> None:
        """Tell whoever listens, if there is anything new."""
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

    def solution(self) -> Solution:
        return Solution(
            weights=self.best[:-1].copy(),
            intercept=float(self.best[-1]),
            objective=float(self.upper),
            lower_bound=float(self.lower),
            passes=self.passes,
            converged=self.closed,
            steps=self.steps,
            interrupted=self.interrupted,
        )
