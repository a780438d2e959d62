"""One picture in the forms that proposals and features need, at the size at which they work.

`resized` converts regions from one size of a picture to another.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from groupcm.annotations.pictures import pillow
from groupcm.annotations.runs import expand
from groupcm.images.filters import slopes
from groupcm.images.reading import Pixels, as_rgb
from groupcm.images.regions import Regions, boxes_and_areas, pointer
from groupcm.utils.extras import IMAGES
from groupcm.utils.typing import Float32, Index

__all__ = ["View", "resized"]


class View:
    """A picture as floating-point numbers; each form is computed once, when it is first used.

    Parameters
    ----------
    rgb
        Red, green and blue from 0 to 1, shape (height, width, 3).
    given
        Detections of the user's own detector, in pixels of ``rgb``; None without a detector.

    Examples
    --------
    >>> view = View(np.ones((2, 3, 3), dtype=np.float32))
    >>> view.height, view.width, view.grey.round(3).tolist()[0]
    (2, 3, [1.0, 1.0, 1.0])
    """

    def __init__(self, rgb: Float32, given: Regions | None = None) -> None:
        self.rgb = rgb
        self.given = given
        self.height, self.width = rgb.shape[:2]

    @classmethod
    def of(cls, pixels: Pixels, longest_side: int | None = None) -> View:
        """Return the view of the pixels of a file, downscaled to ``longest_side`` if larger.

        Examples
        --------
        >>> View.of(np.zeros((40, 80), dtype=np.uint8), longest_side=20).rgb.shape
        (10, 20, 3)
        """
        longest = max(pixels.shape[:2])
        if longest_side is None or longest <= longest_side:
            return cls(as_rgb(pixels))
        size = tuple(max(1, round(side * longest_side / longest)) for side in pixels.shape[:2])
        return cls(_downscaled(pixels, size))

    @cached_property
    def lab(self) -> Float32:
        """Lightness (0 to 100), green to red, and blue to yellow of CIE Lab."""
        return IMAGES.load("skimage.color").rgb2lab(self.rgb).astype(np.float32)

    @cached_property
    def grey(self) -> Float32:
        """Lightness from 0 to 1."""
        return self.lab[:, :, 0] / np.float32(100)

    @cached_property
    def gradient(self) -> tuple[Float32, Float32]:
        """Central differences of `grey`, downwards and to the right."""
        return slopes(self.grey)


def _downscaled(pixels: Pixels, size: tuple[int, ...]) -> Float32:
    """Return the mean of the pixels within each new pixel, for each colour."""
    image = pillow()
    full = 1.0 if pixels.dtype.kind == "f" else float(np.iinfo(str(pixels.dtype)).max)
    small = []
    for plane in [pixels] if pixels.ndim == 2 else np.moveaxis(pixels, 2, 0):
        whole = image.fromarray(np.ascontiguousarray(plane, dtype=np.float32))
        resized = np.asarray(whole.resize(size[::-1], image.Resampling.BOX))
        small.append(resized / np.float32(full))
    return np.stack(small * 3 if len(small) == 1 else small, axis=2)


def resized(regions: Regions, height: int, width: int) -> Regions:
    """Scale regions to a picture of ``height`` × ``width`` pixels.

    Boxes are scaled exactly. When masks are enlarged, a new pixel belongs to the region if the old
    pixel under its centre does; when they are reduced, if it touches the region, so that a thin
    line stays connected.

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
    strip, column = expand(left, right - left)
    owner, top, bottom = owner[strip], top[strip], bottom[strip]
    order = np.lexsort((top, column, owner))
    strips = _without_overlap(owner[order], column[order], top[order], bottom[order])
    return _with_strips(regions, height, width, *strips)


def _scaled(first: Index, last: Index, old: int, new: int) -> tuple[Index, Index]:
    """Return the new pixels from ``first`` up to ``last``, one or more."""
    if new < old:
        return first * new // old, -(-last * new // old)
    return _first_centre(first, old, new), _first_centre(last, old, new)


def _first_centre(edge: Index, old: int, new: int) -> Index:
    """Return the first new pixel whose centre is not before an old edge: ⌈edge · new / old - ½⌉."""
    return -((old - 2 * edge * new) // (2 * old))


def _without_overlap(owner: Index, column: Index, top: Index, bottom: Index) -> tuple[Index, ...]:
    """Merge strips of one region and column that touch after downscaling."""
    place = np.unique(np.stack([owner, column]), axis=1, return_inverse=True)[1].ravel()
    # Within a column, a strip that begins after the ends of all before it is separate.
    far = np.int64(bottom.max(initial=0) + 1)
    reach = np.maximum.accumulate(bottom + place * far)
    begins = np.ones(len(top), dtype=bool)
    begins[1:] = top[1:] + place[1:] * far > reach[:-1]
    at = np.flatnonzero(begins)
    ends = np.maximum.reduceat(bottom, at) if at.size else bottom
    return owner[at], column[at], top[at], ends


def _with_strips(
    old: Regions,
    height: int,
    width: int,
    owner: Index,
    column: Index,
    top: Index,
    bottom: Index,
) -> Regions:
    ptr = pointer(np.bincount(owner, minlength=len(old)))
    factors = np.array([width / old.width, height / old.height] * 2)
    edges, areas = old.edges * factors, old.areas * factors[0] * factors[1]
    masks = np.flatnonzero(~old.is_box)
    if masks.size:
        edges[masks], areas[masks] = boxes_and_areas(ptr[:-1][masks], column, top, bottom)
    return Regions(height, width, edges, areas, old.is_box, ptr, column, top, bottom)
