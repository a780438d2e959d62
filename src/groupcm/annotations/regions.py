"""Regions of objects: `Box`, `Polygons` and `Mask`, each with `box`, `area`, `runs` and `mask`.

Coordinates are in pixels from the upper left corner of the picture; the pixel in column ``c`` and
row ``r`` is the square from ``(c, r)`` to ``(c + 1, r + 1)``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.annotations import runs as run_lengths
from groupcm.annotations._polygon_fill import fill, fill_box
from groupcm.annotations.limits import MOST_COLUMNS, MOST_PICTURE_PIXELS, check_pixels
from groupcm.utils.typing import Flags

__all__ = ["Box", "Mask", "Polygons", "Region", "as_point", "check_part"]

# Beyond this the fine grid of COCO's tools would overflow.
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
        """Return the box with these edges.

        Examples
        --------
        >>> Box.from_corners(1, 2, 4, 6)
        Box(x=1.0, y=2.0, width=3.0, height=4.0)
        """
        return cls(left, top, right - left, bottom - top)

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
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
        """Return the four corners counterclockwise from the upper left one."""
        left, top, right, bottom = self.x, self.y, self.right, self.bottom
        return (left, top), (left, bottom), (right, bottom), (right, top)

    def runs(self, height: int, width: int) -> run_lengths.Runs:
        """Return the runs of the pixels of the box in a picture, column by column."""
        return fill_box(self.x, self.y, self.right, self.bottom, height, width)

    def mask(self, height: int, width: int) -> Flags:
        """Return the pixels of the box in a picture of this size, clipped at its border."""
        return run_lengths.to_mask(self.runs(height, width), height, width)


@dataclass(frozen=True, slots=True)
class Polygons:
    """One or more closed polygons, whose union is the object.

    A part that crosses itself is filled by the even-odd rule. As in COCO there are no holes: an
    object with a hole is a `Mask`.

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
        checked = tuple(tuple(as_point(point) for point in part) for part in parts)
        object.__setattr__(self, "parts", checked)
        if not checked:
            raise ValueError("the object has no polygon; it needs one or more")
        for part in checked:
            if len(part) < 3:
                raise ValueError(f"a polygon has {len(part)} corners; it needs three or more")
        for axis, word in enumerate(("wide", "high")):
            if all(len({point[axis] for point in part}) == 1 for part in checked):
                raise ValueError(f"the polygon is 0 {word}; it must cover something")
        if (passed := self.columns_passed()) > MOST_COLUMNS:
            raise ValueError(
                f"the polygon's edges pass {passed:.4g} columns of pixels; at most "
                f"{MOST_COLUMNS:,} are read"
            )

    @property
    def box(self) -> Box:
        """The smallest box around all corners."""
        corners = np.array([point for part in self.parts for point in part])
        (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
        return Box.from_corners(float(left), float(top), float(right), float(bottom))

    @property
    def area(self) -> float:
        """Number of pixels inside, as in COCO (without pixels at negative coordinates)."""
        box = self.box
        height, width = (max(1, math.ceil(end) + 1) for end in (box.bottom, box.right))
        return float(self.runs(height, width)[1::2].sum())

    def columns_passed(self) -> float:
        """Return how many columns of pixels the edges cross, the cost of filling.

        Examples
        --------
        >>> Polygons([[(0, 0), (10, 0), (10, 5)]]).columns_passed()
        20.0
        """
        return sum(
            abs(one[0] - next[0]) for part in self.parts for one, next in pairwise((*part, part[0]))
        )

    def runs(self, height: int, width: int) -> run_lengths.Runs:
        """Return the runs of the pixels inside in a picture, column by column."""
        filled = [fill(part, height, width) for part in self.parts]
        return filled[0] if len(filled) == 1 else run_lengths.union(filled, height * width)

    def mask(self, height: int, width: int) -> Flags:
        """Return the pixels inside, in a picture of this size, clipped at its border."""
        return run_lengths.to_mask(self.runs(height, width), height, width)


class Mask:
    """Exact pixels of a picture of known size, stored as runs (column by column, as in COCO).

    Parameters
    ----------
    height, width
        Size of the picture.
    counts
        Run lengths of background and object in turn; they are checked and normalised.

    Examples
    --------
    >>> ring = Mask.from_array([[1, 1, 1], [1, 0, 1], [1, 1, 1]])
    >>> ring.counts
    (0, 4, 1, 4)
    >>> ring.area, ring.box
    (8.0, Box(x=0.0, y=0.0, width=3.0, height=3.0))
    """

    __slots__ = ("_runs", "height", "width")
    height: int
    width: int
    _runs: NDArray[np.uint32]

    def __init__(self, height: int, width: int, counts: ArrayLike) -> None:
        for side, value in (("height", height), ("width", width)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(f"the mask's {side} is {value!r}; it must be a whole number ≥ 1")
        if int(height) * int(width) > MOST_PICTURE_PIXELS:
            raise ValueError(
                f"the mask has {width} × {height} pixels; that is more than any "
                "picture here may have"
            )
        runs = run_lengths.canonical(counts, int(height) * int(width))
        if runs.size < 2:
            raise ValueError("the mask is empty; it needs one pixel or more")
        # No run is longer than a picture, whose pixels are counted in 32 bits.
        stored = runs.astype(np.uint32)
        stored.flags.writeable = False
        for name, value in (("height", int(height)), ("width", int(width)), ("_runs", stored)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Mask is immutable; create another to set {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mask):
            return NotImplemented
        same_size = (self.height, self.width) == (other.height, other.width)
        return same_size and np.array_equal(self._runs, other._runs)

    def __hash__(self) -> int:
        return hash((self.height, self.width, self._runs.tobytes()))

    def __repr__(self) -> str:
        return f"Mask(height={self.height}, width={self.width}, counts={self.counts})"

    def __reduce__(self) -> tuple[type[Mask], tuple[int, int, NDArray[np.uint32]]]:
        return Mask, (self.height, self.width, self._runs)

    @property
    def counts(self) -> tuple[int, ...]:
        """Run lengths of background and object in turn, column by column."""
        return tuple(self._runs.tolist())

    @classmethod
    def from_array(cls, pixels: ArrayLike) -> Mask:
        """Return the mask of an array of the picture's size, true inside the object."""
        pixels = np.asarray(pixels, dtype=bool)
        if pixels.ndim != 2:
            raise ValueError(f"a mask has 2 dimensions, rows and columns; this has {pixels.ndim}")
        height, width = pixels.shape
        return cls(height, width, run_lengths.from_mask(pixels))

    @classmethod
    def from_part(cls, part: ArrayLike, left: int, top: int, height: int, width: int) -> Mask:
        """Return the mask, in a picture of this size, of the pixels of a part of it.

        Examples
        --------
        >>> Mask.from_part([[1, 1]], left=1, top=2, height=3, width=3).box
        Box(x=1.0, y=2.0, width=2.0, height=1.0)
        """
        part = np.asarray(part, dtype=bool)
        check_part(left, top, part.shape, (height, width))
        return cls(height, width, run_lengths.from_part(part, (top, left), (height, width)))

    def part(self) -> tuple[Flags, int, int]:
        """Return the pixels within the bounding box, and its left and upper edge.

        Examples
        --------
        >>> Mask.from_array([[0, 0, 0], [0, 1, 1]]).part()
        (array([[ True,  True]]), 1, 1)
        """
        runs, left, top, height, width = self.part_runs()
        check_pixels(width, height, "the mask")
        return run_lengths.to_mask(runs, height, width), left, top

    def part_runs(self) -> tuple[run_lengths.Runs, int, int, int, int]:
        """Return the runs within the bounding box; its left and upper edge, height and width.

        Examples
        --------
        >>> Mask.from_array([[0, 0, 0], [0, 1, 1]]).part_runs()
        (array([0, 2]), 1, 1, 1, 2)
        """
        left, top, right, bottom = run_lengths.bounds(self._runs, self.height)
        strips = run_lengths.cut_at_columns(*run_lengths.objects_of(self._runs), self.height)
        height, width = bottom - top, right - left
        above = (strips.column - left) * height - top
        edges = np.concatenate([above + strips.top, above + strips.bottom])
        return run_lengths.from_edges(edges, height * width), left, top, height, width

    @property
    def box(self) -> Box:
        """The smallest box around all pixels."""
        return Box.from_corners(*run_lengths.bounds(self._runs, self.height))

    @property
    def area(self) -> float:
        """Number of pixels."""
        return float(self._runs[1::2].sum(dtype=np.int64))

    def check_size(self, height: int, width: int) -> None:
        """Raise `ValueError` for the size of another picture."""
        if (height, width) != (self.height, self.width):
            raise ValueError(
                f"the mask is {self.width} × {self.height} pixels "
                f"and the picture {width} × {height}; they must be the same"
            )

    def runs(self, height: int, width: int) -> run_lengths.Runs:
        """Return the runs of the pixels; the size must be that of the mask's picture."""
        self.check_size(height, width)
        return self._runs.astype(np.int64)

    def mask(self, height: int, width: int) -> Flags:
        """Return the pixels as an array; the size must be that of the mask's picture."""
        return run_lengths.to_mask(self.runs(height, width), height, width)


def check_part(left: int, top: int, part: tuple[int, ...], picture: tuple[int, int]) -> None:
    """Raise `ValueError` for a part outside of its picture; sizes are height and width."""
    right, bottom = left + part[1], top + part[0]
    if min(left, top) < 0 or right > picture[1] or bottom > picture[0]:
        raise ValueError(
            f"the mask reaches from ({left}, {top}) to ({right}, {bottom}), outside the "
            f"picture of {picture[1]} × {picture[0]} pixels"
        )


Region = Box | Polygons | Mask


def as_point(point: Iterable[float]) -> Point:
    """Return a corner as two checked coordinates."""
    values = tuple(point)
    if len(values) != 2:
        raise ValueError(f"a polygon's corner has {len(values)} numbers; it needs x and y")
    return _coordinate(values[0], "a corner's x"), _coordinate(values[1], "a corner's y")


def _coordinate(value: float, name: str) -> float:
    if isinstance(value, bool | str | bytes) or not isinstance(value, int | float | np.number):
        raise ValueError(f"{name} is {value!r}; it must be a number")
    # Compared before the conversion: an integer may be too large for a float.
    if not -_FARTHEST <= value <= _FARTHEST:
        is_float = isinstance(value, float | np.floating)
        shown = f"{value:g}" if is_float or abs(value) < 1e300 else "too large"
        raise ValueError(f"{name} is {shown}; it must be a number of pixels")
    return float(value)
