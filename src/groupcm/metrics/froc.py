"""The free-response ROC curve: objects found against false alarms.

    sensitivity(t)  = #{objects o : max_{i on o} s_i >= t} / #objects
    false_alarms(t) = #{i not positive : s_i >= t} / #groups

An object, such as a polyp, may be seen in several groups, and by several candidates of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.groups import first_missing, index_groups
from groupcm.metrics.curves import corners, tally
from groupcm.metrics.results import FrocCurve
from groupcm.metrics.truth import require_both_classes, rows_and_groups

__all__ = ["LEAST_OVERLAP", "checked_objects", "froc_curve"]

#: The intersection over union from which on a candidate is on the object.
LEAST_OVERLAP = 0.3


def froc_curve(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    objects: ArrayLike | None = None,
    *,
    false_alarms_in: str = "all",
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
        one row of the score -inf: it counts among the groups, is no false alarm, and misses the
        object of its row where that is positive.
    groups : array-like of shape (n,)
        The group id of every candidate, in any order.
    objects : array-like of shape (n,), optional
        The id of the object that a candidate is on, read only where ``y`` is positive.
        Without it every positive group holds one object.
    false_alarms_in : {"all", "negative"}
        Count false alarms in all groups, or in negative groups only; the mean is over the
        same groups.
    pos_label : label, optional
        The positive one of the two labels; None is the larger.

    Returns
    -------
    FrocCurve
        From no alarm at an infinite threshold to all of them at the smallest score. Points
        inside a horizontal or vertical stretch are left out.

    Notes
    -----
    An object that no candidate is on is not in the table and cannot be counted as missed, unless
    it has a row of the score -inf.

    Examples
    --------
    Polyp 7 is seen in both frames a and b, and found once either candidate is an alarm.

    >>> y = [1, 0, 1, 0, 0]
    >>> scores = [0.3, 0.5, 0.9, 0.1, 0.6]
    >>> curve = froc_curve(y, scores, list("aabbc"), objects=[7, 0, 7, 0, 0])
    >>> curve.sensitivity.tolist(), curve.false_alarms.tolist()
    ([0.0, 1.0, 1.0], [0.0, 0.0, 1.0])
    """
    if false_alarms_in not in ("all", "negative"):
        raise ValueError(
            f'false_alarms_in={false_alarms_in!r} is not known; use "all" or "negative".'
        )
    is_positive, scores, index = rows_and_groups(
        y, scores, groups, pos_label=pos_label, finite=True
    )
    object_of = index.codes if objects is None else checked_objects(objects, is_positive)
    found_at = index_groups(object_of[is_positive]).maxima(scores[is_positive])
    can_be_false, n_groups = ~is_positive, index.n_groups
    if false_alarms_in == "negative":
        is_positive_group = index.maxima(is_positive)
        require_both_classes(is_positive_group, "group")
        can_be_false = ~is_positive_group[index.codes]
        n_groups = int(np.count_nonzero(~is_positive_group))
    false_at = scores[can_be_false]
    is_object = np.repeat([True, False], [len(found_at), len(false_at)])
    at = tally(is_object, np.concatenate([found_at, false_at]))
    kept = corners(at.tp, at.fp)
    return FrocCurve(at.fp[kept] / n_groups, at.sensitivity[kept], at.thresholds[kept])


def checked_objects(objects: ArrayLike, is_positive: NDArray[np.bool_]) -> NDArray[Any]:
    """Return one object id per candidate, checked where the candidate is positive."""
    objects = np.asarray(objects)
    if objects.shape != is_positive.shape:
        raise ValueError(
            f"objects must hold one id per candidate, shape {is_positive.shape} to match y; "
            f"got shape {objects.shape}."
        )
    rows = np.flatnonzero(is_positive)
    missing = first_missing(objects[rows])
    if missing is not None:
        raise ValueError(
            f"objects has no id at row {rows[missing]}; every positive candidate needs one."
        )
    return objects
