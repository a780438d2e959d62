"""The component tree of a picture (max-tree): contrasts, distinct nodes, and strips of nodes.

A node of the tree is a connected component of the pixels at or above one of the levels.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS
from groupcm.kernels.images.merging import grow_box


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
    found, node_level, node_parent = _flooded(levels, n_levels)
    count = node_level.size
    # Nodes are numbered by their level, and within it by their first pixel.
    free = np.zeros(n_levels + 1, dtype=np.int32)
    for node in range(count):
        free[node_level[node] + 1] += 1
    for each in range(n_levels):
        free[each + 1] += free[each]
    new = np.full(count, -1, dtype=np.int32)
    area = np.zeros(count, dtype=np.int32)
    edges = np.empty((count, 4), dtype=np.int32)
    own = np.empty((height, width), dtype=np.int32)
    for row in range(height):
        for column in range(width):
            node = found[(row + 1) * (width + 1) + column]
            part = new[node]
            if part < 0:
                part = free[node_level[node]]
                free[node_level[node]] += 1
                new[node] = part
                edges[part, 0], edges[part, 1], edges[part, 2] = column, row, column + 1
            elif column < edges[part, 0]:
                edges[part, 0] = column
            elif column >= edges[part, 2]:
                edges[part, 2] = column + 1
            edges[part, 3] = row + 1
            own[row, column] = part
            area[part] += 1
    tree = np.empty(count, dtype=np.int32)
    level = np.empty(count, dtype=np.int32)
    for node in range(count):
        tree[new[node]] = new[node_parent[node]]
        level[new[node]] = node_level[node]
    for part in range(count - 1, 0, -1):
        above = tree[part]
        area[above] += area[part]
        grow_box(edges, above, edges[part, 0], edges[part, 1], edges[part, 2], edges[part, 3])
    return tree, level, area, edges, own


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _flooded(levels, n_levels):
    """Return the node of each pixel, and the level and the parent of each node.

    Pixels are visited from one of them on, always the highest level that was reached next
    (Salembier et al. 1998). A node is complete when no reached pixel of its level is left; its
    parent is then the node of the next lower level that was reached. The picture has a further row
    above and below and a further column to the right, so that each pixel has four neighbours.
    """
    height, width = levels.shape
    stride = width + 1
    flat = np.zeros((height + 2) * stride, dtype=np.uint8)
    # -1 for a pixel that is not reached, the next reached pixel of its level (0 for none) while it
    # waits, and then its node.
    found = np.zeros(flat.size, dtype=np.int32)
    for y in range(height):
        start = (y + 1) * stride
        for x in range(width):
            flat[start + x] = levels[y, x]
            found[start + x] = -1
    node_level = np.empty(height * width, dtype=np.int32)
    node_parent = np.empty(height * width, dtype=np.int32)
    opened = np.full(n_levels, -1, dtype=np.int32)
    # The last reached pixel of each level that waits; 0 for none.
    head = np.zeros(n_levels, dtype=np.int32)
    count = 0
    here = np.int64(flat[stride])
    head[here], found[stride] = stride, 0
    # Without a sign, as an index that could be negative takes longer.
    one, row = np.uint64(1), np.uint64(stride)
    while True:
        if head[here] > 0:
            pixel = np.uint64(head[here])
            head[here] = found[pixel]
            if opened[here] < 0:
                opened[here] = count
                node_level[count] = here
                count += 1
            found[pixel] = opened[here]
            for other in (pixel - row, pixel - one, pixel + one, pixel + row):
                if found[other] < 0:
                    level = np.int64(flat[other])
                    found[other] = head[level]
                    head[level] = other
                    if level > here:
                        # Its other neighbours wait until all that is higher here is complete.
                        found[pixel] = head[here]
                        head[here] = pixel
                        here = level
                        break
            continue
        node = opened[here]
        opened[here] = -1
        here -= 1
        while here >= 0 and head[here] == 0 and opened[here] < 0:
            here -= 1
        if here < 0:
            node_parent[node] = node
            break
        if opened[here] < 0:
            opened[here] = count
            node_level[count] = here
            count += 1
        node_parent[node] = opened[here]
    return found, node_level[:count], node_parent[:count]


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
    strips = np.empty((3, 1024), dtype=np.int64)
    turns = np.empty(number.shape[1] + 2, dtype=np.int64)
    at = 0
    for region in range(n):
        low, size = first[region], np.uint32(last[region] - first[region])
        upper, lower = edges[region, 1], edges[region, 3]
        for column in range(edges[region, 0], edges[region, 2]):
            rows = number[column]
            count = 0
            before = False
            for row in range(upper, lower):
                now = np.uint32(rows[row] - low) < size
                # Written always, and kept where the region begins or ends.
                turns[count] = row
                count += now != before
                before = now
            turns[count] = lower
            found = (count + 1) // 2
            if at + found > strips.shape[1]:
                larger = np.empty((3, 2 * (at + found)), dtype=np.int64)
                larger[:, :at] = strips[:, :at]
                strips = larger
            for each in range(found):
                strips[0, at] = column
                strips[1, at] = turns[2 * each]
                strips[2, at] = turns[2 * each + 1]
                at += 1
        ptr[region + 1] = at
    return ptr, strips[:, :at].copy()
