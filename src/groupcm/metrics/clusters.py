"""Who is drawn together: a patient with all their groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.group_index import GroupIndex, index_groups, require_present

__all__ = ["Clusters", "read_clusters"]


@dataclass(frozen=True)
class Clusters:
    """The number of the cluster of every row and of every group, in order of first appearance."""

    of_row: NDArray[np.intp]
    of_group: NDArray[np.intp]
    n_clusters: int


def read_clusters(clusters: ArrayLike | None, index: GroupIndex | None, n_rows: int) -> Clusters:
    """Number the clusters; without any, every group is one. No group may lie in two.

    Examples
    --------
    >>> read_clusters(["p", "p", "q"], index_groups([1, 1, 2]), 3).of_group.tolist()
    [0, 1]
    """
    if clusters is None:
        of_row = np.arange(n_rows) if index is None else index.codes
        n_groups = n_rows if index is None else index.n_groups
        return Clusters(of_row, np.arange(n_groups), n_groups)
    ids = np.asarray(clusters)
    if ids.shape != (n_rows,):
        raise ValueError(
            f"clusters must hold one id a candidate, shape ({n_rows},) to match y; "
            f"got shape {ids.shape}."
        )
    require_present(ids, "clusters has no id at row {}; every candidate needs a cluster.")
    numbered = index_groups(ids)
    of_row = numbered.codes
    if index is None:
        return Clusters(of_row, of_row, numbered.n_groups)
    of_group = of_row[_first_rows(index)]
    _require_whole_groups(of_row, of_group, index, numbered.ids)
    return Clusters(of_row, of_group, numbered.n_groups)


def _first_rows(index: GroupIndex) -> NDArray[np.intp]:
    return index.run_starts[np.unique(index.run_codes, return_index=True)[1]]


def _require_whole_groups(
    of_row: NDArray[np.intp], of_group: NDArray[np.intp], index: GroupIndex, ids: NDArray[Any]
) -> None:
    is_elsewhere = of_row != of_group[index.codes]
    if is_elsewhere.any():
        row = int(np.argmax(is_elsewhere))
        group = index.codes[row]
        raise ValueError(
            f"group {index.ids[group]!s} lies in two clusters, {ids[of_group[group]]!s} and "
            f"{ids[of_row[row]]!s}; all candidates of a group must belong to one."
        )
