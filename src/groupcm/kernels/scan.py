"""The largest score of each term and the row that has it: one pass over the rows."""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS
from groupcm.kernels.dot import row_dot


@njit(nogil=True, cache=True, fastmath=FLAGS)
def scan(rows, order, start, stop, weights, lo, hi, score, winner, runner_up, lead):
    """``score[k] = max_i s_i`` over the rows of term ``k``, its winner, runner-up and their lead.

    Term ``k`` holds positions ``start[k]`` to ``stop[k]``, looked up in ``order`` unless
    that is empty; for ``rows`` and ``weights`` see `row_dot`. A term of one row has itself as
    runner-up and an infinite lead; of equal rows the first wins. Works on terms ``lo`` to
    ``hi`` and returns the first of them that holds a NaN or an infinity, or -1.
    """
    in_place = len(order) == 0
    for k in range(lo, hi):
        first = second = start[k] if in_place else order[start[k]]
        best = total = row_dot(rows, first, weights)
        next_best = -np.inf
        for position in range(start[k] + 1, stop[k]):
            row = position if in_place else order[position]
            s = row_dot(rows, row, weights)
            total += s
            if s > next_best:
                if s > best:
                    next_best, second = best, first
                    best, first = s, row
                else:
                    next_best, second = s, row
        if not np.isfinite(total):
            return k
        score[k] = best
        winner[k] = first
        runner_up[k] = second
        lead[k] = best - next_best
    return -1
