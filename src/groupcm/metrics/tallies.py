"""How many positives and negatives reach each threshold.

    tp(t) = #{k positive : s_k >= t},    fp(t) = #{k negative : s_k >= t}

Everything that has a threshold is read off these: ROC, precision and recall, FROC,
operating points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tallies", "corners", "inside_a_level", "tally"]

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Tallies:
    """Counts at every distinct score, thresholds falling; the first is infinite, with none."""

    thresholds: NDArray[np.float64]
    tp: Counts
    fp: Counts

    @property
    def n_positive(self) -> int:
        return int(self.tp[-1])

    @property
    def n_negative(self) -> int:
        return int(self.fp[-1])

    @property
    def sensitivity(self) -> NDArray[np.float64]:
        return self.tp / self.n_positive

    @property
    def specificity(self) -> NDArray[np.float64]:
        # The integer first: 9 of 10 is then the same number as a given 0.9.
        return (self.n_negative - self.fp) / self.n_negative


def tally(is_positive: NDArray[np.bool_], scores: NDArray[Any]) -> Tallies:
    """Counts at every distinct score.

    Examples
    --------
    >>> at = tally(np.array([True, False, True]), np.array([3.0, 2.0, 2.0]))
    >>> at.thresholds.tolist(), at.tp.tolist(), at.fp.tolist()
    ([inf, 3.0, 2.0], [0, 1, 2], [0, 0, 1])
    """
    falling = np.argsort(scores)[::-1]
    scores, is_positive = scores[falling], is_positive[falling]
    last_of_tie = np.append(np.flatnonzero(scores[1:] != scores[:-1]), len(scores) - 1)
    tp = np.cumsum(is_positive, dtype=np.int64)[last_of_tie]
    fp = last_of_tie + 1 - tp
    return Tallies(
        np.concatenate([[np.inf], scores[last_of_tie]]).astype(np.float64),
        np.concatenate([[0], tp]),
        np.concatenate([[0], fp]),
    )


def corners(tp: Counts, fp: Counts) -> NDArray[np.intp]:
    """The points of a curve but those inside a horizontal or vertical stretch.

    They draw the same curve; a few positives among a million negatives leave a few points.

    Examples
    --------
    >>> corners(np.array([0, 1, 2, 2]), np.array([0, 0, 0, 1])).tolist()
    [0, 2, 3]
    """
    return np.flatnonzero(~(inside_a_level(tp) | inside_a_level(fp)))


def inside_a_level(values: Counts) -> NDArray[np.bool_]:
    """Where a rising sequence equals both its neighbours.

    Examples
    --------
    >>> inside_a_level(np.array([0, 1, 1, 1, 2])).tolist()
    [False, False, True, False, False]
    """
    level = np.diff(values) == 0
    return np.concatenate([[False], level[1:] & level[:-1], [False]])
