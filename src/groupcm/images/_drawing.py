"""Drawing of outlines and text tags that are legible on bright and on dark backgrounds.

Lines and letters are sized relative to the picture; small pictures are enlarged first. All lines
have a dark halo and smooth edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.pictures import pillow
from groupcm.images.regions import Regions
from groupcm.utils.extras import IMAGES
from groupcm.utils.typing import Matrix

__all__ = ["Canvas", "Colour"]

Colour = tuple[int, int, int]

_LEAST_WIDTH = 480
_LONGEST_ENLARGED = 1600
_HALO: Colour = (10, 10, 14)
_HALO_STRENGTH = 0.72
_FINER = 3  # supersampling of lines, which smooths their edges
_MOST_FINE_PIXELS = 12_000_000
_LEAST_FONT = 9
_FEW_POINTS = 60
_SMALLEST_SHARE = 0.02  # of the area within the longest border of a region


class _Rectangle(NamedTuple):
    left: int
    top: int
    right: int
    bottom: int


class Canvas:
    """A picture to draw on.

    Parameters
    ----------
    rgb
        Red, green and blue, shape (height, width, 3).
    least_width
        Narrower pictures are enlarged to this width.

    Examples
    --------
    >>> canvas = Canvas(np.zeros((30, 40, 3), dtype=np.uint8))
    >>> box = Regions.from_boxes([[10, 10, 30, 20]], 30, 40)
    >>> canvas.outline(box, 0, (240, 228, 66))
    >>> canvas.tag("+1.25", box.edges[0], (240, 228, 66))
    >>> canvas.pixels().shape
    (360, 480, 3)
    """

    def __init__(self, rgb: NDArray[np.uint8], least_width: int = _LEAST_WIDTH) -> None:
        image = pillow()
        height, width = rgb.shape[:2]
        self._picture: Any = image.fromarray(np.ascontiguousarray(rgb))
        zoom = min(least_width / width, _LONGEST_ENLARGED / max(height, width))
        if zoom > 1:
            size = max(1, round(width * zoom)), max(1, round(height * zoom))
            self._picture = self._picture.resize(size, image.Resampling.BICUBIC)
        self.width, self.height = self._picture.size
        self._zoom = np.array([self.width / width, self.height / height])
        short = min(self.width, self.height)
        self.line = max(3.0, short / 150)
        self._font_size = max(16, round(short / 24))

    def pixels(self) -> NDArray[np.uint8]:
        """Return the picture with everything drawn so far."""
        return np.array(self._picture)

    def outline(
        self,
        regions: Regions,
        place: int,
        colour: Colour,
        *,
        thickness: float = 1.0,
        dashed: bool = False,
    ) -> None:
        """Draw the outline of one region, ``thickness`` times as thick as the default line."""
        line = self.line * thickness
        paths = []
        for path in _border(regions, place):
            window = 0.0 if regions.is_box[place] else max(2.0 * self._zoom.max(), 1.5 * line)
            smoothed = _smooth(path * self._zoom, line / 2, window)
            inside = np.clip(smoothed, line / 2, np.array([self.width, self.height]) - line / 2)
            paths += _dashes(inside, 4.5 * line, 3 * line) if dashed else [inside]
        halo = max(1.0, 0.45 * line)
        self._stroke(paths, line + 2 * halo, _HALO, _HALO_STRENGTH)
        self._stroke(paths, line, colour, 1.0)

    def tag(self, text: str, edges: Matrix, colour: Colour) -> None:
        """Write next to a box, preferably above it; nothing is drawn where no text size fits.

        ``edges`` are left, top, right and bottom in pixels of the original picture.
        """
        font = self._fitting_font(text)
        if font is None:
            return
        size = _tag_size(text, font)
        left, top, right, bottom = (edges * np.tile(self._zoom, 2)).tolist()
        place = self._free_place(_Rectangle(*map(round, (left, top, right, bottom))), size)
        self._write(text, font, place, colour)

    def _stroke(
        self, paths: Sequence[Matrix], thickness: float, colour: Colour, strength: float
    ) -> None:
        image = pillow()
        margin = thickness / 2 + 1
        ends = np.concatenate(paths)
        left, top = np.maximum(np.floor(ends.min(axis=0) - margin), 0).astype(int).tolist()
        right, bottom = np.ceil(ends.max(axis=0) + margin).astype(int).tolist()
        width, height = min(right, self.width) - left, min(bottom, self.height) - top
        finer = _FINER if width * height * _FINER**2 <= _MOST_FINE_PIXELS else 1
        cover = image.new("L", (width * finer, height * finer))
        draw = _draw(cover)
        for path in paths:
            points = (path - (left, top)) * finer
            # Smooth paths need no rounded joints, which are slow.
            joint = "curve" if len(points) < _FEW_POINTS else None
            corners = [(x, y) for x, y in points.tolist()]
            draw.line(corners, 255, max(1, round(thickness * finer)), joint=joint)
        cover = cover.reduce(finer) if finer > 1 else cover
        if strength < 1:
            cover = cover.point([round(strength * value) for value in range(256)])
        self._picture.paste(colour, (left, top), cover)

    def _fitting_font(self, text: str) -> Any | None:
        for size in range(self._font_size, _LEAST_FONT - 1, -1):
            font = _font(size)
            width, height = _tag_size(text, font)
            if width <= self.width and height <= self.height:
                return font
        return None

    def _free_place(self, box: _Rectangle, size: tuple[int, int]) -> tuple[int, int]:
        """Return the upper left corner of a tag: above the box, else below, beside or inside."""
        width, height = size
        gap = round(2 * self.line)
        wanted = [
            (box.left, box.top - gap - height),
            (box.left, box.bottom + gap),
            (box.right + gap, box.top),
            (box.left - gap - width, box.top),
        ]
        last = self.width - width, self.height - height
        for left, top in wanted:
            if 0 <= top <= last[1] and (0 <= left <= last[0] or left == box.left):
                return min(max(left, 0), last[0]), top
        inside = box.left + 2 * gap, box.top + 2 * gap
        return min(max(inside[0], 0), last[0]), min(max(inside[1], 0), last[1])

    def _write(self, text: str, font: Any, place: tuple[int, int], colour: Colour) -> None:
        image = pillow()
        width, height = _tag_size(text, font)
        pad = _pad(font)
        cover = image.new("L", (width * _FINER, height * _FINER))
        _draw(cover).rounded_rectangle(
            (0, 0, width * _FINER - 1, height * _FINER - 1), pad * _FINER // 2 + 1, 255
        )
        cover = cover.reduce(_FINER)
        self._picture.paste(_HALO, place, cover.point([round(0.8 * value) for value in range(256)]))
        left, top = place
        draw = _draw(self._picture)
        bar = left + pad, top + pad, left + pad + max(2, pad // 2), top + height - pad - 1
        draw.rectangle(bar, colour)
        middle = top + height / 2
        draw.text((bar[2] + pad, middle), text, (255, 255, 255), font, anchor="lm")


@cache
def _font(size: int) -> Any:
    """Return Pillow's built-in font, which is available on every system."""
    from PIL import ImageFont

    return ImageFont.load_default(size)


