"""Sums of decision trees, and the Shapley values of their features.

A forest is a few plain arrays. Row ``k`` of ``nodes`` is one decision (columns `COLUMN` to
`RIGHT`), and ``cuts[k]`` is the value that it compares with. A child is the number of a node, or
``~leaf`` for a leaf; ``roots`` holds one such number per tree. ``columns`` lists the features that
some decision looks at, and `COLUMN` is a place in that list. A row goes to the left where

::

    x ≤ cut                    if x is present
    missing & MISSING_LEFT     if x is missing: NaN, and with ZERO_IS_MISSING also |x| ≤ ZERO
    x is one of a set          with CATEGORIES, whatever is missing

Set words begin at ``sets[cut]`` with their number; bit ``x % 32`` of word ``x // 32`` is 1 for the
whole numbers ``x`` of the set.

`groupcm.boosting.forest.Forest` makes these arrays, and has checked that every node and every leaf
is the child of exactly one node. The kernels rely on that; they compare the shapes of the rows with
it once per call.
"""

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS

COLUMN, MISSING, LEFT, RIGHT = range(4)
MISSING_LEFT, ZERO_IS_MISSING, CATEGORIES = 1, 2, 4
# LightGBM takes values up to this for zero; its constant is a float32.
ZERO = float(np.float32(1e-35))

# Rows that go through the trees together, so that a decision is read once for all of them.
TILE = 2048


@njit(nogil=True, cache=True)
def score_rows(X, columns, roots, nodes, cuts, sets, values, depth, out):
    """``out[i] = Σ_t (the value of the leaf that row i reaches in tree t)``, in order of ``t``.

    ``depth`` is the number of decisions on the longest path. Returns the first row that holds an
    infinity, or −1.
    """
    n, d = X.shape
    if len(out) != n or (len(columns) and not 0 <= columns.min() <= columns.max() < d):
        raise ValueError("the rows do not have the features of the trees")
    tile = np.empty((len(columns), TILE))
    index, spare = np.empty(TILE, np.uint16), np.empty(TILE, np.uint16)
    stack = np.empty((depth + 1, 3), np.int64)
    for start in range(0, n, TILE):
        size = min(TILE, n - start)
        for i in range(start, start + size):
            is_infinite = False
            for j in range(d):
                is_infinite |= abs(X[i, j]) == np.inf
            if is_infinite:
                return i
            for c in range(len(columns)):
                tile[c, i - start] = X[i, columns[c]]
        total = out[start : start + size]
        _sum_leaves(tile, roots, nodes, cuts, sets, values, index, spare, stack, total)
    return -1


@njit(nogil=True, cache=True)
def score_csr_rows(data, indices, indptr, column_of, roots, nodes, cuts, sets, values, depth, out):
    """`score_rows` for the rows of a CSR matrix, in which a value that is not stored is zero.

    ``column_of[j]`` is the place of feature ``j`` in ``columns``, or −1 where no decision looks
    at that feature.
    """
    n, d = len(indptr) - 1, len(column_of)
    if len(out) != n or len(data) != len(indices):
        raise ValueError("the rows do not have the features of the trees")
    tile = np.empty((max(-1, column_of.max()) + 1 if d else 0, TILE))
    index, spare = np.empty(TILE, np.uint16), np.empty(TILE, np.uint16)
    stack = np.empty((depth + 1, 3), np.int64)
    for start in range(0, n, TILE):
        size = min(TILE, n - start)
        tile[:] = 0.0
        for i in range(start, start + size):
            if not 0 <= indptr[i] <= indptr[i + 1] <= len(data):
                raise ValueError("the rows of the sparse matrix do not follow one another")
            for at in range(indptr[i], indptr[i + 1]):
                j = indices[at]
                if not 0 <= j < d:
                    raise ValueError("the rows do not have the features of the trees")
                if abs(data[at]) == np.inf:
                    return i
                if column_of[j] >= 0:
                    tile[column_of[j], i - start] += data[at]
        total = out[start : start + size]
        _sum_leaves(tile, roots, nodes, cuts, sets, values, index, spare, stack, total)
    return -1


@njit(nogil=True, cache=True)
def _sum_leaves(tile, roots, nodes, cuts, sets, values, index, spare, stack, out):
    """Sort the rows of a tile into the leaves of each tree, and add the values of the leaves.

    A node has a stretch of ``index`` and divides it between its children. No jump depends on the
    value of a single row, so that there is nothing for the processor to guess wrong.
    """
    size = len(out)
    out[:] = 0.0
    for root in roots:
        for i in range(size):
            index[i] = i
        stack[0, 0], stack[0, 1], stack[0, 2] = root, 0, size
        top = 0
        while top >= 0:
            node, lo, hi = stack[top, 0], stack[top, 1], stack[top, 2]
            top -= 1
            if node < 0:
                value = values[~node]
                for k in range(lo, hi):
                    out[index[k]] += value
                continue
            x = tile[nodes[node, COLUMN]]
            middle = lo + _divide(x, cuts[node], nodes[node, MISSING], sets, index[lo:hi], spare)
            if middle < hi:
                top += 1
                stack[top, 0], stack[top, 1], stack[top, 2] = nodes[node, RIGHT], middle, hi
            if lo < middle:
                top += 1
                stack[top, 0], stack[top, 1], stack[top, 2] = nodes[node, LEFT], lo, middle


