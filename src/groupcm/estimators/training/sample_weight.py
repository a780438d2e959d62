"""``sample_weight`` in a fit: candidates of weight 0 are left out, the others keep their weight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.data.groups import index_groups
from groupcm.data.validation import as_sample_weight, distinct
from groupcm.errors import Argument, InputError
from groupcm.estimators.training.data import TrainingData
from groupcm.objective.grouping import RowWeights
from groupcm.objective.terms import Groups, Index

__all__ = ["folds_of_rows", "require_same_class", "with_sample_weight"]


def with_sample_weight(
    data: TrainingData, ids: NDArray[Any] | None, sample_weight: Any
) -> TrainingData:
    """Return the data with ``sample_weight``, without the candidates whose weight is 0."""
    if sample_weight is not None and data.stream is not None:
        raise InputError(
            Argument("sample_weight"),
            f" needs all {data.n_rows:,} candidates in memory, and they do not fit; raise ",
            Argument("memory"),
            ", or leave ",
            Argument("sample_weight"),
            " out (",
            Argument("class_weight"),
            " works with any source).",
        )
    weight = as_sample_weight(sample_weight, data.n_rows)
    if weight is None or np.all(weight > 0.0):
        return data if weight is None else replace(data, weights=RowWeights(weight, ids))
    rows = np.flatnonzero(weight)
    y, groups = data.y[rows], None
    is_left = np.isin(data.labels, distinct(y))
    if np.count_nonzero(is_left) < 2:
        raise InputError(
            Argument("sample_weight"),
            f" leaves one class only ({data.classes[is_left][0]}): all candidates of "
            "the others have the weight 0; two or more classes are needed.",
        )
    if data.groups is not None:
        of_row = data.groups.of_rows(np.arange(data.n_rows))
        first = 1 if len(data.labels) == 2 else 0  # a group without negative ones is as it was
        for label, name in zip(data.labels[first:], data.classes[first:], strict=True):
            require_same_class(np.asarray(data.y == label), of_row, weight, name, ids)
        index = index_groups(of_row[rows])
        groups, ids = Groups.from_index(index), None if ids is None else ids[index.ids]
    data = replace(data, rows=rows, n_given=data.n_rows)
    return replace(
        data,
        X=data.X[rows],
        y=y,
        labels=data.labels[is_left],
        classes=data.classes[is_left],
        groups=groups,
        overlap=data.overlap if data.overlap is None else data.overlap[rows],
        objects=data.left_of(data.objects),
        annotated=data.left_of(data.annotated),
        weights=RowWeights(weight[rows], ids),
    )


def require_same_class(
    has_label: NDArray[np.bool_],
    group_of_row: NDArray[Any],
    weight: NDArray[np.float64],
    label: Any,
    ids: NDArray[Any] | None,
) -> None:
    """Refuse weights of 0 that take a label from a group, some candidates of which are left.

    Parameters
    ----------
    has_label : ndarray of bool of shape (n,)
        Which candidates have the label.
    group_of_row : ndarray of int of shape (n,)
    weight : ndarray of shape (n,)
    label : label
    ids : ndarray or None
        Of the groups.

    Examples
    --------
    >>> weight = np.array([0.0, 1.0, 1.0])
    >>> require_same_class(np.array([1, 0, 0], bool), np.array([0, 0, 1]), weight, "polyp", None)
    Traceback (most recent call last):
    groupcm.errors.InputError: sample_weight is 0 for every candidate of the class polyp in group 0
    and not for its other candidates, so that it would count as a group without that class; give all
    its candidates the weight 0 to leave the group out.
    """
    counts = weight > 0.0
    before = np.bincount(group_of_row, has_label) > 0
    after = np.bincount(group_of_row, has_label & counts) > 0
    lost = before & ~after & (np.bincount(group_of_row, counts) > 0)
    if lost.any():
        group = int(np.argmax(lost))
        raise InputError(
            Argument("sample_weight"),
            f" is 0 for every candidate of the class {label!s} in group "
            f"{group if ids is None else ids[group]!s} and not for its other candidates, so that "
            "it would count as a group without that class; give all its candidates the weight 0 "
            "to leave the group out.",
        )


def folds_of_rows(cv: Iterable[Any], rows: Index, n_given: int) -> list[tuple[Index, Index]]:
    """Return folds of the candidates that were given as folds of those of weight above 0.

    Parameters
    ----------
    cv : iterable of (train, test)
        Row numbers of the candidates as they were given, so many in all.
    rows : ndarray
        The candidates that are left, ascending.
    n_given : int

    Examples
    --------
    >>> folds_of_rows([([0, 1], [2, 3])], np.array([1, 2, 3]), 4)
    [(array([0]), array([1, 2]))]
    """
    place = np.full(n_given, -1)
    place[rows] = np.arange(len(rows))
    folds = [tuple(place[np.asarray(part)] for part in fold) for fold in cv]
    return [(train[train >= 0], test[test >= 0]) for train, test in folds]
