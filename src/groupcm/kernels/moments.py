"""Sums for the mean and deviation of every feature."""

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
