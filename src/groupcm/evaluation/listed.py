"""Groups and objects that are listed and have no candidates: they count as not found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groupcm.estimators.scoring import GroupScores, among_all_groups

__all__ = ["EmptyGroups", "ListedObjects"]


@dataclass(frozen=True)
class EmptyGroups:
    """Groups without candidates: their score is -inf, and they never raise an alarm.

    Attributes
    ----------
    ids : ndarray of shape (k,)
    is_positive : ndarray of bool of shape (k,)
    patients : ndarray of shape (k,), or None where patients are not known
        The id of each group's patient.
    levels : mapping of str to ndarray of shape (k,), or None
        The id of each group's unit at each level above the group.
    columns : mapping of str to ndarray of shape (k,), or None
        The value of each group in columns by which subgroups are formed.
    """

    ids: NDArray[Any]
    is_positive: NDArray[np.bool_]
    patients: NDArray[Any] | None = None
    levels: Mapping[str, NDArray[Any]] | None = None
    columns: Mapping[str, NDArray[Any]] | None = None

    @classmethod
    def among(
        cls,
        found: NDArray[Any],
        ids: NDArray[Any],
        is_positive: NDArray[np.bool_],
        patients: NDArray[Any] | None = None,
        levels: Mapping[str, NDArray[Any]] | None = None,
        columns: Mapping[str, NDArray[Any]] | None = None,
    ) -> EmptyGroups:
        """Return the groups of a complete list that have no candidates.

        The other arrays have one value per listed group.

        Examples
        --------
        >>> EmptyGroups.among(np.array(["b"]), np.array(["a", "b"]), np.array([True, False])).ids
        array(['a'], dtype='<U1')
        """
        scores = GroupScores(found, np.zeros(len(found)), np.zeros(len(found), dtype=np.int64))
        without = among_all_groups(scores, ids).winner < 0
        return cls(
            ids[without],
            is_positive[without],
            None if patients is None else patients[without],
            _chosen(levels, without),
            _chosen(columns, without),
        )


def _chosen(
    columns: Mapping[str, NDArray[Any]] | None, rows: NDArray[np.bool_]
) -> dict[str, NDArray[Any]] | None:
    return None if columns is None else {name: each[rows] for name, each in columns.items()}


class ListedObjects(NamedTuple):
    """A complete list of objects, those that no candidate is on included.

    Attributes
    ----------
    ids : ndarray of shape (k,)
        The object of each entry.
    groups : ndarray of shape (k,)
        The id of a group that shows it; an object that several groups show has several entries.
    """

    ids: NDArray[Any]
    groups: NDArray[Any]
