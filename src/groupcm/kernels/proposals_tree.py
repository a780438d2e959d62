"""The tree of all connected parts of a picture above each of its levels."""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS
from groupcm.kernels.disjoint_sets import find


@njit(nogil=True, cache=True, fastmath=FLAGS)
def component_tree(levels, n_levels):
    """Parents, levels, areas and boxes of the connected parts, and each pixel's own part.

    A part is a 4-connected set of pixels of at least its level that no further such pixel
    touches. Part 0 is the whole picture, its parent itself; parents come before their children.

    Parameters
    ----------
    levels
        Whole numbers 0 ≤ level < ``n_levels``, shape (height, width).
    n_levels
        How many levels there may be.

    Returns
    -------
    parent, level, area
        A number a part.
    edges
        Left, top, right and bottom of each part's box.
    own
        The smallest part of each pixel, shape (height, width).
    """
    height, width = levels.shape
    n = height * width
    flat = levels.ravel()
    order = _upwards(flat, n_levels)
    parent = _pixel_parents(flat, order, height, width)
    own = np.empty(n, dtype=np.int32)
    count = 0
    for place in range(n):
        pixel = order[place]
        above = parent[pixel]
        if above == pixel or flat[above] != flat[pixel]:
            own[pixel] = count
            count += 1
        else:
            own[pixel] = own[above]
    tree = np.zeros(count, dtype=np.int32)
    level = np.zeros(count, dtype=np.int32)
    area = np.zeros(count, dtype=np.int32)
    edges = np.empty((count, 4), dtype=np.int32)
    edges[:, 0], edges[:, 1], edges[:, 2], edges[:, 3] = width, height, 0, 0
    for pixel in range(n):
        part = own[pixel]
        row, column = pixel // width, pixel % width
        area[part] += 1
        level[part] = flat[pixel]
        edges[part, 0] = min(edges[part, 0], column)
        edges[part, 1] = min(edges[part, 1], row)
        edges[part, 2] = max(edges[part, 2], column + 1)
        edges[part, 3] = max(edges[part, 3], row + 1)
        above = parent[pixel]
        if flat[above] != flat[pixel]:
            tree[part] = own[above]
    for part in range(count - 1, 0, -1):
        above = tree[part]
        area[above] += area[part]
        edges[above, 0] = min(edges[above, 0], edges[part, 0])
        edges[above, 1] = min(edges[above, 1], edges[part, 1])
        edges[above, 2] = max(edges[above, 2], edges[part, 2])
        edges[above, 3] = max(edges[above, 3], edges[part, 3])
    return tree, level, area, edges, own.reshape(height, width)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _upwards(flat, n_levels):
    """Pixels from the lowest level to the highest, by place where they are equal."""
    start = np.zeros(n_levels + 1, dtype=np.int32)
    for value in flat:
        start[value + 1] += 1
    for value in range(n_levels):
        start[value + 1] += start[value]
    order = np.empty(flat.size, dtype=np.int32)
    for pixel in range(flat.size):
        order[start[flat[pixel]]] = pixel
        start[flat[pixel]] += 1
    return order


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _pixel_parents(flat, order, height, width):
    """For each pixel, the pixel that stands for its part, or for the part around it.

    Pixels join from the highest level down (Berger et al. 2007); ``top`` is the pixel that
    stands for the whole of a joined set.
    """
    n = flat.size
    parent = np.empty(n, dtype=np.int32)
    root = np.full(n, -1, dtype=np.int32)
    top = np.empty(n, dtype=np.int32)
    rank = np.zeros(n, dtype=np.int8)
    for place in range(n - 1, -1, -1):
        pixel = order[place]
        parent[pixel] = pixel
        root[pixel] = pixel
        top[pixel] = pixel
        mine = pixel
        row, column = pixel // width, pixel % width
        for side in range(4):
            if side == 0:
                other = pixel - width if row > 0 else -1
            elif side == 1:
                other = pixel - 1 if column > 0 else -1
            elif side == 2:
                other = pixel + 1 if column + 1 < width else -1
            else:
                other = pixel + width if row + 1 < height else -1
            if other < 0 or root[other] < 0:
                continue
            theirs = find(root, other)
            if theirs == mine:
                continue
            parent[top[theirs]] = pixel
            if rank[mine] < rank[theirs]:
                mine, theirs = theirs, mine
            elif rank[mine] == rank[theirs]:
                rank[mine] += 1
            root[theirs] = mine
            top[mine] = pixel
    for place in range(n):
        pixel = order[place]
        above = parent[pixel]
        if flat[parent[above]] == flat[above]:
            parent[pixel] = parent[above]
    return parent


@njit(nogil=True, cache=True, fastmath=FLAGS)
def descent(parent):
    """First and last (one past it) number of each part's line, itself and all within it.

    Numbers go down each branch before the next, so that a part lies within another where its
    first number lies between the other's two. Parents come before their children.
    """
    count = parent.size
    size = np.ones(count, dtype=np.int32)
    for part in range(count - 1, 0, -1):
        size[parent[part]] += size[part]
    first = np.zeros(count, dtype=np.int32)
    free = np.ones(count, dtype=np.int32)
    for part in range(1, count):
        above = parent[part]
        first[part] = free[above]
        free[above] += size[part]
        free[part] = first[part] + 1
    return first, first + size
