"""The yield curve: objects, videos and patients found against the share of frames shown.

    shown(t)   = #{groups k : s_k >= t} / #groups
    yield_u(t) = #{u : some group that shows u has s_k >= t} / #u

for objects, or for the positive units of a level, u. A reader who sees the shown groups alone finds
an object in any group that shows it, whichever candidate won there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.groups import GroupIndex, index_groups
from groupcm.metrics.clusters import fewest_clusters, read_clusters
from groupcm.metrics.free_response import checked_objects
from groupcm.metrics.levels import read_levels
from groupcm.metrics.resampling import Resampling
from groupcm.metrics.results import Interval
from groupcm.metrics.truth import require_both_classes, rows_and_groups
from groupcm.utils.typing import Vector

__all__ = ["YieldCurve", "YieldPoint", "curve_of_units", "yield_curve", "yield_interval"]

# A thinned curve keeps these yields exactly.
_KEPT_YIELDS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0)
# So many units must be allowed to be missed for the bootstrap of a quantile to be valid.
_FEWEST_MISSED = 5


@dataclass(frozen=True)
class YieldPoint:
    """The smallest share of groups shown that keeps a yield.

    Attributes
    ----------
    threshold : float
        Groups that score at least this are shown; NaN where no threshold keeps the yield.
    shown : float
        The share of groups shown; NaN likewise.
    found : float
        The yield that is reached; at most 1 minus the share of units that have no candidate.
    """

    threshold: float
    shown: float
    found: float


@dataclass(frozen=True)
class YieldCurve:
    """Yields against the share of groups shown; thresholds fall, the first is infinite.

    Attributes
    ----------
    thresholds, shown : ndarray of shape (n_points,)
    found : dict of str to ndarray of shape (n_points,)
        The yield of each kind of unit: "objects", and the levels by name.
    n_units : dict of str to int
        The number of units of each kind that can be found.
    n_groups : int
    """

    thresholds: Vector
    shown: Vector
    found: dict[str, Vector]
    n_units: dict[str, int]
    n_groups: int

    def at_yield(self, share: float, unit: str = "objects") -> YieldPoint:
        """Return the smallest share of groups shown that keeps a yield in these data.

        Examples
        --------
        >>> curve = yield_curve([1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1], [1, 2, 3, 4])
        >>> curve.at_yield(0.5).shown, curve.at_yield(1.0).shown
        (0.25, 0.75)
        """
        if not 0 <= share <= 1:
            raise ValueError(f"share={share!r} is not a share; it must be between 0 and 1.")
        found = self.found[self._known(unit)]
        reached = np.flatnonzero(found >= share)
        if len(reached) == 0:
            return YieldPoint(math.nan, math.nan, float(found[-1]))
        k = int(reached[0])
        return YieldPoint(float(self.thresholds[k]), float(self.shown[k]), float(found[k]))

    def time_saved(self, share: float, unit: str = "objects", *, groups_per_second: float) -> float:
        """Return the seconds of reading saved on these groups while a yield is kept.

        Examples
        --------
        >>> curve = yield_curve([1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1], [1, 2, 3, 4])
        >>> curve.time_saved(1.0, groups_per_second=2)
        0.5
        """
        if not groups_per_second > 0:
            raise ValueError(f"groups_per_second={groups_per_second!r} must be positive.")
        return (1.0 - self.at_yield(share, unit).shown) * self.n_groups / groups_per_second

    def thinned(self, most: int = 2000) -> YieldCurve:
        """Return the curve with only the points at which a yield rises, and at most about so many.

        `at_yield` is exact where nothing else is left out, and always for 50, 80, 90, 95, 98, 99,
        99.5, 99.9 and 100 %; otherwise it shows the share of groups of the next point kept.

        Examples
        --------
        >>> curve = yield_curve([1, 0, 0, 0], [0.9, 0.8, 0.3, 0.1], [1, 2, 3, 4])
        >>> curve.thinned().shown.tolist()
        [0.0, 0.25, 1.0]
        """
        last = len(self.thresholds) - 1
        rises = [np.flatnonzero(np.diff(each)) + 1 for each in self.found.values()]
        kept = np.unique(np.concatenate([[0, last], *rises]).astype(np.intp))
        if len(kept) > most:
            exact = [
                np.searchsorted(each, share)
                for each in self.found.values()
                for share in _KEPT_YIELDS
                if each[-1] >= share
            ]
            spread = kept[np.linspace(0, len(kept) - 1, most).astype(np.intp)]
            kept = np.unique(np.concatenate([spread, np.array(exact, dtype=np.intp)]))
        return replace(
            self,
            thresholds=self.thresholds[kept],
            shown=self.shown[kept],
            found={name: each[kept] for name, each in self.found.items()},
        )

    def _known(self, unit: str) -> str:
        if unit not in self.found:
            raise ValueError(f"unit={unit!r} is not known; use one of {', '.join(self.found)}.")
        return unit


def yield_curve(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    *,
    objects: ArrayLike | None = None,
    levels: Mapping[str, ArrayLike] | None = None,
    pos_label: Any = None,
) -> YieldCurve:
    """Compute which share of objects and of units is found when only alarms are shown.

    Parameters
    ----------
    y, scores, groups, pos_label
        As for `group_roc_curve`.
    objects : array-like of shape (n,), optional
        The id of the object that a candidate is on, read only where ``y`` is positive. An object
        may be seen in several groups. Without it every positive group shows one object.
    levels : mapping of str to array-like of shape (n,), optional
        Levels above the group, such as video and patient, from the lowest to the highest. A
        positive unit is found where one of its positive groups is shown.

    Returns
    -------
    YieldCurve

    Examples
    --------
    Polyp 7 is seen in two frames, and found by the one that scores higher.

    >>> y, scores, frames = [1, 1, 0, 0], [0.2, 0.9, 0.5, 0.1], [1, 2, 3, 4]
    >>> curve = yield_curve(y, scores, frames, objects=[7, 7, 0, 0])
    >>> curve.at_yield(1.0)
    YieldPoint(threshold=0.9, shown=0.25, found=1.0)
    """
    units = _read_units(y, scores, groups, objects, levels, pos_label)
    return curve_of_units(units.group_scores, units.found_at)


def curve_of_units(group_scores: Vector, found_at: Mapping[str, Vector]) -> YieldCurve:
    """Compute the yield curve from the score of each group, and that at which each unit is found.

    Parameters
    ----------
    group_scores : ndarray of shape (n_groups,)
    found_at : mapping of str to ndarray
        For each kind of unit, the largest score of a group that shows the unit; −∞ where none has
        a candidate.

    Examples
    --------
    >>> curve = curve_of_units(np.array([0.9, 0.5, 0.1]), {"objects": np.array([0.5])})
    >>> curve.at_yield(1.0).threshold
    0.5
    """
    thresholds = np.unique(group_scores)[::-1]
    thresholds = np.concatenate([[np.inf], thresholds[thresholds > -np.inf]])
    return YieldCurve(
        thresholds,
        _share_from(group_scores, thresholds),
        {name: _share_from(each, thresholds) for name, each in found_at.items()},
        {name: len(each) for name, each in found_at.items()},
        len(group_scores),
    )


def yield_interval(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    *,
    share: float,
    unit: str = "objects",
    objects: ArrayLike | None = None,
    levels: Mapping[str, ArrayLike] | None = None,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.Generator | None = 0,
    pos_label: Any = None,
) -> Interval:
    """Compute the share of groups shown that keeps a yield, with a confidence interval.

        shown(t_q),    t_q = the largest t with yield_u(t) >= q

    The interval is about the share of groups that must be shown, in all data of this kind, to find
    the share q of the units: clusters are resampled, and in each resample the threshold is chosen
    anew. It is not a guarantee for the threshold of these data on new ones; `operating_point` with
    a ``confidence`` gives that.

    Parameters
    ----------
    y, scores, groups, objects, levels, pos_label
        As for `yield_curve`.
    share : float
        The yield q that is kept.
    unit : str, default="objects"
        The kind of unit: "objects" or the name of a level.
    clusters : array-like of shape (n,), optional
        The cluster of each candidate, such as the patient; without it every group is one. All
        groups that show a unit must be in one cluster.
    level, n_resamples, random_state
        As for `bootstrap_interval`, whose warnings apply.

    Returns
    -------
    Interval
        The bounds are NaN where fewer than five clusters of units may be missed,
        ``(1 − q) · n_clusters < 5``: the share shown then depends on a few units of lowest score,
        whose variation resampling does not show. A yield of 1 never has bounds.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) % 4 == 0
    >>> found = yield_interval(y, y + rng.standard_normal(400), np.arange(400), share=0.9)
    >>> found.low < found.estimate < found.high
    True
    """
    units = _read_units(y, scores, groups, objects, levels, pos_label)
    estimate = curve_of_units(units.group_scores, units.found_at).at_yield(share, unit).shown
    at = read_clusters(clusters, units.index, len(units.index.codes))
    unit_at, shows = units.found_at[unit], units.shows[unit]
    unit_cluster = _owner_of_units(shows, at.of_group)
    n_units = np.bincount(unit_cluster, minlength=at.n_clusters)
    n_groups = np.bincount(at.of_group, minlength=at.n_clusters)
    resampling = Resampling(level=level, n_resamples=n_resamples, random_state=random_state)
    if (1.0 - share) * np.count_nonzero(n_units) < _FEWEST_MISSED - 1e-9:
        return Interval(estimate, math.nan, math.nan)
    order = np.argsort(unit_at)[::-1]
    unit_at, unit_cluster = unit_at[order], unit_cluster[order]
    falling = np.argsort(units.group_scores)[::-1]
    group_cluster = at.of_group[falling]
    # How many groups score at least what each unit does.
    before = np.searchsorted(-units.group_scores[falling], -unit_at, side="right")

    def of(count: NDArray[np.int64]) -> float:
        found = np.cumsum(count[unit_cluster])
        last = int(np.searchsorted(found, share * found[-1] - 1e-9, side="left"))
        if unit_at[last] == -np.inf:
            return 1.0  # not even all groups keep the yield
        return float(count[group_cluster[: before[last]]].sum() / (count @ n_groups))

    values = resampling.values(of, n_units, n_groups)
    return resampling.interval(estimate, values, fewest_clusters(n_units, n_groups))


@dataclass(frozen=True)
class _Units:
    """Groups with their scores, and units with the groups that show them."""

    index: GroupIndex
    group_scores: Vector
    found_at: dict[str, Vector]
    shows: dict[str, tuple[NDArray[np.intp], NDArray[np.intp]]]


def _read_units(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    objects: ArrayLike | None,
    levels: Mapping[str, ArrayLike] | None,
    pos_label: Any,
) -> _Units:
    """Read which groups show which units; ``shows`` has the unit and the group of each sighting."""
    is_positive, values, index = rows_and_groups(
        y, scores, groups, pos_label=pos_label, finite=True
    )
    group_scores = index.maxima(values.astype(np.float64))
    positive_group = index.maxima(is_positive)
    require_both_classes(positive_group, "group")
    rows = np.flatnonzero(is_positive)
    object_of = index.codes if objects is None else checked_objects(objects, is_positive)
    shows = {"objects": (index_groups(object_of[rows]).codes, index.codes[rows])}
    if levels:
        nested = read_levels({"group": index.codes, **levels})
        showing = np.flatnonzero(positive_group)
        for name, owner in zip(nested.names[1:], nested.owners[1:], strict=True):
            shows[name] = (index_groups(owner[showing]).codes, showing)
    found_at = {
        name: index_groups(unit).maxima(group_scores[group])
        for name, (unit, group) in shows.items()
    }
    return _Units(index, group_scores, found_at, shows)


def _owner_of_units(
    shows: tuple[NDArray[np.intp], NDArray[np.intp]], group_cluster: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the cluster of each unit; raise where a unit is seen in two.

    Examples
    --------
    >>> _owner_of_units((np.array([0, 0, 1]), np.array([0, 1, 2])), np.array([5, 5, 6])).tolist()
    [5, 6]
    """
    unit, group = shows
    cluster = np.zeros(int(unit.max()) + 1, dtype=np.intp)
    cluster[unit] = group_cluster[group]
    if np.any(cluster[unit] != group_cluster[group]):
        raise ValueError(
            "an object or a unit is seen in groups of two clusters; give clusters, such as "
            "patients, that contain all the groups of a unit."
        )
    return cluster


def _share_from(values: NDArray[np.float64], thresholds: Vector) -> Vector:
    """Return the share of the values that reach each threshold."""
    rising = np.sort(values)
    return (len(rising) - np.searchsorted(rising, thresholds, side="left")) / len(rising)
