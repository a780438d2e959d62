"""Counts of a map's values in equal bins, from which its quantiles follow."""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def value_counts(values, low, factor, counts):
    """Add the number of values with ``⌊(v − low) · factor⌋ = i`` to ``counts[i]``.

    Values beyond the ends count in the first or last bin.
    """
    last = len(counts) - 1
    for v in values:
        counts[min(max(int((np.float64(v) - low) * factor), 0), last)] += 1
