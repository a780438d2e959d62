"""The alternative free-response ROC curve, unweighted (AFROC) and weighted (wAFROC).

    x(t) = #{groups k : max false alarm of k >= t} / #groups
    y(t) = Σ_k Σ_{o∈k} w_ko [s_ko >= t],    w_ko = 1 / #objects              AFROC
                                            w_ko = 1 / (#positive groups · #objects in k)   wAFROC

Each group counts on the x-axis once, through its largest false alarm, so that the area under the
curve is a share of pairs and has a variance of the form of `groupcm.metrics.auc_variance`. The
weighted curve gives every positive group the same weight, however many objects it shows. The
definitions follow D. P. Chakraborty, "Observer Performance Methods for Diagnostic Imaging" (2017).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.metrics.auc_variance import PairedArea, paired_area, warn_of_few_clusters
from groupcm.metrics.free_response import FreeResponse, read_free_response
from groupcm.metrics.results import Comparison, Interval
from groupcm.metrics.truth import require_both_classes
from groupcm.utils.typing import Vector

__all__ = [
    "AfrocCurve",
    "afroc_area",
    "afroc_auc",
    "afroc_curve",
    "afroc_interval",
    "afroc_test",
    "wafroc_auc",
    "wafroc_curve",
]


class AfrocCurve(NamedTuple):
    """Share of objects found against the share of groups with a false alarm; thresholds fall.

    The first threshold is +∞, where nothing is an alarm. The last is −∞ and marks the point
    (1, 1), to which the curve is continued by a straight line.
    """

    false_positive_fraction: Vector
    sensitivity: Vector
    thresholds: Vector


def afroc_curve(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    objects: ArrayLike | None = None,
    *,
    weighted: bool = False,
    false_alarms_in: str = "negative",
    **reading: Any,
) -> AfrocCurve:
    """Compute the share of objects found against the share of groups with a false alarm.

    Parameters
    ----------
    y, scores, groups, objects
        As for `froc_curve`.
    weighted : bool, default=False
        Give every positive group the same weight (wAFROC), instead of every object.
    false_alarms_in : {"negative", "all"}
        Which groups the x-axis counts: the negative ones, or all of them (AFROC1 and wAFROC1).
    **reading
        ``overlap``, ``hit``, ``missed`` and ``pos_label``, as for `froc_curve`.

    Returns
    -------
    AfrocCurve

    Examples
    --------
    >>> y, scores = [1, 0, 0, 0], [0.6, 0.3, 0.7, 0.2]
    >>> curve = afroc_curve(y, scores, list("aabc"))
    >>> curve.false_positive_fraction.tolist(), curve.sensitivity.tolist()
    ([0.0, 0.5, 0.5, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0, 1.0])
    """
    response = read_free_response(y, scores, groups, objects, **reading)
    counted = _counted_groups(response, false_alarms_in)
    false, weight = response.largest_false_score[counted], _weights(response, weighted)
    thresholds = np.unique(np.concatenate([false, response.object_score]))[::-1]
    thresholds = thresholds[thresholds > -np.inf]
    return AfrocCurve(
        np.concatenate([[0.0], _share_from(false, None, thresholds), [1.0]]),
        np.concatenate([[0.0], _share_from(response.object_score, weight, thresholds), [1.0]]),
        np.concatenate([[np.inf], thresholds, [-np.inf]]),
    )


def wafroc_curve(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    objects: ArrayLike | None = None,
    **options: Any,
) -> AfrocCurve:
    """Compute `afroc_curve` with every positive group of the same weight.

    Parameters
    ----------
    y, scores, groups, objects, **options
        As for `afroc_curve`.

    Examples
    --------
    >>> y, scores = [1, 1, 1, 0], [0.9, 0.4, 0.6, 0.5]
    >>> curve = wafroc_curve(y, scores, list("aabc"), [1, 2, 3, 0])
    >>> curve.sensitivity.tolist()
    [0.0, 0.25, 0.75, 0.75, 1.0, 1.0]
    """
    return afroc_curve(y, scores, groups, objects, weighted=True, **options)


def afroc_auc(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    objects: ArrayLike | None = None,
    *,
    weighted: bool = False,
    false_alarms_in: str = "negative",
    **reading: Any,
) -> float:
    """Compute the area under the AFROC curve.

        Σ_o w_o Σ_l v_l ψ(s_o, f_l),    f_l = the largest false alarm of group l

    the weighted share of pairs of an object and a group in which the object scores higher, ties
    half. It is the trapezoidal area under `afroc_curve`.

    Parameters
    ----------
    y, scores, groups, objects, weighted, false_alarms_in, **reading
        As for `afroc_curve`.

    Examples
    --------
    >>> afroc_auc([1, 0, 0, 0], [0.6, 0.3, 0.7, 0.2], list("aabc"))
    0.5
    """
    response = read_free_response(y, scores, groups, objects, **reading)
    return afroc_area(response, weighted, false_alarms_in).area


def wafroc_auc(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    objects: ArrayLike | None = None,
    **options: Any,
) -> float:
    """Compute `afroc_auc` with every positive group of the same weight.

    Parameters
    ----------
    y, scores, groups, objects, **options
        As for `afroc_auc`.

    Examples
    --------
    >>> wafroc_auc([1, 1, 1, 0], [0.9, 0.4, 0.6, 0.5], list("aabc"), [1, 2, 3, 0])
    0.75
    """
    return afroc_auc(y, scores, groups, objects, weighted=True, **options)


def afroc_interval(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    objects: ArrayLike | None = None,
    *,
    weighted: bool = False,
    false_alarms_in: str = "negative",
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    **reading: Any,
) -> Interval:
    """Compute the area under the AFROC curve with a confidence interval that respects clusters.

    The variance is that of `obuchowski_interval` with the weights of the objects; the interval is
    symmetric on the logit scale.

    Parameters
    ----------
    y, scores, groups, objects, weighted, false_alarms_in, **reading
        As for `afroc_curve`.
    clusters : array-like of shape (n,), optional
        The cluster of each candidate, such as the patient; without it every group is one.
    level : float, default=0.95

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) % 8 == 0
    >>> found = afroc_interval(y, 2 * y + rng.standard_normal(400), np.arange(400) // 4)
    >>> found.low < found.estimate < found.high
    True
    """
    response = read_free_response(y, scores, groups, objects, clusters=clusters, **reading)
    area = afroc_area(response, weighted, false_alarms_in)
    warn_of_few_clusters(area)
    return area.interval(level)


def afroc_test(
    y: ArrayLike,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    groups: ArrayLike,
    objects: ArrayLike | None = None,
    *,
    weighted: bool = False,
    false_alarms_in: str = "negative",
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    **reading: Any,
) -> Comparison:
    """Test whether two models have the same area under the AFROC curve, on the same groups.

    Parameters
    ----------
    y, groups, objects, weighted, false_alarms_in, clusters, level, **reading
        As for `afroc_interval`.
    scores_a, scores_b : array-like of shape (n,)
        The scores of both models, one per candidate.

    Returns
    -------
    Comparison
        With ``n_resamples`` of 0, because nothing is resampled.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, groups = np.arange(800) % 8 == 0, np.arange(800) // 4
    >>> good, bad = 2 * y + rng.standard_normal(800), rng.standard_normal(800)
    >>> afroc_test(y, good, bad, groups).p_value < 0.01
    True
    """
    a, b = (
        afroc_area(
            read_free_response(y, scores, groups, objects, clusters=clusters, **reading),
            weighted,
            false_alarms_in,
        )
        for scores in (scores_a, scores_b)
    )
    warn_of_few_clusters(a)
    return a.compare(b, metric="wafroc_auc" if weighted else "afroc_auc", level=level)


def afroc_area(
    response: FreeResponse, weighted: bool = False, false_alarms_in: str = "negative"
) -> PairedArea:
    """Compute the area under the AFROC curve of free-response data that are read already.

    Examples
    --------
    >>> response = read_free_response([1, 0, 0, 0], [0.6, 0.3, 0.7, 0.2], list("aabc"))
    >>> afroc_area(response).area
    0.5
    """
    counted = _counted_groups(response, false_alarms_in)
    return paired_area(
        response.object_score,
        response.largest_false_score[counted],
        response.group_cluster[response.object_group],
        response.group_cluster[counted],
        response.n_clusters,
        positive_weight=_weights(response, weighted),
    )


def _weights(response: FreeResponse, weighted: bool) -> Vector:
    return response.weight_in_group if weighted else np.ones(len(response.object_score))


def _counted_groups(response: FreeResponse, false_alarms_in: str) -> NDArray[np.bool_]:
    if false_alarms_in == "all":
        return np.ones(response.n_groups, dtype=bool)
    if false_alarms_in != "negative":
        raise ValueError(
            f'false_alarms_in={false_alarms_in!r} is not known; use "negative" or "all".'
        )
    require_both_classes(response.is_positive_group, "group")
    return ~response.is_positive_group


def _share_from(values: Vector, weight: Vector | None, thresholds: Vector) -> Vector:
    """Return the weighted share of the values that reach each threshold."""
    order = np.argsort(values)
    sums = np.ones(len(values)) if weight is None else weight[order]
    total = np.concatenate([[0.0], np.cumsum(sums[::-1])])
    reached = len(values) - np.searchsorted(values, thresholds, side="left", sorter=order)
    return total[reached] / total[-1]
