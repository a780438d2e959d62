"""A positive group is annotated as a whole, or not at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groupcm.group_index import GroupIndex

__all__ = ["require_whole_groups"]


def require_whole_groups(
    index: GroupIndex, positive: NDArray[np.bool_], annotated: NDArray[np.bool_]
) -> None:
    """Refuse a positive group of which some candidates are annotated and others are not.

    Parameters
    ----------
    index : GroupIndex
    positive : ndarray of bool, one a group
    annotated : ndarray of bool, one a candidate

    Examples
    --------
    >>> from groupcm.group_index import index_groups
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
