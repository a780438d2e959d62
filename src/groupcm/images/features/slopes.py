"""Gradients inside a candidate: how strong, how parallel, and whether they point at its middle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features.squash import log_ratio
from groupcm.images.features.surroundings import Surroundings

__all__ = ["SLOPE_NUMBERS", "slope_numbers", "slopes"]

_Floats = NDArray[np.float32]
_Doubles = NDArray[np.float64]

SLOPE_NUMBERS = (
    "strength_picture",
    "strength_ring",
    "parallel",
    "parallel_ring",
    "radial",
    "radial_size",
)
_LEAST_ENERGY = 1e-4


def slopes(grey: _Floats) -> tuple[_Floats, _Floats]:
    """Return central differences of a map (width, height), downwards and to the right."""
    return _slope(grey, 1), _slope(grey, 0)


def _slope(grey: _Floats, axis: int) -> _Floats:
    if grey.shape[axis] < 2:
        return np.zeros_like(grey)
    return np.asarray(np.gradient(grey, axis=axis), dtype=np.float32)


def slope_numbers(down: _Floats, right: _Floats, surroundings: Surroundings) -> _Doubles:
    """Return `SLOPE_NUMBERS`, shape (6, n).

    ``strength`` compares the energy of gradients inside with that of the picture and of the
    ring. ``parallel`` is 1 where all have one direction, 0 where they have none (the coherence
    of the structure tensor). ``radial`` is the mean of gradient · (place − middle), which is
    positive where it gets brighter from the middle outwards, in units of strength and size.
    """
    width, height = down.shape
    across = np.arange(width, dtype=np.float32)[:, None] - np.float32((width - 1) / 2)
    along = np.arange(height, dtype=np.float32)[None] - np.float32((height - 1) / 2)
    maps = np.stack(
        [
            right**2,
            down**2,
            right * down,
            right,
            down,
            right * across + down * along,
            np.broadcast_to(across, down.shape),
            np.broadcast_to(along, down.shape),
        ],
        dtype=np.float32,
    )
    means = surroundings.means(maps)
    usual = float(maps[:2].sum(axis=0).mean(dtype=np.float64))
    inside, ring = means.inside[:2].sum(axis=0), means.ring[:2].sum(axis=0)
    parallel = [_parallel(each, usual) for each in (means.inside, means.ring)]
    _, _, _, mean_right, mean_down, outward, middle_x, middle_y = means.inside
    flow = outward - mean_right * middle_x - mean_down * middle_y
    unit = np.sqrt(inside + 0.01 * usual + _LEAST_ENERGY)
    radial = flow / (np.sqrt(surroundings.pixels / np.pi) * unit)
    return np.stack(
        [
            log_ratio(inside, np.full_like(inside, usual), _LEAST_ENERGY),
            log_ratio(inside, ring, _LEAST_ENERGY),
            parallel[0],
            parallel[0] - parallel[1],
            radial,
            np.abs(radial),
        ]
    )


def _parallel(means: _Doubles, usual: float) -> _Doubles:
    xx, yy, xy = means[:3]
    return np.hypot(xx - yy, 2 * xy) / (xx + yy + 0.05 * usual + _LEAST_ENERGY)
