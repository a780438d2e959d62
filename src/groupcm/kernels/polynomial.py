"""Polynomials evaluated straight from the features, without storing their monomials.

Monomials form a trie: ``x1 x3`` is the child by ``x3`` of ``x1``. A node with
children is one row of the integer table ``nodes`` (columns `DEPTH` to
`N_INNER`), and rows follow each other in preorder, the root first. The
children of a node are its products with consecutive features, in consecutive
columns; those that have children of their own come first.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from groupcm.kernels import FLAGS

# Rows that are worked on together. A tile is always computed whole, so that a row's value does
# not depend on the rows around it; the paper's 13 features and three depths fill 32 kB.
TILE = 256
# Rows whose sums stay in the processor's registers: eight vectors of four.
LANES = 32

# Columns of `nodes`. The root has column -1.
DEPTH, FEATURE, COLUMN, FIRST_FEATURE, FIRST_COLUMN, N_CHILDREN, N_INNER = range(7)

_INT = ir.IntType(64)
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_FLAGS = tuple(sorted(FLAGS))


@njit(nogil=True, cache=True, fastmath=FLAGS)
def monomials(X, nodes, out):
    """``out[i, column] = out[i, parent's column] · x_feature``; the features come first."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[i, j] = X[i, j]
        for node in range(1, nodes.shape[0]):
            value = out[i, nodes[node, COLUMN]]
            to, of = nodes[node, FIRST_COLUMN], nodes[node, FIRST_FEATURE]
            for child in range(nodes[node, N_CHILDREN]):
                out[i, to + child] = value * out[i, of + child]


@njit(nogil=True, cache=True, fastmath=FLAGS)
def polynomial(X, nodes, weights, out):
    """``out[i, c] = Σ_m weights[c, m] · monomial_m(x_i)`` by Horner's rule.

    ``value(node) = w_node + Σ_children x_feature · value(child)``: one product for each
    monomial. Every step runs over the rows of a tile, whose features are in cache, one column each.
    """
    d = X.shape[1]
    n_depths = nodes[:, DEPTH].max() + 1
    x = np.zeros((d, TILE))
    value = np.empty((n_depths, TILE))
    feature = np.empty(n_depths, np.int64)
    for start in range(0, X.shape[0], TILE):
        size = min(TILE, X.shape[0] - start)
        for r in range(size):
            for j in range(d):
                x[j, r] = X[start + r, j]
        for c in range(weights.shape[0]):
            _evaluate(x, nodes, weights[c], value, feature)
            for r in range(size):
                out[start + r, c] = value[0, r]


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _evaluate(x, nodes, weights, value, feature):
    """Leave the polynomial in ``value[0]``; ``value[t]`` is of the open node at depth ``t``."""
    deepest = -1
    for node in range(nodes.shape[0]):
        depth = nodes[node, DEPTH]
        _close(x, feature, value, deepest, depth)
        column = nodes[node, COLUMN]
        constant = 0.0 if column < 0 else weights[column]
        n_inner = nodes[node, N_INNER]
        n_leaves = nodes[node, N_CHILDREN] - n_inner
        leaf = nodes[node, FIRST_FEATURE] + n_inner
        weight = nodes[node, FIRST_COLUMN] + n_inner
        feature[depth] = nodes[node, FEATURE]
        whole = n_inner == 0 and depth > 0
        _open(x, value, depth, constant, leaf, n_leaves, weights, weight, feature[depth], whole)  # pyright: ignore[reportCallIssue]
        deepest = depth - 1 if whole else depth
    _close(x, feature, value, deepest, 1)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def _close(x, feature, value, deepest, depth):
    """Add the values from ``deepest`` up to ``depth`` each to its parent's."""
    for t in range(deepest, depth - 1, -1):
        by = feature[t]
        for r in range(TILE):
            value[t - 1, r] += x[by, r] * value[t, r]


@intrinsic
def _open(typingctx, x, value, depth, constant, leaf, n_leaves, weights, weight, feature, whole):
    """``value[depth] = constant + Σ_k weights[weight + k] · x[leaf + k]`` over the leaves.

    Where that is the ``whole`` node, it goes to its parent at once:
    ``value[depth − 1] += x[feature] · …``. Written out for the compiler, which would not keep
    the sums of several rows in registers by itself, and that is half of the time.
    """

    def codegen(context, builder, signature, args):
        x, value, weights = (
            context.make_array(signature.args[k])(context, builder, args[k]).data for k in (0, 1, 6)
        )
        _, _, depth, constant, leaf, n_leaves, _, weight, feature, whole = args

        def place(data, column, row):
            at = builder.add(builder.mul(column, ir.Constant(_INT, TILE)), row)
            return builder.bitcast(builder.gep(data, [at]), _VECTOR.as_pointer())

        def load(data, column, row):
            loaded = builder.load(place(data, column, row))
            loaded.align = 8
            return loaded

        def store(vector, data, column, row):
            builder.store(vector, place(data, column, row)).align = 8

        def spread(scalar):
            undefined = ir.Constant(_VECTOR, ir.Undefined)
            first = builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
            return builder.shuffle_vector(first, undefined, zeros)

        def multiply_add(a, b, c):
            return builder.fadd(builder.fmul(a, b, flags=_FLAGS), c, flags=_FLAGS)

        total = cgutils.alloca_once(builder, _VECTOR)
        with cgutils.for_range(builder, ir.Constant(_INT, TILE // LANES)) as lanes:
            row = builder.mul(lanes.index, ir.Constant(_INT, LANES))
            builder.store(spread(constant), total)
            with cgutils.for_range(builder, n_leaves) as leaves:
                w = builder.load(builder.gep(weights, [builder.add(weight, leaves.index)]))
                column = load(x, builder.add(leaf, leaves.index), row)
                builder.store(multiply_add(spread(w), column, builder.load(total)), total)
            with builder.if_else(whole) as (is_whole, is_part):
                with is_whole:
                    parent = builder.sub(depth, ir.Constant(_INT, 1))
                    by, before = load(x, feature, row), load(value, parent, row)
                    store(multiply_add(by, builder.load(total), before), value, parent, row)
                with is_part:
                    store(builder.load(total), value, depth, row)
        return context.get_dummy_value()

    signature = types.void(
        x,
        value,
        types.int64,
        types.float64,
        types.int64,
        types.int64,
        weights,
        types.int64,
        types.int64,
        types.boolean,
    )
    return signature, codegen
