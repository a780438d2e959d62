"""Graph-based segments of similar colour, and the borders between them."""

from __future__ import annotations

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS

_BINS = 2048
_AHEAD = 64


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
    return large_pieces(*similar_pieces(planes, scale), smallest)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def similar_pieces(planes, scale):
    """Return the segments of `graph_pieces` before small ones merge, and their borders.

    Returns
    -------
    labels
        The segment of each pixel, numbered in the order of their first pixels.
    size
        Pixels of each segment.
    one, two
        The segments on both sides of each edge that merged none, the lightest edge first.
    """
    height, width, channels = planes.shape
    n = height * width
    # Edge 2 p leads from pixel p to the right, edge 2 p + 1 downwards; none beyond the border.
    weight = np.full(2 * n, np.float32(-1))
    heaviest = np.float32(0)
    for row in range(height):
        for column in range(width):
            pixel = row * width + column
            for down in range(2):
                r, c = row + down, column + 1 - down
                if r >= height or c >= width:
                    continue
                total = np.float32(0)
                for channel in range(channels):
                    step = planes[r, c, channel] - planes[row, column, channel]
                    total += step * step
                total = np.sqrt(total)
                weight[2 * pixel + down] = total
                heaviest = max(heaviest, total)
    order = _lightest_first(weight, heaviest, height * (width - 1) + (height - 1) * width)
    # Root, size and the largest difference allowed of each pixel's segment, next to each other:
    # in a large picture, every edge is a visit to memory that is in no cache.
    segments = np.empty((n, 4), dtype=np.int32)
    allowed = segments.view(np.float32)
    for pixel in range(n):
        segments[pixel, 0], segments[pixel, 1] = pixel, 1
        allowed[pixel, 2] = scale
    # Only an edge between two segments can merge them later.
    between = np.empty(order.size, dtype=np.int32)
    n_between = 0
    # The roots of many edges are looked up one step at a time, so that the processor waits for
    # the memory of all of them at once.
    one, two = np.empty(_AHEAD, dtype=np.int32), np.empty(_AHEAD, dtype=np.int32)
    cost = np.empty(_AHEAD, dtype=np.float32)
    for start in range(0, order.size, _AHEAD):
        several = order[start : start + _AHEAD]
        for k, place in enumerate(several):
            one[k] = segments[place >> 1, 0]
            two[k] = segments[(place >> 1) + (width if place & 1 else 1), 0]
            cost[k] = weight[place]
        for k in range(several.size):
            one[k], two[k] = segments[one[k], 0], segments[two[k], 0]
        for k, place in enumerate(several):
            a, b = _segment(segments, one[k]), _segment(segments, two[k])
            here, there = place >> 1, (place >> 1) + (width if place & 1 else 1)
            if segments[here, 0] != a:
                segments[here, 0] = a
            if segments[there, 0] != b:
                segments[there, 0] = b
            if a == b:
                continue
            if cost[k] <= min(allowed[a, 2], allowed[b, 2]):
                if segments[a, 1] < segments[b, 1]:
                    a, b = b, a
                segments[b, 0] = a
                segments[a, 1] += segments[b, 1]
                allowed[a, 2] = cost[k] + scale / segments[a, 1]
            else:
                between[n_between] = place
                n_between += 1
    root = np.empty(n, dtype=np.int32)
    for pixel in range(n):
        root[pixel] = segments[pixel, 0]
    labels, count = _numbered(root)
    sizes = np.zeros(count, dtype=np.int32)
    for pixel in range(n):
        sizes[labels[pixel]] += 1
    one, two = np.empty(n_between, dtype=np.int32), np.empty(n_between, dtype=np.int32)
    kept = 0
    for place in between[:n_between]:
        a = labels[place >> 1]
        b = labels[(place >> 1) + (width if place & 1 else 1)]
        if a != b:
            one[kept], two[kept] = a, b
            kept += 1
    return labels.reshape(height, width), sizes, one[:kept], two[:kept]


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _segment(segments, member):
    """Return the root of a pixel's segment; see `find`."""
    while segments[member, 0] != member:
        segments[member, 0] = segments[segments[member, 0], 0]
        member = segments[member, 0]
    return member


@njit(nogil=True, cache=True, fastmath=FLAGS)
def large_pieces(labels, size, one, two, smallest):
    """Merge segments below ``smallest`` pixels across the lightest edges; see `similar_pieces`.

    Returns labels and the number of segments.
    """
    root = np.arange(size.size).astype(np.int32)
    size = size.copy()
    for place in range(one.size):
        a, b = find(root, one[place]), find(root, two[place])
        if a != b and min(size[a], size[b]) < smallest:
            if size[a] < size[b]:
                a, b = b, a
            root[b] = a
            size[a] += size[b]
    numbers, count = _numbered(root)
    height, width = labels.shape
    result = np.empty((height, width), dtype=np.int32)
    for row in range(height):
        for column in range(width):
            result[row, column] = numbers[labels[row, column]]
    return result, count


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _numbered(root):
    """Return the number of each member's set, in the order of first members, and their count."""
    numbers = np.full(root.size, -1, dtype=np.int32)
    count = 0
    for member in range(root.size):
        top = find(root, member)
        if numbers[top] < 0:
            numbers[top] = count
            count += 1
        numbers[member] = numbers[top]
    return numbers, count


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _lightest_first(weight, heaviest, n_edges):
    """Return the edges from the lightest bin of weights to the heaviest; none below 0."""
    if heaviest <= 0:
        heaviest = np.float32(1)
    # The square root makes bins finer for light edges, which merge first.
    bins = np.empty(weight.size, dtype=np.int32)
    for place in range(weight.size):
        if weight[place] < 0:
            bins[place] = _BINS
        else:
            bins[place] = min(_BINS - 1, int(np.sqrt(weight[place] / heaviest) * _BINS))
    return counting_order(bins, _BINS + 1)[:n_edges]


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
