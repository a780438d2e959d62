"""The training sets of a learning curve: how many negative groups, and which.

Negative groups are put in a random order. A training set of size m has all positive groups and
the first m negative ones, so that larger sets hold the smaller.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["learning_sizes", "places_of_groups"]


def learning_sizes(n_groups: int, *, smallest: int, n_sizes: int) -> list[int]:
    """Numbers of groups at equal ratios, up to all there are.

    Parameters
    ----------
    n_groups : int
        How many there are.
    smallest : int
        The first size.
    n_sizes : int
        How many sizes at most; some fall together where groups are few.

    Examples
    --------
    >>> learning_sizes(1000, smallest=10, n_sizes=8)
    [10, 19, 37, 72, 139, 268, 518, 1000]
    """
    grid = np.geomspace(min(smallest, n_groups), n_groups, max(2, n_sizes))
    return np.unique(grid.round().astype(int)).tolist()


def places_of_groups(is_positive: NDArray[np.bool_], seed: Any) -> NDArray[np.intp]:
    """The place of each negative group in a random order; -1 of positive ones, before all.

    Parameters
    ----------
    is_positive : ndarray of bool, one a group
    seed : int or sequence of int

    Examples
    --------
    >>> places = places_of_groups(np.array([False, True, False, False]), seed=0)
    >>> int(places[1]), sorted(places.tolist()), int(np.sum(places < 2))
    (-1, [-1, 0, 1, 2], 3)
    """
    places = np.full(len(is_positive), -1)
    negative = np.flatnonzero(~is_positive)
    places[negative] = np.random.default_rng(seed).permutation(len(negative))
    return places
