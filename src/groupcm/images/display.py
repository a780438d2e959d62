"""Conversion of pixels of any bit depth to the 8 bits of a screen.

Pictures of 8 bits are shown unchanged. Deeper ones (16 bits, floating point) often use a small part
of their range and would look black: by default the values from the 0.5th to the 99.5th percentile
of each picture are scaled from black to white. A page may select another range.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import InputError
from groupcm.images.reading import Pixels

__all__ = ["PERCENTILES", "DisplayRange", "bits_of", "default_range", "to_screen"]

PERCENTILES = (0.5, 99.5)
_BITS = {"uint8": 8, "uint16": 16, "float32": 32}
_WHITE = {8: 255.0, 16: 65_535.0, 32: 1.0}
# Percentiles of more floating-point numbers than this are estimated from an evenly spaced sample.
_MOST_FLOATS = 1_000_000


class DisplayRange(NamedTuple):
    """The values shown as black and white; values in between are scaled linearly."""

    low: float
    high: float


def bits_of(pixels: Pixels) -> int:
    """Return 8, 16 or 32; raise `InputError` for other types of pixels."""
    bits = _BITS.get(str(pixels.dtype))
    if bits is None:
        raise InputError(f"pixels of the kind {pixels.dtype} cannot be shown")
    return bits


def default_range(pixels: Pixels) -> DisplayRange:
    """Return the range in which a picture is shown by default.

    Where the percentiles coincide, as in a dark picture with a few bright dots, it is the range of
    all values; where those coincide too, it is the whole range of the data type.

    Examples
    --------
    >>> default_range(np.array([[3, 7]], dtype=np.uint8))
    DisplayRange(low=0.0, high=255.0)
    >>> default_range(np.arange(1_000, dtype=np.uint16).reshape(10, 100))
    DisplayRange(low=4.0, high=994.0)
    >>> dots = np.zeros((100, 100), dtype=np.uint16)
    >>> dots[0, :2] = 300
    >>> default_range(dots)
    DisplayRange(low=0.0, high=300.0)
    """
    bits = bits_of(pixels)
    if bits == 8 or pixels.size == 0:
        return DisplayRange(0.0, _WHITE[bits])
    low, high = _percentiles(pixels)
    if low == high:
        low, high = float(pixels.min()), float(pixels.max())
    return DisplayRange(low, high) if low < high else DisplayRange(0.0, _WHITE[bits])


def to_screen(pixels: Pixels, shown: DisplayRange | None = None) -> NDArray[np.uint8]:
    """Return pixels as shown on a screen, 0 to 255.

    Parameters
    ----------
    pixels
        As `groupcm.images.reading.read_picture` returns them.
    shown
        The range that is scaled from black to white; by default that of `default_range`.

    Examples
    --------
    >>> to_screen(np.array([[100, 200, 300]], dtype=np.uint16))
    array([[  0, 128, 255]], dtype=uint8)
    >>> to_screen(np.array([[100, 200, 300]], dtype=np.uint16), DisplayRange(0.0, 200.0))
    array([[128, 255, 255]], dtype=uint8)
    """
    bits = bits_of(pixels)
    low, high = default_range(pixels) if shown is None else shown
    if bits == 8 and (low, high) == (0.0, 255.0):
        return pixels.astype(np.uint8, copy=False)
    if bits == 32:
        return _scaled(pixels, low, high)
    # A lookup table of all integers is faster than scaling each pixel.
    return _scaled(np.arange(int(_WHITE[bits]) + 1), low, high)[_integers(pixels)]


def _scaled(values: NDArray, low: float, high: float) -> NDArray[np.uint8]:
    unit = (values.astype(np.float64) - low) / (high - low)
    return np.floor(255.0 * np.clip(unit, 0.0, 1.0) + 0.5).astype(np.uint8)


def _integers(pixels: Pixels) -> NDArray[np.uint8 | np.uint16]:
    return cast("NDArray[np.uint8 | np.uint16]", pixels)


def _percentiles(pixels: Pixels) -> tuple[float, float]:
    if pixels.dtype == np.float32:
        step = max(1, pixels.size // _MOST_FLOATS)
        low, high = np.percentile(pixels.reshape(-1)[::step], PERCENTILES)
    else:
        up_to = np.cumsum(np.bincount(_integers(pixels).reshape(-1)))
        low, high = np.searchsorted(up_to, np.array(PERCENTILES) / 100.0 * up_to[-1])
    return float(low), float(high)
