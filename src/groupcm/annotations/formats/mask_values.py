"""Values of the pixels of a mask picture, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.model import AnnotatedObject
from groupcm.annotations.pictures import opening
from groupcm.annotations.regions import Mask
from groupcm.annotations.runs import from_edges

__all__ = ["Meaning", "MeaningName", "name_of_value", "values_of"]

MeaningName = Literal["binary", "object", "category"]
_COLOUR = 1 << 24  # added to a colour, so that none is a grey value and black is background
DEFAULT_CATEGORY = "object"


def values_of(path: Path) -> NDArray[np.int64]:
    """Grey values or palette numbers as they are, colours as one number; 0 is background."""
    with opening(path) as picture:
        if picture.mode in ("1", "L", "P", "I", "I;16", "I;16B", "I;16L"):
            return np.asarray(picture).astype(np.int64)
        channels = np.asarray(picture.convert("RGBA")).astype(np.int64)
    red, green, blue, opacity = np.moveaxis(channels, -1, 0)
    if np.array_equal(red, green) and np.array_equal(red, blue):
        return np.where(opacity == 0, 0, red)
    colour = (red << 16) + (green << 8) + blue
    return np.where((opacity == 0) | (colour == 0), 0, colour + _COLOUR)


def name_of_value(value: int) -> str:
    """Write a value as a number, or as a colour where it is one.

    Examples
    --------
    >>> name_of_value(7), name_of_value((1 << 24) + 0xFF8000)
    ('7', '#ff8000')
    """
    return str(value) if value < _COLOUR else f"#{value - _COLOUR:06x}"


class Meaning:
    """What the values of a folder of masks mean, and the objects that follow.

    Parameters
    ----------
    values
        ``"binary"``: anything brighter than half of the brightest is an object. ``"object"``: each
        value is one object. ``"category"``: each value is a category.
    categories
        Name of the category of each value or colour (``"#ff0000"``); None makes it background.
    separate
        Whether pieces of a category that do not touch (corners touch) are objects of their own.
    min_pixels
        Pieces smaller than this are specks and no objects, unless a mask has nothing larger.
    """

    def __init__(
        self,
        values: MeaningName,
        brightest: int,
        categories: Mapping[int | str, str | None] | None,
        separate: bool = True,
        min_pixels: int = 1,
    ) -> None:
        self.values = values
        self.brightest = brightest
        self.names = {str(key).lower(): name for key, name in (categories or {}).items()}
        self.separate = separate and values != "object"
        self.min_pixels = min_pixels

    def objects(self, pixels: NDArray[np.int64]) -> Iterator[AnnotatedObject]:
        """Go through the objects of a mask."""
        if self.values == "binary":
            pixels = (2 * pixels > self.brightest).astype(np.int64)
        for value in np.unique(pixels[pixels > 0]).tolist():
            category = self._category(value)
            if category is not None:
                chosen = pixels == value
                whole = [Mask.from_array(chosen)]
                for piece in _pieces(chosen, self.min_pixels) if self.separate else whole:
                    yield AnnotatedObject(category, piece)

    def _category(self, value: int) -> str | None:
        if self.values == "binary":
            return next(iter(self.names.values()), DEFAULT_CATEGORY)
        name = name_of_value(value)
        if not self.names:
            return DEFAULT_CATEGORY if self.values == "object" else name
        if name not in self.names:
            raise ValueError(
                f"the value {name} has no category; those with one are {', '.join(self.names)}"
            )
        return self.names[name]


def _pieces(mask: NDArray[np.bool_], min_pixels: int) -> Iterator[Mask]:
    """Pieces of a mask that do not touch, not even at corners; of specks alone the largest.

    Each costs as much as it has pixels, so that a mask of noise is slow but no disaster.
    """
    from scipy import ndimage

    labelled: Any = ndimage.label(mask, structure=np.ones((3, 3)))
    flat = labelled[0].ravel(order="F")
    places = np.flatnonzero(flat)
    places = places[np.argsort(flat[places], kind="stable")]
    sizes = np.bincount(flat)[1:]
    enough = sizes >= min(min_pixels, sizes.max())
    for piece, kept in zip(np.split(places, np.cumsum(sizes)[:-1]), enough, strict=True):
        if kept:
            gaps = np.flatnonzero(np.diff(piece) > 1)
            begins, ends = piece[np.append(0, gaps + 1)], piece[np.append(gaps, -1)] + 1
            runs = from_edges(np.concatenate([begins, ends]), mask.size)
            yield Mask(mask.shape[0], mask.shape[1], tuple(runs.tolist()))
