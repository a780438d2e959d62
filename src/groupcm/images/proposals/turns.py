"""Several lists of candidates as one, the best of each first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groupcm.images.regions import Regions

__all__ = ["by_turns", "turn_order"]


def by_turns(parts: Sequence[Regions]) -> Regions:
    """Join lists so that at any place each has given about the same share of its own.

    Examples
    --------
    >>> one, two = (Regions.from_boxes([[0, 0, k, k] for k in ks], 9, 9) for ks in ((1, 2), (7,)))
    >>> by_turns([one, two]).areas
    array([ 1.,  4., 49.])
    """
    return Regions.joined(parts).take(turn_order([len(part) for part in parts]))


def turn_order(counts: Sequence[int]) -> NDArray[np.intp]:
    """Places of lists one after another, so that they are gone through by turns.

    Examples
    --------
    >>> turn_order([2, 1])
    array([0, 1, 2])
    >>> turn_order([1, 4])
    array([1, 2, 3, 0, 4])
    """
    share = np.concatenate([(np.arange(count) + 1) / max(count, 1) for count in counts])
    return np.argsort(share, kind="stable")
