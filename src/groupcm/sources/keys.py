"""What a table says of its rows beside the features: which group, which class.

Rows of a group stand together, so groups are runs. Both are kept as numbers
and a few values, so that a hundred million rows of text cost a byte each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.candidates import Index

__all__ = ["Keys", "Labels", "Runs", "labels_of", "runs_of"]

# Up to so many labels comparisons are faster than a sort.
_FEW_LABELS = 16


@dataclass(frozen=True)
class Runs:
    """Run ``k`` begins at the chunk's row ``start[k]`` and is of group ``ids[k]``."""

    start: Index
    ids: NDArray[Any]


@dataclass(frozen=True)
class Labels:
    """Row ``i`` has the label ``values[codes[i]]``; without codes all have ``values[0]``."""

    values: NDArray[Any]
    codes: NDArray[np.integer] | None = None


@dataclass(frozen=True)
class Keys:
    """Groups, labels and overlaps of a chunk's rows; what was not asked for is None."""

    runs: Runs | None = None
    labels: Labels | None = None
    overlap: NDArray[np.floating] | None = None


def runs_of(groups: NDArray[Any]) -> Runs:
    """The runs of equal values.

    Examples
    --------
    >>> runs_of(np.array([7, 7, 3]))
    Runs(start=array([0, 2]), ids=array([7, 3]))
    """
    start = np.flatnonzero(groups[1:] != groups[:-1]) + 1
    start = np.concatenate([np.zeros(min(1, len(groups)), dtype=np.int64), start])
    return Runs(start, groups[start])


def labels_of(values: NDArray[Any]) -> Labels:
    """The distinct values and which of them each row has.

    Examples
    --------
    >>> labels_of(np.array([0, 0, 1]))
    Labels(values=array([0, 1]), codes=array([0, 0, 1], dtype=uint8))
    """
    found: list[Any] = []
    rest = values
    while len(rest) and len(found) < _FEW_LABELS:
        found.append(rest[0])
        rest = rest[rest != rest[0]]
    if len(rest):
        distinct, codes = np.unique(values, return_inverse=True)
        return Labels(distinct, codes)
    distinct = np.sort(np.array(found, dtype=values.dtype))
    if len(distinct) < 2:
        return Labels(distinct)
    codes = np.zeros(len(values), dtype=np.uint8)
    for number, label in enumerate(distinct[1:], start=1):
        codes[values == label] = number
    return Labels(distinct, codes)
