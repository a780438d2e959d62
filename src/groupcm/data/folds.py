"""The fold splitter: folds that split neither a group nor a patient.

`group_folds` makes folds, `resolve_folds` also checks those of a splitter or of the user, and
`annotated_folds` first distributes the annotated groups and then the unannotated ones.

Conventions: ``n`` candidates (rows), ``m`` groups. A cluster must stay on one side of a fold: a
patient with all its groups or, without patients, one group.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.utils import check_random_state

from groupcm.data.group_table import GroupTable, group_level
from groupcm.data.groups import no_groups
from groupcm.errors import Argument, InputError, ParameterError
from groupcm.objective.terms import Index
from groupcm.utils.merged_warnings import ignore_warnings

__all__ = [
    "Folds",
    "GroupTable",
    "annotated_folds",
    "checked_fold",
    "group_folds",
    "group_level",
    "require_folds",
    "require_partition",
    "resolve_folds",
]

Rows = NDArray[np.int64]
Folds = list[tuple[Rows, Rows]]


def group_folds(
    y: ArrayLike,
    groups: ArrayLike | None,
    patients: ArrayLike | None = None,
    *,
    n_splits: int = 5,
    random_state: Any = 0,
    pos_label: Any = None,
) -> Folds:
    """Return folds of rows with every group, and every patient, on one side.

    Every part has positive and negative groups. Without patients each fold has its share of
    both, to one group. With patients scikit-learn's ``StratifiedGroupKFold`` balances
    the shares as well as it can; where that leaves a fold without a class, patients are assigned
    to the folds in turn, those with positive groups first.

    Parameters
    ----------
    y : array-like of shape (n,)
        One label per candidate.
    groups : array-like of shape (n,), "none" or None
        The group of each candidate, in any order; None and "none" make every row a group.
    patients : array-like of shape (n,), optional
        The patient of each candidate.
    n_splits : int, default=5
        Number of folds.
    random_state : int, RandomState or None, default=0
        Which groups fall into which fold.
    pos_label : label, optional
        The positive one of the two labels; None is the larger.

    Returns
    -------
    list of (train, test)
        Row numbers, ascending. Every row is in exactly one test part.

    Examples
    --------
    >>> y = [0, 1, 0, 0, 1, 0]
    >>> groups = ["a", "a", "b", "c", "d", "c"]
    >>> for train, test in group_folds(y, groups, n_splits=2):
    ...     print(train.tolist(), test.tolist())
    [0, 1, 2] [3, 4, 5]
    [3, 4, 5] [0, 1, 2]
    """
    if not isinstance(n_splits, Integral) or n_splits < 2:
        raise ParameterError(
            Argument("cv"), f" must be a whole number of folds, at least 2; got {n_splits!r}."
        )
    n_splits = int(n_splits)
    table = group_level(y, groups, patients, pos_label=pos_label)
    _require_enough(table, n_splits)
    random = check_random_state(random_state)
    if np.bincount(table.patient).max() == 1:
        fold = _deal(table, n_splits, random)
    else:
        fold = _stratify(table, n_splits, random)
        if not _has_both(table, fold, n_splits):
            fold = _deal(table, n_splits, random)
    of_row = fold[table.index.codes]
    return [(np.flatnonzero(of_row != k), np.flatnonzero(of_row == k)) for k in range(n_splits)]


def resolve_folds(
    cv: Any,
    y: ArrayLike,
    groups: ArrayLike | None = None,
    patients: ArrayLike | None = None,
    random_state: Any = 0,
    *,
    both_classes_in_test: bool = True,
    pos_label: Any = None,
) -> Folds:
    """Return folds of any kind that scikit-learn accepts, checked to split no group and no patient.

    Parameters
    ----------
    cv : int, scikit-learn splitter, or iterable of (train, test)
        A number of folds for `group_folds`; a splitter, which is given ``patients`` as its
        groups (``groups`` where there are none); or row numbers.
    y, groups, patients, random_state, pos_label
        As for `group_folds`.
    both_classes_in_test : bool, default=True
        Whether a test part of one class is refused; a training part of one class always is.

    Returns
    -------
    list of (train, test)
        Row numbers, ascending.

    Examples
    --------
    >>> from sklearn.model_selection import LeaveOneGroupOut
    >>> patients = [1, 1, 2, 2]
    >>> folds = resolve_folds(LeaveOneGroupOut(), [0, 1, 0, 1], patients=patients)
    >>> [test.tolist() for train, test in folds]
    [[0, 1], [2, 3]]
    """
    require_folds(cv)
    if isinstance(cv, Integral):
        return group_folds(
            y,
            groups,
            patients,
            n_splits=int(cv),
            random_state=random_state,
            pos_label=pos_label,
        )
    table = group_level(y, groups, patients, pos_label=pos_label)
    if hasattr(cv, "split"):
        alone = no_groups(groups) and patients is None
        clusters = None if alone else table.patient[table.index.codes]
        rows = np.zeros((table.index.n_rows, 1))
        with ignore_warnings(UserWarning, module=r"sklearn\."):  # what it ignores is checked below
            parts: Iterable[Any] = list(cv.split(rows, np.asarray(y), clusters))
    else:
        parts = cv
    folds = [
        checked_fold(part, number, table, both_classes_in_test) for number, part in enumerate(parts)
    ]
    if not folds:
        raise ValueError("cv gave no folds; at least one (train, test) is needed.")
    return folds


def annotated_folds(
    n_folds: int,
    positive: NDArray[np.bool_],
    unannotated: Index,
    patient: Index | None = None,
    random_state: Any = 0,
) -> Folds:
    """Return folds of groups, each with its share of the annotated groups, and then of the others.

    An unannotated group follows its patient; patients without annotated groups are assigned to the
    folds in turn.

    Parameters
    ----------
    n_folds : int
    positive : ndarray of bool of shape (m,)
        Which groups are positive.
    unannotated : ndarray of int
        The numbers of the unannotated positive groups.
    patient : ndarray of int of shape (m,), optional
        The number of each group's patient.
    random_state : int, RandomState or None, default=0
        Which groups fall into which fold.

    Returns
    -------
    list of (train, test)
        Numbers of groups, ascending; every group is in exactly one test part.

    Examples
    --------
    >>> positive = np.array([True, True, False, False, True, True])
    >>> for train, test in annotated_folds(2, positive, np.array([4, 5])):
    ...     print(train.tolist(), test.tolist())
    [0, 3, 4] [1, 2, 5]
    [1, 2, 5] [0, 3, 4]
    """
    every = np.arange(len(positive))
    of_group = every if patient is None else patient
    known = np.setdiff1d(every, unannotated)
    _require_enough_annotated(n_folds, of_group[known[positive[known]]], patient is not None)
    of_known = None if patient is None else patient[known]
    folds = resolve_folds(n_folds, positive[known], known, of_known, random_state)
    fold_of_patient = np.full(int(of_group.max()) + 1, -1)
    for k, (_, test) in enumerate(folds):
        fold_of_patient[of_group[known[test]]] = k
    others = np.unique(of_group[fold_of_patient[of_group] < 0])
    shuffled = check_random_state(random_state).permutation(others)
    fold_of_patient[shuffled] = np.arange(len(shuffled)) % n_folds
    fold = fold_of_patient[of_group]
    return [(every[fold != k], every[fold == k]) for k in range(n_folds)]


def require_folds(cv: Any) -> None:
    """Refuse a ``cv`` that `resolve_folds` does not accept.

    Examples
    --------
    >>> require_folds("five")
    Traceback (most recent call last):
    groupcm.errors.ParameterError: cv must be a number of folds, a splitter of scikit-learn or a
    list of (train, test) row numbers; got 'five'.
    """
    is_number = isinstance(cv, Integral) and not isinstance(cv, bool)
    is_given = hasattr(cv, "split") or isinstance(cv, Iterable)
    if not is_number and (isinstance(cv, str | bytes) or not is_given):
        raise ParameterError(
            Argument("cv"),
            " must be a number of folds, a splitter of scikit-learn or a list of (train, test) "
            f"row numbers; got {cv!r}.",
        )


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
    """Return one checked (train, test) as ascending row numbers.

    Examples
    --------
    >>> from groupcm.data.group_table import group_level
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


