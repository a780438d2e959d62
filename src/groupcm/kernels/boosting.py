"""Derivatives of a group's loss ``‖(L(−s_i))_i‖_p`` by the scores of its candidates.

``L`` is the logistic loss (code 0) or the smoothed hinge (code 1).
"""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS

LOGISTIC, SMOOTHED_HINGE = 0, 1

# A candidate whose share in the slope of its group's loss is below this has none.
_NO_SHARE = 1e-4


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _value_and_slope(loss, delta, score):
    """``L(−score)`` and ``−L'(−score)``, which is between 0 and 1."""
    if loss == LOGISTIC:
        # Boosting libraries take derivatives in single precision, and its exponentials are quick.
        tail = float(np.exp(-abs(np.float32(score))))
        value = max(score, 0.0) + float(np.log1p(np.float32(tail)))
        return value, (1.0 if score >= 0.0 else tail) / (1.0 + tail)
    short = max(1.0 + score, 0.0)
    alpha = min(short / (2.0 * delta), 1.0)
    return alpha * (short - delta * alpha), alpha


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _curvature(loss, delta, slope):
    """``L''`` where ``−L'`` is this slope."""
    if loss == LOGISTIC:
        return slope * (1.0 - slope)
    return 0.5 / delta if 0.0 < slope < 1.0 else 0.0


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

    Group ``k`` holds ``rows[ptr[k]:ptr[k+1]]``, and no row is in two groups. An infinite power is
    the largest loss, that of the first of the largest scores. Where a row has a share, its
    derivatives are written; ``gradient`` and ``hessian`` are zero before. The curvature is the
    share of a candidate times that of its own loss, or times ``least_curvature``.
    Returns the value.
    """
    total = 0.0
    for k in range(len(ptr) - 1):
        lo, hi = ptr[k], ptr[k + 1]
        best = rows[lo]
        for j in range(lo + 1, hi):
            if scores[rows[j]] > scores[best]:
                best = rows[j]
        largest, slope = _value_and_slope(loss, delta, scores[best])
        if not largest > 0.0:  # nothing costs; or not a number, which shows in the total
            total += largest
            continue
        if power == np.inf:
            curvature = max(_curvature(loss, delta, slope), least_curvature)
            gradient[best] = weight[k] * slope
            hessian[best] = weight[k] * curvature
            total += weight[k] * largest
            continue
        least, exponent = -np.inf, np.float32(power - 1.0)
        if power > 1.0:
            least = _score_of(loss, delta, _NO_SHARE ** (1.0 / (power - 1.0)) * largest)
            least = min(least, scores[best])  # rounding may pass it
        powers = 0.0
        for j in range(lo, hi):
            row = rows[j]
            if scores[row] >= least:
                value, slope = _value_and_slope(loss, delta, scores[row])
                ratio = value / largest
                share = 1.0
                if power > 1.0:
                    share = float(np.exp(exponent * np.log(np.float32(ratio))))
                powers += share * ratio
                gradient[row], hessian[row] = slope, share
        norm = powers ** (1.0 / power)
        total += weight[k] * largest * norm
        scale = weight[k] / norm ** (power - 1.0)
        for j in range(lo, hi):
            row = rows[j]
            if scores[row] >= least:
                slope, share = gradient[row], scale * hessian[row]
                gradient[row] = share * slope
                hessian[row] = share * max(_curvature(loss, delta, slope), least_curvature)
    return total
