"""Who is drawn together: a patient with all their groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.group_index import GroupIndex, index_groups, owner_of_groups, require_present

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
    of_group = of_row if index is None else owner_of_groups(index, numbered, "clusters")
    return Clusters(of_row, of_group, numbered.n_groups)
