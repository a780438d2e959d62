"""The free-response ROC curve: objects found against false alarms.

    sensitivity(t)  = #{objects o : s_o >= t} / #objects,    s_o = the score of the object
    false_alarms(t) = #{i on no object : s_i >= t} / #groups

An object, such as a polyp, may be seen in several groups, and by several candidates of one. It has
the score of the candidate that finds it (`groupcm.metrics.free_response`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.metrics.clusters import fewest_clusters
from groupcm.metrics.curves import corners, tally
from groupcm.metrics.free_response import FreeResponse, read_free_response
from groupcm.metrics.intervals import rising_band, widened_band
from groupcm.metrics.resampling import FunctionOfCounts, Resampling
from groupcm.metrics.results import FrocCurve, Interval
from groupcm.metrics.truth import require_both_classes
from groupcm.utils.typing import Vector

__all__ = [
    "CPM_FALSE_ALARMS",
    "LEAST_OVERLAP",
    "FrocSensitivity",
    "curve_of_response",
    "froc_curve",
    "froc_sensitivity",
    "sensitivity_of_response",
]

#: The intersection over union from which on a candidate is on the object.
LEAST_OVERLAP = 0.3
#: The false alarms per group at which the competition performance metric averages sensitivity.
CPM_FALSE_ALARMS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
# By how much more false alarms than the rates ask for are read in a resample at first.
_SLACK, _FEWEST_READ = 1.5, 1000


@dataclass(frozen=True)
class FrocSensitivity:
    """The sensitivity for objects at given numbers of false alarms per group, and its mean.

    Attributes
    ----------
    false_alarms : ndarray of shape (n_points,)
        False alarms per group.
    estimate, low, high : ndarray of shape (n_points,)
        The sensitivity at each, and its pointwise confidence bounds.
    mean : Interval
        The mean over all points: the competition performance metric (CPM) at the default points.
    """

    false_alarms: Vector
    estimate: Vector
    low: Vector
    high: Vector
    mean: Interval


def froc_curve(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    objects: ArrayLike | None = None,
    *,
    false_alarms_in: str = "all",
    overlap: ArrayLike | None = None,
    hit: str = "highest_score",
    missed: ArrayLike | None = None,
    pos_label: Any = None,
) -> FrocCurve:
    """Compute the share of objects found against the mean number of false alarms per group.

    An object is found at a threshold that any of its positive candidates reaches. Candidates
    that are not positive and reach it are false alarms; a positive candidate never is.

    Parameters
    ----------
    y : array-like of shape (n,)
        The label of every candidate; ``pos_label`` is the positive one.
    scores : array-like of shape (n,)
        The score of every candidate, larger for more positive. A group without candidates is
        one row of the score -inf: it counts among the groups, is not a false alarm, and misses the
        object of its row where that is positive.
    groups : array-like of shape (n,)
        The group id of every candidate, in any order.
    objects : array-like of shape (n,), optional
        The id of the object that a candidate is on, read only where ``y`` is positive.
        Without it every positive group holds one object.
    false_alarms_in : {"all", "negative"}
        Count false alarms in all groups, or in negative groups only; the mean is over the
        same groups.
    overlap : array-like of shape (n,), optional
        How well each candidate fits its object; needed for ``hit="best_overlap"``.
    hit : {"highest_score", "best_overlap"}
        Which candidate gives an object its score where several of one group are on it. The others
        are neither hits nor false alarms.
    missed : array-like, optional
        One group id for each object that no candidate is on: it counts as missed.
    pos_label : label, optional
        The positive one of the two labels; None is the larger.

    Returns
    -------
    FrocCurve
        From no alarm at an infinite threshold to all of them at the smallest score. Points
        inside a horizontal or vertical stretch are left out.

    Examples
    --------
    Polyp 7 is seen in both frames a and b, and found once either candidate is an alarm.

    >>> y = [1, 0, 1, 0, 0]
    >>> scores = [0.3, 0.5, 0.9, 0.1, 0.6]
    >>> curve = froc_curve(y, scores, list("aabbc"), objects=[7, 0, 7, 0, 0])
    >>> curve.sensitivity.tolist(), curve.false_alarms.tolist()
    ([0.0, 1.0, 1.0], [0.0, 0.0, 1.0])

    No candidate is on a second polyp of frame c.

    >>> curve = froc_curve(y, scores, list("aabbc"), objects=[7, 0, 7, 0, 0], missed=["c"])
    >>> curve.sensitivity.max()
    np.float64(0.5)
    """
    response = read_free_response(
        y, scores, groups, objects, overlap=overlap, hit=hit, missed=missed, pos_label=pos_label
    )
    return curve_of_response(response, false_alarms_in)


def curve_of_response(response: FreeResponse, false_alarms_in: str = "all") -> FrocCurve:
    """Compute `froc_curve` of free-response data that are read already.

    Examples
    --------
    >>> response = read_free_response([1, 0, 0], [0.6, 0.3, 0.7], list("aab"))
    >>> curve_of_response(response).false_alarms.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    false_at, counted = _false_alarms(response, false_alarms_in)
    found_at = response.score_of_objects
    is_object = np.repeat([True, False], [len(found_at), len(false_at)])
    at = tally(is_object, np.concatenate([found_at, response.false_score[false_at]]))
    kept = corners(at.tp, at.fp)
    n_groups = int(np.count_nonzero(counted))
    return FrocCurve(at.fp[kept] / n_groups, at.sensitivity[kept], at.thresholds[kept])


