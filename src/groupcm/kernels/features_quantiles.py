"""How a map's values are distributed: counts in equal bins, and their deviation."""

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


@njit(nogil=True, cache=True, fastmath=FLAGS)
def value_deviation(values):
    """``√(Σ (v − mean)² / n)``."""
    total = 0.0
    for v in values:
        total += np.float64(v)
    mean = total / len(values)
    square = 0.0
    for v in values:
        away = np.float64(v) - mean
        square += away * away
    return np.sqrt(square / len(values))
