"""Counts of negatives by score, which give areas and curves without storing any score.

::

    bin(s) = 0 below low, n + 1 from high on, else 1 + ⌊n (s − low) / (high − low)⌋
"""

from __future__ import annotations

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS

__all__ = ["bin_of", "count_placements"]


@njit(nogil=True, cache=True, inline="always")
def bin_of(s, low, scale, n_bins):
    """The bin of a score, from 0 to ``n_bins + 1``."""
    t = (s - low) * scale
    if t < 0.0:
        return 0
    if t >= n_bins:
        return n_bins + 1
    return 1 + int(t)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def count_placements(
    scores, start, patient, low, scale, worth, coarse, histogram, sums, coarse_counts
):
    """Add the candidates and frames of a chunk to the counts of two levels.

    ``scores[m, i]`` is that of model m; frame f has the columns ``start[f]`` to ``start[f + 1]``
    and belongs to ``patient[f]``, or is left out where that is −1. Level 0 counts every candidate,
    level 1 the largest of each frame. Each adds one to ``histogram[level, m, bin]`` and
    ``worth[level, m, bin]`` to ``sums[level, m, patient]``, and one to ``coarse_counts[level, m,
    patient, coarse[level, m, bin]]``. All counts are whole numbers, so that their order does not
    matter. Returns the first column with a NaN, or −1.
    """
    n_models, n_bins = len(scores), histogram.shape[2] - 2
    for m in range(n_models):
        for f in range(len(start) - 1):
            p = patient[f]
            if p < 0:
                continue
            best = -np.inf
            total = 0
            for i in range(start[f], start[f + 1]):
                s = scores[m, i]
                if not np.isfinite(s):
                    return i
                best = max(best, s)
                k = bin_of(s, low[0, m], scale[0, m], n_bins)
                histogram[0, m, k] += 1
                total += worth[0, m, k]
                coarse_counts[0, m, p, coarse[0, m, k]] += 1
            sums[0, m, p] += total
            k = bin_of(best, low[1, m], scale[1, m], n_bins)
            histogram[1, m, k] += 1
            sums[1, m, p] += worth[1, m, k]
            coarse_counts[1, m, p, coarse[1, m, k]] += 1
    return -1
