"""Smooth random surfaces, and what light makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

__all__ = ["Field", "blurred", "grid", "lines", "normal_parts", "smooth_noise"]

Field = NDArray[np.floating[Any]]


def grid(height: int, width: int) -> tuple[Field, Field]:
    """Coordinates x and y of pixels' centres; the shorter side goes from -1 to 1.

    Examples
    --------
    >>> x, y = grid(2, 4)
    >>> x[0], y[:, 0]
    (array([-1.5, -0.5,  0.5,  1.5], dtype=float32), array([-0.5,  0.5], dtype=float32))
    """
    half = min(height, width) / 2
    x = (np.arange(width, dtype=np.float32) + 0.5 - width / 2) / half
    y = (np.arange(height, dtype=np.float32) + 0.5 - height / 2) / half
    x, y = np.meshgrid(x.astype(np.float32), y.astype(np.float32))
    return x, y


def smooth_noise(rng: np.random.Generator, height: int, width: int, scale: float) -> Field:
    """Random field of spread about 0.7 that changes over ``scale`` half short sides.

    Examples
    --------
    >>> smooth_noise(np.random.default_rng(0), 30, 40, 0.5).shape
    (30, 40)
    """
    half = min(height, width) / 2
    step = max(scale * half, 1.0)
    rows, columns = (int(np.ceil(side / step)) + 4 for side in (height, width))
    coarse = rng.standard_normal((rows, columns)).astype(np.float32)
    tall = _stretched(coarse, 1.5 + np.arange(height) / step)
    wide = _stretched(tall.T, 1.5 + np.arange(width) / step).T
    return np.ascontiguousarray(1.5 * wide)


def _stretched(knots: Field, at: NDArray[np.float64]) -> Field:
    """Cubic B-splines through rows of knots, at places between them.

    Sums of four rows, not a matrix product: that would start threads for so little, and round
    differently from one machine to the next.
    """
    row = np.floor(at).astype(np.intp)
    t = (at - row).astype(np.float32)[:, None]
    return (
        (1 - t) ** 3 / 6 * knots[row - 1]
        + (2 / 3 - t**2 * (1 - t / 2)) * knots[row]
        + (2 / 3 - (1 - t) ** 2 * (1 + t) / 2) * knots[row + 1]
        + t**3 / 6 * knots[row + 2]
    )


def blurred(field: Field, radius: float) -> Field:
    """Gaussian blur; ``radius`` in half short sides."""
    sigma = radius * min(field.shape) / 2
    return ndimage.gaussian_filter(field, sigma, mode="nearest", truncate=2.5)


def normal_parts(surface: Field) -> tuple[Field, Field, Field]:
    """Unit normals of a surface whose height is in half short sides."""
    half = min(surface.shape) / 2
    down = np.gradient(surface, axis=0) * half if surface.shape[0] > 1 else 0 * surface
    across = np.gradient(surface, axis=1) * half if surface.shape[1] > 1 else 0 * surface
    length = np.sqrt(1 + down**2 + across**2)
    return -across / length, -down / length, 1 / length


def lines(field: Field, width: float) -> Field:
    """Curves where a field is 0, from 0 to 1, about ``width`` half short sides wide."""
    half = min(field.shape) / 2
    slope = 0.3 + np.hypot(*(np.gradient(field, axis=a) * half for a in (0, 1)))
    return np.exp(-((field / (slope * width)) ** 2))
