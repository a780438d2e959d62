"""Newton's method on a sequence of smoothed problems, until the certified gap is small.

At temperature ``T`` the maximum over a group is a log-sum-exp, the hinge has
a soft corner and the norm 1 a round bottom. A minimiser of that problem
carries a dual of the true one, feasible too, whose gap shrinks with
``T``; so each evaluation yields an upper and a lower bound at no extra cost.

The minimisers form a path ``θ(T)``. From one temperature to the next the
method follows its tangent, ``dθ/dT = −H⁻¹ ∂∇/∂T``, and then corrects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.optimize import root_scalar

from groupcm.objective.problem import Problem
from groupcm.solvers.objective import AnyBlock, Evaluation, evaluate_blocks, slope_of_blocks
from groupcm.solvers.solution import Budget
from groupcm.solvers.stop_rule import StopRule
from groupcm.utils.typing import Vector

__all__ = ["COLD", "TEPID", "WARM", "Newton"]


# Where to begin without, with a fair, and with a good starting point.
COLD = 0.1
TEPID = 0.03
WARM = 0.003
# The temperature is multiplied by the first; where the path bends, by more, up to the second.
_COOLING = 0.1
_GENTLEST_COOLING = 0.7
# Evaluations at one temperature that show that the path bends, or that it is straight again.
_BENT = 30
_STRAIGHT = 8
_COLDEST = 1e-10
_ARMIJO = 1e-4
# A step is whole when the slope at its end is at most this share of the one at its start.
_FLAT = 0.5
_LONGEST = 1e3
_FAR = 10.0
_NOWHERE = 1e-12
# The least curvature of a penalty where steps are whole, as a share of that of the square above it.
_LEAST_CURVATURE = 0.1
# Below this, a relative decrease drowns in rounding and the gradient decides.
_INVISIBLE = 1e-13
_STEPS_TO_THE_PATH = 10
# So many steps at one temperature, and again while they gain more than the gap may be.
_STEPS_AT_A_TIME = 40
# The share of the gap that the distance from the path may have.
_OFF_PATH = 0.1


@dataclass
class Newton:
    """Minimise over the rows of the blocks; the bracket closes as it goes.

    Attributes
    ----------
    best : ndarray
        The point of the smallest true objective, ``upper``.
    lower : float
        The largest lower bound.
    most_evaluations : float
        Stop after looking at the rows so often, however wide the gap.
    budget : Budget
        Stop when it is used up.
    evaluations : int
        How often the rows were looked at.
    whole_steps : bool
        Whether steps are never damped, however long: only as much of a step is taken as is best.
        Weights on which the penalty has no curvature get a little, or nothing would limit them.
    latest : ndarray
        The point that was looked at last; where the sums of some blocks are not exact at it, it
        is not among the best.
    """

    problem: Problem
    blocks: Sequence[AnyBlock]
    best: Vector
    upper: float = np.inf
    lower: float = -np.inf
    most_evaluations: float = np.inf
    budget: Budget = field(default_factory=Budget)
    whole_steps: bool = False
    evaluations: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.latest = self.best
        self._radius = _FAR * max(1.0, float(np.max(np.abs(self.best))))
        self._enough = 0.0

    def minimise(
        self,
        rule: StopRule,
        temperature: float = COLD,
        slack: float = np.inf,
        enough: float = 0.0,
    ) -> None:
        """Cool down until the gap is as small as ``rule`` asks, or ``enough``.

        Begins at a temperature whose error, at the starting point, is at most ``slack``:
        hotter would lead away from a point that is already better than that. Where the path
        is not near, it warms up until it is.
        """
        self._enough = enough
        here = self.evaluate(self.best, temperature)
        while here.smooth - here.exact > slack and _COOLING * temperature >= WARM:
            temperature *= _COOLING
            here = self.evaluate(self.best, temperature)
        here, temperature = self._find_path(here, temperature, rule)
        cooling = _COOLING
        while temperature >= _COLDEST:
            before = self.evaluations
            here = self._descend(here, temperature, rule)
            if self._closed(rule):
                break
            cooling = _next_cooling(cooling, self.evaluations - before)
            here = self._cool(here, temperature, cooling * temperature)
            temperature *= cooling

    def _find_path(
        self, here: Evaluation, temperature: float, rule: StopRule
    ) -> tuple[Evaluation, float]:
        """Get onto the path: at this temperature where that is quickly done, else at a hotter."""
        while temperature < COLD:
            here, _ = self._take_steps(here, temperature, rule, _STEPS_TO_THE_PATH)
            if self._closed(rule) or self._is_on_path(here):
                return here, temperature
            temperature = min(temperature / _COOLING, COLD)
            here = self.evaluate(here.theta, temperature)
        return self._descend(here, temperature, rule), temperature

    def _closed(self, rule: StopRule) -> bool:
        if self.evaluations >= self.most_evaluations or self.budget.stop is not None:
            return True
        return self.upper - self.lower <= self._enough or rule.is_met(self.upper, self.lower)

    def evaluate(self, theta: Vector, temperature: float) -> Evaluation:
        found = evaluate_blocks(self.problem, self.blocks, temperature, theta)
        if self.whole_steps:
            found = self._curved(found, temperature)
        self.evaluations += 1
        self.latest = theta
        self.budget.spend(found.n_rows)
        self.lower = max(self.lower, found.lower)
        if found.exact < self.upper:
            self.best, self.upper = theta, found.exact
        return found

    def _curved(self, found: Evaluation, temperature: float) -> Evaluation:
        """Return the same with a share of ``h'(w) / w`` as the least curvature of the penalty.

        With the whole of it, the square above a penalty such as Huber's, steps are too short.
        """
        slope = self.problem.smoothed_penalty(temperature, found.theta).gradient[:-1]
        size = np.maximum(np.abs(found.theta[:-1]), _NOWHERE)
        least = np.append(_LEAST_CURVATURE * np.abs(slope) / size, 0.0)
        return replace(found, penalty_curvature=np.maximum(found.penalty_curvature, least))

    def _is_on_path(self, here: Evaluation) -> bool:
        """Return whether the gap is mostly the temperature's."""
        return self.repair_cost(here) <= _OFF_PATH * (here.exact - here.lower)

    def _descend(self, here: Evaluation, temperature: float, rule: StopRule) -> Evaluation:
        """Newton steps at one temperature, until the point is on the path.

        Cooling down earlier would miss it: the colder, the narrower the path.
        """
        before, done = np.inf, False
        while not done and before - here.smooth > rule.allowed(self.upper, self.upper):
            before = here.smooth
            here, done = self._take_steps(here, temperature, rule, _STEPS_AT_A_TIME)
        return here

    def _take_steps(
        self, here: Evaluation, temperature: float, rule: StopRule, most: int
    ) -> tuple[Evaluation, bool]:
        """At most so many steps, and whether there is no more to do at this temperature."""
        for _ in range(most):
            if self._closed(rule) or self._is_on_path(here):
                return here, True
            there = self.step(here, temperature)
            if there is None:
                return here, True
            here = there
        return here, False

    def step(self, here: Evaluation, temperature: float) -> Evaluation | None:
        """One Newton step; where the whole of it does not do, as much of it as is best.

        Along a long step the quadratic model is of little use: beyond the radius where it
        helped last time the Hessian is damped.
        """
        radius = np.inf if self.whole_steps else self._radius
        step = here.newton_direction(here.gradient, radius)
        self.budget.spend(here.direction_rows)
        downhill = float(here.gradient @ step)
        there = self.evaluate(here.theta + step, temperature)
        if -downhill <= _INVISIBLE * here.smooth:
            closer = self.repair_cost(there) < 0.5 * self.repair_cost(here)
            return there if closer else None
        pays = there.smooth <= here.smooth + _ARMIJO * downhill
        if pays and abs(float(there.gradient @ step)) <= _FLAT * -downhill:
            self._radius *= 4.0
            return there
        length = self._best_length(here, step, temperature)
        self._radius = max(4.0 * length * float(np.max(np.abs(step))), _NOWHERE)
        best = self.evaluate(here.theta + length * step, temperature)
        return best if best.smooth < here.smooth else None

    def _best_length(self, here: Evaluation, step: Vector, temperature: float) -> float:
        """Return the minimum of the line search along the step, where the slope is zero."""
        slope = slope_of_blocks(self.problem, self.blocks, temperature, here.theta, step)
        low, high = 0.0, 1.0
        if slope(low) >= 0.0:
            return 0.0
        while slope(high) < 0.0 and high < _LONGEST:
            low, high = high, 4.0 * high
        if high >= _LONGEST:
            return low
        found: Any = root_scalar(slope, bracket=(low, high), method="brentq", rtol=1e-2, maxiter=50)
        self.budget.spend(found.function_calls * here.n_rows)
        return float(found.root)

    def _cool(self, here: Evaluation, temperature: float, colder: float) -> Evaluation:
        """Follow the tangent of the path to the next temperature, where that helps."""
        nearby = 0.99 * temperature
        drift = self.evaluate(here.theta, nearby).gradient - here.gradient
        tangent = here.newton_direction(drift / (nearby - temperature), np.inf)
        stay = self.evaluate(here.theta, colder)
        moved = self.evaluate(here.theta + (colder - temperature) * tangent, colder)
        return moved if moved.smooth < stay.smooth else stay

    def repair_cost(self, here: Evaluation) -> float:
        """About what the remaining gradient costs when the dual is made feasible.

        Balancing the two sides moves ``v`` too; away from ``ρ ∇h(w)`` it costs by the
        conjugate's slope and curvature, beyond the box everything must shrink.
        """
        penalty, rho, units = self.problem.penalty, self.problem.rho, self.problem.units
        heavier = max(here.positive, here.negative, key=lambda dual: dual.mass)
        imbalance = abs(float(here.gradient[-1]))
        moved = np.abs(here.gradient[:-1])
        lost = 1.0
        if heavier.mass > 0.0:
            moved = moved + imbalance / heavier.mass * np.abs(heavier.moment[:-1])
            lost = heavier.linear / heavier.mass
        cost = imbalance * (lost + abs(float(here.theta[-1])))
        cost += float(moved @ np.abs(here.theta[:-1]))
        moved = moved / units
        cost += penalty.conjugate_factor * float(moved @ moved) / rho
        if np.isfinite(penalty.box):
            cost += here.smooth * float(np.max(moved)) / rho
        return cost


def _next_cooling(cooling: float, evaluations: int) -> float:
    """Gentler after a temperature that took many evaluations, bolder after one that took few."""
    if evaluations > _BENT:
        return min(cooling**0.5, _GENTLEST_COOLING)
    return max(cooling**1.5, _COOLING) if evaluations < _STRAIGHT else cooling
