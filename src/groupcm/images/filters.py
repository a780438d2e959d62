"""Filters of maps: smoothing, differences and curvatures, by kernels that need no copy."""

from __future__ import annotations

import numpy as np

from groupcm.kernels.images.smoothing import (
    central_differences,
    principal_curvatures,
    running_means,
    weighted_means,
)
from groupcm.utils.typing import Float32

__all__ = ["curvatures", "gaussian", "slopes", "three_means"]


def gaussian(plane: Float32, width: float, truncate: float = 3.0) -> Float32:
    """Smooth the first two axes by a Gaussian of a width in pixels, with border pixels repeated.

    Examples
    --------
    >>> spot = np.zeros((9, 9), dtype=np.float32)
    >>> spot[4, 4] = 1
    >>> gaussian(spot, 1.0)[4, 3:6].round(2).tolist()
    [0.10000000149011612, 0.1599999964237213, 0.10000000149011612]
    """
    reach = int(truncate * width + 0.5)
    weights = np.exp(-0.5 / width**2 * np.arange(-reach, reach + 1) ** 2)
    plane, flat, channels = _flat(plane)
    result = np.empty_like(flat)
    weighted_means(flat, (weights / weights.sum())[reach:], channels, result)
    return result.reshape(plane.shape)


def three_means(plane: Float32, size: int) -> Float32:
    """Smooth the first two axes by three running means of ``size`` pixels each.

    Examples
    --------
    >>> three_means(np.ones((4, 5), dtype=np.float32), 3).round(3).max().item()
    1.0
    """
    plane, flat, channels = _flat(plane)
    for _ in range(3):
        result = np.empty_like(flat)
        running_means(flat, size, channels, result)
        flat = result
    return flat.reshape(plane.shape)


def slopes(plane: Float32) -> tuple[Float32, Float32]:
    """Return the central differences along the first and the second axis.

    Examples
    --------
    >>> [each.tolist() for each in slopes(np.array([[0, 1, 4]], dtype=np.float32))]
    [[[0.0, 0.0, 0.0]], [[1.0, 2.0, 3.0]]]
    """
    plane = np.ascontiguousarray(plane, dtype=np.float32)
    down, right = np.empty_like(plane), np.empty_like(plane)
    central_differences(plane, down, right)
    return down, right


def curvatures(plane: Float32) -> tuple[Float32, Float32]:
    """Return the larger and the smaller principal curvature of each pixel.

    Examples
    --------
    >>> bowl = (np.arange(-4, 5, dtype=np.float32) ** 2)[:, None] * np.ones(9, dtype=np.float32)
    >>> [float(each[4, 4]) for each in curvatures(bowl)]
    [2.0, 0.0]
    """
    plane = np.ascontiguousarray(plane, dtype=np.float32)
    larger, smaller = np.empty_like(plane), np.empty_like(plane)
    principal_curvatures(plane, larger, smaller)
    return larger, smaller


def _flat(plane: Float32) -> tuple[Float32, Float32, int]:
    plane = np.ascontiguousarray(plane, dtype=np.float32)
    return plane, plane.reshape(len(plane), -1), plane.shape[2] if plane.ndim == 3 else 1
