"""Whether what a model claims of itself is true, by an oracle that shares no code with it.

The objective is evaluated at the *returned* weights, in extended precision. Weights in the
user's units are rounded numbers, so a score of theirs is exact only up to

    e_i = 2 (d + 2) eps (|intercept| + sum_j |coef_j| (|x_ij| + |mean_j|))

which is far below everything else unless a mean is many orders of magnitude above the deviation.
Losses never increase with the margin, so the objective lies between its values at the margins
plus and minus e_i: that interval, and a relative rounding of 1e-9 for the sums, is all that a
claim may differ by.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from oracle import GroupProblem, rounding_of_variance, scaling_of

from fuzz.outcomes import Failed

__all__ = ["Claim", "Point", "check_claim", "columns_set_aside", "folded_scores"]

SUMS = 1e-9
_EPS = np.finfo(np.float64).eps
# Columns whose variance is this near to the rule's bound may go either way.
_NEAR = 4.0


@dataclass(frozen=True)
class Claim:
    """What a fitted model says of one class: its weights in the user's units, and the bracket."""

    coef: np.ndarray
    intercept: float
    objective: float
    lower_bound: float
    gap: float


@dataclass(frozen=True)
class Point:
    """A point in standardised units, and where it comes from."""

    name: str
    w: np.ndarray
    b: float


def columns_set_aside(X: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Which columns a model with these weights has rightly set aside as constant.

    Fails where a column that StandardScaler calls constant has a weight.
    """
    mean, deviation, _ = scaling_of(X)
    variance = deviation**2
    bound = rounding_of_variance(mean, variance, len(X))
    surely = variance <= bound / _NEAR
    unclear = ~surely & (variance <= bound * _NEAR)
    weighted = np.any(coef != 0.0, axis=0)
    if np.any(surely & weighted):
        j = int(np.flatnonzero(surely & weighted)[0])
        figures = f"column {j}: mean {float(mean[j])!r}, deviation {float(deviation[j]):.3g}"
        raise Failed("wrong_model", "a constant column has a weight", figures)
    return surely | (unclear & ~weighted)


def folded_scores(X: np.ndarray, coef: np.ndarray, intercept: Any) -> np.ndarray:
    """``X @ coef + intercept``, in extended precision."""
    return X.astype(np.longdouble) @ coef.astype(np.longdouble).T + np.longdouble(intercept)


def score_rounding(X: np.ndarray, mean: np.ndarray, coef: np.ndarray, intercept: Any) -> np.ndarray:
    """What a score of these weights may be off by: ``e_i`` of this module."""
    size = (np.abs(X) + np.abs(mean)) @ np.abs(coef).T + np.abs(intercept)
    return 2.0 * (X.shape[1] + 2) * _EPS * size


def check_claim(problem: GroupProblem, claim: Claim, points: Iterable[Point]) -> None:
    """Raise `Failed` where a claim is false."""
    low, high = _objective_of_returned(problem, claim)
    if not low * (1 - SUMS) <= claim.objective <= high * (1 + SUMS):
        figures = f"objective_ is {claim.objective!r}, of the weights it is [{low!r}, {high!r}]"
        raise Failed("wrong_model", "the objective of the returned weights differs", figures)
    if claim.lower_bound > claim.objective * (1 + SUMS):
        figures = f"lower_bound_ {claim.lower_bound!r} > objective_ {claim.objective!r}"
        raise Failed("false_bound", "the bound is above the objective", figures)
    expected = (claim.objective - claim.lower_bound) / max(claim.objective, 1e-300)
    if abs(claim.gap - expected) > 1e-9:
        figures = f"gap_ is {claim.gap!r}, of objective_ and lower_bound_ it is {expected!r}"
        raise Failed("false_bound", "the gap does not follow from the bracket", figures)
    for point in points:
        value = _objective_at(problem, point)
        if claim.lower_bound > value * (1 + SUMS):
            figures = f"lower_bound_ {claim.lower_bound!r} > {value!r} of {point.name}"
            raise Failed("false_bound", "the bound is above the objective of a point", figures)


def _objective_of_returned(problem: GroupProblem, claim: Claim) -> tuple[float, float]:
    """The least and the largest objective of the returned weights that rounding allows."""
    scores = folded_scores(problem.X, claim.coef, claim.intercept)
    rounding = score_rounding(problem.X, problem.mean, claim.coef, claim.intercept)
    w = claim.coef * problem.scale
    # The deviation of a column is known up to the rounding of its mean.
    n, eps = len(problem.X), _EPS
    off = (n * eps * problem.mean / problem.scale) ** 2
    off[problem.constant] = 0.0
    least, most = (problem.penalty(w * np.sqrt(np.maximum(1 + s * off, 0.0))) for s in (-1, 1))
    return (
        float(problem.rho * least + _losses(problem, scores, rounding)),
        float(problem.rho * most + _losses(problem, scores, -rounding)),
    )


def _objective_at(problem: GroupProblem, point: Point) -> float:
    """The largest objective of a point in standardised units that rounding of the rows allows."""
    coef = np.where(problem.constant, 0.0, point.w / problem.scale)
    w = np.where(problem.constant, 0.0, point.w)
    scores = folded_scores(problem.Z, w, point.b)
    rounding = score_rounding(problem.X, problem.mean, coef, point.b)
    return float(problem.rho * problem.penalty(w) + _losses(problem, scores, -rounding))


def _losses(problem: GroupProblem, scores: np.ndarray, help_each: np.ndarray) -> Any:
    """The sum of the losses where every margin is larger by its ``help_each``."""
    total = np.longdouble(0.0)
    for term in problem.terms:
        rows = list(term.rows)
        margins = term.sign * scores[rows] + help_each[rows]
        total += term.weight * problem.loss(margins).max()
    return total
