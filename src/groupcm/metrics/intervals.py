"""Confidence intervals of shares, and of metrics whose resamples reach 0 or 1.

Where positive and negative groups are separated without an error, so they are in every resample,
and the percentiles are "1 to 1" however few groups there are. Whenever percentiles reach 0 or 1, or
do not differ at all, the interval is therefore widened to bounds that do not collapse:

    area under the ROC curve    Newcombe's score interval: |θ̂ − θ| = t √V(θ), where
                                V(θ) = θ(1 − θ) [1 + N ((1 − θ)/(2 − θ) + θ/(1 + θ))] / (m n),
                                N = (m + n)/2 − 1
    a share of m (of n)         Wilson's interval
    average precision of 1      s · πs / (πs + (1 − π) q): the precision at a sensitivity s and a
                                false positive rate q, which are Wilson's bounds of m of m
                                positives found and 0 of n negatives raising an alarm

``m`` and ``n`` count the clusters, such as patients, that hold positive and negative groups: a
cluster counts as one case, as groups of one patient may all be wrong together. ``t`` is Student's
quantile for the smaller of the two, and π is the share of positive groups.

The score interval is method 5 of R. G. Newcombe (2006), "Confidence intervals for an effect size
measure based on the Mann–Whitney statistic. Part 2", Statistics in Medicine 25.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from groupcm.metrics.clusters import student_quantile
from groupcm.metrics.results import Interval

__all__ = [
    "Bounds",
    "Edges",
    "auc_bounds",
    "difference_at_edges",
    "ranked_alike",
    "rising_band",
    "share_interval",
    "widened_band",
    "wilson_bounds",
    "wilson_by_quantile",
]

Bounds = tuple[float, float]
_HALVINGS = 60


def wilson_bounds(
    share: ArrayLike, count: ArrayLike, *, level: float = 0.95
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Compute Wilson's interval of a share ``q`` of ``n`` independent cases.

        low, high = ( q + z²/2n ∓ z √(q(1 − q)/n + z²/4n²) ) / (1 + z²/n)

    where ``z`` is the normal quantile of ``level``.

    Parameters
    ----------
    share, count : array-like
        The share of hits and the number of cases, which need not be whole.
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
    """Compute Wilson's interval for a given quantile ``z``, such as Student's.

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
    """Compute the share of hits, with an interval that is valid for few cases and clusters too.

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
        The cluster of each case; cases of one cluster resemble one another.
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


@dataclass(frozen=True)
class Edges:
    """The bounds of a metric where its resamples reach 0 or 1.

    Attributes
    ----------
    n_positive, n_negative : int
        The numbers of clusters that hold positive groups, and negative ones.
    share : float
        The share of positive groups.
    bounds : callable(estimate, edges, t), or None
        The bounds that do not collapse; None for a metric without known bounds.
    """

    n_positive: int
    n_negative: int
    share: float
    bounds: Callable[[float, Edges, float], Bounds] | None

    def widened(self, found: Interval, level: float) -> Interval:
        """Widen an interval that reaches 0 or 1; one that excludes nothing is unknown.

        Examples
        --------
        >>> edges = Edges(18, 100, 0.15, lambda area, e, t: auc_bounds(area, 18, 100, t))
        >>> found = edges.widened(Interval(1.0, 1.0, 1.0), 0.95)
        >>> round(found.low, 3), found.high
        (0.925, 1.0)
        """
        estimate, low, high = found
        is_collapsed = low == high
        if self.bounds is None:
            return Interval(estimate, math.nan, math.nan) if is_collapsed else found
        if math.isnan(low) or not (is_collapsed or low <= 0.0 or high >= 1.0):
            return found
        t = student_quantile(level, min(self.n_positive, self.n_negative))
        least, most = self.bounds(estimate, self, t)
        if is_collapsed or high >= 1.0:
            low = float(np.minimum(low, least))
        if is_collapsed or low <= 0.0:
            high = float(np.maximum(high, most))
        return Interval(estimate, low, high).or_unknown()


def auc_bounds(area: float, n_positive: int, n_negative: int, t: float) -> Bounds:
    """Compute Newcombe's score interval of an area under the ROC curve.

        |θ̂ − θ| = t √( θ(1 − θ) [1 + N ((1 − θ)/(2 − θ) + θ/(1 + θ))] / (m n) )

    for N = (m + n)/2 − 1; see the module's docstring.

    Examples
    --------
    >>> low, high = auc_bounds(1.0, 18, 100, 1.96)
    >>> round(low, 3), high
    (0.935, 1.0)
    """
    return (
        _lower_root(area, n_positive, n_negative, t),
        1.0 - _lower_root(1.0 - area, n_positive, n_negative, t),
    )


def _lower_root(area: float, m: int, n: int, t: float) -> float:
    """Return the smallest θ from which the area is no more than t deviations."""
    if math.isinf(t):
        return 0.0
    more = (m + n) / 2.0 - 1.0
    low, high = 0.0, area
    for _ in range(_HALVINGS):
        theta = 0.5 * (low + high)
        spread = 1.0 + more * ((1.0 - theta) / (2.0 - theta) + theta / (1.0 + theta))
        is_beyond = area - theta > t * math.sqrt(theta * (1.0 - theta) * spread / (m * n))
        low, high = (theta, high) if is_beyond else (low, theta)
    return 0.5 * (low + high)


def widened_band(
    estimate: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    fpr: NDArray[np.float64],
    n_clusters: tuple[int, int],
    level: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Widen a band of sensitivities where it reaches 0 or 1, as `Edges` does for one.

    ``n_clusters`` counts those that hold positive groups, and negative ones. A lower bound is
    not pushed below the false positive rate itself, which guessing reaches.

    Examples
    --------
    >>> one, fpr = np.ones(2), np.array([0.1, 1.0])
    >>> low, high = widened_band(one, one, one, fpr, (18, 100), 0.95)
    >>> low.round(2).tolist(), high.tolist()
    ([0.8, 1.0], [1.0, 1.0])
    """
    t = student_quantile(level, min(n_clusters))
    if math.isinf(t):
        return low, high
    least, most = wilson_by_quantile(estimate, n_clusters[0], t)
    is_collapsed = low == high
    below = np.where(is_collapsed | (high >= 1.0), np.minimum(low, np.maximum(least, fpr)), low)
    above = np.where(is_collapsed | (low <= 0.0), np.maximum(high, most), high)
    return below, np.where(fpr >= 1.0, high, above)


