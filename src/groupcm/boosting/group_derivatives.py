"""Derivatives of a group's loss ``‖(L(−s_i))_i‖_p`` by the scores of its candidates.

In single precision, in which boosting libraries take derivatives and NumPy's exponentials are
many times quicker than one at a time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from groupcm.candidates import Index

__all__ = ["LOSSES", "derivatives_of_groups"]

# Of single precision, which its types do not tell.
Single = NDArray[np.floating]
# Of scores: L(−s), −L'(−s), and L'' where −L' is known.
Loss = tuple[Callable[[Single, float], tuple[Single, Single]], Callable[[Single, float], Single]]

# A candidate whose share in the slope of its group's loss is below this has none.
_NO_SHARE = 1e-4
# Of a ratio; single precision knows no larger one times a logarithm.
_LARGEST_EXPONENT = 1e30
# Rows at a time, so that what is computed of them stays in the cache.
_ROWS_AT_ONCE = 1 << 15


def _logistic(score: Single, _delta: float) -> tuple[Single, Single]:
    tail = np.exp(-np.abs(score))
    value = np.log1p(tail)
    value += np.maximum(score, 0.0)
    tail_or_one = np.where(score >= 0.0, np.float32(1.0), tail)
    tail += 1.0
    return value, tail_or_one / tail


def _curvature_of_logistic(slope: Single, _delta: float) -> Single:
    return slope * (1.0 - slope)


def _smoothed_hinge(score: Single, delta: float) -> tuple[Single, Single]:
    short = np.maximum(1.0 + score, 0.0)
    alpha = np.minimum(short / (2.0 * delta), 1.0)
    return alpha * (short - delta * alpha), alpha


def _curvature_of_smoothed_hinge(slope: Single, delta: float) -> Single:
    return np.where((slope > 0.0) & (slope < 1.0), np.float32(0.5 / delta), np.float32(0.0))


LOSSES: dict[str, Loss] = {
    "logistic": (_logistic, _curvature_of_logistic),
    "smoothed_hinge": (_smoothed_hinge, _curvature_of_smoothed_hinge),
}


def derivatives_of_groups(
    scores: NDArray[np.float64],
    rows: Index,
    ptr: Index,
    weight: NDArray[np.float64],
    *,
    loss: str,
    delta: float,
    power: float,
    least_curvature: float,
    gradient: NDArray[np.floating],
    hessian: NDArray[np.floating],
) -> float:
    """Value, slopes and curvatures of ``Σ_k weight_k ‖(L(−s_i))_{i in k}‖_power``.

    Group ``k`` holds ``rows[ptr[k]:ptr[k+1]]``, some rows at least, and no row is in two groups.
    The power is finite. The derivatives of all these rows are written. A curvature is the share
    of a candidate in the norm times that of its own loss, or times ``least_curvature``.
    Returns the value.
    """
    value_and_slope, curvature_of = LOSSES[loss]
    total, first = 0.0, 0
    while first < len(ptr) - 1:
        last = max(first + 1, int(np.searchsorted(ptr, ptr[first] + _ROWS_AT_ONCE, "right")) - 1)
        inside = rows[ptr[first] : ptr[last]]
        begin, sizes = ptr[first:last] - ptr[first], np.diff(ptr[first : last + 1])
        value, slope = value_and_slope(scores[inside].astype(np.float32), delta)
        scale = weight[first:last]
        if power == 1.0:
            share = np.repeat(scale.astype(np.float32), sizes)
            total += float(scale @ np.add.reduceat(value, begin, dtype=np.float64))
        else:
            largest = np.maximum.reduceat(value, begin)
            share, norm = _shares(value, largest, begin, sizes, power)
            total += float(scale @ (largest * norm))
            share *= np.repeat((scale / norm ** (power - 1.0)).astype(np.float32), sizes)
        gradient[inside] = share * slope
        hessian[inside] = share * np.maximum(
            curvature_of(slope, delta), np.float32(least_curvature)
        )
        first = last
    return total


def _shares(
    value: Single, largest: Single, begin: Index, sizes: Index, power: float
) -> tuple[Single, NDArray[np.float64]]:
    """``(L_i / L_max)^{p−1}`` of every candidate, and ``‖L / L_max‖_p`` of every group."""
    # Where nothing costs, nobody has a share.
    of_row = np.repeat(np.where(largest > 0.0, largest, np.float32(np.inf)), sizes)
    ratio = value / of_row
    with np.errstate(divide="ignore"):
        share = np.log(ratio)
    share *= np.float32(min(power - 1.0, _LARGEST_EXPONENT))
    np.exp(share, out=share)
    share[share < _NO_SHARE] = 0.0
    powers = np.add.reduceat(share * ratio, begin, dtype=np.float64)
    return share, np.where(largest > 0.0, powers, 1.0) ** (1.0 / power)
