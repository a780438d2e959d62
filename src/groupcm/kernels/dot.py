"""The product of one row with the weights, ``s = Σ_j (x_j − mean_j) w_j``.

A row has few features (13 in the paper), too few for the compiler's own
vector loop, which starts at 32. Here a row is read as vectors of `LANES`
values; the last vector is shifted back so that it ends with the row, and the
weights under the values it reads twice are zero (see `pack_affine`).
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from groupcm.kernels import FLAGS

LANES = 8

_INT = ir.IntType(64)
_LLVM_FLOAT = {types.float32: ir.FloatType(), types.float64: ir.DoubleType()}
_BYTES = {types.float32: 4, types.float64: 8}
_FLAGS = tuple(sorted(FLAGS))


def pack_affine(mean, weights, dtype):
    """Lay out ``mean`` and ``weights`` as `affine_dot` reads them: two rows of vectors."""
    d = len(weights)
    if d < LANES:
        return np.ascontiguousarray(np.stack([mean, weights]), dtype=dtype)
    whole = (d - 1) // LANES * LANES  # the last vector is never empty
    packed = np.zeros((2, whole + LANES), dtype=dtype)
    for row, values in zip(packed, (mean, weights), strict=True):
        row[:whole] = values[:whole]
        row[len(row) - (d - whole) :] = values[whole:]
    return packed


def _horizontal_sum(builder, vector, float_type):
    """Add the lanes of ``vector`` by halves."""
    lanes = LANES
    while lanes > 1:
        lanes //= 2
        undefined = ir.Constant(ir.VectorType(float_type, 2 * lanes), ir.Undefined)
        mask = ir.VectorType(ir.IntType(32), lanes)
        low = builder.shuffle_vector(vector, undefined, ir.Constant(mask, list(range(lanes))))
        high = builder.shuffle_vector(
            vector, undefined, ir.Constant(mask, list(range(lanes, 2 * lanes)))
        )
        vector = builder.fadd(low, high, flags=_FLAGS)
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))


@intrinsic
def _vector_dot(typingctx, X, row, affine):
    """``Σ_j (X[row, j] − affine[0, j]) affine[1, j]`` by vectors, in the type of ``affine``."""
    x_type, out_type = X.dtype, affine.dtype

    def codegen(context, builder, signature, args):
        x_array = context.make_array(signature.args[0])(context, builder, args[0])
        affine_array = context.make_array(signature.args[2])(context, builder, args[2])
        x_vector = ir.VectorType(_LLVM_FLOAT[x_type], LANES)
        out_vector = ir.VectorType(_LLVM_FLOAT[out_type], LANES)
        n_features = cgutils.unpack_tuple(builder, x_array.shape, 2)[1]
        width = cgutils.unpack_tuple(builder, affine_array.shape, 2)[1]
        lanes = ir.Constant(_INT, LANES)
        first = builder.mul(args[1], n_features)
        total = cgutils.alloca_once_value(builder, ir.Constant(out_vector, [0.0] * LANES))

        def load(data, offset, vector_type, scalar_type):
            pointer = builder.bitcast(builder.gep(data, [offset]), vector_type.as_pointer())
            value = builder.load(pointer)
            value.align = _BYTES[scalar_type]
            return value

        def add_vector(x_offset, affine_offset):
            x = load(x_array.data, builder.add(first, x_offset), x_vector, x_type)
            if x_type != out_type:
                x = builder.fpext(x, out_vector)
            mean = load(affine_array.data, affine_offset, out_vector, out_type)
            weight = load(
                affine_array.data, builder.add(width, affine_offset), out_vector, out_type
            )
            product = builder.fmul(builder.fsub(x, mean, flags=_FLAGS), weight, flags=_FLAGS)
            builder.store(builder.fadd(builder.load(total), product, flags=_FLAGS), total)

        last = builder.sub(width, lanes)
        with cgutils.for_range(builder, builder.udiv(last, lanes)) as loop:
            offset = builder.mul(loop.index, lanes)
            add_vector(offset, offset)
        add_vector(builder.sub(n_features, lanes), last)
        return _horizontal_sum(builder, builder.load(total), _LLVM_FLOAT[out_type])

    return out_type(X, row, affine), codegen


@njit(nogil=True, fastmath=FLAGS, inline="always")
def affine_dot(X, row, affine):
    """``Σ_j (X[row, j] − mean_j) w_j`` with ``affine`` from `pack_affine`.

    ``X`` is C-contiguous; ``affine`` is at least as precise as ``X``.
    """
    if X.shape[1] >= LANES:
        return _vector_dot(X, row, affine)
    total = affine[0, 0] * 0
    for j in range(X.shape[1]):
        total += (X[row, j] - affine[0, j]) * affine[1, j]
    return total
