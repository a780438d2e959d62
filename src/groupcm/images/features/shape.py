"""Shape of a candidate, independent of its size, and its place and size in the picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features._areas import Strips, strips_of
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.images.regions import hull_areas, outline_lengths
from groupcm.utils.typing import Float32, Matrix

__all__ = ["Place", "Shape", "StripMoments"]


@dataclass(frozen=True, eq=False)
class StripMoments:
    """Area, axes and skewness of regions, with pixels as unit squares.

    Attributes
    ----------
    area
        Area in pixels.
    middle
        Centre of mass, horizontally and vertically.
    box_sides
        Width and height of the bounding box.
    longer, shorter
        Variances along and across the longer axis.
    upright, slanted
        ``(σ_y² − σ_x²) / (σ_y² + σ_x²)`` and ``2 σ_xy / (σ_y² + σ_x²)``.
    skewness
        Absolute skewness along the longer axis; 0 for a symmetric region.

    Examples
    --------
    >>> moments = StripMoments.of(Strips.of_boxes(np.array([[1, 1, 5, 2]]), width=9))
    >>> moments.area, moments.longer * 12, moments.shorter * 12, moments.upright.round(2)
    (array([4.]), array([16.]), array([1.]), array([-0.88]))
    """

    area: Matrix
    middle: tuple[Matrix, Matrix]
    box_sides: tuple[Matrix, Matrix]
    longer: Matrix
    shorter: Matrix
    upright: Matrix
    slanted: Matrix
    skewness: Matrix

    @classmethod
    def of(cls, strips: Strips) -> StripMoments:
        """Return the moments of regions, none of which is empty."""
        at = strips.ptr[:-1]
        counts = np.diff(strips.ptr)

        def total(values: NDArray) -> Matrix:
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


@dataclass(frozen=True)
class Shape:
    """Shape features that are invariant to the size of the candidate.

    From the box: ``aspect``, the log of width over height, and ``aspect_size``, its absolute
    value; ``extent``, the filled share of the box. From the outline: ``solidity``, the filled share
    of the convex hull; ``compactness``, 4 √area / outline, 1 for a square. From the moments, in
    comparison with an ellipse: ``elongation``, the log of the longer over the shorter axis;
    ``upright`` and ``slanted``, the direction as cosine and sine of twice the angle, both 0 without
    a direction; ``fullness``, the area over that of the ellipse; ``lopsided``, the skewness along
    the longer axis; ``strips``, the log of the mean number of strips per column.

    Examples
    --------
    >>> view = View(np.zeros((9, 9, 3), dtype=np.float32))
    >>> regions = Regions.from_boxes([[0, 0, 8, 2]], height=9, width=9)
    >>> for name, value in zip(Shape().names, Shape().measure(view, regions)[0], strict=True):
    ...     print(f"{name} {value:.2f}")
    shape_aspect 1.39
    shape_aspect_size 1.39
    shape_extent 1.00
    shape_solidity 1.00
    shape_compactness 0.80
    shape_elongation 1.39
    shape_upright -0.88
    shape_slanted 0.00
    shape_fullness 0.95
    shape_lopsided 0.00
    shape_strips 0.00
    """

    names = tuple(
        f"shape_{what}"
        for what in (
            *("aspect", "aspect_size", "extent", "solidity", "compactness", "elongation"),
            *("upright", "slanted", "fullness", "lopsided", "strips"),
        )
    )

    def measure(self, view: View, regions: Regions) -> Float32:
        """Return the features of each region, shape (n, d)."""
        strips = strips_of(regions)
        moments = StripMoments.of(strips)
        hull, length, inner = np.empty((3, len(regions)))
        hull_areas(*strips.by_area, hull)
        outline_lengths(*strips.by_area, view.width, view.height, length, inner)
        wide, high = moments.box_sides
        aspect = np.log(wide / high)
        parts = [
            aspect,
            np.abs(aspect),
            moments.area / (wide * high),
            moments.area / hull,
            4 * np.sqrt(moments.area) / length,
            np.log(moments.longer / moments.shorter) / 2,
            moments.upright,
            moments.slanted,
            moments.area / (4 * np.pi * np.sqrt(moments.longer * moments.shorter)),
            moments.skewness,
            np.log(np.diff(strips.ptr) / wide),
        ]
        return np.stack(parts, axis=1).astype(np.float32)


@dataclass(frozen=True)
class Place:
    """Position and size relative to the picture.

    ``x`` and ``y`` of the centre range from -1 (left, top) to 1, ``away`` is the distance from the
    centre of the picture; ``area``, ``width`` and ``height`` are logs of the share of the picture;
    ``border`` is the share of the outline at the border of the picture.

    These features can reveal the acquisition of a picture instead of its content, so they are not
    among the default families.

    Examples
    --------
    >>> view = View(np.zeros((10, 20, 3), dtype=np.float32))
    >>> regions = Regions.from_boxes([[0, 0, 10, 5]], height=10, width=20)
    >>> for name, value in zip(Place().names, Place().measure(view, regions)[0], strict=True):
    ...     print(f"{name} {value:.2f}")
    place_x -0.50
    place_y -0.50
    place_x_size 0.50
    place_y_size 0.50
    place_away 0.71
    place_area -1.39
    place_width -0.69
    place_height -0.69
    place_border 0.50
    """

    names = tuple(
        f"place_{what}"
        for what in (
            *("x", "y", "x_size", "y_size", "away"),
            *("area", "width", "height", "border"),
        )
    )

    def measure(self, view: View, regions: Regions) -> Float32:
        """Return the features of each region, shape (n, d)."""
        strips = strips_of(regions)
        moments = StripMoments.of(strips)
        length, inner = np.empty((2, len(regions)))
        outline_lengths(*strips.by_area, view.width, view.height, length, inner)
        x = 2 * moments.middle[0] / view.width - 1
        y = 2 * moments.middle[1] / view.height - 1
        wide, high = moments.box_sides
        parts = [
            x,
            y,
            np.abs(x),
            np.abs(y),
            np.hypot(x, y),
            np.log(moments.area / (view.width * view.height)),
            np.log(wide / view.width),
            np.log(high / view.height),
            1 - inner / length,
        ]
        return np.stack(parts, axis=1).astype(np.float32)
