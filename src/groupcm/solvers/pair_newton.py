"""Newton's method for the partial AUC on rows in memory, until the certified gap is small.

At temperature ``T`` the maximum over a group is a log-sum-exp and the choice of the largest
negative groups is soft (`groupcm.objective.partial_auc.SoftPairs`). With ``R`` the mean row of each
term, weighted by the shares of its rows and multiplied by its sign, and ``M`` the second derivative
of the pairs by their margins, the Hessian is::

    H = ρ h'' + Rᵀ M R + Σ_k (c_k / T) (Σ_i p_i x_i x_iᵀ − r_k r_kᵀ)

It is formed where it is small, and multiplied with vectors elsewhere. As in
`groupcm.solvers.newton`, the minimiser at each ``T`` carries a feasible dual, whose gap shrinks
with ``T``. A line search needs no rows: margins change linearly along a step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import root_scalar
from scipy.sparse.linalg import LinearOperator, cg

from groupcm.objective.partial_auc import PairWeights, PartialAuc, SoftPairs
from groupcm.objective.problem import DualSums, PenaltyAt
from groupcm.objective.smoothed import SumsCurvature
from groupcm.solvers.newton_system import newton_system
from groupcm.solvers.pair_rows import Side
from groupcm.solvers.solution import Budget
from groupcm.solvers.stop_rule import StopRule
from groupcm.utils.typing import Index, Vector

__all__ = ["COLD", "WARM", "PairNewton"]

# Where to begin without and with a good starting point, and where to stop.
COLD, WARM = 0.1, 0.003
_COLDEST = 1e-10
_COOLING = 0.1
_GENTLE_COOLING = 0.4
# Steps at one temperature at most, and so many that show that its path bends.
_MOST_STEPS = 60
_BENT = 15
# The share of the gap that the distance from the path may have.
_OFF_PATH = 0.1
_INVISIBLE = 1e-14
_ARMIJO = 1e-4
_FLAT = 0.5
_LONGEST = 1e3
# Up to so many features, and values of mean rows, the Hessian is formed.
_FORMED = 600
_FORMED_VALUES = 2e7
_CG_TOL = 1e-3
_CG_STEPS = 250
# A term whose winner has this share has no curvature between its rows.
_SETTLED = 1e-10


@dataclass(frozen=True)
class _Margins:
    """The margins of all rows at a point, and how they change along a step."""

    x: Vector
    y: Vector

    def moved(self, step: _Margins, t: float) -> _Margins:
        return _Margins(self.x + t * step.x, self.y + t * step.y)


class _At:
    """The objective at given margins: smoothed and exact, its dual and its derivatives."""

    def __init__(
        self, newton: PairNewton, theta: Vector, margins: _Margins, temperature: float
    ) -> None:
        self.newton, self.theta, self.margins = newton, theta, margins
        self.temperature = temperature
        positive, negative = newton.positive, newton.negative
        self.x, self._hard_x, self._share_x = positive.minima(margins.x, temperature)
        self.y, self._hard_y, self._share_y = negative.minima(margins.y, temperature)
        weights = (newton.weights, self.x, positive.weight, self.y, negative.weight)
        self.pairs = SoftPairs(newton.problem, *weights, temperature)
        self.penalty: PenaltyAt = newton.problem.smoothed_penalty(temperature, theta)
        self.smooth = self.penalty.value + self.pairs.value

    @cached_property
    def exact(self) -> float:
        """The objective itself, on the rows of the blocks."""
        problem, newton = self.newton.problem, self.newton
        loss = problem.pairs_value(
            newton.weights,
            self._hard_x,
            newton.positive.weight,
            self._hard_y,
            newton.negative.weight,
        )
        return problem.penalty_value(self.theta) + loss

    @cached_property
    def _row_masses(self) -> tuple[Vector, Vector]:
        newton = self.newton
        return (
            newton.positive.to_rows(self.pairs.positive_mass, self._share_x),
            newton.negative.to_rows(self.pairs.negative_mass, self._share_y),
        )

    @cached_property
    def duals(self) -> tuple[DualSums, DualSums]:
        """The dual that belongs to the slopes here."""
        on_positive, on_negative = self._row_masses
        width, newton = len(self.theta), self.newton
        return self.pairs.duals(
            newton.positive.total(on_positive, width), newton.negative.total(on_negative, width)
        )

    @cached_property
    def gradient(self) -> Vector:
        """Of the smoothed objective; the intercept has none."""
        positive, negative = self.duals
        gradient = self.penalty.gradient - positive.moment + negative.moment
        gradient[-1] = 0.0
        return gradient

    def lower(self) -> float:
        """Return the certified lower bound."""
        return self.newton.problem.lower_bound(*self.duals)

    def repair_cost(self) -> float:
        """About what the remaining gradient costs when the dual is made feasible."""
        problem = self.newton.problem
        moved = np.abs(self.gradient[:-1])
        cost = float(moved @ np.abs(self.theta[:-1]))
        moved = moved / problem.units
        cost += problem.penalty.conjugate_factor * float(moved @ moved) / problem.rho
        if np.isfinite(problem.penalty.box):
            cost += self.smooth * float(np.max(moved, initial=0.0)) / problem.rho
        return cost

    def slope(self, step: Vector, change: _Margins) -> float:
        """Return the derivative of the smoothed objective along a step, without rows."""
        on_positive, on_negative = self._row_masses
        along = float(self.penalty.gradient @ step)
        return along - float(on_positive @ change.x) - float(on_negative @ change.y)

    def direction(self, radius: float) -> Vector:
        """Return Newton's step, damped where it is longer than ``radius``."""
        solve = self._formed if self.newton.is_formed else self._iterative
        step = solve(0.0)
        if not np.max(np.abs(step)) <= radius:
            step = solve(float(np.linalg.norm(self.gradient)) / radius)
        return step

    @cached_property
    def _system(self) -> Any:
        newton, pairs = self.newton, self.pairs
        of_x = newton.positive.means(self._share_x)
        of_y = newton.negative.means(self._share_y)
        to_x, to_y = pairs.curvature(of_x, of_y)
        H = np.zeros((len(self.theta), len(self.theta)))
        H[:-1, :-1] = of_x.T @ to_x + of_y.T @ to_y
        for side, means, share, mass in self._grouped():
            terms = self._mixed(side, share, mass)
            rate = mass / self.temperature
            H[:-1, :-1] += side.spread(side.to_rows(rate, share), terms)
            mixed = means(of_x, of_y)[terms]
            H[:-1, :-1] -= (mixed * rate[terms, None]).T @ mixed
        return newton_system([SumsCurvature(0.5 * (H + H.T))], self.penalty.curvature)

    def _grouped(self) -> list[tuple[Side, Callable[[Vector, Vector], Vector], Vector, Vector]]:
        """The sides that have terms of several rows, with their shares and masses."""
        newton, pairs = self.newton, self.pairs
        found: list[Any] = []
        if self._share_x is not None:
            mass = pairs.positive_mass
            found.append((newton.positive, lambda x, _: x, self._share_x, mass))
        if self._share_y is not None:
            mass = pairs.negative_mass
            found.append((newton.negative, lambda _, y: y, self._share_y, mass))
        return found

    def _mixed(self, side: Side, share: Vector, mass: Vector) -> Index:
        """Return the terms that have weight and whose rows share it."""
        settled = side.to_terms(share, share)  # Σ share², 1 where a winner has all
        return np.flatnonzero((settled < 1.0 - _SETTLED) & (mass > 0.0))

    def _formed(self, damping: float) -> Vector:
        return self._without_intercept(self._system.solve(-self.gradient, damping))

    def _iterative(self, damping: float) -> Vector:
        newton = self.newton
        diagonal = self.penalty.curvature + damping + 1e-12

        def product(step: Vector) -> Vector:
            step = self._without_intercept(step)
            change = newton.margins(step)
            of_x = newton.positive.to_terms(change.x, self._share_x)
            of_y = newton.negative.to_terms(change.y, self._share_y)
            to_x, to_y = self.pairs.curvature(of_x, of_y)
            parts = [(newton.positive, to_x, self._share_x), (newton.negative, to_y, self._share_y)]
            rows = [side.to_rows(to, share) for side, to, share in parts]
            sides = {
                id(newton.positive): (0, change.x, of_x),
                id(newton.negative): (1, change.y, of_y),
            }
            for side, _, share, mass in self._grouped():
                which, of_row, of_term = sides[id(side)]
                rate = side.to_rows(mass / self.temperature, share)
                rows[which] = rows[which] + rate * of_row
                rows[which] -= side.to_rows(mass / self.temperature * of_term, share)
            total = newton.positive.total(rows[0], len(step))
            total = total - newton.negative.total(rows[1], len(step))
            newton.budget.spend(2.0 * newton.n_rows)
            return self._without_intercept(total) + diagonal * step

        n = len(self.theta)
        operator: Any = LinearOperator((n, n), matvec=product, dtype=np.float64)  # pyright: ignore
        solved, _ = cg(operator, -self.gradient, rtol=_CG_TOL, maxiter=_CG_STEPS)
        solved = self._without_intercept(solved)
        return solved if solved @ self.gradient < 0.0 else -self.gradient

    @staticmethod
    def _without_intercept(step: Vector) -> Vector:
        return np.append(step[:-1], 0.0)


