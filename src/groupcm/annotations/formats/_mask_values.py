"""Mask pictures: the values of their pixels as runs, and the objects that the values encode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.limits import MOST_OBJECTS, MOST_RUNS, Budget, check_pixels, check_runs
from groupcm.annotations.model import AnnotatedObject
from groupcm.annotations.pictures import opening
from groupcm.annotations.regions import Mask
from groupcm.annotations.runs import Runs, cut_at_columns, expand, from_edges, objects_of
from groupcm.utils.typing import Index

__all__ = ["MaskPicture", "Meaning", "MeaningName", "name_of_value", "read_mask"]

MeaningName = Literal["binary", "object", "category"]
_COLOUR = 1 << 24  # added to a colour, so that none is a grey value and black is background
DEFAULT_CATEGORY = "object"


class MaskPicture(NamedTuple):
    """A mask picture as runs of one value, column by column.

    Attributes
    ----------
    height, width
        Size of the picture.
    value
        The value of each run, ascending: grey values or palette indices as they are, colours as
        one number. Background, which is 0, has no runs.
    begin, end
        Where each run begins and ends, the picture scanned column by column.
    """

    height: int
    width: int
    value: Index
    begin: Index
    end: Index

    def values(self) -> list[int]:
        """Return the values that occur, without background."""
        return np.unique(self.value).tolist()

    def runs_of(self, first: int, last: int, budget: Budget) -> Runs:
        """Return the runs of the pixels with values from ``first`` to ``last``."""
        begin, end = np.searchsorted(self.value, [first, last + 1]).tolist()
        own = slice(begin, end)
        budget.spend_runs(2 * (end - begin))
        edges = np.concatenate([self.begin[own], self.end[own]])
        return from_edges(edges, self.height * self.width)


def read_mask(path: Path) -> MaskPicture:
    """Read a mask picture; its size is checked before it is decoded."""
    with opening(path) as picture:
        width, height = picture.size
        check_pixels(width, height, "the mask")
        if picture.mode in ("1", "L", "P", "I", "I;16", "I;16B", "I;16L"):
            values = np.asarray(picture)
        elif picture.mode == "RGB" and "transparency" not in picture.info:
            values = _colours(np.asarray(picture))
        else:
            values = _colours(np.asarray(picture.convert("RGBA")))
    return _in_runs(values)


def _colours(channels: NDArray[np.uint8]) -> NDArray[np.integer]:
    """Return one number per pixel from red, green, blue and, if there is one, the opacity."""
    red, green, blue = (channels[:, :, place] for place in range(3))
    if np.array_equal(red, green) and np.array_equal(red, blue):
        colour = red.copy()
    else:
        colour = red.astype(np.uint32)
        for channel in (green, blue):
            colour <<= 8
            colour |= channel
        colour[colour > 0] += np.uint32(_COLOUR)
    if channels.shape[2] == 4:
        colour[channels[:, :, 3] == 0] = 0
    return colour


def _in_runs(values: NDArray[Any]) -> MaskPicture:
    flat = values.ravel(order="F")
    differs = flat[1:] != flat[:-1]
    # A picture of noise has as many runs as pixels and no objects.
    check_runs(int(np.count_nonzero(differs)) + 1, 2 * MOST_RUNS)
    changes = np.flatnonzero(differs) + 1
    begin = np.concatenate([np.zeros(min(flat.size, 1), dtype=np.int64), changes])
    end = np.append(begin[1:], flat.size)
    value = flat[begin].astype(np.int64)
    order = np.argsort(value, kind="stable")
    order = order[np.searchsorted(value[order], 1) :]
    n_values = np.count_nonzero(np.diff(value[order], prepend=0))
    if n_values > MOST_OBJECTS:
        raise ValueError(f"the mask has {n_values:,} values; at most {MOST_OBJECTS:,} are read")
    height, width = values.shape
    return MaskPicture(height, width, value[order], begin[order], end[order])


def name_of_value(value: int) -> str:
    """Return a value as a number, or as a colour where it is one.

    Examples
    --------
    >>> name_of_value(7), name_of_value((1 << 24) + 0xFF8000)
    ('7', '#ff8000')
    """
    return str(value) if value < _COLOUR else f"#{value - _COLOUR:06x}"


class Meaning:
    """The meaning of the values of a folder of masks, which turns a mask into objects.

    Parameters
    ----------
    values
        ``"binary"``: pixels brighter than half of the brightest are objects. ``"object"``: each
        value is one object. ``"category"``: each value is a category.
    categories
        Name of the category of each value or colour (``"#ff0000"``); None for background.
    separate
        Whether the 8-connected components of a category are separate objects.
    min_pixels
        Components smaller than this are not objects, unless a mask has nothing larger.
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

    def objects(self, mask: MaskPicture, budget: Budget) -> Iterator[AnnotatedObject]:
        """Iterate over the objects of a mask."""
        if self.values == "binary":
            ranges = [(self.brightest // 2 + 1, max(self.brightest, 1))] if mask.value.size else []
        else:
            ranges = [(value, value) for value in mask.values()]
        size = mask.height, mask.width
        n_objects = 0
        for first, last in ranges:
            category = self._category(first)
            runs = mask.runs_of(first, last, budget)
            if category is None or runs.size < 2:
                continue
            pieces = _pieces(runs, *size, self.min_pixels, budget) if self.separate else [runs]
            for piece in pieces:
                n_objects += 1
                if n_objects > MOST_OBJECTS:
                    raise ValueError(
                        f"the mask has more than {MOST_OBJECTS:,} objects; are its values what "
                        "they are taken for?"
                    )
                yield AnnotatedObject(category, Mask(*size, piece))

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


def _pieces(runs: Runs, height: int, width: int, min_pixels: int, budget: Budget) -> Iterator[Runs]:
    """Iterate over the 8-connected components of a mask; the largest is always included.

    Two strips of pixels in neighbouring columns touch unless one ends before the other begins.
    Components are in the order of their first pixels, row by row.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    _, column, top, bottom = cut_at_columns(*objects_of(runs), height, budget.spend_runs)
    n = column.size
    # Positions that increase from strip to strip, with a gap between columns.
    stride = height + 2
    begins, ends = column * stride + top, column * stride + bottom
    first = np.searchsorted(ends, begins + stride, side="left")
    count = np.searchsorted(begins, ends + stride, side="right") - first
    strip, other = expand(first, count)
    touching = coo_array((np.ones(strip.size, dtype=bool), (strip, other)), shape=(n, n))
    n_pieces, piece = connected_components(touching, directed=False)
    sizes = np.bincount(piece, bottom - top).astype(np.int64)
    kept = sizes >= min(min_pixels, sizes.max())
    if (n_kept := int(kept.sum())) > MOST_OBJECTS:
        raise ValueError(
            f"the mask has {n_kept:,} pieces that do not touch; at most {MOST_OBJECTS:,} are read, "
            "so leave out specks with min_pixels"
        )
    first_pixel = np.full(n_pieces, height * width)
    np.minimum.at(first_pixel, piece, top * width + column)
    by_piece = np.split(np.argsort(piece, kind="stable"), np.cumsum(np.bincount(piece))[:-1])
    begin, end = column * height + top, column * height + bottom
    for number in np.argsort(first_pixel, kind="stable").tolist():
        if kept[number]:
            own = by_piece[number]
            yield from_edges(np.concatenate([begin[own], end[own]]), height * width)
