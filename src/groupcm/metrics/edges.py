"""Bounds where resamples cannot tell how far a metric may be from its edge.

Where positive and negative groups are separated without an error, every resample is, too, and
the percentiles of the resamples say "1 to 1" however few groups there are. Whenever they reach 0
or 1, or do not differ at all, the interval is therefore widened to bounds that do not collapse:

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
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.metrics.curves import group_average_precision
from groupcm.metrics.few_clusters import student_quantile
from groupcm.metrics.operating import (
    sensitivity_at_specificity,
    sensitivity_at_threshold,
    specificity_at_threshold,
)
from groupcm.metrics.proportion import wilson_by_quantile
from groupcm.metrics.ranking import Ranking
from groupcm.metrics.results import Interval
from groupcm.metrics.roc import candidate_roc_auc, group_roc_auc

__all__ = ["Edges", "auc_bounds", "difference_at_edges", "edges_of", "ranked_alike", "widened_band"]

Bounds = tuple[float, float]

_HALVINGS = 60


@dataclass(frozen=True)
class Edges:
    """What is known of a metric where its resamples reach the edge.

    Attributes
    ----------
    n_positive, n_negative : int
        Clusters that hold positive groups, and negative ones.
    share : float
        The share of positive groups.
    bounds : callable(estimate, edges, t), or None
        The bounds that do not collapse; None for a metric of which nothing is known.
    """

    n_positive: int
    n_negative: int
    share: float
    bounds: Callable[[float, Edges, float], Bounds] | None

    def widened(self, found: Interval, level: float) -> Interval:
        """Widen an interval that reaches an edge; one that covers all that is possible is unknown.

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


def edges_of(function: Any, parameters: dict[str, Any], ranking: Ranking) -> Edges:
    """Return what is known of a metric at the edge, for groups counted by cluster.

    Examples
    --------
    >>> from groupcm.metrics.ranking import rank
    >>> groups = rank(np.array([True, False]), np.array([1.0, 2.0]), np.array([0, 1]), 2)
    >>> edges_of(group_roc_auc, {}, groups).n_positive
    1
    """
    bounds = _BOUNDS.get(function)
    if function is sensitivity_at_specificity:
        bounds = partial(_sensitivity, least=1.0 - parameters.get("specificity", 0.9))
    return Edges(
        int(np.count_nonzero(ranking.positives)),
        int(np.count_nonzero(ranking.negatives)),
        float(np.mean(ranking.is_positive)),
        bounds,
    )


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


def _area(estimate: float, edges: Edges, t: float) -> Bounds:
    return auc_bounds(estimate, edges.n_positive, edges.n_negative, t)


def _sensitivity(estimate: float, edges: Edges, t: float, *, least: float = 0.0) -> Bounds:
    low, high = wilson_by_quantile(estimate, edges.n_positive, t)
    return max(float(low), least), float(high)


def _specificity(estimate: float, edges: Edges, t: float) -> Bounds:
    low, high = wilson_by_quantile(estimate, edges.n_negative, t)
    return float(low), float(high)


def _precision(estimate: float, edges: Edges, t: float) -> Bounds:
    """Only a precision near 1 has a bound; in between nothing is known of a collapsed one."""
    found, _ = _sensitivity(1.0, edges, t)
    _, alarms = _specificity(0.0, edges, t)
    of_found, of_alarms = edges.share * found, (1.0 - edges.share) * alarms
    low = found * of_found / (of_found + of_alarms) if found else 0.0
    return (low, 1.0) if estimate >= low else (math.nan, math.nan)


_BOUNDS: dict[Any, Callable[[float, Edges, float], Bounds]] = {
    group_roc_auc: _area,
    candidate_roc_auc: _area,
    group_average_precision: _precision,
    sensitivity_at_threshold: _sensitivity,
    specificity_at_threshold: _specificity,
}


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
