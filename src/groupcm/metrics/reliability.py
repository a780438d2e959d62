"""The reliability of predicted probabilities of groups.

Conventions: ``p_k`` is the probability that group k is positive, ``y_k`` is 1 where it is and
0 where it is not. There is one probability per group, in order of first appearance, as
``predict_proba_groups(X, groups)[:, 1]`` gives them: unlike a score, the probability of a
group is not a maximum over its candidates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.groups import no_groups
from groupcm.metrics.clusters import read_clusters
from groupcm.metrics.intervals import share_interval, wilson_bounds
from groupcm.metrics.truth import groups_of_rows, positive_rows
from groupcm.utils.typing import Vector

__all__ = ["ReliabilityCurve", "group_brier_score", "reliability_curve"]


class ReliabilityCurve(NamedTuple):
    """Observed share of positive groups against the mean probability, one entry per bin.

    ``low`` and ``high`` bound the share; ``count`` is the number of groups. Empty bins are
    left out.

    Examples
    --------
    >>> curve = reliability_curve([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], n_bins=2)
    >>> curve.count.tolist()
    [2, 2]
    """

    predicted: Vector
    observed: Vector
    low: Vector
    high: Vector
    count: NDArray[np.int64]  # pyright: ignore[reportIncompatibleMethodOverride]


def group_brier_score(
    y: ArrayLike,
    probabilities: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> float:
    """Compute the mean squared difference of the probabilities of groups and their labels.

        BS = 1/m Σ_k (p_k − y_k)²

    Parameters
    ----------
    y : array-like of shape (n,)
        The label of every candidate; ``pos_label`` is the positive one.
        A group is positive if any of its candidates is.
    probabilities : array-like of shape (m,)
        The probability that each group is positive, groups in order of first appearance.
    groups : array-like of shape (n,), or "none", optional
        The group id of every candidate, in any order. Without it every row is a group.
    pos_label : label, optional
        The positive one of the two labels; None is the larger.

    Returns
    -------
    float
        Between 0 and 1, smaller is better; ``q (1 − q)`` where every probability is the share
        ``q`` of positive groups.

    Examples
    --------
    >>> group_brier_score([0, 1, 0, 0], [0.8, 0.4], groups=["a", "a", "b", "b"])
    0.1
    """
    is_positive, p = _read(y, probabilities, groups, pos_label)
    return float(np.mean((p - is_positive) ** 2))


def reliability_curve(
    y: ArrayLike,
    probabilities: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    pos_label: Any = None,
) -> ReliabilityCurve:
    """Compute the share of positive groups among groups of about the same probability.

        predicted = 1/n Σ_{k in bin} p_k,    observed = 1/n Σ_{k in bin} y_k

    for the ``n`` groups of a bin, with Wilson's interval of the observed share
    (`groupcm.metrics.intervals.wilson_bounds`), which takes groups as independent unless
    ``clusters`` are given (`groupcm.metrics.intervals.share_interval`).

    Parameters
    ----------
    y, probabilities, groups, pos_label
        As for `group_brier_score`.
    n_bins : int, default=10
        Number of bins at most.
    strategy : {"quantile", "uniform"}
        Bins of about as many groups each, or of equal width from 0 to 1.
    clusters : array-like of shape (n,), optional
        The cluster of every candidate, such as its patient: groups of one cluster resemble each
        other. The bounds of a bin are NaN where its groups lie in one cluster.
    level : float, default=0.95
        The confidence of the interval of each bin.

    Returns
    -------
    ReliabilityCurve

    Examples
    --------
    >>> curve = reliability_curve([0, 0, 0, 1, 1, 1], [0.1, 0.1, 0.4, 0.3, 0.9, 0.9], n_bins=2)
    >>> curve.predicted.round(2).tolist(), curve.observed.round(2).tolist(), curve.count.tolist()
    ([0.17, 0.73], [0.33, 0.67], [3, 3])
    >>> curve.low.round(2).tolist(), curve.high.round(2).tolist()
    ([0.06, 0.21], [0.79, 0.94])
    """
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise ValueError(f"n_bins must be a whole number, at least 1; got {n_bins!r}.")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie between 0 and 1, both excluded; got {level!r}.")
    is_positive, p = _read(y, probabilities, groups, pos_label)
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    if strategy == "quantile":
        edges = np.quantile(p, edges)
    elif strategy != "uniform":
        raise ValueError(f"strategy must be 'quantile' or 'uniform'; got {strategy!r}.")
    in_bin = np.searchsorted(edges[1:-1], p)
    count = np.bincount(in_bin, minlength=n_bins)
    filled = count > 0
    count = count[filled]
    predicted = np.bincount(in_bin, p, minlength=n_bins)[filled] / count
    observed = np.bincount(in_bin, is_positive, minlength=n_bins)[filled] / count
    low, high = wilson_bounds(observed, count, level=level)
    if clusters is not None:
        cluster = _cluster_of_groups(clusters, groups, len(np.asarray(y)))
        bins = np.flatnonzero(filled)
        shares = [
            share_interval(is_positive[in_bin == k], cluster[in_bin == k], level=level)
            for k in bins
        ]
        low, high = np.transpose([(share.low, share.high) for share in shares])
    return ReliabilityCurve(predicted, observed, low, high, count.astype(np.int64))


def _cluster_of_groups(
    clusters: ArrayLike, groups: ArrayLike | None, n_rows: int
) -> NDArray[np.intp]:
    alone = groups is None or no_groups(groups)
    index = None if alone else groups_of_rows(groups, n_rows)  # type: ignore[arg-type]
    return read_clusters(clusters, index, n_rows).of_group


def _read(
    y: ArrayLike, probabilities: ArrayLike, groups: ArrayLike | None, pos_label: Any
) -> tuple[NDArray[np.bool_], Vector]:
    is_positive, unit = positive_rows(y, pos_label), "candidate"
    if groups is not None and not no_groups(groups):
        is_positive, unit = groups_of_rows(groups, len(is_positive)).maxima(is_positive), "group"
    p = np.asarray(probabilities, dtype=np.float64)
    if p.shape != is_positive.shape:
        raise ValueError(
            f"probabilities must hold one number per {unit}, shape {is_positive.shape}; "
            f"got shape {p.shape}."
        )
    wrong = ~((p >= 0.0) & (p <= 1.0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(
            f"probabilities holds {p[at]} for {unit} {at}; a probability lies between 0 and 1."
        )
    return is_positive, p
