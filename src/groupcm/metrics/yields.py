"""The yield curve: objects, videos and patients found against the share of frames shown.

    shown(t)   = #{groups k : s_k >= t} / #groups
    yield_u(t) = #{u : some group that shows u has s_k >= t} / #u

for objects, or for the positive units of a level, u. A reader who sees the shown groups alone finds
an object in any group that shows it, whichever candidate won there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.groups import index_groups
from groupcm.metrics.free_response import checked_objects
from groupcm.metrics.levels import read_levels
from groupcm.metrics.truth import require_both_classes, rows_and_groups
from groupcm.utils.typing import Vector

__all__ = ["YieldCurve", "YieldPoint", "yield_curve"]


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
    is_positive, values, index = rows_and_groups(
        y, scores, groups, pos_label=pos_label, finite=True
    )
    group_scores = index.maxima(values.astype(np.float64))
    positive_group = index.maxima(is_positive)
    require_both_classes(positive_group, "group")
    rows = np.flatnonzero(is_positive)
    object_of = index.codes if objects is None else checked_objects(objects, is_positive)
    found_at = {"objects": index_groups(object_of[rows]).maxima(group_scores[index.codes[rows]])}
    if levels:
        nested = read_levels({"group": index.codes, **levels})
        for name, owner in zip(nested.names[1:], nested.owners[1:], strict=True):
            units = index_groups(owner[positive_group])
            found_at[name] = units.maxima(group_scores[positive_group])
    thresholds = np.unique(group_scores)[::-1]
    thresholds = np.concatenate([[np.inf], thresholds[thresholds > -np.inf]])
    return YieldCurve(
        thresholds,
        _share_from(group_scores, thresholds),
        {name: _share_from(each, thresholds) for name, each in found_at.items()},
        {name: len(each) for name, each in found_at.items()},
        index.n_groups,
    )


def _share_from(values: NDArray[np.float64], thresholds: Vector) -> Vector:
    """Return the share of the values that reach each threshold."""
    rising = np.sort(values)
    return (len(rising) - np.searchsorted(rising, thresholds, side="left")) / len(rising)
