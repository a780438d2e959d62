"""Fewer points of a curve, chosen so that nobody could see the difference."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["thinned"]

Curve = TypeVar("Curve", bound=tuple[Any, ...])

_MOST_POINTS = 2000


def thinned(curve: Curve, most: int = _MOST_POINTS) -> Curve:
    """At most about ``most`` points of a curve, its ends among them, as the same kind of tuple.

    The points are spread evenly along the curve's two axes, both scaled to 1, so that steep
    and flat parts keep theirs.

    Parameters
    ----------
    curve : named tuple of arrays
        The first two are the axes.
    most : int
        How many points to keep; a curve that has no more is kept as it is.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Line(NamedTuple):
    ...     x: NDArray[np.float64]
    ...     y: NDArray[np.float64]
    >>> thinned(Line(np.arange(129), np.zeros(129)), most=5).x.tolist()
    [0, 32, 64, 96, 128]
    """
    if len(curve[0]) <= most:
        return curve
    length = np.concatenate([[0.0], np.cumsum(_steps(curve[0]) + _steps(curve[1]))])
    kept = np.unique(np.searchsorted(length, np.linspace(0.0, length[-1], most)))
    kept[-1] = len(length) - 1
    return type(curve)(*(values[kept] for values in curve))


def _steps(values: NDArray[Any]) -> NDArray[np.float64]:
    """How far apart neighbours are, in units of the whole axis; gaps without end count as none."""
    finite = np.where(np.isfinite(values), values, 0.0).astype(np.float64)
    return np.abs(np.diff(finite)) / max(float(np.ptp(finite)), 1e-300)