def _draw(picture: Any) -> Any:
    from PIL import ImageDraw

    return ImageDraw.Draw(picture)


def _pad(font: Any) -> int:
    return max(4, round(0.32 * font.size))


def _tag_size(text: str, font: Any) -> tuple[int, int]:
    pad = _pad(font)
    return 3 * pad + max(2, pad // 2) + ceil(font.getlength(text)), round(1.6 * font.size)


def _border(regions: Regions, place: int) -> list[Matrix]:
    """Return the closed paths around a region, of (x, y) in pixels of its picture.

    Tiny parts and holes are left out: their lines would cover the region itself.
    """
    left, top, right, bottom = regions.edges[place].tolist()
    if regions.is_box[place]:
        return [np.array([(left, top), (right, top), (right, bottom), (left, bottom)])]
    first = int(left), int(top)
    strips = slice(regions.strip_ptr[place], regions.strip_ptr[place + 1])
    # A margin of one empty pixel closes the paths of a region at the border of the picture.
    inside = np.zeros((int(bottom) - first[1] + 2, int(right) - first[0] + 2))
    column = regions.column[strips] - first[0] + 1
    np.add.at(inside, (regions.top[strips] - first[1] + 1, column), 1)
    np.add.at(inside, (regions.bottom[strips] - first[1] + 1, column), -1)
    inside = np.cumsum(inside, axis=0)
    found = IMAGES.load("skimage.measure").find_contours(inside, 0.5)
    areas = [_area_within(path) for path in found]
    # Contours are relative to the centres of pixels, rows first.
    return [
        path[:-1, ::-1] + first - 0.5
        for path, area in zip(found, areas, strict=True)
        if area >= _SMALLEST_SHARE * max(areas)
    ]


def _area_within(closed: Matrix) -> float:
    y, x = (closed - closed[0]).T
    return abs(float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))) / 2


def _smooth(corners: Matrix, step: float, window: float) -> Matrix:
    """Resample a closed path at equal steps and smooth it by a moving average over the window.

    Without a window the corners themselves are among the points.
    """
    closed = np.vstack([corners, corners[:1]])
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(closed, axis=0).T))])
    at = np.linspace(0, along[-1], max(12, round(along[-1] / step)), endpoint=False)
    if not window:
        at = np.union1d(at, along[:-1])
    points = np.column_stack([np.interp(at, along, closed[:, axis]) for axis in (0, 1)])
    wide = min(round(window / step), len(points) // 6) // 2
    if wide:
        around = np.vstack([points[-wide:], points, points[:wide]])
        total = np.cumsum(np.vstack([np.zeros((1, 2)), around]), axis=0)
        points = (total[2 * wide + 1 :] - total[: -2 * wide - 1]) / (2 * wide + 1)
    # The first two points are repeated, so that the line closes without a notch.
    return np.vstack([points, points[:2]])


def _dashes(points: Matrix, on: float, off: float) -> list[Matrix]:
    """Split a closed path into an integer number of dashes, so that all have the same length."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    number = max(2, round(along[-1] / (on + off)))
    phase = along / max(along[-1], 1e-9) * number
    shown = phase % 1 < on / (on + off)
    which = np.floor(phase).astype(int)
    paths = [points[shown & (which == dash)] for dash in range(number)]
    return [path for path in paths if len(path) > 1] or [points]
