"""The product of one row with the weights, ``s = Σ_j (x_j − mean_j) w_j``.

A dense row has few features (13 in the paper), too few for the compiler's own
vector loop, which starts at 32. Here it is read as vectors of `LANES`
values; the last vector is shifted back so that it ends with the row, and the
weights under the values it reads twice are zero (see `pack_affine`).

Numba has no float16 on processors. Rows of float16 are read as their bits, uint16, and become
float64 in the registers.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload, register_jitable

from groupcm.kernels import FLAGS

LANES = 8
# Rows of up to this many vectors are read by straight code.
_STRAIGHT = 8

_INT = ir.IntType(64)
_LLVM_STORED = {
    types.uint16: ir.IntType(16),
    types.float32: ir.FloatType(),
    types.float64: ir.DoubleType(),
}
_BYTES = {types.uint16: 2, types.float32: 4, types.float64: 8}
_DOUBLE = ir.DoubleType()
_FLAGS = tuple(sorted(FLAGS))


def require_widths(n_features, *vectors):
    """Raise where a vector does not have one entry per feature.

    The kernels read as many entries as a row has without checking bounds, so that their callers
    check the widths once per call.

    Examples
    --------
    >>> require_widths(3, np.zeros(3), np.ones(2))
    Traceback (most recent call last):
    ValueError: 2 weights for rows of 3 features; one per feature is needed
    """
    for vector in vectors:
        if vector.shape[-1] != n_features:
            raise ValueError(
                f"{vector.shape[-1]} weights for rows of {n_features} features; "
                "one per feature is needed"
            )


def pack_affine(mean, weights):
    """Lay out ``mean`` and ``weights`` as `row_dot` reads them: two rows of vectors."""
    d = len(weights)
    require_widths(d, mean)
    if d < LANES:
        return np.stack([mean, weights])
    whole = (d - 1) // LANES * LANES  # the last vector is never empty
    packed = np.zeros((2, whole + LANES))
    for row, values in zip(packed, (mean, weights), strict=True):
        row[:whole] = values[:whole]
        row[len(row) - (d - whole) :] = values[whole:]
    return packed


def _horizontal_sum(builder, vector):
    """Add the lanes of ``vector`` by halves."""
    lanes = LANES
    while lanes > 1:
        lanes //= 2
        undefined = ir.Constant(ir.VectorType(_DOUBLE, 2 * lanes), ir.Undefined)
        mask = ir.VectorType(ir.IntType(32), lanes)
        low = builder.shuffle_vector(vector, undefined, ir.Constant(mask, list(range(lanes))))
        high = builder.shuffle_vector(
            vector, undefined, ir.Constant(mask, list(range(lanes, 2 * lanes)))
        )
        vector = builder.fadd(low, high, flags=_FLAGS)
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))


def _halves(builder, bits):
    """Return float16 values, of which these are the bits, as float32; NaN where not finite.

    The bits of exponent and fraction, moved to those of a float32, are the value times 2⁻¹¹². Not
    the processor's own conversion, which not all have.
    """
    ints, floats = (ir.VectorType(kind, LANES) for kind in (ir.IntType(32), ir.FloatType()))

    def constant(value):
        return ir.Constant(ints, [value] * LANES)

    wide = builder.zext(bits, ints)
    size = builder.and_(wide, constant(0x7FFF))
    value = builder.bitcast(builder.shl(size, constant(13)), floats)
    value = builder.fmul(value, ir.Constant(floats, [2.0**112] * LANES))
    is_finite = builder.icmp_unsigned("<", size, constant(0x7C00))
    value = builder.bitcast(value, ints)
    value = builder.select(is_finite, value, constant(0x7FC00000))
    sign = builder.shl(builder.and_(wide, constant(0x8000)), constant(16))
    return builder.bitcast(builder.or_(value, sign), floats)


@intrinsic
def _vector_dot(typingctx, X, vectors, row, weights):
    """``Σ_j (X[row, j] − weights[0, j]) weights[1, j]`` by vectors, in float64.

    ``vectors`` is a tuple as long as the row has vectors: its length is part of the type, so
    the compiler sees straight code instead of a loop. An empty one means a loop.
    Products of float32 rows cost no more in float64: the memory is slower than either.
    """
    x_type, n_vectors = X.dtype, len(vectors)

    def codegen(context, builder, signature, args):
        x_array = context.make_array(signature.args[0])(context, builder, args[0])
        weight_array = context.make_array(signature.args[3])(context, builder, args[3])
        x_vector = ir.VectorType(_LLVM_STORED[x_type], LANES)
        vector = ir.VectorType(_DOUBLE, LANES)
        n_features = cgutils.unpack_tuple(builder, x_array.shape, 2)[1]
        width = cgutils.unpack_tuple(builder, weight_array.shape, 2)[1]
        lanes = ir.Constant(_INT, LANES)
        first = builder.mul(args[2], n_features)
        total = cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * LANES))

        def load(data, offset, vector_type, bytes_each):
            pointer = builder.bitcast(builder.gep(data, [offset]), vector_type.as_pointer())
            value = builder.load(pointer)
            value.align = bytes_each
            return value

        def add_vector(x_offset, offset):
            x = load(x_array.data, builder.add(first, x_offset), x_vector, _BYTES[x_type])
            if x_type == types.uint16:
                x = _halves(builder, x)
            if x_type != types.float64:
                x = builder.fpext(x, vector)
            mean = load(weight_array.data, offset, vector, 8)
            weight = load(weight_array.data, builder.add(width, offset), vector, 8)
            product = builder.fmul(builder.fsub(x, mean, flags=_FLAGS), weight, flags=_FLAGS)
            builder.store(builder.fadd(builder.load(total), product, flags=_FLAGS), total)

        if n_vectors:
            width = ir.Constant(_INT, LANES * n_vectors)
            last = ir.Constant(_INT, LANES * (n_vectors - 1))
            for k in range(n_vectors - 1):
                offset = ir.Constant(_INT, LANES * k)
                add_vector(offset, offset)
        else:
            last = builder.sub(width, lanes)
            with cgutils.for_range(builder, builder.udiv(last, lanes)) as loop:
                offset = builder.mul(loop.index, lanes)
                add_vector(offset, offset)
        add_vector(builder.sub(n_features, lanes), last)
        return _horizontal_sum(builder, builder.load(total))

    return types.float64(X, vectors, row, weights), codegen


def stored_rows(X):
    """Return ``X`` as `row_dot` takes it: with a tuple as long as a row has vectors."""
    if X.ndim != 2 or not X.flags.c_contiguous:
        raise ValueError("rows must be a C-ordered matrix")
    if X.dtype == np.float16:
        X = X.view(np.uint16)
    n_vectors = -(-X.shape[1] // LANES)
    if X.shape[1] < LANES:
        return (X,)
    return (X, (0,) * n_vectors if n_vectors <= _STRAIGHT else ())


def row_dot(rows, row, weights):
    """The product of one row with the weights.

    The type of ``rows`` is how rows are stored: what `stored_rows` gives for a C-ordered
    matrix, or the three arrays of a CSR matrix. ``weights`` come from `pack_affine`; for CSR
    they are the two rows ``mean`` and ``weights``, and only stored values are looked at: a mean
    other than zero belongs to a column that is stored in every row.
    """
    raise NotImplementedError("only compiled code calls this")


@overload(row_dot, jit_options={"fastmath": FLAGS})
def _choose_row_dot(rows, row, weights):
    # A branch here rather than in the loop over rows, where it costs as much as the product.
    if len(rows) == 1 and rows[0].dtype == types.uint16:
        return _narrow_half_dot
    return {1: _narrow_dot, 2: _wide_dot, 3: _csr_dot}[len(rows)]


def _wide_dot(rows, row, weights):
    X, vectors = rows
    return _vector_dot(X, vectors, row, weights)  # pyright: ignore[reportCallIssue]


def _narrow_dot(rows, row, weights):
    (X,) = rows
    total = 0.0
    for j in range(X.shape[1]):
        total += (X[row, j] - weights[0, j]) * weights[1, j]
    return total


def _narrow_half_dot(rows, row, weights):
    (X,) = rows
    total = 0.0
    for j in range(X.shape[1]):
        total += (_half(X[row, j]) - weights[0, j]) * weights[1, j]
    return total


@register_jitable(fastmath=FLAGS)
def _half(bits):
    """Return the float16 value that has these bits; NaN where it is not finite."""
    exponent, fraction = (bits >> 10) & 31, bits & 1023
    value = fraction * 2.0**-24
    if exponent == 31:
        value = np.nan
    elif exponent > 0:
        value = (1024.0 + fraction) * 2.0 ** (float(exponent) - 25.0)
    return -value if bits & 0x8000 else value


def _csr_dot(rows, row, weights):
    data, indices, indptr = rows
    total = 0.0
    for at in range(indptr[row], indptr[row + 1]):
        j = indices[at]
        total += (data[at] - weights[0, j]) * weights[1, j]
    return total
