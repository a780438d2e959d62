"""Several lists of candidates as one, the best of each first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groupcm.images.regions import Regions

__all__ = ["by_turns"]


def by_turns(parts: Sequence[Regions]) -> Regions:
    """Join lists so that at any place each has given about the same share of its own.

    Examples
    --------
    >>> one, two = (Regions.from_boxes([[0, 0, k, k] for k in ks], 9, 9) for ks in ((1, 2), (7,)))
    >>> by_turns([one, two]).areas
    array([ 1.,  4., 49.])
    """
    share = np.concatenate([(np.arange(len(part)) + 1) / max(len(part), 1) for part in parts])
    return Regions.joined(parts).take(np.argsort(share, kind="stable"))
