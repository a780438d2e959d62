"""Where an object is: a box, polygons, or a mask.

Coordinates are in pixels from the picture's upper left corner; the pixel in column ``c`` and row
``r`` is the square from ``(c, r)`` to ``(c + 1, r + 1)``. Every region answers the same three
questions: `box`, `area` and `mask`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.annotations import runs as run_lengths
from groupcm.annotations.polygon_fill import fill

__all__ = ["Box", "Mask", "Polygons", "Region"]

# Beyond this the fine grid of COCO's tools would leave the whole numbers they count in.
_FARTHEST = 1e8
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle: left and upper edge, width and height.

    Examples
    --------
    >>> box = Box(1, 0, 2, 2)
    >>> box.area
    4.0
    >>> box.mask(height=3, width=4).astype(int)
    array([[0, 1, 1, 0],
           [0, 1, 1, 0],
           [0, 0, 0, 0]])
    """

    x: float
    y: float
    width: float
    height: float

    def __post_init__(self) -> None:
        for name in ("x", "y", "width", "height"):
            object.__setattr__(self, name, _coordinate(getattr(self, name), f"the box's {name}"))
        if self.width <= 0 or self.height <= 0:
            raise ValueError(
                f"the box is {self.width:g} wide and {self.height:g} high; both must be positive"
            )

    @classmethod
    def from_corners(cls, left: float, top: float, right: float, bottom: float) -> Box:
        """Make a box from its edges.

        Examples
        --------
        >>> Box.from_corners(1, 2, 4, 6)
        Box(x=1.0, y=2.0, width=3.0, height=4.0)
        """
        return cls(left, top, right - left, bottom - top)

    @property
    def right(self) -> float:
        """Where the box ends on the right."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Where the box ends below."""
        return self.y + self.height

    @property
    def box(self) -> Box:
        """The box itself."""
        return self

    @property
    def area(self) -> float:
        """Width times height."""
        return self.width * self.height

    def corners(self) -> tuple[Point, ...]:
        """Return the four corners, from the upper left one down and around."""
        left, top, right, bottom = self.x, self.y, self.right, self.bottom
        return (left, top), (left, bottom), (right, bottom), (right, top)

    def runs(self, height: int, width: int) -> run_lengths.Runs:
        """Runs of the box's pixels in a picture, column by column."""
        return fill(self.corners(), height, width)

    def mask(self, height: int, width: int) -> NDArray[np.bool_]:
        """Return the pixels of the box in a picture of this size; the rest of it is cut off."""
        return run_lengths.to_mask(self.runs(height, width), height, width)


