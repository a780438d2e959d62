"""One picture in the forms that proposals and features look at.

Regions of a picture told in the pixels of the same picture at another size.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.pictures import pillow
from groupcm.images.reading import Pixels, as_rgb
from groupcm.images.regions import Regions, boxes_and_areas
from groupcm.utils.extras import IMAGES

__all__ = ["View", "resized"]

_Floats = NDArray[np.float32]


class View:
    """A picture as floating-point numbers; each form is made once, when somebody asks for it.

    Parameters
    ----------
    rgb
        Red, green and blue from 0 to 1, shape (height, width, 3).
    given
        Regions that a detector of the user's found in it, in its pixels; None where nobody asked.

    Examples
    --------
    >>> view = View(np.ones((2, 3, 3), dtype=np.float32))
    >>> view.height, view.width, view.grey.round(3).tolist()[0]
    (2, 3, [1.0, 1.0, 1.0])
    """

    def __init__(self, rgb: _Floats, given: Regions | None = None) -> None:
        self.rgb = rgb
        self.given = given
        self.height, self.width = rgb.shape[:2]

    @classmethod
    def of(cls, pixels: Pixels, longest_side: int | None = None) -> View:
        """Look at pixels of a file, shrunk where a side is longer than ``longest_side``.

        Examples
        --------
        >>> View.of(np.zeros((40, 80), dtype=np.uint8), longest_side=20).rgb.shape
        (10, 20, 3)
        """
        longest = max(pixels.shape[:2])
        if longest_side is None or longest <= longest_side:
            return cls(as_rgb(pixels))
        size = tuple(max(1, round(side * longest_side / longest)) for side in pixels.shape[:2])
        return cls(_shrunk(pixels, size))

    @cached_property
    def lab(self) -> _Floats:
        """Lightness (0 to 100), green to red, and blue to yellow of CIE Lab."""
        return IMAGES.load("skimage.color").rgb2lab(self.rgb).astype(np.float32)

    @cached_property
    def grey(self) -> _Floats:
        """Lightness from 0 to 1."""
        return self.lab[:, :, 0] / np.float32(100)

    @cached_property
    def gradient(self) -> tuple[_Floats, _Floats]:
        """Central differences of `grey`, downwards and to the right; 0 across a side of 1."""
        return _slope(self.grey, 0), _slope(self.grey, 1)


def _slope(values: _Floats, axis: int) -> _Floats:
    if values.shape[axis] < 2:
        return np.zeros_like(values)
    return np.asarray(np.gradient(values, axis=axis), dtype=np.float32)


def _shrunk(pixels: Pixels, size: tuple[int, ...]) -> _Floats:
    """Mean of the pixels that fall into each new one, a colour at a time."""
    image = pillow()
    full = 1.0 if pixels.dtype.kind == "f" else float(np.iinfo(str(pixels.dtype)).max)
    planes = [pixels] if pixels.ndim == 2 else np.moveaxis(pixels, 2, 0)
    made = []
    for plane in planes:
        whole = image.fromarray(np.ascontiguousarray(plane, dtype=np.float32))
        small = whole.resize(size[::-1], image.Resampling.BOX)
        made.append(np.asarray(small) / np.float32(full))
    return np.stack(made * 3 if len(made) == 1 else made, axis=2)


_Ints = NDArray[np.int64]


def resized(regions: Regions, height: int, width: int) -> Regions:
    """Scale regions to a picture of ``height`` × ``width`` pixels.

    Boxes are scaled by the factors. Of masks that grow, a new pixel belongs to the region where
    the old pixel under its centre does; of masks that shrink, where it touches the region, so
    that a thin line stays in one piece.

    Examples
    --------
    >>> regions = Regions.from_labels([[1, 1, 2], [0, 2, 2]])
    >>> resized(regions, 4, 6).mask(0).astype(int)
    array([[1, 1, 1, 1, 0, 0],
           [1, 1, 1, 1, 0, 0],
           [0, 0, 0, 0, 0, 0],
           [0, 0, 0, 0, 0, 0]])
    >>> resized(Regions.from_boxes([[0, 0, 3, 1]], 2, 3), 4, 4).edges
    array([[0., 0., 4., 2.]])
    """
    if (height, width) == (regions.height, regions.width):
        return regions
    if height < 1 or width < 1:
        raise ValueError(f"a picture of {width} × {height} pixels has no regions; give 1 or more")
    owner = np.repeat(np.arange(len(regions)), np.diff(regions.strip_ptr))
    left, right = _scaled(regions.column, regions.column + 1, regions.width, width)
    top, bottom = _scaled(regions.top, regions.bottom, regions.height, height)
    strip = np.repeat(np.arange(len(left)), right - left)
    column = left[strip] + _counted(right - left)
    owner, top, bottom = owner[strip], top[strip], bottom[strip]
    order = np.lexsort((top, column, owner))
    strips = _without_overlap(owner[order], column[order], top[order], bottom[order])
    return _gathered(regions, height, width, *strips)


def _scaled(first: _Ints, last: _Ints, old: int, new: int) -> tuple[_Ints, _Ints]:
    """New pixels from ``first`` up to ``last``, one or more."""
    if new < old:
        return first * new // old, -(-last * new // old)
    return _first_centre(first, old, new), _first_centre(last, old, new)


def _first_centre(edge: _Ints, old: int, new: int) -> _Ints:
    """First new pixel whose centre lies at or behind an old edge: ⌈edge · new / old - ½⌉."""
    return -((old - 2 * edge * new) // (2 * old))


def _without_overlap(owner: _Ints, column: _Ints, top: _Ints, bottom: _Ints) -> tuple[_Ints, ...]:
    """Join strips of one region and column that touch: shrinking brings some together."""
    place = np.unique(np.stack([owner, column]), axis=1, return_inverse=True)[1].ravel()
    # Within a column, strips that begin behind all ends before them begin a new one.
    far = np.int64(bottom.max(initial=0) + 1)
    reach = np.maximum.accumulate(bottom + place * far)
    begins = np.ones(len(top), dtype=bool)
    begins[1:] = top[1:] + place[1:] * far > reach[:-1]
    at = np.flatnonzero(begins)
    ends = np.maximum.reduceat(bottom, at) if at.size else bottom
    return owner[at], column[at], top[at], ends


def _counted(counts: _Ints) -> _Ints:
    """0, 1, … within each of the counts."""
    starts = np.cumsum(counts) - counts
    return np.arange(counts.sum()) - np.repeat(starts, counts)


def _gathered(
    old: Regions,
    height: int,
    width: int,
    owner: _Ints,
    column: _Ints,
    top: _Ints,
    bottom: _Ints,
) -> Regions:
    ptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(old)))]).astype(np.int64)
    factors = np.array([width / old.width, height / old.height] * 2)
    edges, areas = old.edges * factors, old.areas * factors[0] * factors[1]
    masks = np.flatnonzero(~old.is_box)
    if masks.size:
        edges[masks], areas[masks] = boxes_and_areas(ptr[:-1][masks], column, top, bottom)
    return Regions(height, width, edges, areas, old.is_box, ptr, column, top, bottom)
