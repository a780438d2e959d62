"""Free-response data: the score of each object, and the false alarms of each group.

    object o in group k:  s_ko = max_{i∈k on o} s_i            hit="highest_score"
                          s_ko = s_i, i = argmax_{i∈k on o} overlap_i      hit="best_overlap"
    false alarms of k:    the candidates i∈k that are on no object

The free-response ROC curve and its relatives (`froc_curve`, `afroc_curve`) are functions of these
numbers. An object that no candidate is on has the score −∞: it is missed at every threshold.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.groups import GroupIndex, first_missing, index_groups
from groupcm.errors import Argument, ParameterError
from groupcm.metrics.clusters import read_clusters
from groupcm.metrics.truth import rows_and_groups
from groupcm.utils.text import printable
from groupcm.utils.typing import Vector

__all__ = ["FreeResponse", "checked_objects", "hits", "read_free_response"]

HIT_RULES = ("highest_score", "best_overlap")


@dataclass(frozen=True)
class FreeResponse:
    """Every object in every group with its score, and every false alarm.

    Attributes
    ----------
    object_score : ndarray of shape (n_sightings,)
        The score of each object in each group that shows it; −∞ where no candidate is on it.
    object_group, object_id : ndarray of int of shape (n_sightings,)
        The numbers of its group and of the object.
    false_score, false_group : ndarray of shape (n_false,)
        The score and the group of each candidate that is on no object.
    group_cluster : ndarray of int of shape (n_groups,)
        The number of the cluster, such as the patient, of each group.
    n_clusters : int
    """

    object_score: Vector
    object_group: NDArray[np.intp]
    object_id: NDArray[np.intp]
    false_score: Vector
    false_group: NDArray[np.intp]
    group_cluster: NDArray[np.intp]
    n_clusters: int

    @property
    def n_groups(self) -> int:
        """The number of groups, those without candidates included."""
        return len(self.group_cluster)

    @cached_property
    def is_positive_group(self) -> NDArray[np.bool_]:
        """Whether each group shows an object."""
        positive = np.zeros(self.n_groups, dtype=bool)
        positive[self.object_group] = True
        return positive

    @cached_property
    def largest_false_score(self) -> Vector:
        """The largest score among the false alarms of each group; −∞ where there are none."""
        largest = np.full(self.n_groups, -np.inf)
        np.maximum.at(largest, self.false_group, self.false_score)
        return largest

    @cached_property
    def weight_in_group(self) -> Vector:
        """One over the number of objects in the group of each object."""
        return 1.0 / np.bincount(self.object_group, minlength=self.n_groups)[self.object_group]

    @cached_property
    def score_of_objects(self) -> Vector:
        """The score of each object: its largest, where several groups show it."""
        score = np.full(int(self.object_id.max(initial=-1)) + 1, -np.inf)
        np.maximum.at(score, self.object_id, self.object_score)
        return score

    def distinct_objects(self) -> tuple[Vector, NDArray[np.intp]]:
        """Return the score and the cluster of each object, seen in one group or in several.

        Raises
        ------
        ValueError
            Where an object is seen in two clusters, so that resampling would tear it apart.

        Examples
        --------
        >>> found = read_free_response([1, 1, 0], [0.2, 0.9, 0.5], list("abb"), [7, 7, 0],
        ...                            clusters=list("ppp"))
        >>> [part.tolist() for part in found.distinct_objects()]
        [[0.9], [0]]
        """
        cluster = np.zeros(len(self.score_of_objects), dtype=np.intp)
        seen_in = self.group_cluster[self.object_group]
        cluster[self.object_id] = seen_in
        if np.any(cluster[self.object_id] != seen_in):
            raise ValueError(
                "an object is seen in groups of two clusters; give clusters, such as patients, "
                "that hold all the groups of an object."
            )
        return self.score_of_objects, cluster


def read_free_response(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike,
    objects: ArrayLike | None = None,
    *,
    overlap: ArrayLike | None = None,
    hit: str = "highest_score",
    missed: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    pos_label: Any = None,
) -> FreeResponse:
    """Read objects and false alarms from labelled candidates.

    Parameters
    ----------
    y, scores, groups, pos_label
        As for `group_roc_curve`; positive candidates are on an object, the others are not.
    objects : array-like of shape (n,), optional
        The id of the object that a candidate is on, read only where ``y`` is positive. Without it
        every positive group holds one object.
    overlap : array-like of shape (n,), optional
        How well each candidate fits its object; needed for ``hit="best_overlap"``.
    hit : {"highest_score", "best_overlap"}
        Which candidate gives an object its score where several are on it. The others are neither
        hits nor false alarms.
    missed : array-like, optional
        One group id for each object that no candidate is on. Groups may be named that have no
        candidate at all.
    clusters : array-like of shape (n,), optional
        The cluster of each candidate, such as the patient; without it every group is one.

    Returns
    -------
    FreeResponse

    Examples
    --------
    >>> found = read_free_response([1, 1, 0, 0], [0.2, 0.9, 0.5, 0.1], list("aaab"), missed=["a"])
    >>> found.object_score.tolist(), found.largest_false_score.tolist()
    ([0.9, -inf], [0.5, 0.1])
    """
    if hit not in HIT_RULES:
        raise ValueError(f"hit={hit!r} is not known; use {' or '.join(map(repr, HIT_RULES))}.")
    is_positive, values, index = rows_and_groups(
        y, scores, groups, pos_label=pos_label, finite=True
    )
    values = values.astype(np.float64)
    rows = np.flatnonzero(is_positive)
    group = index.codes
    if objects is None:
        of_object = index_groups(group[rows])
    else:
        of_object = index_groups(checked_objects(objects, is_positive)[rows])
    sighting = index_groups(group[rows] * np.intp(of_object.n_groups) + of_object.codes)
    if hit == "best_overlap":
        best = sighting.winners(_checked_overlap(overlap, len(values))[rows])
        score = values[rows][best]
    else:
        score = sighting.maxima(values[rows])
    first = sighting.winners(np.zeros(len(rows)))
    at = read_clusters(clusters, index, len(values))
    missed_group, n_groups = _missed_groups(missed, index, clusters is not None)
    n_new = n_groups - index.n_groups
    return FreeResponse(
        np.concatenate([score, np.full(len(missed_group), -np.inf)]),
        np.concatenate([group[rows][first], missed_group]),
        np.concatenate([of_object.codes[first], of_object.n_groups + np.arange(len(missed_group))]),
        values[~is_positive],
        group[~is_positive],
        np.concatenate([at.of_group, at.n_clusters + np.arange(n_new)]),
        at.n_clusters + n_new,
    )


def hits(
    rule: str = "overlap",
    *,
    overlap: ArrayLike | None = None,
    least_overlap: float = 0.3,
    centre_inside: ArrayLike | None = None,
    centre_distance: ArrayLike | None = None,
    most_distance: float | None = None,
) -> NDArray[np.bool_]:
    """Return which candidates are on an object, by a rule: the ``y`` of free-response functions.

        "overlap"   o_i >= least_overlap
        "centre"    the centre of candidate i is inside the object
        "distance"  d_i <= most_distance

    Parameters
    ----------
    rule : {"overlap", "centre", "distance"}
    overlap : array-like of shape (n,), optional
        How well each candidate fits an object, for the first rule. A NaN is not a hit in any rule.
    least_overlap : float, default=0.3
        Must be above 0.
    centre_inside : array-like of bool of shape (n,), optional
        Whether the centre of each candidate is inside its object, for the second rule.
    centre_distance : array-like of shape (n,), optional
        The distance of the centres of each candidate and its object, for the third rule.
    most_distance : float, optional
        In the unit of ``centre_distance``, such as pixels; needed for the third rule.

    Returns
    -------
    ndarray of bool of shape (n,)

    Examples
    --------
    >>> hits("overlap", overlap=[0.5, 0.2, 0.0], least_overlap=0.2).tolist()
    [True, True, False]
    >>> hits("distance", centre_distance=[3.0, 12.5], most_distance=10).tolist()
    [True, False]
    """
    columns = {
        "overlap": ("overlap", overlap),
        "centre": ("centre_inside", centre_inside),
        "distance": ("centre_distance", centre_distance),
    }
    if rule not in columns:
        known = ", ".join(f'"{each}"' for each in columns)
        raise ParameterError(Argument("hit_rule"), f"={rule!r} is not known; use one of {known}.")
    name, given = columns[rule]
    if given is None:
        raise ParameterError(
            f'the hit rule "{rule}" needs ', Argument(name), ", one value per row."
        )
    if rule == "centre":
        inside = np.asarray(given, dtype=np.float64)
        return np.isfinite(inside) & (inside != 0)
    values = np.asarray(given, dtype=np.float64)
    if rule == "overlap":
        if not least_overlap > 0.0:
            raise ParameterError(
                Argument("least_overlap"),
                f" is {least_overlap:g}; it must be above 0, or every candidate would be on the "
                "object.",
            )
        return values >= least_overlap
    if most_distance is None or not most_distance >= 0.0:
        raise ParameterError(
            'the hit rule "distance" needs ',
            Argument("most_distance"),
            ", a number of at least 0.",
        )
    return values <= most_distance


def checked_objects(objects: ArrayLike, is_positive: NDArray[np.bool_]) -> NDArray[Any]:
    """Return one object id per candidate, checked where the candidate is positive.

    Examples
    --------
    >>> checked_objects([7, 0], np.array([True, False])).tolist()
    [7, 0]
    """
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


def _checked_overlap(overlap: ArrayLike | None, n_rows: int) -> Vector:
    if overlap is None:
        raise ValueError('hit="best_overlap" needs overlap, one number per candidate.')
    values = np.asarray(overlap, dtype=np.float64)
    if values.shape != (n_rows,):
        raise ValueError(
            f"overlap must hold one number per candidate, shape ({n_rows},) to match y; "
            f"got shape {values.shape}."
        )
    return values


def _missed_groups(
    missed: ArrayLike | None, index: GroupIndex, has_clusters: bool
) -> tuple[NDArray[np.intp], int]:
    """Return the group number of each missed object, and the number of groups with new ones."""
    if missed is None:
        return np.empty(0, dtype=np.intp), index.n_groups
    number: dict[Hashable, int] = {id_: code for code, id_ in enumerate(index.ids.tolist())}
    numbers = []
    for id_ in np.asarray(missed).tolist():
        if has_clusters and id_ not in number:
            raise ValueError(
                f"missed names group {printable(id_)}, which has no candidate, so that its cluster "
                "is unknown; add a row with the score -inf for it."
            )
        numbers.append(number.setdefault(id_, len(number)))
    return np.array(numbers, dtype=np.intp), len(number)
