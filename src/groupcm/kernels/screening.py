"""The screening bound: which rows of a term can be its winner anywhere near a point.

Within a ball around the weights, a score changes by at most

::

    s_i(w) − r ‖x_i‖ ≤ s_i(w') ≤ s_i(w) + r ‖x_i‖   where ‖w' − w‖ ≤ r

so a row whose upper bound is below the lower bound of another row of its term never wins in that
ball, and no row below the floor costs anything.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def screen_terms(
    score, norm, rows, start, stop, radius, floor, kept, kept_term, ceiling, far_norm, best
):
    """Keep the rows that may win; of the others, how high they reach.

    Term ``k`` holds positions ``start[k]`` to ``stop[k]``, looked up in ``rows`` unless that
    is empty. The rows kept go to ``kept`` and their terms to ``kept_term``. ``ceiling[k]`` is
    the largest ``s_i + radius · norm_i`` of the rows not kept and ``far_norm[k]`` their largest
    norm, or −inf and 0 where all are kept; ``best[k]`` is the largest score of all.
    Returns how many rows are kept, or ``−1 − k`` for the first term that holds a NaN or an
    infinity.
    """
    in_place = len(rows) == 0
    count = 0
    for k in range(len(start)):
        least = -np.inf
        most = -np.inf
        total = 0.0
        for position in range(start[k], stop[k]):
            i = position if in_place else rows[position]
            s = score[i]
            total += s
            most = max(most, s)
            least = max(least, s - radius * norm[i])
        if not np.isfinite(total):
            return -1 - k
        best[k] = most
        least = max(least, floor)
        high = -np.inf
        far = 0.0
        for position in range(start[k], stop[k]):
            i = position if in_place else rows[position]
            reach = score[i] + radius * norm[i]
            if reach >= least:
                kept[count] = i
                kept_term[count] = k
                count += 1
            else:
                high = max(high, reach)
                far = max(far, norm[i])
        ceiling[k] = high
        far_norm[k] = far
    return count
