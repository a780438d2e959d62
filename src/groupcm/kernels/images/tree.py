"""The component tree of a picture (max-tree): contrasts, distinct nodes, and strips of nodes.

A node of the tree is a connected component of the pixels at or above one of the levels.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS
from groupcm.kernels.images.merging import counting_order, find, grow_box


@njit(nogil=True, cache=True, fastmath=FLAGS)
def component_tree(levels, n_levels):
    """Return parents, levels, areas and boxes of the nodes, and the smallest node of each pixel.

    A node is a maximal 4-connected set of pixels of at least its level. Node 0 is the whole
    picture, its parent itself; parents come before their children.

    Parameters
    ----------
    levels
        Integers 0 ≤ level < ``n_levels``, shape (height, width).
    n_levels
        The number of possible levels.

    Returns
    -------
    parent, level, area
        One number per node.
    edges
        Left, top, right and bottom of the box of each node.
    own
        The smallest node that contains each pixel, shape (height, width).
    """
    height, width = levels.shape
    n = height * width
    flat = levels.ravel()
    order = counting_order(flat, n_levels)
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
        grow_box(edges, part, column, row, column + 1, row + 1)
        above = parent[pixel]
        if flat[above] != flat[pixel]:
            tree[part] = own[above]
    for part in range(count - 1, 0, -1):
        above = tree[part]
        area[above] += area[part]
        grow_box(edges, above, edges[part, 0], edges[part, 1], edges[part, 2], edges[part, 3])
    return tree, level, area, edges, own.reshape(height, width)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _pixel_parents(flat, order, height, width):
    """Return, for each pixel, the pixel that represents its node, or the parent of its node.

    Pixels are merged from the highest level down (Berger et al. 2007); ``top`` is the pixel that
    represents a merged set.
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
    """Return first and last (exclusive) preorder number of each node and its descendants.

    A node is a descendant of another where its first number is between the two of the other.
    Parents come before their children.
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


@njit(nogil=True, cache=True, fastmath=FLAGS)
def contrasts(parent, level, area, factor):
    """Return the mean of each node minus the level of its first ancestor ``factor`` times as large.

    Parents come before their children, as in `component_tree`. Where only the root is that large,
    the level below the root counts.
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


@njit(nogil=True, cache=True, fastmath=FLAGS)
def distinct_places(edges, areas, alike, at_most):
    """Return the indices of the first ``at_most`` regions without near duplicates.

    Two regions are near duplicates where |A ∩ B| ≥ ``alike`` |A ∪ B| for their boxes A and B, and
    the smaller of their areas is at least ``alike`` times the larger.
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


@njit(nogil=True, cache=True, fastmath=FLAGS)
def branch_strips(number, first, last, edges):
    """Return the strips of the regions ``first ≤ number < last``.

    Parameters
    ----------
    number
        One number per pixel, shape (width, height).
    first, last
        The range of numbers of each region.
    edges
        Left, top, right and bottom of the box of each region; other pixels are ignored.

    Returns
    -------
    ptr
        Where the strips of each region begin.
    strips
        Column, top and bottom of each strip, shape (3, n).
    """
    n = first.size
    ptr = np.zeros(n + 1, dtype=np.int64)
    for region in range(n):
        ptr[region + 1] = ptr[region] + _count(number, first[region], last[region], edges[region])
    strips = np.empty((3, ptr[n]), dtype=np.int64)
    for region in range(n):
        low, high, at = first[region], last[region], ptr[region]
        for column in range(edges[region, 0], edges[region, 2]):
            inside = False
            for row in range(edges[region, 1], edges[region, 3]):
                now = low <= number[column, row] < high
                if now and not inside:
                    strips[0, at], strips[1, at] = column, row
                elif inside and not now:
                    strips[2, at] = row
                    at += 1
                inside = now
            if inside:
                strips[2, at] = edges[region, 3]
                at += 1
    return ptr, strips


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _count(number, low, high, edges):
    count = 0
    for column in range(edges[0], edges[2]):
        inside = False
        for row in range(edges[1], edges[3]):
            now = low <= number[column, row] < high
            count += now and not inside
            inside = now
    return count
