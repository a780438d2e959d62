"""Sums for the mean and the deviation of every feature."""

from numba import njit

from groupcm.kernels import FLAGS


@njit(nogil=True, cache=True, fastmath=FLAGS)
def column_moments(X, rows, shift, total, square):
    """Add ``Σ (x − shift)`` and ``Σ (x − shift)²`` of the given rows to ``total`` and ``square``.

    A shift near the mean keeps the sums exact enough; a constant column has
    a ``square`` of exactly zero when the shift is one of its values.
    """
    for row in rows:
        for j in range(X.shape[1]):
            z = X[row, j] - shift[j]
            total[j] += z
            square[j] += z * z


@njit(nogil=True, cache=True, fastmath=FLAGS)
def stored_moments(data, indices, shift, total, square, count):
    """Add the sums of `column_moments` over the stored values of a CSR matrix, and count them."""
    for at in range(len(data)):
        j = indices[at]
        z = data[at] - shift[j]
        total[j] += z
        square[j] += z * z
        count[j] += 1
