"""Graph-based segments of similar colour, and the tree of merges of neighbouring segments."""

from __future__ import annotations

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS

_BINS = 2048


@njit(nogil=True, cache=True, fastmath=FLAGS)
def grow_box(edges, k, left, top, right, bottom):
    """Enlarge box k to contain another box."""
    edges[k, 0] = min(edges[k, 0], left)
    edges[k, 1] = min(edges[k, 1], top)
    edges[k, 2] = max(edges[k, 2], right)
    edges[k, 3] = max(edges[k, 3], bottom)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def find(root, member):
    """Return the root of a disjoint set, with path halving."""
    while root[member] != member:
        root[member] = root[root[member]]
        member = root[member]
    return member


@njit(nogil=True, cache=True, fastmath=FLAGS)
def graph_pieces(planes, scale, smallest):
    """Return the labels and the number of segments (Felzenszwalb and Huttenlocher 2004).

    Neighbours merge, the most similar first, where their difference is at most the internal
    difference of each plus ``scale`` / size. Segments below ``smallest`` pixels then merge with a
    neighbour. Edges are sorted into bins of √weight, which is many times faster than a full sort.

    Parameters
    ----------
    planes
        Channels, shape (height, width, channels).
    """
    height, width, channels = planes.shape
    n = height * width
    n_edges = height * (width - 1) + (height - 1) * width
    one = np.empty(n_edges, dtype=np.int32)
    two = np.empty(n_edges, dtype=np.int32)
    weight = np.empty(n_edges, dtype=np.float32)
    at = 0
    heaviest = np.float32(0)
    for row in range(height):
        for column in range(width):
            for down in range(2):
                r, c = row + down, column + 1 - down
                if r >= height or c >= width:
                    continue
                total = np.float32(0)
                for channel in range(channels):
                    step = planes[r, c, channel] - planes[row, column, channel]
                    total += step * step
                total = np.sqrt(total)
                one[at], two[at], weight[at] = row * width + column, r * width + c, total
                heaviest = max(heaviest, total)
                at += 1
    order = _lightest_first(weight, heaviest)
    root = np.arange(n).astype(np.int32)
    size = np.ones(n, dtype=np.int32)
    allowed = np.full(n, scale, dtype=np.float32)
    # Only an edge between two segments can merge them later.
    between = np.empty(n_edges, dtype=np.int32)
    n_between = 0
    for place in order:
        a, b = find(root, one[place]), find(root, two[place])
        if a == b:
            continue
        if weight[place] <= min(allowed[a], allowed[b]):
            if size[a] < size[b]:
                a, b = b, a
            root[b] = a
            size[a] += size[b]
            allowed[a] = weight[place] + scale / size[a]
        else:
            between[n_between] = place
            n_between += 1
    for place in between[:n_between]:
        a, b = find(root, one[place]), find(root, two[place])
        if a != b and min(size[a], size[b]) < smallest:
            if size[a] < size[b]:
                a, b = b, a
            root[b] = a
            size[a] += size[b]
    labels = np.full(n, -1, dtype=np.int32)
    count = 0
    for pixel in range(n):
        top = find(root, pixel)
        if labels[top] < 0:
            labels[top] = count
            count += 1
        labels[pixel] = labels[top]
    return labels.reshape(height, width), count


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _lightest_first(weight, heaviest):
    """Return the edges from the lightest bin of weights to the heaviest."""
    if heaviest <= 0:
        heaviest = np.float32(1)
    # The square root makes bins finer for light edges, which merge first.
    bins = np.empty(weight.size, dtype=np.int32)
    for place in range(weight.size):
        bins[place] = min(_BINS - 1, int(np.sqrt(weight[place] / heaviest) * _BINS))
    return counting_order(bins, _BINS)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def counting_order(keys, n_keys):
    """Return the stable order of integers 0 ≤ key < ``n_keys`` by a counting sort."""
    start = np.zeros(n_keys + 1, dtype=np.int32)
    for key in keys:
        start[key + 1] += 1
    for key in range(n_keys):
        start[key + 1] += start[key]
    order = np.empty(keys.size, dtype=np.int32)
    for place in range(keys.size):
        order[start[keys[place]]] = place
        start[keys[place]] += 1
    return order


