"""What is known of every group: its rows, its label, its patient.

Conventions: ``n`` candidates (rows), ``m`` groups, numbered in order of first appearance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.groups import (
    GroupIndex,
    index_groups,
    no_groups,
    owner_of_groups,
    require_present,
)
from groupcm.data.labels import order_classes
from groupcm.data.validation import as_labels, distinct

__all__ = [
    "GroupTable",
    "group_level",
    "index_patients",
    "patient_of_groups",
    "table_of_index",
    "weights_of_groups",
]


@dataclass(frozen=True)
class GroupTable:
    """What is known of every group; made by `group_level`.

    Attributes
    ----------
    index : GroupIndex
        Which rows belong to which group.
    positive : ndarray of bool of shape (m,)
        Whether any candidate of the group is positive.
    patient : ndarray of int of shape (m,)
        The number of the group's patient, patients in order of first appearance; without
        patients the number of the group itself.
    patient_ids : ndarray, or None without patients
        The ids of the patients.

    Examples
    --------
    >>> table = group_level([0, 1, 0], ["a", "a", "b"])
    >>> table.index.ids.tolist(), table.positive.tolist()
    (['a', 'b'], [True, False])
    """

    index: GroupIndex
    positive: NDArray[np.bool_]
    patient: NDArray[np.intp]
    patient_ids: NDArray[Any] | None = None


def group_level(
    y: ArrayLike,
    groups: ArrayLike | None = None,
    patients: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> GroupTable:
    """Labels and patients of groups, from one value per candidate.

    Parameters
    ----------
    y : array-like of shape (n,)
        One label per candidate. A group is positive if any of its candidates is.
    groups : array-like of shape (n,), or "none", optional
        The group of each candidate, in any order. Without it every row is a group.
    patients : array-like of shape (n,), optional
        The patient of each candidate. A group has one patient, a patient any groups.
    pos_label : label, optional
        The positive one of the two labels; None is the larger.

    Returns
    -------
    GroupTable

    Examples
    --------
    >>> table = group_level([0, 1, 0, 0], groups=["a", "a", "b", "c"], patients=[7, 7, 7, 8])
    >>> table.positive.tolist(), table.patient.tolist()
    ([True, False, False], [0, 0, 1])
    """
    y = as_labels(y, len(np.asarray(y)))
    index = index_groups(np.arange(len(y)) if groups is None or no_groups(groups) else groups)
    _require_rows("groups", index.n_rows, len(y))
    return table_of_index(index, _is_positive(y, pos_label), patients)


def table_of_index(
    index: GroupIndex, is_positive: NDArray[np.bool_], patients: ArrayLike | None = None
) -> GroupTable:
    """Labels and patients of groups, from their rows.

    Parameters
    ----------
    index : GroupIndex
    is_positive : ndarray of bool of shape (n,)
        Which candidates are positive.
    patients : array-like of shape (n,), optional
        The patient of each candidate.

    Examples
    --------
    >>> table_of_index(index_groups(["a", "a", "b"]), np.array([True, False, False])).positive
    array([ True, False])
    """
    positive = index.maxima(is_positive)
    if patients is None:
        return GroupTable(index, positive, np.arange(index.n_groups))
    by_patient = index_patients(patients)
    _require_rows("patients", by_patient.n_rows, index.n_rows)
    return GroupTable(index, positive, patient_of_groups(index, by_patient), by_patient.ids)


def index_patients(patients: ArrayLike) -> GroupIndex:
    """Which rows belong to which patient, or one sentence about a row that has none.

    Examples
    --------
    >>> index_patients([7, 7, 8]).ids.tolist()
    [7, 8]
    """
    patients = np.asarray(patients)
    if patients.ndim == 1:
        require_present(patients, "patients has no id at row {}; every candidate needs a patient.")
    return index_groups(patients)


def patient_of_groups(index: GroupIndex, by_patient: GroupIndex) -> NDArray[np.intp]:
    """The patient of each group, or one sentence about a group that has two.

    Parameters
    ----------
    index, by_patient : GroupIndex
        Which rows belong to which group, and to which patient.

    Returns
    -------
    ndarray of int of shape (m,)
        Numbers of patients, in order of first appearance.

    Examples
    --------
    >>> patient_of_groups(index_groups(["a", "a", "b", "c"]), index_groups([7, 7, 8, 7])).tolist()
    [0, 1, 0]
    """
    return owner_of_groups(index, by_patient, "patients")


def _is_positive(y: NDArray[Any], pos_label: Any) -> NDArray[np.bool_]:
    labels = distinct(y)
    if len(labels) > 2:
        # In scikit-learn's words, which its checks look for.
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: y has "
            f"{len(labels)} classes; make one of them against the rest."
        )
    if len(labels) == 1:
        raise ValueError(
            f"y holds one class only ({labels[0]!s}); positive and negative groups are needed."
        )
    return np.asarray(y == order_classes(labels, pos_label)[1])


def _require_rows(name: str, found: int, n_rows: int) -> None:
    if found != n_rows:
        raise ValueError(
            f"y has {n_rows} rows but {name} has {found}; both need one value per candidate."
        )


def weights_of_groups(
    weight: NDArray[np.float64], group_of_row: NDArray[Any], is_positive: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the weight of each group, from one weight per candidate.

    A positive group weighs the mean of its positive candidates, a negative group of all.

    Parameters
    ----------
    weight : ndarray of shape (n,)
    group_of_row : ndarray of int of shape (n,)
        The number of each candidate's group.
    is_positive : ndarray of bool of shape (n,)
        Whether each candidate is positive.

    Examples
    --------
    >>> weights_of_groups(
    ...     np.array([9.0, 2.0, 4.0, 4.0]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 0], bool)
    ... )
    array([2., 4.])
    """
    has_positive = np.bincount(group_of_row, is_positive) > 0
    counts = is_positive | ~has_positive[group_of_row]
    return np.bincount(group_of_row, weight * counts) / np.bincount(group_of_row, counts)
