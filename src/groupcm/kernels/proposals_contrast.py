"""How much the parts of a tree of levels stand out."""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def contrasts(parent, level, area, factor):
    """Mean level of each part minus that of the first part around it that is ``factor`` larger.

    Parents come before their children, as `component_tree` gives them. Where no part but the
    whole is so much larger, the level just below the whole counts.
    """
    count = parent.size
    own = area.astype(np.float64)
    for part in range(count - 1, 0, -1):
        own[parent[part]] -= area[part]
    total = own * level
    for part in range(count - 1, 0, -1):
        total[parent[part]] += total[part]
    found = np.empty(count, dtype=np.float64)
    for part in range(count):
        around = part
        while around > 0 and area[around] < factor * area[part]:
            around = parent[around]
        base = float(level[around]) if around > 0 else float(level[0]) - 1.0
        found[part] = total[part] / area[part] - base
    return found
