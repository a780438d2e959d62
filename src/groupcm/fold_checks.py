"""Folds that somebody else made: row numbers in order, no group and no patient on both sides."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.group_table import GroupTable

__all__ = ["Folds", "checked_fold", "require_partition"]

Rows = NDArray[np.int64]
Folds = list[tuple[Rows, Rows]]


def require_partition(folds: Folds, n_rows: int) -> None:
    """Refuse folds that do not test every row exactly once.

    Examples
    --------
    >>> require_partition([(np.array([1]), np.array([0]))], 2)
    Traceback (most recent call last):
    ValueError: cv tests row 1 in 0 folds; every row must be in exactly one test part.
    """
    times = np.zeros(n_rows, dtype=np.int64)
    for _, test in folds:
        times[test] += 1
    if np.any(times != 1):
        row = int(np.argmax(times != 1))
        raise ValueError(
            f"cv tests row {row} in {times[row]} folds; every row must be in exactly one test part."
        )


def checked_fold(
    part: Any, number: int, table: GroupTable, both_classes_in_test: bool
) -> tuple[Rows, Rows]:
    """One (train, test) as ascending row numbers, or one sentence about what is wrong with it.

    Examples
    --------
    >>> from groupcm.group_table import group_level
    >>> table = group_level([0, 1, 0, 1], groups=["a", "a", "b", "b"])
    >>> checked_fold(([0, 1, 2], [3]), 0, table, both_classes_in_test=False)
    Traceback (most recent call last):
    ValueError: fold 0 of cv has group b in its training and its test part; a group must be ...
    """
    try:
        train, test = part
    except (TypeError, ValueError):
        raise ValueError(
            f"fold {number} of cv is not a pair of row numbers, (train, test)."
        ) from None
    train = _as_rows(train, "training", number, table.index.n_rows)
    test = _as_rows(test, "test", number, table.index.n_rows)
    codes = table.index.codes
    _require_apart(codes[train], codes[test], "group", table.index.ids, number)
    if table.patient_ids is not None:
        patient = table.patient[codes]
        _require_apart(patient[train], patient[test], "patient", table.patient_ids, number)
    _require_classes(table.positive[codes[train]], "training", number)
    if both_classes_in_test:
        _require_classes(table.positive[codes[test]], "test", number)
    return train, test


def _as_rows(rows: Any, side: str, number: int, n_rows: int) -> Rows:
    rows = np.asarray(rows)
    if rows.dtype == bool and rows.shape == (n_rows,):
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or len(rows) == 0 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"the {side} part of fold {number} must hold row numbers, at least one; "
            f"got shape {rows.shape} of {rows.dtype}."
        )
    if rows.min() < 0 or rows.max() >= n_rows:
        wrong = rows[(rows < 0) | (rows >= n_rows)][0]
        raise ValueError(
            f"the {side} part of fold {number} has row {wrong}; rows are 0 to {n_rows - 1}."
        )
    return np.unique(rows).astype(np.int64, copy=False)


def _require_apart(
    train: NDArray[np.intp], test: NDArray[np.intp], unit: str, ids: NDArray[Any], number: int
) -> None:
    seen = np.zeros(len(ids), dtype=bool)
    seen[train] = True
    common = seen[test]
    if common.any():
        raise ValueError(
            f"fold {number} of cv has {unit} {ids[test[np.argmax(common)]]!s} in its training and "
            f"its test part; a {unit} must be on one side."
        )


def _require_classes(positive: NDArray[np.bool_], side: str, number: int) -> None:
    if positive.all() or not positive.any():
        found = "positive" if positive.all() else "negative"
        raise ValueError(
            f"the {side} part of fold {number} has only {found} groups; "
            "it needs some of both classes."
        )
