"""Derivatives of a group's loss ``‖(L(−s_i))_i‖_p`` by the scores of its candidates.

``L`` is the logistic loss (code 0) or the smoothed hinge (code 1).
"""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS

LOGISTIC, SMOOTHED_HINGE = 0, 1

# A candidate whose share in the slope of its group's loss is below this has none.
_NO_SHARE = 1e-6


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _value(loss, delta, score):
    """``L(−score)``."""
    if loss == LOGISTIC:
        return max(score, 0.0) + np.log1p(np.exp(-abs(score)))
    short = max(1.0 + score, 0.0)
    alpha = min(short / (2.0 * delta), 1.0)
    return alpha * (short - delta * alpha)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _slope(loss, delta, score):
    """``−L'(−score)``, between 0 and 1."""
    if loss == LOGISTIC:
        return 1.0 / (1.0 + np.exp(-score))
    return min(max(1.0 + score, 0.0) / (2.0 * delta), 1.0)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _curvature(loss, delta, score, slope):
    """``L''(−score)``."""
    if loss == LOGISTIC:
        return slope * (1.0 - slope)
    return 0.5 / delta if -1.0 < score <= 2.0 * delta - 1.0 else 0.0


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _score_of(loss, delta, value):
    """The score at which ``L(−score)`` has this value."""
    if loss == LOGISTIC:
        return value if value > 30.0 else np.log(np.expm1(value))
    return 2.0 * np.sqrt(delta * value) - 1.0 if value <= delta else value + delta - 1.0


@njit(nogil=True, cache=True, fastmath=FLAGS)
def group_derivatives(
    scores, rows, ptr, weight, power, loss, delta, least_curvature, gradient, hessian
):
    """Value, slopes and curvatures of ``Σ_k weight_k ‖(L(−s_i))_{i in k}‖_power``.

    Group ``k`` holds ``rows[ptr[k]:ptr[k+1]]``; an infinite power is the largest loss, that of the
    first of the largest scores. What is added to ``hessian`` is the share of a candidate times
    the curvature of its own loss, and at least its share times ``least_curvature``.
    Returns the value.
    """
    total = 0.0
    for k in range(len(ptr) - 1):
        lo, hi = ptr[k], ptr[k + 1]
        best = lo
        for j in range(lo + 1, hi):
            if scores[rows[j]] > scores[rows[best]]:
                best = j
        top = scores[rows[best]]
        largest = _value(loss, delta, top)
        if not largest > 0.0:  # nothing costs; or not a number, which shows in the total
            total += largest
            continue
        if power == np.inf:
            slope = _slope(loss, delta, top)
            curvature = max(_curvature(loss, delta, top, slope), least_curvature)
            gradient[rows[best]] += weight[k] * slope
            hessian[rows[best]] += weight[k] * curvature
            total += weight[k] * largest
            continue
        least = -np.inf
        if power > 1.0:
            least = _score_of(loss, delta, _NO_SHARE ** (1.0 / (power - 1.0)) * largest)
        powers = 0.0
        for j in range(lo, hi):
            score = scores[rows[j]]
            if score >= least:
                powers += (_value(loss, delta, score) / largest) ** power
        norm = powers ** (1.0 / power)
        total += weight[k] * largest * norm
        for j in range(lo, hi):
            score = scores[rows[j]]
            if score >= least:
                ratio = _value(loss, delta, score) / (largest * norm)
                share = weight[k] * ratio ** (power - 1.0)
                slope = _slope(loss, delta, score)
                gradient[rows[j]] += share * slope
                hessian[rows[j]] += share * max(
                    _curvature(loss, delta, score, slope), least_curvature
                )
    return total
