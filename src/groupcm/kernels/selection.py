"""The candidates of each group that trees are grown on: those of largest score, and random ones.

Row ``i`` has the key ``−log(u_i) / size_i``, where ``u_i`` in (0, 1) mixes the bits of its number,
and the rows of the smallest keys are drawn: so a row is drawn the more likely the larger its
``size``, and it does not matter how the rows are divided into chunks.
"""

import numpy as np
from numba import njit

__all__ = ["row_keys", "select_candidates"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@njit(nogil=True, cache=True)
def _key(row, size, seed):
    """Mix the bits of a row number, as splitmix64 does, and return its key."""
    x = (np.uint64(row) + np.uint64(1)) * _GOLDEN + np.uint64(seed)
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    x ^= x >> np.uint64(31)
    # The middle of one of 2^53 pieces of (0, 1).
    return -np.log((np.float64(x >> np.uint64(11)) + 0.5) * 2.0**-53) / size


@njit(nogil=True, cache=True)
def row_keys(rows, size, seed, out):
    """Write the key of each row number."""
    for i in range(len(rows)):
        out[i] = _key(rows[i], size[i], seed)


@njit(nogil=True, cache=True)
def select_candidates(score, size, rows, start, stop, first, n_top, n_random, seed, kept, best):
    """Keep, of each term, the rows of largest score, and of the others those of smallest key.

    Term ``k`` holds positions ``start[k]`` to ``stop[k]``, looked up in ``rows`` unless that is
    empty. Row ``i`` of the chunk is row ``first + i`` of all. At most ``n_top`` rows are kept for
    their score (of equal ones the first) and ``n_random`` for their key; they go to ``kept``, as
    rows of the chunk. ``best[k]`` is the largest score. Returns how many rows are kept, or
    ``−1 − k`` for the first term that holds a NaN or an infinity.
    """
    in_place = len(rows) == 0
    count = 0
    for k in range(len(start)):
        n = stop[k] - start[k]
        values = np.empty(n)
        local = np.empty(n, np.int64)
        most, total = -np.inf, 0.0
        for j in range(n):
            i = start[k] + j if in_place else rows[start[k] + j]
            local[j], values[j] = i, score[i]
            total += score[i]
            most = max(most, score[i])
        if not np.isfinite(total):
            return -1 - k
        best[k] = most
        if n <= n_top + n_random:
            for j in range(n):
                kept[count] = local[j]
                count += 1
            continue
        if n_top:
            cut = np.partition(values, n - n_top)[n - n_top]
            above = 0
            for j in range(n):
                above += values[j] > cut
            ties = n_top - above
        else:
            cut, ties = np.inf, 0
        rest = np.empty(n - n_top, np.int64)
        keys = np.empty(n - n_top)
        n_rest = 0
        for j in range(n):
            is_tie = values[j] == cut and ties > 0
            if values[j] > cut or is_tie:
                ties -= is_tie
                kept[count] = local[j]
                count += 1
            else:
                i = local[j]
                rest[n_rest], keys[n_rest] = i, _key(first + i, size[i], seed)
                n_rest += 1
        if n_random:
            largest = np.partition(keys, n_random - 1)[n_random - 1]
            for j in range(n_rest):
                if keys[j] <= largest:
                    kept[count] = rest[j]
                    count += 1
    return count
