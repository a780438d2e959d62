"""Which candidates are on which object, by a rule that has a name, and the objects missed.

    sightings  = { (k, o) : a candidate of group k is on object o, or o is listed in k }
    missed     = { (k, o) in sightings : no candidate of k is on o by the hit rule }

A candidate that is positive by its label and no hit by the rule is a false alarm. `with_listed`
adds the objects that no candidate is on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groupcm.data.groups import first_missing, index_groups
from groupcm.errors import Argument, ParameterError
from groupcm.evaluation.listed import EmptyGroups, ListedObjects
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.scoring import as_object_array, with_all_groups
from groupcm.metrics.free_response import hits
from groupcm.metrics.froc import LEAST_OVERLAP
from groupcm.utils.formatting import number
from groupcm.utils.text import printable
from groupcm.utils.typing import Vector

__all__ = ["HIT_RULES", "HitRule", "ObjectRows", "Sightings", "object_rows", "with_listed"]

HIT_RULES = ("label", "overlap", "centre", "distance")


@dataclass(frozen=True)
class HitRule:
    """When a candidate is on an object.

    Parameters
    ----------
    name : {"label", "overlap", "centre", "distance"}
        Where its label is positive, where it overlaps the object enough, where its centre is inside
        the object, or where the centres are near each other; see `groupcm.metrics.hits`.
    least_overlap : float, default=0.3
        For "overlap".
    most_distance : float, optional
        For "distance", in the unit of the distances, such as pixels.

    Examples
    --------
    >>> HitRule("overlap", least_overlap=0.5).words
    'an overlap of 0.5 or more'
    """

    name: str = "label"
    least_overlap: float = LEAST_OVERLAP
    most_distance: float | None = None

    def __post_init__(self) -> None:
        if self.name not in HIT_RULES:
            known = ", ".join(f'"{each}"' for each in HIT_RULES)
            raise ParameterError(
                Argument("hit_rule"), f" is {self.name!r}, which is not known; use one of {known}."
            )
        if self.name == "distance" and self.most_distance is None:
            raise ParameterError(
                Argument("hit_rule", "distance"),
                " needs the largest distance of a hit; give ",
                Argument("most_distance"),
                ".",
            )

    @property
    def words(self) -> str:
        """The rule in words."""
        return {
            "label": "a positive label",
            "overlap": f"an overlap of {number(self.least_overlap)} or more",
            "centre": "its centre inside the object",
            "distance": f"its centre within {number(self.most_distance or 0.0)} of the object's",
        }[self.name]

    def of(self, scored: ScoredCandidates) -> NDArray[np.bool_]:
        """Return which candidates are on an object; in negative groups none is."""
        if self.name == "label":
            return scored.is_positive
        on = hits(
            self.name,
            overlap=scored.overlap,
            least_overlap=self.least_overlap,
            centre_inside=scored.centre_inside,
            centre_distance=scored.centre_distance,
            most_distance=self.most_distance,
        )
        return on & scored.group_positive[scored.index.codes]


class Sightings(NamedTuple):
    """The number of the group and of the object of each sighting, every pair once."""

    group: NDArray[np.intp]
    object: NDArray[np.intp]


class ObjectRows(NamedTuple):
    """The rows of a free-response analysis: candidates, and one row of −∞ per object missed.

    Attributes
    ----------
    is_hit : ndarray of bool of shape (n,)
    score : ndarray of shape (n,)
    group, object, cluster : ndarray of int of shape (n,)
        Numbers; that of the object is -1 where the row is on none.
    overlap : ndarray of shape (n,), or None
    """

    is_hit: NDArray[np.bool_]
    score: Vector
    group: NDArray[np.intp]
    object: NDArray[np.intp]
    cluster: NDArray[np.intp]
    overlap: Vector | None

    def sightings(self) -> Sightings:
        """Return every object in every group that shows it."""
        return _pairs(self.group[self.is_hit], self.object[self.is_hit])


def object_rows(scored: ScoredCandidates, rule: HitRule) -> ObjectRows:
    """Return the rows of groups whose candidates have labels, with the objects that are missed.

    Examples
    --------
    >>> scored = ScoredCandidates(
    ...     index_groups(["a", "a", "b"]),
    ...     score=np.array([2.0, 1.0, 0.0]),
    ...     is_positive=np.array([True, False, False]),
    ...     rows=lambda rows: np.zeros((len(rows), 1)),
    ...     overlap=np.array([0.4, 0.0, 0.0]),
    ... )
    >>> object_rows(scored, HitRule("overlap", least_overlap=0.5)).score.tolist()
    [2.0, 1.0, 0.0, -inf]
    """
    is_hit, group = rule.of(scored), scored.index.codes
    known = scored.has_label
    shown = np.flatnonzero((is_hit | scored.is_positive) & known)
    object_of, listed = _numbered(scored, is_hit, shown)
    missed = _missed(
        [_pairs(group[shown], object_of[shown]), listed],
        _pairs(group[shown][is_hit[shown]], object_of[shown][is_hit[shown]]),
    )
    quiet = np.empty(0, dtype=np.intp)
    if scored.empty is not None:
        quiet = scored.index.n_groups + np.flatnonzero(~scored.empty.is_positive)
    more = len(missed.group) + len(quiet)
    groups = np.concatenate([group[known], missed.group, quiet]).astype(np.intp)
    nothing = np.full(len(quiet), -1)
    objects = np.concatenate([object_of[known], missed.object, nothing]).astype(np.intp)
    hit_rows = np.concatenate([is_hit[known], np.arange(more) < len(missed.group)])
    overlap = None
    if scored.overlap is not None:
        overlap = scored.overlap.astype(np.float64)
        overlap = np.nan_to_num(np.append(overlap[known], np.zeros(more)), nan=-1.0)
    return ObjectRows(
        hit_rows,
        np.append(scored.score[known], np.full(more, -np.inf)),
        groups,
        objects,
        _clusters(scored, _pairs(groups[hit_rows], objects[hit_rows]))[groups],
        overlap,
    )


def with_listed(
    model: Any,
    scored: ScoredCandidates,
    *,
    all_groups: Mapping[Any, Any] | None = None,
    all_patients: Mapping[Any, Any] | None = None,
    all_objects: Mapping[Any, Any] | Iterable[tuple[Any, Any]] | None = None,
    all_levels: Mapping[str, Mapping[Any, Any]] | None = None,
    all_columns: Mapping[str, Mapping[Any, Any]] | None = None,
    pos_label: Any = None,
) -> ScoredCandidates:
    """Return what was scored together with the listed groups and objects that have no candidates.

    Parameters
    ----------
    model : estimator
    scored : ScoredCandidates
    all_groups, all_patients, all_levels, pos_label
        As for `groupcm.evaluation.evaluate`.
    all_objects : mapping, or pairs, of object ids to group ids, optional
        Every object, and a group that shows it. A group that is not known otherwise is a positive
        one without candidates.
    all_columns : mapping of str to mapping, optional
        For each column of subgroups the value of every group.
    """
    if all_objects is not None:
        if scored.objects is None:
            raise ParameterError(
                Argument("all_objects"),
                " lists all objects, and those of the candidates are not known; give ",
                Argument("objects"),
                " too.",
            )
        pairs = all_objects.items() if isinstance(all_objects, Mapping) else all_objects
        ids, groups = as_object_array([]), as_object_array([])
        listed = list(pairs)
        if listed:
            ids, groups = (as_object_array(part) for part in zip(*listed, strict=True))
        scored = replace(scored, listed=ListedObjects(ids, groups))
    if all_groups is not None:
        scored = with_all_groups(
            model,
            scored,
            all_groups,
            all_patients,
            pos_label,
            levels=all_levels,
            columns=all_columns,
        )
    return scored if scored.listed is None else _with_new_groups(scored, all_patients)


def _with_new_groups(
    scored: ScoredCandidates, patients: Mapping[Any, Any] | None
) -> ScoredCandidates:
    """Add the groups that only the list of objects names, and check the list against the rest."""
    listed, number_of = scored.listed, scored.listed_group
    assert listed is not None
    empty = scored.empty
    if empty is not None:
        n_groups, shows = scored.index.n_groups, np.zeros(scored.n_empty, dtype=bool)
        shows[number_of[number_of >= n_groups] - n_groups] = True
        for wrong, text in (
            (shows & ~empty.is_positive, "is negative in the list of all groups, and shows an "),
            (~shows & empty.is_positive, "has no candidate, is positive, and shows no "),
        ):
            if wrong.any():
                raise ValueError(
                    f"the group {printable(empty.ids[int(np.argmax(wrong))])} {text}object in the "
                    "list of all objects; the two need to agree."
                )
    new = list(dict.fromkeys(listed.groups[number_of < 0].tolist()))
    if not new:
        return scored
    if scored.levels:
        raise ValueError(
            f"the group {printable(new[0])} of the list of all objects has no candidate, and its "
            f"{next(iter(scored.levels))} is not known; list it among all groups with its levels."
        )
    patient_of = None
    if scored.by_patient is not None:
        lacking = [each for each in new if patients is None or each not in patients]
        if lacking:
            raise ValueError(
                f"the group {printable(lacking[0])} of the list of all objects has no candidate, "
                "and its patient is not known; list that too."
            )
        assert patients is not None
        patient_of = as_object_array(patients[each] for each in new)
    more = EmptyGroups(as_object_array(new), np.ones(len(new), dtype=bool), patient_of)
    if empty is not None and scored.n_empty:
        before = empty.patients
        both = None
        if patient_of is not None and before is not None:
            both = np.append(before.astype(object), patient_of)
        more = replace(
            empty,
            ids=np.append(empty.ids.astype(object), more.ids),
            is_positive=np.append(empty.is_positive, more.is_positive),
            patients=both,
        )
    return replace(scored, empty=more)


def _numbered(
    scored: ScoredCandidates, is_hit: NDArray[np.bool_], shown: NDArray[np.intp]
) -> tuple[NDArray[np.intp], Sightings]:
    """Return the number of the object of each row, and the sightings that are listed."""
    numbers = np.full(len(scored.score), -1, dtype=np.intp)
    if scored.objects is None:
        numbers[shown] = scored.index.codes[shown]
        rest = np.empty(0, dtype=np.intp)
        if scored.empty is not None:
            rest = scored.index.n_groups + np.flatnonzero(scored.empty.is_positive)
        return numbers, Sightings(rest, rest)
    ids = scored.objects[shown]
    missing = first_missing(ids)
    if ids.dtype.kind == "i" and (ids < 0).any():
        missing = int(np.argmax(ids < 0))
    if missing is not None and not scored.is_positive[shown[missing]]:
        raise ValueError(
            f"row {shown[missing]} is on an object by the hit rule, and objects has no id there."
        )
    index = index_groups(ids, allow_empty=True)
    numbers[shown] = index.codes
    if scored.listed is None:
        return numbers, Sightings(*np.empty((2, 0), dtype=np.intp))
    # The lists of other tables may have other types of numbers, which are equal all the same.
    number_of = {each: at for at, each in enumerate(index.ids.tolist())}
    listed = [number_of.setdefault(each, len(number_of)) for each in scored.listed.ids.tolist()]
    counted = scored.group_has_labels[scored.listed_group]
    return numbers, Sightings(
        scored.listed_group[counted], np.array(listed, dtype=np.intp)[counted]
    )


def _pairs(group: NDArray[np.intp], object_of: NDArray[np.intp]) -> Sightings:
    """Return each pair of a group and an object once."""
    found = np.unique(np.stack([group, object_of]), axis=1)
    return Sightings(found[0], found[1])


def _missed(all_of: list[Sightings], hit: Sightings) -> Sightings:
    """Return the sightings that are not hits."""
    group = np.concatenate([each.group for each in all_of])
    object_of = np.concatenate([each.object for each in all_of])
    found = _pairs(group, object_of)
    base = int(found.object.max(initial=0)) + 1
    is_missed = ~np.isin(found.group * base + found.object, hit.group * base + hit.object)
    return Sightings(found.group[is_missed], found.object[is_missed])


def _clusters(scored: ScoredCandidates, seen: Sightings) -> NDArray[np.intp]:
    """Return the cluster of each group: its patient, or the groups linked by shared objects."""
    patient = scored.group_patient
    if patient is None and scored.objects is None:
        return np.arange(scored.n_groups)
    first = np.zeros(int(seen.object.max(initial=-1)) + 1, dtype=np.intp)
    first[seen.object[::-1]] = seen.group[::-1]
    linked = first[seen.object]
    if patient is None:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        shape = (scored.n_groups, scored.n_groups)
        ones = np.ones(len(linked), dtype=np.int8)
        return connected_components(coo_array((ones, (seen.group, linked)), shape=shape))[1]
    torn = patient[seen.group] != patient[linked]
    if torn.any():
        names = scored.group_names
        one, other = (int(each[np.argmax(torn)]) for each in (linked, seen.group))
        raise ValueError(
            f"the groups {printable(names[one])} and {printable(names[other])} show the same "
            "object and are of two patients; give every object an id of its own."
        )
    return patient