def rising_band(
    low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Narrow a pointwise band of a curve that rises, by what its neighbours are known to be.

        low_j = max_{i <= j} low_i,    high_j = min_{i >= j} high_i

    A sensitivity at more false alarms is at least that at fewer, so that the bounds of one hold
    for the other. This matters where the bounds at 0 or 1 (`widened_band`) are wider than the
    resampled ones next to them.

    Examples
    --------
    >>> low, high = rising_band(np.array([0.5, 0.9, 0.8]), np.array([0.8, 0.7, 1.0]))
    >>> low.tolist(), high.tolist()
    ([0.5, 0.9, 0.9], [0.7, 0.7, 1.0])
    """
    return np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]


def ranked_alike(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Return whether two sets of scores order all groups in the same way.

    Examples
    --------
    >>> ranked_alike(np.array([1.0, 2.0, 2.0]), np.array([0.5, 9.0, 9.0]))
    True
    """
    places_a, places_b = (np.unique(scores, return_inverse=True)[1] for scores in (a, b))
    return np.array_equal(places_a, places_b)


def difference_at_edges(
    a: Interval, b: Interval, found: Interval, values: NDArray[np.float64], is_same: bool
) -> Interval:
    """Widen the interval of ``a − b`` where the resamples of a side do not differ.

        low  = min( found.low,  (a − b) − √((a − a.low)² + (b.high − b)²) )
        high = max( found.high, (a − b) + √((a.high − a)² + (b − b.low)²) )

    The resamples then show the uncertainty of the other side at most. The bounds are those of
    independent sides, which are too wide, rather than too narrow, for scores of the same groups.

    Parameters
    ----------
    a, b, found : Interval
        Of both sides, and of their difference by its resamples.
    values : ndarray of shape (n_resamples, 2)
    is_same : bool
        Whether both sides rank all groups alike, so that nothing can differ.

    Examples
    --------
    >>> one = Interval(1.0, 0.9, 1.0)
    >>> difference_at_edges(one, one, Interval(0.0, 0.0, 0.0), np.ones((5, 2)), False).low.round(3)
    np.float64(-0.1)
    """
    if is_same or not np.any(np.ptp(values, axis=0) == 0.0):
        return found
    below = np.hypot(a.estimate - a.low, b.high - b.estimate)
    above = np.hypot(a.high - a.estimate, b.estimate - b.low)
    low = np.minimum(found.low, found.estimate - below)
    high = np.maximum(found.high, found.estimate + above)
    return Interval(found.estimate, max(low, -1.0), min(high, 1.0)).or_unknown(-1.0)
