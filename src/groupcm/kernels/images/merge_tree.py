"""The tree of merges of neighbouring segments, the most similar first."""

from __future__ import annotations

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS
from groupcm.kernels.images.merging import grow_box

_BLOCK = 32


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _cost(a, b, area, colour, length, total, by_colour, by_border, power):
    """(colour distance or border strength) · (harmonic area) ** power."""
    distance = 0.0
    for channel in range(colour.shape[1]):
        step = colour[a, channel] - colour[b, channel]
        distance += step * step
    value = by_colour * np.sqrt(distance) + by_border * total / length + 0.01
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
    area, colour = area.copy(), colour.copy()
    node_area = np.zeros(nodes)
    node_edges = np.zeros((nodes, 4), dtype=np.int32)
    node_area[:n] = area
    node_edges[:n] = edges
    edges = edges.copy()
    parent = np.zeros(nodes, dtype=np.int32)
    cost = np.zeros(nodes)
    node = np.arange(n).astype(np.int32)
    head, later, to, long, strong = _neighbours(length, total)
    borders = (head, later, to, long, strong)
    weights = (by_colour, by_border, power)
    best = np.full(n, -1, dtype=np.int32)
    best_cost = np.full(n, np.inf)
    for a in range(n):
        _find_best(a, borders, area, colour, weights, best, best_cost)
    lowest = np.full((n + _BLOCK - 1) // _BLOCK, np.inf)
    for a in range(n):
        lowest[a // _BLOCK] = min(lowest[a // _BLOCK], best_cost[a])
    cell_of = np.full(n, -1, dtype=np.int32)
    for new in range(n, nodes):
        a = _cheapest(lowest, best_cost)
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
        _join(a, b, head, later, to, long, strong, cell_of)
        best_cost[b], best[b] = np.inf, -1
        best_cost[a], best[a] = np.inf, -1
        cell = head[a]
        while cell >= 0:
            c = to[cell]
            value = _cost(a, c, area, colour, long[cell], strong[cell], *weights)
            if value < best_cost[a] or (value == best_cost[a] and c < best[a]):
                best_cost[a], best[a] = value, c
            if best[c] == a or best[c] == b:
                _find_best(c, borders, area, colour, weights, best, best_cost)
            elif value < best_cost[c]:
                best_cost[c], best[c] = value, a
            _refresh(lowest, best_cost, c // _BLOCK)
            cell = later[cell]
        _refresh(lowest, best_cost, a // _BLOCK)
        _refresh(lowest, best_cost, b // _BLOCK)
    parent[nodes - 1] = nodes - 1
    return parent, cost, node_area, node_edges


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _neighbours(length, total):
    """Return a linked list of each segment: the neighbour, length and strength of each border."""
    n = len(length)
    count = 0
    for a in range(n):
        for b in range(n):
            count += length[a, b] > 0
    head = np.full(n, -1, dtype=np.int32)
    later = np.empty(count, dtype=np.int32)
    to = np.empty(count, dtype=np.int32)
    long = np.empty(count, dtype=np.float32)
    strong = np.empty(count, dtype=np.float32)
    cell = 0
    for a in range(n):
        for b in range(n - 1, -1, -1):
            if length[a, b] > 0:
                to[cell], long[cell], strong[cell] = b, length[a, b], total[a, b]
                later[cell] = head[a]
                head[a] = cell
                cell += 1
    return head, later, to, long, strong


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _find_best(a, borders, area, colour, weights, best, best_cost):
    """Find the neighbour of lowest cost of a segment, the first of equal ones."""
    head, later, to, long, strong = borders
    best_cost[a], best[a] = np.inf, -1
    cell = head[a]
    while cell >= 0:
        b = to[cell]
        value = _cost(a, b, area, colour, long[cell], strong[cell], *weights)
        if value < best_cost[a] or (value == best_cost[a] and b < best[a]):
            best_cost[a], best[a] = value, b
        cell = later[cell]


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _join(a, b, head, later, to, long, strong, cell_of):
    """Add the borders of segment b to those of segment a, on both sides of each."""
    before = -1
    cell = head[a]
    while cell >= 0:
        if to[cell] == b:
            if before < 0:
                head[a] = later[cell]
            else:
                later[before] = later[cell]
        else:
            cell_of[to[cell]] = cell
            before = cell
        cell = later[cell]
    cell = head[b]
    while cell >= 0:
        following, c = later[cell], to[cell]
        if c != a:
            same = cell_of[c]
            if same >= 0:
                long[same] += long[cell]
                strong[same] += strong[cell]
            else:
                later[cell] = head[a]
                head[a] = cell
                same = cell
            _redirect(c, a, b, long[same], strong[same], head, later, to, long, strong)
        cell = following
    head[b] = -1
    cell = head[a]
    while cell >= 0:
        cell_of[to[cell]] = -1
        cell = later[cell]


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _redirect(c, a, b, border, strength, head, later, to, long, strong):
    """Make the border of segment c with b one with a, of this length and strength."""
    before = -1
    kept = -1
    cell = head[c]
    while cell >= 0:
        following = later[cell]
        if to[cell] == a or to[cell] == b:
            if kept < 0:
                kept = cell
                to[cell], long[cell], strong[cell] = a, border, strength
                before = cell
            else:
                later[before] = following
        else:
            before = cell
        cell = following


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _cheapest(lowest, best_cost):
    """Return the first segment of lowest cost, by the lowest cost of each block of segments."""
    block = 0
    for each in range(lowest.size):
        if lowest[each] < lowest[block]:
            block = each
    for a in range(block * _BLOCK, min((block + 1) * _BLOCK, best_cost.size)):
        if best_cost[a] == lowest[block]:
            return a
    return -1


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _refresh(lowest, best_cost, block):
    low = np.inf
    for a in range(block * _BLOCK, min((block + 1) * _BLOCK, best_cost.size)):
        low = min(low, best_cost[a])
    lowest[block] = low
