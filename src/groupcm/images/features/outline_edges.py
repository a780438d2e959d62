"""Edges along the outline of a candidate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features.areas import Areas, Strips
from groupcm.images.features.squash import log_ratio, signed_and_size
from groupcm.kernels.features_outline import outline_differences, outline_lengths

__all__ = ["OUTLINE_NUMBERS", "outline_numbers"]

_Doubles = NDArray[np.float64]

OUTLINE_NUMBERS = ("picture", "inside", "signed", "signed_size", "agreement")
_LEAST_STEP = 0.01


def outline_numbers(maps: NDArray[np.float32], strips: Strips) -> _Doubles:
    """Return `OUTLINE_NUMBERS` of all maps, one number of all maps after another.

    A step is the difference between two pixels side by side. ``picture`` and ``inside`` compare
    the steps across the outline with those in the whole picture and in the candidate; ``signed``
    is the mean step outwards; ``agreement`` is 1 where all steps outwards go up, or all go down.

    Parameters
    ----------
    maps
        In units of the picture's spread, shape (maps, width, height).
    strips
        The candidates.
    """
    n = len(strips.ptr) - 1
    length, inner = np.empty((2, n))
    signed, size = np.empty((2, len(maps), n))
    _, width, height = maps.shape
    outline_lengths(*strips.by_area, width, height, length, inner)
    outline_differences(*strips.by_area, maps, signed, size)
    signed, size = signed / np.maximum(inner, 1), size / np.maximum(inner, 1)
    steps = _mean_steps(maps)
    usual = np.broadcast_to(steps.mean(axis=(1, 2), dtype=np.float64)[:, None], size.shape)
    areas = Areas(strips)
    inside = areas.sums(steps) / areas.pixels
    return np.concatenate(
        [
            log_ratio(size, usual, _LEAST_STEP),
            log_ratio(size, inside, _LEAST_STEP),
            *signed_and_size(signed / 0.2),
            np.abs(signed) / (size + 0.1 * _LEAST_STEP),
        ]
    )


def _mean_steps(maps: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean size of the steps from every pixel to the right and down."""
    steps = np.zeros_like(maps)
    steps[:, :-1] += np.abs(np.diff(maps, axis=1))
    steps[:, :, :-1] += np.abs(np.diff(maps, axis=2))
    steps /= 2
    return steps