def _clusters_with(table: GroupTable) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which clusters have positive groups, and which have negative ones."""
    n_clusters = int(table.patient.max()) + 1
    counts = np.bincount(2 * table.patient + table.positive, minlength=2 * n_clusters)
    negatives, positives = counts.reshape(n_clusters, 2).T
    return positives > 0, negatives > 0


def _require_enough(table: GroupTable, n_splits: int) -> None:
    counts = [int(has.sum()) for has in _clusters_with(table)]
    fewest = min(counts)
    if fewest >= n_splits:
        return
    kind = "positive" if counts[0] == fewest else "negative"
    if table.patient_ids is None:
        have = f"there {'is' if fewest == 1 else 'are'} {fewest} {kind} group"
    else:
        have = f"{kind} groups come from {fewest} patient"
    plural = "" if fewest == 1 else "s"
    use: list[object] = ["folds need at least 2 of them."]
    if fewest >= 2:
        use = ["use ", Argument("cv", fewest), " or fewer."]
    raise InputError(f"{have}{plural}, fewer than the {n_splits} folds; ", *use)


def _deal(table: GroupTable, n_splits: int, random: Any) -> NDArray[np.intp]:
    """Return the fold of every group: clusters in random order, one to each fold in turn.

    Clusters come in the order positive only, both, negative only: clusters with positive groups are
    neighbours, and so are clusters with negative ones, so that each fold gets some of both.
    """
    has_positive, has_negative = _clusters_with(table)
    kind = has_negative.astype(int) - has_positive
    order = random.permutation(len(kind))
    order = order[np.argsort(kind[order], kind="stable")]
    fold = np.empty(len(kind), dtype=np.intp)
    fold[order] = np.arange(len(kind)) % n_splits
    return fold[table.patient]


def _stratify(table: GroupTable, n_splits: int, random: Any) -> NDArray[np.intp]:
    splitter = StratifiedGroupKFold(
        n_splits, shuffle=True, random_state=int(random.randint(2**31 - 1))
    )
    fold = np.empty(len(table.positive), dtype=np.intp)
    parts = splitter.split(np.zeros((len(fold), 1)), table.positive, table.patient)
    for k, (_, test) in enumerate(parts):
        fold[test] = k
    return fold


def _has_both(table: GroupTable, fold: NDArray[np.intp], n_splits: int) -> bool:
    return bool(np.all(np.bincount(2 * fold + table.positive, minlength=2 * n_splits)))


def _require_enough_annotated(n_folds: int, of_annotated: Index, has_patients: bool) -> None:
    n_known = len(np.unique(of_annotated))
    if n_known >= n_folds or n_folds < 2:  # `resolve_folds` refuses less than two folds
        return
    plural = "" if n_known == 1 else "s"
    have = f"{n_known} annotated positive group{plural}"
    if has_patients:
        have = f"annotated positive groups of {n_known} patient{plural}"
    fewer = ["use ", Argument("cv", n_known), " or fewer, or "] if n_known >= 2 else []
    verb = "is" if n_known == 1 and not has_patients else "are"
    raise InputError(
        f"there {verb} {have}, fewer than the {n_folds} folds; ", *fewer, "annotate more groups."
    )