@njit(nogil=True, cache=True, fastmath=FLAGS)
def pieces_and_borders(planes, strength, labels, count):
    """Return area, mean colour and box of each segment; length and total strength of each border.

    Each pair of pixels along a border adds the larger ``strength`` of the two. Length and total
    strength are matrices of shape (count, count).
    """
    height, width, channels = planes.shape
    area = np.zeros(count, dtype=np.float64)
    colour = np.zeros((count, channels), dtype=np.float64)
    edges = np.empty((count, 4), dtype=np.int32)
    edges[:, 0], edges[:, 1], edges[:, 2], edges[:, 3] = width, height, 0, 0
    length = np.zeros((count, count), dtype=np.float32)
    total = np.zeros((count, count), dtype=np.float32)
    for row in range(height):
        for column in range(width):
            piece = labels[row, column]
            area[piece] += 1
            for channel in range(channels):
                colour[piece, channel] += planes[row, column, channel]
            grow_box(edges, piece, column, row, column + 1, row + 1)
            for down in range(2):
                r, c = row + down, column + 1 - down
                if r >= height or c >= width:
                    continue
                other = labels[r, c]
                if other != piece:
                    here = max(strength[row, column], strength[r, c])
                    length[piece, other] += 1
                    length[other, piece] += 1
                    total[piece, other] += here
                    total[other, piece] += here
    for piece in range(count):
        for channel in range(channels):
            colour[piece, channel] /= area[piece]
    return area, colour, edges, length, total


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _cost(a, b, area, colour, length, total, by_colour, by_border, power):
    """(colour distance or border strength) · (harmonic area) ** power."""
    distance = 0.0
    for channel in range(colour.shape[1]):
        step = colour[a, channel] - colour[b, channel]
        distance += step * step
    value = by_colour * np.sqrt(distance) + by_border * total[a, b] / length[a, b] + 0.01
    return value * (area[a] * area[b] / (area[a] + area[b])) ** power


@njit(nogil=True, cache=True, fastmath=FLAGS)
def merge_tree(area, colour, edges, length, total, by_colour, by_border, power):
    """Merge the pair of neighbours of lowest cost until one segment is left.

    The arguments are the results of `pieces_and_borders`, and the weights of colour, border and
    area. Returns parent, cost, area and box of 2n - 1 nodes: the n segments, then the merges, the
    root last; its parent is itself. The cost of a node is that of its merge, 0 for a segment.
    """
    n = area.size
    nodes = 2 * n - 1
    area, colour, length, total = area.copy(), colour.copy(), length.copy(), total.copy()
    node_area = np.zeros(nodes)
    node_edges = np.zeros((nodes, 4), dtype=np.int32)
    node_area[:n] = area
    node_edges[:n] = edges
    edges = edges.copy()
    parent = np.zeros(nodes, dtype=np.int32)
    cost = np.zeros(nodes)
    node = np.arange(n).astype(np.int32)
    alive = np.ones(n, dtype=np.bool_)
    best = np.full(n, -1, dtype=np.int32)
    best_cost = np.full(n, np.inf)
    for a in range(n):
        for b in range(n):
            if length[a, b] > 0:
                value = _cost(a, b, area, colour, length, total, by_colour, by_border, power)
                if value < best_cost[a]:
                    best_cost[a], best[a] = value, b
    for new in range(n, nodes):
        a = -1
        for each in range(n):
            if alive[each] and (a < 0 or best_cost[each] < best_cost[a]):
                a = each
        b = best[a]
        if a > b:
            a, b = b, a
        cost[new] = best_cost[a]
        parent[node[a]] = new
        parent[node[b]] = new
        share = area[a] / (area[a] + area[b])
        for channel in range(colour.shape[1]):
            colour[a, channel] = share * colour[a, channel] + (1 - share) * colour[b, channel]
        area[a] += area[b]
        grow_box(edges, a, edges[b, 0], edges[b, 1], edges[b, 2], edges[b, 3])
        node[a] = new
        node_area[new] = area[a]
        node_edges[new] = edges[a]
        alive[b] = False
        best_cost[b] = np.inf
        best_cost[a], best[a] = np.inf, -1
        for c in range(n):
            if not alive[c] or c == a:
                continue
            if length[b, c] > 0:
                length[a, c] += length[b, c]
                total[a, c] += total[b, c]
                length[c, a], total[c, a] = length[a, c], total[a, c]
            if length[a, c] > 0:
                value = _cost(a, c, area, colour, length, total, by_colour, by_border, power)
                if value < best_cost[a]:
                    best_cost[a], best[a] = value, c
                if best[c] != a and best[c] != b:
                    if value < best_cost[c]:
                        best_cost[c], best[c] = value, a
                else:
                    best_cost[c], best[c] = np.inf, -1
                    for d in range(n):
                        if alive[d] and d != c and length[c, d] > 0:
                            value = _cost(
                                c, d, area, colour, length, total, by_colour, by_border, power
                            )
                            if value < best_cost[c]:
                                best_cost[c], best[c] = value, d
    parent[nodes - 1] = nodes - 1
    return parent, cost, node_area, node_edges
