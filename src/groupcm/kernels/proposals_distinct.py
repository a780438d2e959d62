"""Which of many boxes are not nearly one before them."""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def distinct_places(edges, areas, alike, at_most):
    """Places of the first ``at_most`` regions that are unlike every one kept before.

    Two regions are alike where |A ∩ B| ≥ ``alike`` |A ∪ B| for their boxes A and B, and the
    smaller of their areas is at least ``alike`` times the larger.
    """
    n = areas.size
    kept = np.empty(min(n, at_most), dtype=np.int64)
    count = 0
    for place in range(n):
        if count == at_most:
            break
        left, top, right, bottom = edges[place]
        box = (right - left) * (bottom - top)
        new = True
        for earlier in range(count):
            other = kept[earlier]
            if min(areas[place], areas[other]) < alike * max(areas[place], areas[other]):
                continue
            wide = min(right, edges[other, 2]) - max(left, edges[other, 0])
            high = min(bottom, edges[other, 3]) - max(top, edges[other, 1])
            if wide <= 0 or high <= 0:
                continue
            shared = wide * high
            other_box = (edges[other, 2] - edges[other, 0]) * (edges[other, 3] - edges[other, 1])
            if shared >= alike * (box + other_box - shared):
                new = False
                break
        if new:
            kept[count] = place
            count += 1
    return kept[:count]
