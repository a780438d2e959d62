"""How many positives and negatives reach each threshold.

    tp(t) = #{k positive : s_k >= t},    fp(t) = #{k negative : s_k >= t}

Everything that has a threshold is read off these: ROC, precision and recall, FROC,
operating points.

A score of -inf is that of a group without candidates: it reaches no threshold, and counts among
``n_positive`` or ``n_negative`` only.
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
    """Counts at every distinct score, thresholds falling; the first is infinite, with none.

    ``n_positive`` and ``n_negative`` count those that reach no threshold as well.
    """

    thresholds: NDArray[np.float64]
    tp: Counts
    fp: Counts
    n_positive: int
    n_negative: int

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
    n_positive = int(np.count_nonzero(is_positive))
    n_negative = len(is_positive) - n_positive
    falling = np.argsort(scores)[::-1][: np.count_nonzero(scores > -np.inf)]
    scores, is_positive = scores[falling], is_positive[falling]
    if len(scores) == 0:
        none = np.zeros(1, dtype=np.int64)
        return Tallies(np.array([np.inf]), none, none, n_positive, n_negative)
    last_of_tie = np.append(np.flatnonzero(scores[1:] != scores[:-1]), len(scores) - 1)
    tp = np.cumsum(is_positive, dtype=np.int64)[last_of_tie]
    fp = last_of_tie + 1 - tp
    return Tallies(
        np.concatenate([[np.inf], scores[last_of_tie]]).astype(np.float64),
        np.concatenate([[0], tp]),
        np.concatenate([[0], fp]),
        n_positive,
        n_negative,
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
    if len(values) == 1:
        return np.zeros(1, dtype=bool)
    level = np.diff(values) == 0
    return np.concatenate([[False], level[1:] & level[:-1], [False]])
