"""Heavy tails made short, so that a linear model is not led by a few extreme candidates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_ratio", "signed_and_size"]

_Doubles = NDArray[np.float64]


def signed_and_size(values: _Doubles) -> list[_Doubles]:
    """Return ``asinh v`` and ``|asinh v|``: a linear model cannot take the size by itself.

    Examples
    --------
    >>> [each.round(3).tolist() for each in signed_and_size(np.array([-1.0, 100.0]))]
    [[-0.881, 5.298], [0.881, 5.298]]
    """
    squashed = np.arcsinh(values)
    return [squashed, np.abs(squashed)]


def log_ratio(above: _Doubles, below: _Doubles, least: float) -> _Doubles:
    """Return ``log((above + least) / (below + least))`` of numbers that are not negative.

    Examples
    --------
    >>> log_ratio(np.array([0.0, 3.0]), np.array([0.0, 1.0]), least=1.0).round(3)
    array([0.   , 0.693])
    """
    return np.log((above + least) / (below + least))
