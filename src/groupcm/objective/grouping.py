"""Which rows count together: from labelled candidates to the terms of the objective.

===========  ==========================================  ==============================
grouping     a positive group                            a negative group
===========  ==========================================  ==============================
"negative"   its best-fitting candidate (Problem 6)      its largest loss
"both"       its largest loss over positives (Problem 5) its largest loss
"none"       every positive candidate (Problem 4)        every candidate
===========  ==========================================  ==============================

A positive group may show several objects. With "negative" each of them counts by its own
best-fitting candidate, and they share the weight of the group equally.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.data.groups import index_groups, require_present
from groupcm.objective.terms import NO_ORDER, Groups, Index, Terms

__all__ = ["Costs", "binary_terms"]


@dataclass(frozen=True)
class Costs:
    """What one term and the penalty weigh.

    ``ρ = (1−λ)/d``, ``c+ = λ/n+``, ``c− = λ/n−``; in Problem 1's form,
    where ``C`` is given, ``ρ = 1`` and ``c+ = c− = C``.
    """

    lam: float
    C: float | None = None

    def rho(self, n_features: int) -> float:
        return 1.0 if self.C is not None else (1.0 - self.lam) / n_features

    def of_each(self, n_terms: int) -> float:
        return self.C if self.C is not None else self.lam / n_terms


@dataclass(frozen=True)
class _Positives:
    """Positive candidates that take part, by group and, within it, by object."""

    rows: Index
    group: Index
    begins: NDArray[np.bool_]  # which of the rows is its object's best-fitting candidate
    left_out: Index  # groups

    @property
    def best(self) -> Index:
        return self.rows[self.begins]

    @property
    def n_groups(self) -> int:
        return len(np.unique(self.group))

    def objects_in_group(self) -> Index:
        """For each object, how many its group has."""
        _, place, count = np.unique(
            self.group[self.begins], return_inverse=True, return_counts=True
        )
        return count[place]

    def rows_in_object(self) -> Index:
        """For each object, how many candidates show it."""
        return np.diff(np.append(np.flatnonzero(self.begins), len(self.rows)))


def binary_terms(
    n_rows: int,
    positive_rows: Index,
    groups: Groups | None,
    *,
    costs: Costs,
    grouping: str = "negative",
    background: str = "ignore",
    overlap: NDArray[Any] | None = None,
    min_overlap: float = 0.0,
    objects: NDArray[Any] | None = None,
    without: Index = NO_ORDER,
) -> list[Terms]:
    """The terms of the objective: positive ones first, then negative ones.

    ``objects`` says which object of its group a positive candidate shows; without it every
    group has one. The groups ``without`` (rows, where there are no groups) take no part.
    Raises `ValueError` where one side is empty.
    """
    if objects is not None and grouping != "negative":
        raise ValueError(
            f'objects needs grouping="negative", where each object counts by its best candidate; '
            f"got grouping={grouping!r}: leave objects out."
        )
    if len(without):
        group = positive_rows if groups is None else groups.of_rows(positive_rows)
        positive_rows = positive_rows[~np.isin(group, without)]
    positives = _choose_positives(positive_rows, groups, overlap, min_overlap, objects)
    if len(positives.rows) == 0:
        raise ValueError(
            "no positive group is left to train on: "
            f"all {len(positives.left_out)} overlap their annotation by less than "
            f"min_overlap={min_overlap:g}; lower min_overlap."
            if len(positives.left_out)
            else "no candidate is positive; y needs both classes."
        )
    alone = grouping == "none" or groups is None
    if groups is None:
        ranges = [_ranges_between(np.union1d(positive_rows, without), n_rows)]
    else:
        positive_groups = np.union1d(positives.group, positives.left_out)
        ranges = [_other_groups(groups, np.union1d(positive_groups, without))]
        if background == "negative":
            ranges.append(_backgrounds(groups, np.unique(positives.group), positive_rows))
    ranges = [r for r in ranges if len(r[0])]
    n_negative = sum(int(np.sum(r[1] - r[0])) if alone else len(r[0]) for r in ranges)
    if n_negative == 0:
        raise ValueError(
            "no negative group: every group holds a candidate of the positive class (of two "
            "labels the larger, or pos_label); add negative groups, set pos_label to the other "
            'label, or set background="negative".'
        )
    weight = costs.of_each(n_negative)
    negative = [
        Terms(-1, start, stop, order, weight, alone or bool(np.all(stop - start == 1)))
        for start, stop, order in ranges
    ]
    return [_positive_terms(positives, grouping, overlap is not None, costs), *negative]


def _choose_positives(
    rows: Index,
    groups: Groups | None,
    overlap: NDArray[Any] | None,
    min_overlap: float,
    objects: NDArray[Any] | None,
) -> _Positives:
    group = rows if groups is None else groups.of_rows(rows)
    fit = np.zeros(len(rows)) if overlap is None else overlap[rows].astype(np.float64)
    if not np.all(np.isfinite(fit)):
        row = rows[np.flatnonzero(~np.isfinite(fit))[0]]
        raise ValueError(
            f"overlap is not a finite number at row {row}; every positive candidate needs one."
        )
    shown = np.zeros(len(rows), dtype=np.intp)
    if objects is not None and len(rows):
        shown = _first_showing(objects, rows, group)
    by_fit = np.lexsort((rows, -fit, shown, group))
    rows, group, shown, fit = rows[by_fit], group[by_fit], shown[by_fit], fit[by_fit]
    changes = (group[1:] != group[:-1]) | (shown[1:] != shown[:-1])
    begins = np.concatenate([[True], changes])[: len(rows)]
    fits = (fit[begins] >= min_overlap) | (overlap is None)
    kept = fits[np.cumsum(begins) - 1]
    kept_groups = np.unique(group[kept])
    left_out = np.setdiff1d(group, kept_groups)
    if len(left_out) and len(kept_groups):
        warnings.warn(
            f"{len(left_out)} of {len(left_out) + len(kept_groups)} positive groups are left out: "
            f"their best overlap is below min_overlap={min_overlap:g}.",
            UserWarning,
            stacklevel=2,
        )
    return _Positives(rows[kept], group[kept], begins[kept], left_out)


def _first_showing(objects: NDArray[Any], rows: Index, group: Index) -> NDArray[np.intp]:
    """For each of these rows, the place of the first that shows the same object of its group."""
    told = np.zeros(len(objects), dtype=objects.dtype)  # the other rows need no object
    told[rows] = objects[rows]
    require_present(told, "objects has no id at row {}; every positive candidate needs one.")
    codes = index_groups(told[rows]).codes
    named = group * (codes.max() + 1) + codes
    _, first, place = np.unique(named, return_index=True, return_inverse=True)
    return first[place]


def _positive_terms(positives: _Positives, grouping: str, annotated: bool, costs: Costs) -> Terms:
    weight = costs.of_each(positives.n_groups)
    if grouping == "both":
        _, first = np.unique(positives.group, return_index=True)
        stop = np.append(first[1:], len(positives.group))
        alone = len(first) == len(positives.rows)
        return Terms(1, first, stop, positives.rows, weight, alone)
    if grouping == "none":
        rows = positives.best if annotated else positives.rows
        return Terms.of_rows(1, rows, costs.of_each(len(rows)))
    sharing = positives.objects_in_group()
    if annotated:
        several = bool(np.any(sharing > 1))
        return Terms.of_rows(1, positives.best, weight / sharing if several else weight)
    candidates = positives.rows_in_object()
    return Terms.of_rows(1, positives.rows, weight / np.repeat(sharing * candidates, candidates))


_Ranges = tuple[Index, Index, Index]


def _ranges_between(rows: Index, n_rows: int) -> _Ranges:
    """All rows but these."""
    start = np.concatenate([[0], rows + 1])
    stop = np.concatenate([rows, [n_rows]])
    filled = start < stop
    return start[filled], stop[filled], NO_ORDER


def _other_groups(groups: Groups, but: Index) -> _Ranges:
    kept = np.ones(len(groups), dtype=bool)
    kept[but] = False
    return groups.ptr[:-1][kept], groups.ptr[1:][kept], groups.order


def _backgrounds(groups: Groups, positive_groups: Index, positive_rows: Index) -> _Ranges:
    """The non-positive candidates of each positive group, as groups of their own."""
    rows, size = groups.rows_of(positive_groups), groups.sizes(positive_groups)
    is_background = ~np.isin(rows, positive_rows)
    of_group = np.repeat(np.arange(len(size)), size)[is_background]
    size = np.bincount(of_group, minlength=len(size))
    size = size[size > 0]
    stop = np.cumsum(size)
    return stop - size, stop, rows[is_background]