def froc_sensitivity(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    objects: ArrayLike | None = None,
    *,
    false_alarms: ArrayLike = CPM_FALSE_ALARMS,
    false_alarms_in: str = "all",
    overlap: ArrayLike | None = None,
    hit: str = "highest_score",
    missed: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.Generator | None = 0,
    pos_label: Any = None,
) -> FrocSensitivity:
    """Compute the sensitivity at given numbers of false alarms per group, with confidence bounds.

        max { sensitivity(t) : false_alarms(t) <= f_j }

    and its mean over the points, which is the competition performance metric (CPM) at the default
    ⅛, ¼, ½, 1, 2, 4 and 8 false alarms per group. With many points the result is a confidence band
    of the FROC curve.

    Parameters
    ----------
    y, scores, groups, objects, false_alarms_in, overlap, hit, missed, pos_label
        As for `froc_curve`.
    false_alarms : array-like
        Rising numbers of false alarms per group.
    clusters : array-like of shape (n,), optional
        The cluster of each candidate, such as the patient; without it every group is one. All
        groups that show an object must be in one cluster.
    level, n_resamples, random_state
        As for `bootstrap_interval`, whose warnings apply.

    Returns
    -------
    FrocSensitivity

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, groups = np.arange(400) % 8 == 0, np.arange(400) // 4
    >>> found = froc_sensitivity(y, y + rng.standard_normal(400), groups, n_resamples=200)
    >>> found.mean.low < found.mean.estimate < found.mean.high
    True
    >>> bool(np.all(found.low <= found.estimate) and np.all(found.estimate <= found.high))
    True
    """
    response = read_free_response(
        y,
        scores,
        groups,
        objects,
        overlap=overlap,
        hit=hit,
        missed=missed,
        clusters=clusters,
        pos_label=pos_label,
    )
    resampling = Resampling(level=level, n_resamples=n_resamples, random_state=random_state)
    return sensitivity_of_response(response, false_alarms, resampling, false_alarms_in)


