"""Analytic variances of areas under ROC curves: DeLong, and Obuchowski for clusters.

    θ     = Σ_a Σ_b u_a v_b ψ(s_a, s_b),    ψ = 1 if s_a > s_b, ½ if equal, 0 otherwise
    P_c   = Σ_{a∈c} u_a (Σ_b v_b ψ(s_a, s_b) − θ)
    Q_c   = Σ_{b∈c} v_b (Σ_a u_a ψ(s_a, s_b) − θ)
    var θ = I₊/(I₊−1) Σ P_c² + I₋/(I₋−1) Σ Q_c² + 2 I/(I−1) Σ P_c Q_c

for positives a and negatives b with weights u and v that sum to one, and clusters c, such as
patients: I₊ of them hold positives, I₋ negatives, I are there in all. Equal weights give the
variance of N. A. Obuchowski (1997), "Nonparametric analysis of clustered ROC curve data",
Biometrics 53; where every cluster is a single case, it is that of DeLong et al. (1988), Biometrics
44. With the weights of lesions the same formula serves AFROC and wAFROC areas
(`groupcm.metrics.free_response`).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.metrics.clusters import (
    FewClustersWarning,
    read_clusters,
    student_quantile,
    two_sided_p_value,
    warn_of_few,
)
from groupcm.metrics.intervals import auc_bounds
from groupcm.metrics.results import Comparison, Interval
from groupcm.metrics.truth import read_truth
from groupcm.utils.typing import Vector

__all__ = [
    "PairedArea",
    "delong_interval",
    "delong_test",
    "obuchowski_interval",
    "obuchowski_test",
    "paired_area",
    "warn_of_few_clusters",
]


@dataclass(frozen=True)
class PairedArea:
    """An area over weighted pairs, and what each cluster contributes to its variance.

    Attributes
    ----------
    area : float
        The weighted share of pairs in the right order.
    positive_part, negative_part : ndarray of shape (n_clusters,)
        ``P_c`` and ``Q_c`` of the module's docstring.
    n_positive, n_negative : int
        The numbers of clusters that hold positives, and negatives.
    """

    area: float
    positive_part: Vector
    negative_part: Vector
    n_positive: int
    n_negative: int

    def covariance(self, other: PairedArea) -> float:
        """Compute the covariance of two areas of the same cases, or the variance of one.

        Examples
        --------
        >>> one = paired_area([2.0, 3.0, 4.0], [1.0, 2.5], [0, 1, 2], [3, 4], 5)
        >>> round(one.covariance(one), 4)
        0.0556
        """
        p, q = self.positive_part, self.negative_part
        n_clusters = len(p)
        return float(
            _unbiased(self.n_positive) * (p @ other.positive_part)
            + _unbiased(self.n_negative) * (q @ other.negative_part)
            + _unbiased(n_clusters) * (p @ other.negative_part + q @ other.positive_part)
        )

    @property
    def n_clusters(self) -> int:
        """The number of clusters of the class that lies in fewer."""
        return min(self.n_positive, self.n_negative)

    def interval(self, level: float = 0.95) -> Interval:
        """Compute the confidence interval on the scale of the logit.

            logit θ ± t_{C−1} √var θ / (θ (1 − θ))

        C counts the clusters of the class that lies in fewer. An area of 0 or 1, or one without
        any observed variation, has Newcombe's score interval with clusters in place of cases.

        Examples
        --------
        >>> found = paired_area([2.0, 3.0, 4.0], [1.0, 2.5], [0, 1, 2], [3, 4], 5).interval()
        >>> round(found.estimate, 3)
        0.833
        """
        if self.n_clusters < 2:
            return Interval(self.area, math.nan, math.nan)
        t = student_quantile(level, self.n_clusters)
        variance = self.covariance(self)
        if variance <= 0.0 or not 0.0 < self.area < 1.0:
            bounds = auc_bounds(self.area, self.n_positive, self.n_negative, t)
            return Interval(self.area, *bounds).or_unknown()
        centre = math.log(self.area / (1.0 - self.area))
        reach = t * math.sqrt(variance) / (self.area * (1.0 - self.area))
        return Interval(self.area, _logistic(centre - reach), _logistic(centre + reach))

    def compare(self, other: PairedArea, *, metric: str, level: float = 0.95) -> Comparison:
        """Compare with the area of another model on the same cases.

            z = (θ_a − θ_b) / √(var θ_a + var θ_b − 2 cov(θ_a, θ_b)),    p = 2 T_{C−1}(−|z|)

        Examples
        --------
        >>> one = paired_area([2.0, 3.0, 4.0], [1.0, 2.5], [0, 1, 2], [3, 4], 5)
        >>> one.compare(one, metric="area").p_value
        1.0
        """
        difference = self.area - other.area
        variance = (
            self.covariance(self) + other.covariance(other) - 2.0 * self.covariance(other)
            if self.n_clusters > 1
            else math.nan
        )
        error = math.sqrt(max(variance, 0.0)) if variance == variance else math.nan
        reach = student_quantile(level, self.n_clusters) * error if error else 0.0
        if math.isnan(error):
            p_value = math.nan
        elif error == 0.0:
            p_value = 1.0 if difference == 0.0 else 0.0
        else:
            # The standard error is unbiased already, unlike that of resamples.
            shrunk = error * math.sqrt(1.0 - 1.0 / self.n_clusters)
            p_value = two_sided_p_value(difference, shrunk, self.n_clusters)
        bounds = Interval(difference, difference - reach, difference + reach)
        return Comparison(self.interval(level), other.interval(level), bounds, p_value, 0, metric)


def paired_area(
    positives: ArrayLike,
    negatives: ArrayLike,
    positive_cluster: ArrayLike,
    negative_cluster: ArrayLike,
    n_clusters: int,
    *,
    positive_weight: ArrayLike | None = None,
    negative_weight: ArrayLike | None = None,
) -> PairedArea:
    """Compute the area over weighted pairs of a positive and a negative, by one sort of each.

        θ = Σ_a Σ_b u_a v_b ψ(s_a, s_b)

    Parameters
    ----------
    positives, negatives : array-like
        Their scores; −∞ is allowed, and two of them are a tie.
    positive_cluster, negative_cluster : array-like of int
        The numbers of their clusters, below ``n_clusters``.
    n_clusters : int
    positive_weight, negative_weight : array-like, optional
        Weights, which are divided by their sum; equal where they are not given.

    Examples
    --------
    >>> paired_area([0.4, 0.8], [0.1, 0.4], [0, 1], [2, 3], 4).area
    0.875
    """
    s, t = np.asarray(positives, dtype=np.float64), np.asarray(negatives, dtype=np.float64)
    c, k = np.asarray(positive_cluster), np.asarray(negative_cluster)
    u, v = _shares(positive_weight, len(s)), _shares(negative_weight, len(t))
    above = _mass_below(s, t, v)
    below = 1.0 - _mass_below(t, s, u)
    area = float(min(1.0, max(0.0, u @ above)))
    return PairedArea(
        area,
        np.bincount(c, u * (above - area), minlength=n_clusters).astype(np.float64),
        np.bincount(k, v * (below - area), minlength=n_clusters).astype(np.float64),
        len(np.unique(c)),
        len(np.unique(k)),
    )


def obuchowski_interval(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    pos_label: Any = None,
) -> Interval:
    """Compute the group ROC AUC with Obuchowski's confidence interval for clustered groups.

        var θ = I₊/(I₊−1) Σ P_c² + I₋/(I₋−1) Σ Q_c² + 2 I/(I−1) Σ P_c Q_c

    on the logit scale with Student's quantile; see the module for the symbols. It needs one sort
    in place of thousands of resamples, and agrees with `bootstrap_interval` where there are many
    clusters.

    Parameters
    ----------
    y, scores, groups, pos_label
        As for `group_roc_auc`.
    clusters : array-like of shape (n,), optional
        The cluster of each candidate, such as the patient; without it every group is one.
    level : float, default=0.95

    Returns
    -------
    Interval

    Warns
    -----
    FewClustersWarning
        Where a class lies in fewer than ten clusters.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(200) % 4 == 0
    >>> found = obuchowski_interval(y, y + rng.standard_normal(200), clusters=np.arange(200) // 5)
    >>> found.low < found.estimate < found.high
    True
    """
    return _areas(y, [scores], groups, clusters, pos_label)[0].interval(_checked(level))


def obuchowski_test(
    y: ArrayLike,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    pos_label: Any = None,
) -> Comparison:
    """Test whether two models have the same group ROC AUC, on the same clustered groups.

        z = (θ_a − θ_b) / √(var θ_a + var θ_b − 2 cov(θ_a, θ_b)),    p = 2 T_{C−1}(−|z|)

    Parameters
    ----------
    y, groups, clusters, level, pos_label
        As for `obuchowski_interval`.
    scores_a, scores_b : array-like of shape (n,)
        The scores of both models, one per candidate.

    Returns
    -------
    Comparison
        With ``n_resamples`` of 0, because nothing is resampled.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 3 == 0
    >>> good, bad = y + rng.standard_normal(300), 0.1 * y + rng.standard_normal(300)
    >>> obuchowski_test(y, good, bad, clusters=np.arange(300) // 3).p_value < 0.01
    True
    """
    a, b = _areas(y, [scores_a, scores_b], groups, clusters, pos_label)
    return a.compare(b, metric="group_roc_auc", level=_checked(level))


def delong_interval(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    level: float = 0.95,
    pos_label: Any = None,
) -> Interval:
    """Compute the group ROC AUC with DeLong's confidence interval, for independent groups.

        var θ = Σ_a (V_a − θ)² / m(m−1) + Σ_b (W_b − θ)² / n(n−1)

    This is `obuchowski_interval` where every group is a cluster of its own. Where patients have
    several groups, it is too narrow.

    Parameters
    ----------
    y, scores, groups, level, pos_label
        As for `obuchowski_interval`.

    Examples
    --------
    >>> y = np.arange(200) % 4 == 0
    >>> found = delong_interval(y, y + np.random.default_rng(0).standard_normal(200))
    >>> found.low < found.estimate < found.high
    True
    """
    return obuchowski_interval(y, scores, groups, level=level, pos_label=pos_label)


def delong_test(
    y: ArrayLike,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    level: float = 0.95,
    pos_label: Any = None,
) -> Comparison:
    """Test whether two models have the same group ROC AUC, by DeLong's test of paired areas.

    This is `obuchowski_test` where every group is a cluster of its own.

    Parameters
    ----------
    y, scores_a, scores_b, groups, level, pos_label
        As for `obuchowski_test`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 3 == 0
    >>> good, bad = y + rng.standard_normal(300), 0.1 * y + rng.standard_normal(300)
    >>> delong_test(y, good, bad).p_value < 0.01
    True
    """
    return obuchowski_test(y, scores_a, scores_b, groups, level=level, pos_label=pos_label)


def _areas(
    y: ArrayLike,
    several_scores: list[ArrayLike],
    groups: ArrayLike | None,
    clusters: ArrayLike | None,
    pos_label: Any,
) -> list[PairedArea]:
    found = []
    for scores in several_scores:
        truth = read_truth(y, scores, groups, pos_label=pos_label)
        at = read_clusters(clusters, truth.index, len(np.asarray(y)))
        p = truth.is_positive
        area = paired_area(
            truth.scores[p], truth.scores[~p], at.of_group[p], at.of_group[~p], at.n_clusters
        )
        found.append(area)
    warn_of_few_clusters(found[0])
    return found


def warn_of_few_clusters(area: PairedArea) -> None:
    """Warn where a class lies in one cluster, or in few.

    Examples
    --------
    >>> warn_of_few_clusters(PairedArea(0.9, np.zeros(20), np.zeros(20), 10, 10))
    """
    if area.n_clusters < 2:
        warnings.warn(
            "All positive or all negative groups are in one cluster; a confidence interval needs "
            "at least two clusters of each class, so its bounds are NaN.",
            FewClustersWarning,
            stacklevel=4,
        )
    else:
        ones = np.ones(area.n_positive, dtype=np.int64), np.ones(area.n_negative, dtype=np.int64)
        warn_of_few(*ones, stacklevel=4)


def _mass_below(scores: Vector, others: Vector, weight: Vector) -> Vector:
    """Return, for each score, the weight of the others below it and half of that of its equals."""
    order = np.argsort(others)
    sums = np.concatenate([[0.0], np.cumsum(weight[order])])
    sums /= sums[-1]
    left = np.searchsorted(others, scores, side="left", sorter=order)
    right = np.searchsorted(others, scores, side="right", sorter=order)
    return 0.5 * (sums[left] + sums[right])


def _shares(weight: ArrayLike | None, n: int) -> NDArray[np.float64]:
    if weight is None:
        return np.full(n, 1.0 / n)
    shares = np.asarray(weight, dtype=np.float64)
    return shares / shares.sum()


def _unbiased(count: int) -> float:
    return count / (count - 1) if count > 1 else math.nan


def _logistic(value: float) -> float:
    return 0.5 * (1.0 + math.tanh(0.5 * value))


def _checked(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} is not valid; it must lie between 0 and 1.")
    return level
