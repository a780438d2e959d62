"""From a score to a probability: curves that never fall, fitted to scores and labels.

The score -inf, of a group without candidates, has the probability 0.

Conventions: ``s`` scores of ``m`` groups, ``m+`` of them positive and ``m−`` negative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from groupcm.utils.fitted_state import Array, Expected, Number, StateError
from groupcm.utils.typing import Vector

__all__ = [
    "Calibrator",
    "Isotonic",
    "Sigmoid",
    "fit_isotonic",
    "fit_sigmoid",
    "require_calibratable",
    "score_at_half",
]

# Between these scores a probability of one half is searched for, until they meet.
_FARTHEST = 1e9
_HALVINGS = 90


@dataclass(frozen=True)
class Sigmoid:
    """``p(s) = 1 / (1 + exp(−(slope · s + intercept)))``.

    Examples
    --------
    >>> Sigmoid(2.0, 0.0)(np.array([0.0]))
    array([0.5])
    """

    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        "slope": Number(low=0.0),
        "intercept": Number(),
    }

    slope: float
    intercept: float

    def __call__(self, scores: Vector) -> Vector:
        """Return the probability at each score."""
        return _none_without_score(scores, lambda s: expit(self.slope * s + self.intercept))


@dataclass(frozen=True)
class Isotonic:
    """Straight lines between the points (score, probability), level beyond the first and last.

    Examples
    --------
    >>> Isotonic(np.array([0.0, 1.0]), np.array([0.2, 0.6]))(np.array([-9.0, 0.5]))
    array([0.2, 0.4])
    """

    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        "score": Array("f", "knots", increasing=True),
        "probability": Array("f", "knots", low=-1e-9, high=1.0 + 1e-9),
    }

    score: Vector
    probability: Vector

    def __call__(self, scores: Vector) -> Vector:
        """Return the probability at each score."""
        return _none_without_score(scores, lambda s: np.interp(s, self.score, self.probability))

    def _check_state(self) -> None:
        """Check that there is a point, and that the curve never falls."""
        if len(self.score) == 0:
            raise StateError("a calibration curve needs one point or more")
        if (np.diff(self.probability) < -1e-9).any():
            raise StateError("the probabilities of a calibration curve must not fall")


Calibrator = Sigmoid | Isotonic


def fit_sigmoid(
    scores: Vector, positive: NDArray[np.bool_], weight: Vector | None = None
) -> Sigmoid:
    """Platt's curve: maximise the likelihood of targets drawn in a little from 0 and 1.

        min_{a ≥ 0, c}  Σ_k ω_k (log(1 + exp(z_k)) − t_k z_k),      z_k = a s_k + c,
        t_k = (m+ + 1) / (m+ + 2) for positives,  1 / (m− + 2) for negatives

    where ``ω_k`` is the weight of a group (1 by default) and ``m±`` are the sums of the weights.

    The targets are what keeps the slope finite where scores part the classes. Where scores
    say nothing, or the opposite (a = 0), the curve is level at the share of positives.

    Examples
    --------
    >>> scores = np.array([0.0, 1.0, 2.0, 3.0])
    >>> fit_sigmoid(scores, np.array([False, False, True, True]))(np.array([1.5])).round(6)
    array([0.5])
    """
    share = np.ones(len(scores)) if weight is None else weight
    whole, n_positive = float(share.sum()), float(share[positive].sum())
    n_negative = whole - n_positive
    share = share / whole
    level = Sigmoid(0.0, float(logit(n_positive / whole)))
    if np.ptp(scores) == 0.0:
        return level
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    centre = float(share @ scores)
    spread = float(np.sqrt(share @ (scores - centre) ** 2))
    rows = np.column_stack([(scores - centre) / spread, np.ones(len(scores))])

    def mean_loss(theta: Vector) -> tuple[float, Vector]:
        z = rows @ theta
        loss = share @ (np.logaddexp(0.0, z) - target * z)
        return float(loss), rows.T @ (share * (expit(z) - target))

    def curvature(theta: Vector) -> Vector:
        p = expit(rows @ theta)
        return (rows.T * (share * p * (1.0 - p))) @ rows

    start = np.array([0.0, level.intercept])
    found = minimize(
        mean_loss, start, jac=True, hess=curvature, method="trust-exact", options={"gtol": 1e-10}
    )
    slope, intercept = found.x
    if slope <= 0.0:
        return level
    return Sigmoid(float(slope / spread), float(intercept - slope * centre / spread))


def fit_isotonic(
    scores: Vector, positive: NDArray[np.bool_], weight: Vector | None = None
) -> Isotonic:
    """Return the curve that never falls and is nearest to the labels.

        min  Σ_k ω_k (p(s_k) − y_k)²   over p that never fall

    where ``ω_k`` is the weight of a group, 1 by default.

    Examples
    --------
    >>> scores = np.array([0.0, 1.0, 2.0, 3.0])
    >>> fit_isotonic(scores, np.array([False, True, False, True])).probability
    array([0. , 0.5, 0.5, 1. ])
    """
    curve = IsotonicRegression(out_of_bounds="clip")
    found = curve.fit(scores, positive.astype(np.float64), sample_weight=weight)
    return Isotonic(found.X_thresholds_, found.y_thresholds_)


def score_at_half(probability: Calibrator) -> float:
    """Return the least score whose probability is above one half; infinite where none is.

    Examples
    --------
    >>> round(score_at_half(Sigmoid(2.0, -1.0)), 6)
    0.5
    """
    low, high = -_FARTHEST, _FARTHEST
    if not probability(np.array([high]))[0] > 0.5:
        return np.inf
    if probability(np.array([low]))[0] > 0.5:
        return -np.inf
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        is_above = probability(np.array([middle]))[0] > 0.5
        low, high = (low, middle) if is_above else (middle, high)
    return high


def require_calibratable(scores: Vector, positive: NDArray[np.bool_]) -> None:
    """Raise one sentence where no curve can be fitted to these groups."""
    if positive.all() or not positive.any():
        found = "positive" if positive.all() else "negative"
        raise ValueError(
            f"every group held out is {found}; probabilities need positive and negative groups."
        )
    if not np.all(np.isfinite(scores)):
        raise ValueError(
            f"the score of group {int(np.argmax(~np.isfinite(scores)))} (in order of first "
            "appearance) is not finite; probabilities need finite scores."
        )


def _none_without_score(scores: Vector, curve: Callable[[Vector], Vector]) -> Vector:
    """Return the curve at each score, and 0 at -inf, the score of a group without candidates."""
    scores = np.asarray(scores, dtype=np.float64)
    is_scored = scores > -np.inf
    return np.where(is_scored, curve(np.where(is_scored, scores, 0.0)), 0.0)