def sensitivity_of_response(
    response: FreeResponse,
    false_alarms: ArrayLike,
    resampling: Resampling,
    false_alarms_in: str = "all",
) -> FrocSensitivity:
    """Compute `froc_sensitivity` of free-response data that are read already.

    Examples
    --------
    >>> response = read_free_response([1, 0] * 20, [0.6, 0.3] * 20, np.arange(40))
    >>> resampling = Resampling(level=0.95, n_resamples=20, random_state=0)
    >>> sensitivity_of_response(response, [0.0, 0.5], resampling).estimate.tolist()
    [1.0, 1.0]
    """
    at = np.asarray(false_alarms, dtype=np.float64)
    if at.ndim != 1 or len(at) == 0 or not np.all(at >= 0) or np.any(np.diff(at) < 0):
        raise ValueError("false_alarms must hold rising numbers of at least 0.")
    level = resampling.level
    of_counts, n_objects, n_groups = _sensitivities(response, at, false_alarms_in)
    values = resampling.values(of_counts, n_objects, n_groups)
    estimate = of_counts(np.ones(response.n_clusters, dtype=np.int64))
    n_clusters = fewest_clusters(n_objects, n_groups)
    holding = int(np.count_nonzero(n_objects)), int(np.count_nonzero(n_groups))
    low, high = resampling.bounds(values, n_clusters)
    # No false alarm rate is reached by guessing alone, so that nothing limits the bounds but 0.
    floor = np.zeros(len(at) + 1)
    means = resampling.bounds(values.mean(axis=1), n_clusters)
    low, high = widened_band(
        np.append(estimate, estimate.mean()),
        np.append(low, means[0]),
        np.append(high, means[1]),
        floor,
        holding,
        level,
    )
    mean = Interval(float(estimate.mean()), float(low[-1]), float(high[-1])).or_unknown()
    return FrocSensitivity(at, estimate, *rising_band(low[:-1], high[:-1]), mean)


def _false_alarms(
    response: FreeResponse, false_alarms_in: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which candidates on no object, and which groups, the false alarms are counted in."""
    if false_alarms_in not in ("all", "negative"):
        raise ValueError(
            f'false_alarms_in={false_alarms_in!r} is not known; use "all" or "negative".'
        )
    counted = np.ones(response.n_groups, dtype=bool)
    if false_alarms_in == "negative":
        require_both_classes(response.is_positive_group, "group")
        counted = ~response.is_positive_group
    return counted[response.false_group], counted


def _sensitivities(
    response: FreeResponse, at: Vector, false_alarms_in: str
) -> tuple[FunctionOfCounts, NDArray[np.int64], NDArray[np.int64]]:
    """Return the sensitivities as a function of counts, and objects and groups per cluster."""
    false_at, counted = _false_alarms(response, false_alarms_in)
    object_score, object_cluster = response.distinct_objects()
    n_clusters = response.n_clusters
    n_objects = np.bincount(object_cluster, minlength=n_clusters)
    n_groups = np.bincount(response.group_cluster[counted], minlength=n_clusters)
    order = np.argsort(object_score)[::-1]
    found, found_cluster = object_score[order], object_cluster[order]
    found, found_cluster = found[found > -np.inf], found_cluster[found > -np.inf]
    false = response.false_score[false_at]
    false_cluster = response.group_cluster[response.false_group[false_at]]
    # Only false alarms that score at least the lowest object found can come before one.
    relevant = false >= found[-1] if len(found) else np.zeros(len(false), dtype=bool)
    falling = np.argsort(false[relevant])[::-1]
    false, false_cluster = false[relevant][falling], false_cluster[relevant][falling]
    # How many false alarms score at least what each object does.
    before = np.searchsorted(-false, -found, side="right")

    first = min(len(false), int(_SLACK * at[-1] * n_groups.sum()) + _FEWEST_READ)

    def of(count: NDArray[np.int64]) -> Vector:
        allowed = at * (count @ n_groups)
        # The lowest false alarms rarely count: the rates are exceeded before.
        alarms = np.concatenate([[0], np.cumsum(count[false_cluster[:first]])])
        if alarms[-1] <= allowed[-1] and first < len(false):
            alarms = np.concatenate([[0], np.cumsum(count[false_cluster])])
        before_object = alarms[np.minimum(before, len(alarms) - 1)]
        objects = np.cumsum(count[found_cluster])
        share = np.concatenate([[0.0], objects / (count @ n_objects)])
        return share[np.searchsorted(before_object, allowed, side="right")]

    return of, n_objects, n_groups
