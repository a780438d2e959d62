"""What the features of a winner add to its score, the largest first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groupcm.evaluation.numbers import Contribution

__all__ = ["largest_contributions"]

_SMALLEST_SHARE = 1e-9  # of the largest contribution; what is smaller adds nothing


def largest_contributions(
    names: list[str],
    values: NDArray[np.floating],
    adds: NDArray[np.float64],
    most: int,
) -> list[Sequence[Contribution]]:
    """The largest contributions to the score of each row, at most so many a row.

    Examples
    --------
    >>> values, adds = np.array([[1.0, 2.0, 3.0]]), np.array([[0.1, -0.5, 0.0]])
    >>> [each.feature for each in largest_contributions(["a", "b", "c"], values, adds, 5)[0]]
    ['b', 'a']
    """
    found = []
    for value, add in zip(values, adds, strict=True):
        largest = np.argsort(-np.abs(add), kind="stable")[:most]
        enough = _SMALLEST_SHARE * np.abs(add).max()
        found.append(
            tuple(
                Contribution(names[j], float(value[j]), float(add[j]))
                for j in largest
                if abs(add[j]) > enough
            )
        )
    return found