@dataclass(frozen=True, slots=True)
class Polygons:
    """One or more closed polygons; the object is what lies in any of them.

    A part that crosses itself is filled by the even-odd rule. There are no holes, as COCO has
    none: an object with a hole is a `Mask`.

    Examples
    --------
    >>> two = Polygons([[(0, 0), (1, 0), (1, 2), (0, 2)], [(3, 0), (4, 0), (4, 1), (3, 1)]])
    >>> two.mask(height=2, width=4).astype(int)
    array([[1, 0, 0, 1],
           [1, 0, 0, 0]])
    >>> two.box
    Box(x=0.0, y=0.0, width=4.0, height=2.0)
    >>> two.area
    3.0
    """

    parts: tuple[tuple[Point, ...], ...]

    def __init__(self, parts: Iterable[Iterable[Iterable[float]]]) -> None:
        checked = tuple(tuple(_point(point) for point in part) for part in parts)
        object.__setattr__(self, "parts", checked)
        if not checked:
            raise ValueError("the object has no polygon; it needs one or more")
        for part in checked:
            if len(part) < 3:
                raise ValueError(f"a polygon has {len(part)} corners; it needs three or more")
        for axis, word in enumerate(("wide", "high")):
            if all(len({point[axis] for point in part}) == 1 for part in checked):
                raise ValueError(f"the polygon is 0 {word}; it must cover something")

    @property
    def box(self) -> Box:
        """The smallest box around all corners."""
        corners = np.array([point for part in self.parts for point in part])
        (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
        return Box.from_corners(float(left), float(top), float(right), float(bottom))

    @property
    def area(self) -> float:
        """Number of pixels inside, as COCO counts it (pixels left of or above 0 do not count)."""
        box = self.box
        height, width = (max(1, math.ceil(end) + 1) for end in (box.bottom, box.right))
        return float(self.runs(height, width)[1::2].sum())

    def runs(self, height: int, width: int) -> run_lengths.Runs:
        """Runs of the polygons' pixels in a picture, column by column."""
        filled = [fill(part, height, width) for part in self.parts]
        return filled[0] if len(filled) == 1 else run_lengths.union(filled, height * width)

    def mask(self, height: int, width: int) -> NDArray[np.bool_]:
        """Return the pixels inside, in a picture of this size; the rest of it is cut off."""
        return run_lengths.to_mask(self.runs(height, width), height, width)


@dataclass(frozen=True, slots=True)
class Mask:
    """Exact pixels of a picture of known size, kept as runs (column by column, as COCO does).

    Examples
    --------
    >>> ring = Mask.from_array([[1, 1, 1], [1, 0, 1], [1, 1, 1]])
    >>> ring.counts
    (0, 4, 1, 4)
    >>> ring.area, ring.box
    (8.0, Box(x=0.0, y=0.0, width=3.0, height=3.0))
    """

    height: int
    width: int
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        size = self.height * self.width
        runs = run_lengths.canonical(list(self.counts), size)
        if runs.size < 2:
            raise ValueError("the mask is empty; it needs one pixel or more")
        object.__setattr__(self, "counts", tuple(runs.tolist()))

    @classmethod
    def from_array(cls, pixels: ArrayLike) -> Mask:
        """Make a mask from an array of the picture's size, true where the object is."""
        pixels = np.asarray(pixels, dtype=bool)
        if pixels.ndim != 2:
            raise ValueError(f"a mask has 2 dimensions, rows and columns; this has {pixels.ndim}")
        height, width = pixels.shape
        return cls(height, width, tuple(run_lengths.from_mask(pixels).tolist()))

    @classmethod
    def from_part(cls, part: ArrayLike, left: int, top: int, height: int, width: int) -> Mask:
        """Make a mask of a picture of this size from the pixels of a part of it.

        Examples
        --------
        >>> Mask.from_part([[1, 1]], left=1, top=2, height=3, width=3).box
        Box(x=1.0, y=2.0, width=2.0, height=1.0)
        """
        part = np.asarray(part, dtype=bool)
        right, bottom = left + part.shape[1], top + part.shape[0]
        if min(left, top) < 0 or right > width or bottom > height:
            raise ValueError(
                f"the mask reaches from ({left}, {top}) to ({right}, {bottom}), outside the "
                f"picture of {width} × {height} pixels"
            )
        pixels = np.zeros((height, width), dtype=bool)
        pixels[top:bottom, left:right] = part
        return cls.from_array(pixels)

    def part(self) -> tuple[NDArray[np.bool_], int, int]:
        """Return the pixels within the mask's own box, and its left and upper edge.

        Examples
        --------
        >>> Mask.from_array([[0, 0, 0], [0, 1, 1]]).part()
        (array([[ True,  True]]), 1, 1)
        """
        left, top, right, bottom = run_lengths.bounds(self.counts, self.height)
        return self.mask(self.height, self.width)[top:bottom, left:right], left, top

    @property
    def box(self) -> Box:
        """The smallest box around all pixels."""
        return Box.from_corners(*run_lengths.bounds(self.counts, self.height))

    @property
    def area(self) -> float:
        """Number of pixels."""
        return float(sum(self.counts[1::2]))

    def runs(self, height: int, width: int) -> run_lengths.Runs:
        """Runs of the mask's pixels; the size must be that of its picture."""
        if (height, width) != (self.height, self.width):
            raise ValueError(
                f"the mask is {self.width} × {self.height} pixels "
                f"and the picture {width} × {height}; they must be the same"
            )
        return np.array(self.counts, dtype=np.int64)

    def mask(self, height: int, width: int) -> NDArray[np.bool_]:
        """Return the pixels as an array; the size must be that of the mask's picture."""
        return run_lengths.to_mask(self.runs(height, width), height, width)


Region = Box | Polygons | Mask


def _point(point: Iterable[float]) -> Point:
    values = tuple(point)
    if len(values) != 2:
        raise ValueError(f"a polygon's corner has {len(values)} numbers; it needs x and y")
    return (
        _coordinate(values[0], "a corner's x"),
        _coordinate(values[1], "a corner's y"),
    )


def _coordinate(value: float, name: str) -> float:
    if isinstance(value, bool | str | bytes) or not isinstance(value, int | float | np.number):
        raise ValueError(f"{name} is {value!r}; it must be a number")
    if not math.isfinite(value) or abs(value) > _FARTHEST:
        raise ValueError(f"{name} is {value:g}; it must be a number of pixels")
    return float(value)
