"""Moments of regions, as sums over their strips."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features.areas import Strips

__all__ = ["StripMoments"]

_Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StripMoments:
    """Area, axes and skewness of every region, its pixels taken as squares.

    Attributes
    ----------
    area
        In pixels.
    middle
        Its centre of mass, across and down.
    box_sides
        Width and height of the box about it.
    longer, shorter
        Variances along and across its longer axis.
    upright, slanted
        ``(σ_y² − σ_x²) / (σ_y² + σ_x²)`` and ``2 σ_xy / (σ_y² + σ_x²)``.
    skewness
        Size of the third moment along the longer axis, in units of its deviation; 0 for a region
        that is the same from both ends.

    Examples
    --------
    >>> moments = StripMoments.of(Strips.of_boxes(np.array([[1, 1, 5, 2]]), width=9))
    >>> moments.area, moments.longer * 12, moments.shorter * 12, moments.upright.round(2)
    (array([4.]), array([16.]), array([1.]), array([-0.88]))
    """

    area: _Doubles
    middle: tuple[_Doubles, _Doubles]
    box_sides: tuple[_Doubles, _Doubles]
    longer: _Doubles
    shorter: _Doubles
    upright: _Doubles
    slanted: _Doubles
    skewness: _Doubles

    @classmethod
    def of(cls, strips: Strips) -> StripMoments:
        """Measure regions, none of them empty."""
        at = strips.ptr[:-1]
        counts = np.diff(strips.ptr)

        def total(values: NDArray) -> _Doubles:
            return np.add.reduceat(values, at)

        size = (strips.bottom - strips.top).astype(np.float64)
        area = total(size)
        x = strips.column + 0.5
        y = (strips.top + strips.bottom) / 2
        middle = total(size * x) / area, total(size * y) / area
        x = x - np.repeat(middle[0], counts)
        y = y - np.repeat(middle[1], counts)
        # A strip is a box of 1 × size: its own variances are 1/12 and size²/12.
        own_x, own_y = 1 / 12, size**2 / 12
        xx = total(size * (x**2 + own_x)) / area
        yy = total(size * (y**2 + own_y)) / area
        xy = total(size * x * y) / area
        both, apart = xx + yy, np.hypot(xx - yy, 2 * xy)
        longer = (both + apart) / 2
        shorter = (xx * yy - xy**2) / longer
        angle = np.arctan2(2 * xy, xx - yy) / 2
        c, s = (np.repeat(each, counts) for each in (np.cos(angle), np.sin(angle)))
        along = c * x + s * y
        own_along = c**2 * own_x + s**2 * own_y
        third = total(size * (along**3 + 3 * along * own_along)) / area
        first = np.minimum.reduceat(strips.top, at)
        last = np.maximum.reduceat(strips.bottom, at)
        left = np.minimum.reduceat(strips.column, at)
        right = np.maximum.reduceat(strips.column, at) + 1
        return cls(
            area,
            middle,
            ((right - left).astype(np.float64), (last - first).astype(np.float64)),
            longer,
            shorter,
            (yy - xx) / both,
            2 * xy / both,
            np.abs(third) / longer**1.5,
        )
