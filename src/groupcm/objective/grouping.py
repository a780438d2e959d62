"""Provides `binary_terms`, from labelled candidates to the terms of the objective.

`groupcm.objective` shows the chain that these terms are a part of.

===========  ==========================================  ==============================
grouping     a positive group                            a negative group
===========  ==========================================  ==============================
"negative"   its best-fitting candidate (Problem 6)      its largest loss
"both"       its largest loss over positives (Problem 5) its largest loss
"none"       every positive candidate (Problem 4)        every candidate
===========  ==========================================  ==============================

A positive group may show several objects. With "negative" each of them counts by its own
best-fitting candidate, and they share the weight of the group equally.

With ``sample_weight`` ω, the term of a single row ``i`` is multiplied by ``ω_i``; a term that is
the largest loss of several rows needs the same ω for all of them, and is multiplied by that.
`Costs` turns these weights into the factors ``c`` of the objective.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.groups import index_groups, require_present
from groupcm.errors import Argument, InputError, OverlapWarning
from groupcm.objective.terms import NO_ORDER, Groups, Index, Terms

__all__ = ["Costs", "RowWeights", "binary_terms", "class_factors"]

_Ranges = tuple[Index, Index, Index]


@dataclass(frozen=True)
class Costs:
    """The factors of the objective: ``ρ`` of the penalty, ``c+`` and ``c−`` of the terms.

    A term of weight ``ω_k`` (1 without ``sample_weight``) counts ``c± ω_k``. With ``W+`` and
    ``W−``, the weights of the positive and of the negative groups together (without
    ``sample_weight`` their numbers), and the class weights ``m+`` and ``m−`` of a dict::

        class_weight   c+                      c−
        "balanced"     λ / W+                  λ / W−
        None           2λ / (W+ + W−)          2λ / (W+ + W−)
        a dict         m+ · 2λ / (W+ + W−)     m− · 2λ / (W+ + W−)

    and ``ρ = (1−λ)/d``. In Problem 1's form, where ``C`` is given, ``ρ = 1``, ``c+ = m+ C`` and
    ``c− = m− C``, with ``m± = 1`` unless there is a dict.

    Attributes
    ----------
    lam : float
    C : float or None
    factors : (float, float) or None
        ``(m+, m−)``; None is "balanced". See `class_factors`.

    Examples
    --------
    >>> Costs(0.5).of_weights(10, 40)
    (0.05, 0.0125)
    >>> Costs(0.5, factors=(3.0, 1.0)).of_weights(10, 40)
    (0.06, 0.02)
    """

    lam: float
    C: float | None = None
    factors: tuple[float, float] | None = None

    def rho(self, n_features: int) -> float:
        return 1.0 if self.C is not None else (1.0 - self.lam) / n_features

    def of_weights(self, positive: float, negative: float) -> tuple[float, float]:
        """Return ``c+`` and ``c−`` where the groups of the two classes weigh so much together."""
        if self.C is None and self.factors is None:
            return self.lam / positive, self.lam / negative
        each = 2.0 * self.lam / (positive + negative) if self.C is None else self.C
        of_positive, of_negative = self.factors or (1.0, 1.0)
        return each * of_positive, each * of_negative


def class_factors(
    class_weight: Mapping[Any, float] | str | None, classes: ArrayLike, number: int
) -> tuple[float, float] | None:
    """Return ``(m+, m−)`` for the class of this number against the rest; None for "balanced".

    Of two classes ``m−`` is the weight of the other one. Of more, one class is trained against
    the rest, and the rest weighs 1, as in scikit-learn's ``SGDClassifier``.

    Parameters
    ----------
    class_weight : None, "balanced" or dict
        The hyperparameter of an estimator. Labels that are missing from the dict weigh 1.
    classes : array-like of labels
    number : int
        Which of the classes is the positive one.

    Examples
    --------
    >>> class_factors({"polyp": 2.0}, ["background", "polyp"], 1)
    (2.0, 1.0)
    >>> class_factors({"a": 2.0, "b": 3.0}, ["a", "b", "c"], 0)
    (2.0, 1.0)
    """
    if isinstance(class_weight, str):
        return None
    if class_weight is None:
        return 1.0, 1.0
    labels = np.asarray(classes).tolist()
    of_label = [float(class_weight.get(label, 1.0)) for label in labels]
    unknown = [label for label in class_weight if label not in labels]
    # A class may be absent from a fold. Where another one has no weight, it is a slip.
    if unknown and len(class_weight) - len(unknown) < len(of_label):
        raise ValueError(
            f"class_weight has a weight for {unknown[0]!r}, which is not a label of y; the labels "
            f"are {', '.join(map(repr, labels))}."
        )
    return of_label[number], of_label[1 - number] if len(of_label) == 2 else 1.0


@dataclass(frozen=True)
class RowWeights:
    """``sample_weight``: one weight above 0 per row, and the ids of the groups, for messages."""

    values: NDArray[np.float64]
    ids: NDArray[Any] | None = None

    def of_groups(self, terms: Terms, groups: Groups | None) -> NDArray[np.float64]:
        """Return the weight of each term that counts by one of its rows, whichever it is.

        Raises `ValueError`, naming the group, where the weights of its rows differ.
        """
        rows = terms.rows(np.arange(terms.n_rows))
        values = self.values[rows]
        if terms.alone or not len(rows):
            return values
        size = terms.stop - terms.start
        begin = np.cumsum(size) - size
        low, high = np.minimum.reduceat(values, begin), np.maximum.reduceat(values, begin)
        different = np.flatnonzero(low < high)
        if len(different):
            k = different[0]
            row = rows[begin[k]]
            group = row if groups is None else groups.of_rows(rows[begin[k : k + 1]])[0]
            name = group if self.ids is None else self.ids[group]
            raise InputError(
                Argument("sample_weight"),
                f" differs among the candidates of group {name!s} ({low[k]:g} and "
                f"{high[k]:g}), which counts by one of them, whichever scores highest; give them "
                "the same weight, or 0 to those that should be left out.",
            )
        return low


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
        """Return the number of objects in the group of each object."""
        _, place, count = np.unique(
            self.group[self.begins], return_inverse=True, return_counts=True
        )
        return count[place]

    def rows_in_object(self) -> Index:
        """Return the number of candidates that show each object."""
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
    weights: RowWeights | None = None,
) -> list[Terms]:
    """Return the terms of the objective: positive ones first, then negative ones.

    ``objects`` holds the object of its group that a positive candidate shows; without it every
    group has one. The groups ``without`` (rows, where there are no groups) take no part.
    ``weights`` are those of ``sample_weight``. Raises `ValueError` where one side is empty.
    """
    if objects is not None and grouping != "negative":
        raise InputError(
            "objects needs ",
            Argument("grouping", "negative"),
            ", where each object counts by its best candidate; got ",
            Argument("grouping", grouping),
            ": leave objects out.",
        )
    if len(without):
        group = positive_rows if groups is None else groups.of_rows(positive_rows)
        positive_rows = positive_rows[~np.isin(group, without)]
    positives = _choose_positives(positive_rows, groups, overlap, min_overlap, objects)
    if len(positives.rows) == 0:
        if not len(positives.left_out):
            raise InputError("no candidate is positive; y needs both classes.")
        raise InputError(
            f"no positive group is left to train on: all {len(positives.left_out)} overlap their "
            "annotation by less than ",
            Argument("min_overlap", min_overlap),
            "; lower ",
            Argument("min_overlap"),
            ".",
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
    if not ranges:
        raise InputError(
            "no negative group: every group holds a candidate of the positive class (of two "
            "labels the larger, or ",
            Argument("pos_label"),
            "); add negative groups, name the other label with ",
            Argument("pos_label"),
            ", or use ",
            Argument("background", "negative"),
            ".",
        )
    negative = [
        Terms(-1, start, stop, order, 1.0, alone or bool(np.all(stop - start == 1)))
        for start, stop, order in ranges
    ]
    positive, sharing = _positive_terms(positives, grouping, overlap is not None)
    if weights is None:
        n_positive = len(positive) if grouping == "none" else positives.n_groups
        totals: list[float] = [n_positive, *map(len, negative)]
        of_terms: list[Any] = [1.0] * len(totals)
    else:
        of_terms = [weights.of_groups(part, groups) for part in (positive, *negative)]
        totals = [float(np.sum(of_terms[0] / sharing)), *(float(np.sum(w)) for w in of_terms[1:])]
    of_positive, of_negative = costs.of_weights(totals[0], sum(totals[1:]))
    of_terms = [of_positive * of_terms[0] / sharing, *(of_negative * w for w in of_terms[1:])]
    return [
        replace(part, weight=weight, group_weight=total)
        for part, weight, total in zip([positive, *negative], of_terms, totals, strict=True)
    ]


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
        warning = OverlapWarning(
            f"{len(left_out)} of {len(left_out) + len(kept_groups)} positive groups are left out: "
            "their best overlap is below ",
            Argument("min_overlap", min_overlap),
            ".",
            alike="overlap",
        )
        warnings.warn(warning, stacklevel=2)
    return _Positives(rows[kept], group[kept], begins[kept], left_out)


def _first_showing(objects: NDArray[Any], rows: Index, group: Index) -> NDArray[np.intp]:
    """Return the place of the first row that shows the same object of its group, for each row."""
    known = np.zeros(len(objects), dtype=objects.dtype)  # the other rows need no object
    known[rows] = objects[rows]
    require_present(known, "objects has no id at row {}; every positive candidate needs one.")
    codes = index_groups(known[rows]).codes
    named = group * (codes.max() + 1) + codes
    _, first, place = np.unique(named, return_index=True, return_inverse=True)
    return first[place]


def _positive_terms(
    positives: _Positives, grouping: str, annotated: bool
) -> tuple[Terms, float | NDArray[np.float64] | Index]:
    """Return the terms, and among how many each one shares the weight of its group."""
    if grouping == "both":
        _, first = np.unique(positives.group, return_index=True)
        stop = np.append(first[1:], len(positives.group))
        alone = len(first) == len(positives.rows)
        return Terms(1, first, stop, positives.rows, 1.0, alone), 1.0
    if grouping == "none":
        return Terms.of_rows(1, positives.best if annotated else positives.rows, 1.0), 1.0
    sharing = positives.objects_in_group()
    if annotated:
        several = bool(np.any(sharing > 1))
        return Terms.of_rows(1, positives.best, 1.0), sharing if several else 1.0
    candidates = positives.rows_in_object()
    return Terms.of_rows(1, positives.rows, 1.0), np.repeat(sharing * candidates, candidates)


def _ranges_between(rows: Index, n_rows: int) -> _Ranges:
    """Return all rows but these."""
    start = np.concatenate([[0], rows + 1])
    stop = np.concatenate([rows, [n_rows]])
    filled = start < stop
    return start[filled], stop[filled], NO_ORDER


def _other_groups(groups: Groups, but: Index) -> _Ranges:
    kept = np.ones(len(groups), dtype=bool)
    kept[but] = False
    return groups.ptr[:-1][kept], groups.ptr[1:][kept], groups.order


def _backgrounds(groups: Groups, positive_groups: Index, positive_rows: Index) -> _Ranges:
    """Return the non-positive candidates of each positive group, as groups of their own."""
    rows, size = groups.rows_of(positive_groups), groups.sizes(positive_groups)
    is_background = ~np.isin(rows, positive_rows)
    of_group = np.repeat(np.arange(len(size)), size)[is_background]
    size = np.bincount(of_group, minlength=len(size))
    size = size[size > 0]
    stop = np.cumsum(size)
    return stop - size, stop, rows[is_background]
