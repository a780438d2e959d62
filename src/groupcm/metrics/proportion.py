"""The interval of a share, also where what is counted comes in clusters such as patients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from groupcm.metrics.few_clusters import student_quantile
from groupcm.metrics.results import Interval

__all__ = ["share_interval", "wilson_bounds", "wilson_by_quantile"]


def wilson_bounds(
    share: ArrayLike, count: ArrayLike, *, level: float = 0.95
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Wilson's interval of a share ``q`` of ``n`` independent cases.

        low, high = ( q + z²/2n ∓ z √(q(1 − q)/n + z²/4n²) ) / (1 + z²/n)

    where ``z`` is the normal quantile of ``level``.

    Parameters
    ----------
    share, count : array-like
        The share of hits, and of how many; the count need not be whole.
    level : float, default=0.95

    Returns
    -------
    low, high : ndarray

    Examples
    --------
    >>> low, high = wilson_bounds([0.0, 0.5], [10, 10])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.237], [0.278, 0.763])
    """
    return wilson_by_quantile(share, count, float(ndtri(0.5 + level / 2.0)))


def wilson_by_quantile(
    share: ArrayLike, count: ArrayLike, z: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Compute Wilson's interval for a quantile ``z`` of the caller's, such as Student's.

    Examples
    --------
    >>> low, high = wilson_by_quantile(1.0, 18, 1.96)
    >>> float(low.round(3)), float(high)
    (0.824, 1.0)
    """
    q, n = np.asarray(share, dtype=np.float64), np.asarray(count, dtype=np.float64)
    centre = q + z**2 / (2.0 * n)
    reach = z * np.sqrt(q * (1.0 - q) / n + (z / (2.0 * n)) ** 2)
    scale = 1.0 + z**2 / n
    # Rounding must not put a share of 0 or 1 outside its own interval, nor that beyond them.
    low = np.clip((centre - reach) / scale, 0.0, q)
    return low, np.clip((centre + reach) / scale, q, 1.0)


def share_interval(hits: ArrayLike, clusters: ArrayLike, *, level: float = 0.95) -> Interval:
    """The share of hits, with an interval that holds for few cases and few clusters too.

        n_eff = (p (1 − p) + a) / (v + a / C),    a = 1 / 4C²
        v = max( p (1 − p) / n,  C/(C−1) Σ_c (Σ_{i∈c} (x_i − p))² / n² )

    Wilson's interval with the effective number of cases in place of n, and Student's quantile
    t_{C−1} in place of the normal one: p is the share, x_i is 0 or 1, and v estimates the
    variance of p from the C clusters. Where every x_i is the same nothing is known of v, and
    n_eff is C: each cluster counts as one case. The small a leads there without a jump, from
    shares that are nearly 0 or 1 or clusters that happen to agree. From one cluster nothing is
    known: the bounds are NaN.

    Parameters
    ----------
    hits : array-like of bool of shape (n,)
    clusters : array-like of shape (n,)
        The cluster of each; those of a cluster resemble one another.
    level : float, default=0.95

    Examples
    --------
    >>> all_found = share_interval([True] * 10, range(10))
    >>> all_found.estimate, round(all_found.low, 3)
    (1.0, 0.661)
    """
    x = np.asarray(hits, dtype=np.float64)
    _, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    p, n_clusters = float(x.mean()), int(cluster.max()) + 1
    if n_clusters == 1:
        return Interval(p, math.nan, math.nan)
    excess = np.bincount(cluster, x - p)
    between = n_clusters / (n_clusters - 1) * float(excess @ excess) / len(x) ** 2
    variance = max(between, p * (1.0 - p) / len(x))
    a = 0.25 / n_clusters**2
    n_eff = (p * (1.0 - p) + a) / (variance + a / n_clusters)
    low, high = wilson_by_quantile(p, n_eff, student_quantile(level, n_clusters))
    return Interval(p, float(low), float(high))