@njit(nogil=True, cache=True)
def _divide(x, cut, missing, sets, rows, spare):
    """Move the rows that go left to the front, the others behind them; return how many go left.

    Each of the usual kinds of decision has a loop of its own, and places are unsigned: a test
    within the loop, even whether a place counts from the end, takes as long as the decision.
    """
    size, n_left = np.uintp(len(rows)), np.uintp(0)
    if missing == 0:
        for k in range(size):
            rows[n_left] = spare[k - n_left] = i = rows[k]
            n_left += np.uintp(x[i] <= cut)
    elif missing == MISSING_LEFT:
        for k in range(size):
            rows[n_left] = spare[k - n_left] = i = rows[k]
            n_left += np.uintp(not x[i] > cut)
    else:
        for k in range(size):
            rows[n_left] = spare[k - n_left] = i = rows[k]
            n_left += np.uintp(_goes_left(x[i], cut, missing, sets))
    for k in range(size - n_left):
        rows[n_left + k] = spare[k]
    return np.intp(n_left)


@njit(nogil=True, cache=True)
def _goes_left(x, cut, missing, sets):
    """Whether a value goes to the left child."""
    if missing & CATEGORIES:
        first = np.int64(cut)
        # As LightGBM has it, the part behind the point does not count.
        if not 0.0 <= x < 32.0 * sets[first]:
            return False
        number = np.int64(x)
        return (sets[first + 1 + number // 32] >> (number % 32)) & 1 == 1
    if missing & ZERO_IS_MISSING and abs(x) <= ZERO:
        return missing & MISSING_LEFT != 0
    return not x > cut if missing & MISSING_LEFT else x <= cut


@njit(nogil=True, cache=True, fastmath=FLAGS)
def shapley_values(
    X, columns, roots, nodes, cuts, sets, values, shares, points, point_weights, depth, out
):
    """``φ_j = Σ_leaves v (o_j − z_j) ∫₀¹ Π_{k≠j} (z_k + (o_k − z_k) t) dt``.

    For a leaf of value ``v``, ``z_k`` is the share of the training rows that the decisions on
    feature ``k`` let through to it, and ``o_k`` is 1 where they let this row through, else 0.
    ``shares[node]`` holds the shares of its children; ``points`` and ``point_weights`` integrate
    over [0, 1]. ``out`` has one row per row of ``X`` and one column per feature.
    """
    n, d = X.shape
    if out.shape != X.shape or (len(columns) and not 0 <= columns.min() <= columns.max() < d):
        raise ValueError("the rows do not have the features of the trees")
    n_most = min(depth, len(columns))
    # The distinct columns on the path from the root, in order of first appearance.
    place = np.full(len(columns), -1)
    member = np.empty(n_most, np.int64)
    zero, one = np.empty(n_most), np.empty(n_most)
    # What each step of the path has changed.
    step_place, step_is_new = np.empty(depth, np.int64), np.empty(depth, np.bool_)
    step_zero, step_one = np.empty(depth), np.empty(depth)
    # Nodes to visit: the node, its level, its parent and on which side of that it is.
    stack = np.empty((depth + 1, 4), np.int64)
    work = np.empty((3, n_most))
    out[:] = 0.0
    for i in range(n):
        for root in roots:
            stack[0, 0], stack[0, 1] = root, 0
            top = length = n_members = 0
            while top >= 0:
                node, level = stack[top, 0], stack[top, 1]
                parent, side = stack[top, 2], stack[top, 3]
                top -= 1
                while length > max(0, level - 1):
                    length -= 1
                    at = step_place[length]
                    zero[at], one[at] = step_zero[length], step_one[length]
                    if step_is_new[length]:
                        n_members -= 1
                        place[member[at]] = -1
                if level:
                    c = nodes[parent, COLUMN]
                    step_is_new[length] = place[c] < 0
                    if place[c] < 0:
                        place[c], member[n_members] = n_members, c
                        zero[n_members] = one[n_members] = 1.0
                        n_members += 1
                    at = place[c]
                    step_place[length], step_zero[length] = at, zero[at]
                    step_one[length] = one[at]
                    length += 1
                    value = X[i, columns[c]]
                    is_left = _goes_left(value, cuts[parent], nodes[parent, MISSING], sets)
                    zero[at] *= shares[parent, side]
                    one[at] *= is_left == (side == 0)
                if node < 0:
                    _add_leaf(values[~node], zero, one, n_members, points, point_weights, work)
                    for at in range(n_members):
                        out[i, columns[member[at]]] += (one[at] - zero[at]) * work[2, at]
                    continue
                for side in range(2):
                    top += 1
                    stack[top, 0], stack[top, 1] = nodes[node, LEFT + side], level + 1
                    stack[top, 2], stack[top, 3] = node, side
            # The path of the last leaf is not undone by another.
            for at in range(n_members):
                place[member[at]] = -1


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _add_leaf(value, zero, one, n_members, points, point_weights, work):
    """``work[2, j] = value ∫₀¹ Π_{k≠j} (z_k + (o_k − z_k) t) dt``."""
    factor, before, integral = work[0], work[1], work[2]
    integral[:n_members] = 0.0
    for p in range(len(points)):
        product = value * point_weights[p]
        for k in range(n_members):
            factor[k] = zero[k] + (one[k] - zero[k]) * points[p]
            before[k] = product
            product *= factor[k]
        product = 1.0
        for k in range(n_members - 1, -1, -1):
            integral[k] += before[k] * product
            product *= factor[k]