@dataclass
class PairNewton:
    """Minimise over the rows of both sides; the bracket closes as it goes.

    Attributes
    ----------
    best : ndarray
        The point of the smallest true objective on these rows, ``upper``.
    lower : float
        The largest lower bound, which is one of the whole problem.
    """

    problem: PartialAuc
    weights: PairWeights
    positive: Side
    negative: Side
    best: Vector
    upper: float = np.inf
    lower: float = -np.inf
    most_evaluations: float = np.inf
    budget: Budget = field(default_factory=Budget)
    evaluations: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._radius = 10.0 * max(1.0, float(np.max(np.abs(self.best))))
        self._enough = 0.0
        n, d = self.positive.n_terms + self.negative.n_terms, len(self.best)
        self.is_formed = d <= _FORMED and n * d <= _FORMED_VALUES

    @property
    def n_rows(self) -> int:
        return self.positive.n_rows + self.negative.n_rows

    def margins(self, theta: Vector) -> _Margins:
        """Return the margins of all rows; the intercept takes no part."""
        theta = np.append(theta[:-1], 0.0)
        return _Margins(self.positive.margins(theta), self.negative.margins(theta))

    def minimise(
        self,
        rule: StopRule,
        temperature: float = COLD,
        slack: float = np.inf,
        enough: float = 0.0,
    ) -> None:
        """Cool down until the gap is as small as ``rule`` asks, or ``enough``.

        Begins at a temperature whose error, at the starting point, is at most ``slack``.
        """
        self._enough = enough
        here = self._look(self.best, self.margins(self.best), temperature)
        while here.smooth - here.exact > slack and _COOLING * temperature >= WARM:
            temperature *= _COOLING
            here = self._look(here.theta, here.margins, temperature)
        cooling = _COOLING
        while not self._closed(rule):
            before = self.evaluations
            here = self._descend(here, temperature, rule)
            temperature *= cooling
            if temperature < _COLDEST or self._closed(rule):
                break
            cooling = _GENTLE_COOLING if self.evaluations - before > _BENT else _COOLING
            here = self._look(here.theta, here.margins, temperature)

    def _closed(self, rule: StopRule) -> bool:
        if self.evaluations >= self.most_evaluations or self.budget.stop is not None:
            return True
        return self.upper - self.lower <= self._enough or rule.is_met(self.upper, self.lower)

    def _look(self, theta: Vector, margins: _Margins, temperature: float) -> _At:
        found = _At(self, theta, margins, temperature)
        self.evaluations += 1
        self.budget.spend(self.n_rows)
        self.lower = max(self.lower, found.lower())
        if found.exact < self.upper:
            self.best, self.upper = theta, found.exact
        return found

    def _descend(self, here: _At, temperature: float, rule: StopRule) -> _At:
        """Newton steps at one temperature, until they promise little."""
        for _ in range(_MOST_STEPS):
            if self._closed(rule):
                break
            if here.repair_cost() <= _OFF_PATH * (here.exact - here.lower()):
                break
            step = here.direction(self._radius)
            downhill = float(here.gradient @ step)
            there = self._step(here, step, downhill, temperature)
            if there is None:
                break
            here = there
        return here

    def _step(self, here: _At, step: Vector, downhill: float, temperature: float) -> _At | None:
        """Take a step, or as much of it as is best; None where no part of it helps."""
        change = self.margins(step)
        there = self._look(here.theta + step, here.margins.moved(change, 1.0), temperature)
        pays = there.smooth <= here.smooth + _ARMIJO * downhill
        if pays and abs(there.slope(step, change)) <= _FLAT * -downhill:
            self._radius *= 4.0
            return there
        if -downhill <= _INVISIBLE * here.smooth:
            return there if there.repair_cost() < 0.5 * here.repair_cost() else None
        length = self._best_length(here, step, change, temperature)
        self._radius = max(4.0 * length * float(np.max(np.abs(step))), 1e-12)
        moved = here.margins.moved(change, length)
        best = self._look(here.theta + length * step, moved, temperature)
        return best if best.smooth < here.smooth else None

    def _best_length(self, here: _At, step: Vector, change: _Margins, temperature: float) -> float:
        """Return where the slope along the step is zero."""

        def slope(t: float) -> float:
            moved = here.margins.moved(change, t)
            return _At(self, here.theta + t * step, moved, temperature).slope(step, change)

        low, high = 0.0, 1.0
        while slope(high) < 0.0 and high < _LONGEST:
            low, high = high, 4.0 * high
        if high >= _LONGEST or slope(low) >= 0.0:
            return low
        found: Any = root_scalar(slope, bracket=(low, high), method="brentq", rtol=1e-2, maxiter=50)
        self.budget.spend(found.function_calls * self.n_rows)
        return float(found.root)
