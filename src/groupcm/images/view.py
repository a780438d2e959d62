"""One picture in the forms that proposals and features look at."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.pictures import pillow
from groupcm.images.extra import skimage
from groupcm.images.reading import Pixels, as_rgb
from groupcm.images.regions import Regions

__all__ = ["View"]

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
        return skimage("color").rgb2lab(self.rgb).astype(np.float32)

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
