"""Scored candidates, the input of an evaluation: scores, labels, and access to features.

Conventions: ``n`` candidates (rows), ``m`` groups: those that have candidates, in order of first
appearance, and then those that have none. A few numbers per row are in memory; features are read
only for requested rows. A positive group is annotated as a whole, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groupcm.data.group_table import patient_of_groups
from groupcm.data.groups import GroupIndex, owner_of_groups
from groupcm.evaluation.listed import EmptyGroups, ListedObjects
from groupcm.evaluation.results import DataCounts
from groupcm.metrics.levels import index_units, read_levels
from groupcm.objective.terms import Index
from groupcm.utils.text import printable
from groupcm.utils.typing import Vector

__all__ = ["ScoredCandidates", "ScoredRows", "require_whole_groups", "rows_with_missing"]

_ROWS_AT_ONCE = 1 << 16

Rows = Callable[[Index], NDArray[np.floating]]


def require_whole_groups(
    index: GroupIndex, positive: NDArray[np.bool_], annotated: NDArray[np.bool_]
) -> None:
    """Raise where some candidates of a positive group are annotated and others are not.

    Parameters
    ----------
    index : GroupIndex
    positive : ndarray of bool, one per group
    annotated : ndarray of bool, one per candidate

    Examples
    --------
    >>> from groupcm.data.groups import index_groups
    >>> index = index_groups(["a", "a", "b"])
    >>> require_whole_groups(index, np.array([True, False]), np.array([True, False, True]))
    Traceback (most recent call last):
    ValueError: annotated is True for some candidates of the positive group a and False for others;
    it must be the same for all candidates of a group.
    """
    mixed = positive & index.maxima(annotated) & index.maxima(~annotated)
    if mixed.any():
        raise ValueError(
            "annotated is True for some candidates of the positive group "
            f"{index.ids[int(np.argmax(mixed))]!s} and False for others; it must be the same for "
            "all candidates of a group."
        )


def rows_with_missing(X: Any) -> NDArray[np.bool_] | None:
    """Return which rows of a matrix in memory hold a NaN; None where none does.

    Examples
    --------
    >>> rows_with_missing(np.array([[1.0, np.nan], [2.0, 3.0]]))
    array([ True, False])
    """
    found = np.zeros(X.shape[0], dtype=bool)
    if isinstance(X, np.ndarray):
        for first in range(0, len(X), _ROWS_AT_ONCE):
            rows = slice(first, first + _ROWS_AT_ONCE)
            found[rows] = np.isnan(X[rows]).any(axis=1)
    else:
        found[np.repeat(np.arange(len(found)), np.diff(X.indptr))[np.isnan(X.data)]] = True
    return found if found.any() else None


class ScoredRows(NamedTuple):
    """Candidates and, for each group without any, one row of the score -inf.

    Attributes
    ----------
    is_positive, score, group, object : ndarray of shape (n,)
        Without objects, the positive candidates of each group are on one of its own.
    has_label : ndarray of bool of shape (n,)
        Whether the row has a label of its own. A positive group without candidates has none where
        objects are known, because its object is not.
    """

    is_positive: NDArray[np.bool_]
    score: Vector
    group: NDArray[np.intp]
    object: NDArray[Any]
    has_label: NDArray[np.bool_]


@dataclass(frozen=True)
class ScoredCandidates:
    """Candidates with their scores and labels.

    Attributes
    ----------
    index : GroupIndex
        The rows of each group.
    score : ndarray of shape (n,)
    is_positive : ndarray of bool of shape (n,)
    rows : callable
        From row numbers to the features of these rows.
    by_patient : GroupIndex, or None where patients are not known
        The rows of each patient.
    objects : ndarray of shape (n,), or None
        The object that a positive candidate overlaps; ignored where it is not positive.
    overlap : ndarray of shape (n,), or None
        How well each candidate fits an object of its group.
    annotated : ndarray of bool of shape (n,), or None
        False for the candidates of unannotated positive groups: the label of the group is known,
        and those of its candidates are ignored.
    empty : EmptyGroups or None
        The groups that have no candidates.
    levels : mapping of str to ndarray of shape (n,), or None
        The unit of each candidate at each level above the group, such as video and patient, from
        the lowest to the highest. Each level must be nested in the next. The units of the highest
        level take the place of patients where those are not given; a patient that is given must
        contain whole units of it.
    columns : mapping of str to ndarray of shape (n,), or None
        Columns by whose values subgroups are formed, such as site or size.
    listed : ListedObjects or None
        All objects, where they are known: a group that shows one is positive, though no candidate
        of it be.
    centre_inside : ndarray of shape (n,), or None
        Whether the centre of each candidate is inside its object.
    centre_distance : ndarray of shape (n,), or None
        The distance of the centres of each candidate and its object.
    has_missing : ndarray of bool of shape (n,), or None
        Which candidates have a missing feature; None where none has, or it is not known.
    place : ndarray of shape (n,), or None
        The score of each candidate by the place model; None for a model without one.
    """

    index: GroupIndex
    score: Vector
    is_positive: NDArray[np.bool_]
    rows: Rows
    by_patient: GroupIndex | None = None
    objects: NDArray[Any] | None = None
    overlap: NDArray[np.floating] | None = None
    annotated: NDArray[np.bool_] | None = None
    empty: EmptyGroups | None = None
    levels: Mapping[str, NDArray[Any]] | None = None
    columns: Mapping[str, NDArray[Any]] | None = None
    listed: ListedObjects | None = None
    centre_inside: NDArray[Any] | None = None
    centre_distance: NDArray[np.floating] | None = None
    has_missing: NDArray[np.bool_] | None = None
    place: Vector | None = None

    def __post_init__(self) -> None:
        if np.isnan(self.score).any():
            raise ValueError(
                "the score that the model gives to the candidate of row "
                f"{int(np.argmax(np.isnan(self.score)))} (counted from 0) is NaN; every candidate "
                "needs a number."
            )
        positive = self.group_positive
        if positive.all() or not positive.any():
            found = "positive" if positive.all() else "negative"
            raise ValueError(
                f"every group is {found}; an evaluation needs positive and negative groups."
            )
        if self.levels and self.by_patient is None:
            self._take_highest(self.levels)
        if self.annotated is not None:
            require_whole_groups(self.index, positive[: self.index.n_groups], self.annotated)
        if self.by_patient is not None and self.n_empty and self.empty_patients is None:
            raise ValueError(
                "the patients of the candidates are known, and those of the groups without "
                "candidates are not; give both or neither."
            )

        if self.levels:
            self._require_nested(self.levels)

    def _take_highest(self, levels: Mapping[str, NDArray[Any]]) -> None:
        """Take the units of the highest level for the patients."""
        highest = list(levels)[-1]
        object.__setattr__(self, "by_patient", index_units(highest, levels[highest]))

    def _require_nested(self, levels: Mapping[str, NDArray[Any]]) -> None:
        """Raise where the units of groups are not nested, or not known of all groups."""
        known = (None if self.empty is None else self.empty.levels) or {}
        for name in levels:
            if self.n_empty and name not in known:
                raise ValueError(
                    f"the units of level {printable(name)} are known of the candidates, and not "
                    "of the groups without candidates; give both or neither."
                )
        found, by_patient = self.group_levels, self.by_patient
        assert by_patient is not None
        if "patients" not in found:
            patients = _of_groups(self.index, by_patient, "patients", self.empty_patients)
            found = {**found, "patients": patients}
        read_levels(found)

    @property
    def n_empty(self) -> int:
        """The number of groups without candidates."""
        return 0 if self.empty is None else len(self.empty.ids)

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return self.index.n_groups + self.n_empty

    @property
    def group_names(self) -> list[Any]:
        """The id of each group."""
        return self.index.ids.tolist() + ([] if self.empty is None else self.empty.ids.tolist())

    @property
    def empty_patients(self) -> NDArray[Any] | None:
        """The patients of the groups without candidates: as given, or the highest level."""
        if self.empty is None or self.empty.patients is not None or not self.empty.levels:
            return None if self.empty is None else self.empty.patients
        highest = list(self.levels or [""])[-1]
        return self.empty.levels.get(highest)

    def with_empty(self, values: NDArray[Any], rest: Any) -> NDArray[Any]:
        """Return one value per group: those of groups with candidates, and the ``rest``."""
        return np.append(values, np.broadcast_to(rest, self.n_empty)) if self.n_empty else values

    @cached_property
    def group_score(self) -> Vector:
        """The largest score of each group."""
        return self.with_empty(self.index.maxima(self.score), -np.inf)

    @cached_property
    def group_positive(self) -> NDArray[np.bool_]:
        """Whether a candidate of the group is positive, or an object is listed in the group."""
        rest = None if self.empty is None else self.empty.is_positive
        positive = self.with_empty(self.index.maxima(self.is_positive), rest)
        if self.listed is not None:
            positive = positive.copy()
            positive[self.listed_group[self.listed_group >= 0]] = True
        return positive

    @cached_property
    def listed_group(self) -> NDArray[np.intp]:
        """The number of the group of each listed object; -1 where the group is not known."""
        if self.listed is None:
            return np.empty(0, dtype=np.intp)
        number = {each: at for at, each in enumerate(self.group_names)}
        return np.array([number.get(each, -1) for each in self.listed.groups.tolist()], np.intp)

    @cached_property
    def winner(self) -> NDArray[np.intp]:
        """The row of each group that has the largest score; -1 without candidates."""
        return self.with_empty(self.index.winners(self.score), -1)

    @cached_property
    def located(self) -> NDArray[np.intp]:
        """The row of each group that locates the object: the winner, or by the place model."""
        if self.place is None:
            return self.winner
        return self.with_empty(self.index.winners(self.place), -1)

    @cached_property
    def group_patient(self) -> NDArray[np.intp] | None:
        """The number of each group's patient."""
        if self.by_patient is None:
            return None
        rest: list[int] = []
        if self.empty_patients is not None:
            number = {patient: at for at, patient in enumerate(self.by_patient.ids.tolist())}
            rest = [number.setdefault(each, len(number)) for each in self.empty_patients.tolist()]
        return self.with_empty(patient_of_groups(self.index, self.by_patient), rest)

    @cached_property
    def group_levels(self) -> dict[str, NDArray[Any]]:
        """The unit of each group at each level above it, from the lowest to the highest."""
        empty = (None if self.empty is None else self.empty.levels) or {}
        return {
            name: _of_groups(
                self.index,
                index_units(name, ids),
                f"units of level {printable(name)}",
                empty.get(name),
            )
            for name, ids in (self.levels or {}).items()
        }

    @property
    def group_clusters(self) -> NDArray[np.intp]:
        """The unit of resampling, one number per group: its patient, or the group itself."""
        patient = self.group_patient
        return np.arange(self.n_groups) if patient is None else patient

    @cached_property
    def group_has_labels(self) -> NDArray[np.bool_]:
        """Whether the candidates of a group have labels of their own: it is annotated, or negative.

        Metrics of candidates count these groups only.
        """
        if self.annotated is None:
            return np.ones(self.n_groups, dtype=bool)
        return self.with_empty(self.index.maxima(self.annotated), True) | ~self.group_positive

    @cached_property
    def has_label(self) -> NDArray[np.bool_]:
        """Whether a candidate has a label of its own."""
        return self.group_has_labels[self.index.codes]

    @cached_property
    def all_rows(self) -> ScoredRows:
        """The rows that metrics of candidates take, with those of groups without candidates."""
        group = self.index.codes
        shown = group if self.objects is None else self.objects
        if self.empty is None or not self.n_empty:
            return ScoredRows(self.is_positive, self.score, group, shown, self.has_label)
        positive = self.empty.is_positive
        rest = self.index.n_groups + np.arange(self.n_empty)
        has_label = np.ones(self.n_empty, dtype=bool) if self.objects is None else ~positive
        return ScoredRows(
            np.append(self.is_positive, positive),
            np.append(self.score, np.full(self.n_empty, -np.inf)),
            np.append(group, rest),
            np.append(shown, rest if self.objects is None else shown[:1].repeat(self.n_empty)),
            np.append(self.has_label, has_label),
        )

    @property
    def n_positive(self) -> int:
        """The number of positive groups."""
        return int(self.group_positive.sum())

    @property
    def n_unannotated(self) -> int:
        """The number of unannotated positive groups."""
        return int(np.count_nonzero(~self.group_has_labels))

    @cached_property
    def n_objects(self) -> int | None:
        """The number of objects that the positive candidates overlap, and of others listed."""
        if self.objects is None:
            return None
        ids = np.unique(self.objects[self.is_positive & self.has_label])
        if self.listed is None:
            return len(ids)
        counted = self.group_has_labels[self.listed_group]
        return len({*ids.tolist(), *self.listed.ids[counted].tolist()})

    def counts(self, name: str) -> DataCounts:
        """Count candidates, groups, patients and objects."""
        return DataCounts(
            name,
            self.index.n_rows,
            self.n_positive,
            self.n_groups - self.n_positive,
            None if self.group_patient is None else len(np.unique(self.group_patient)),
            self.n_objects,
        )


def _of_groups(
    index: GroupIndex, by_owner: GroupIndex, owners: str, rest: NDArray[Any] | None
) -> NDArray[Any]:
    """Return the owner of each group, and the ``rest`` for groups without candidates."""
    found = by_owner.ids[owner_of_groups(index, by_owner, owners)]
    if rest is None or not len(rest):
        return found
    # Of one type, because numpy would turn numbers next to texts into texts.
    whole = np.empty(len(found) + len(rest), dtype=object)
    whole[: len(found)], whole[len(found) :] = found.tolist(), rest.tolist()
    return whole
