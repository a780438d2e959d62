"""Filling of polygons: the pixels inside, exactly as COCO's own tools compute them.

COCO rasterises on a grid five times finer than the pixels. A corner ``(x, y)`` is rounded to the
grid point ``(⌊5x + ½⌋, ⌊5y + ½⌋)`` (truncated towards zero), an edge to the grid points nearest to
it. Column ``c`` is sampled at its middle, between the grid columns ``5c + 2`` and ``5c + 3``: each
edge that crosses there changes from outside to inside or back at the higher ``v`` of its two grid
points, which is the pixel ``⌈(v + ½)/5 − ½⌉`` of the column. Pixels between an odd and an even
change are inside, so a polygon that crosses itself is filled by the even-odd rule.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from groupcm.annotations.limits import check_columns
from groupcm.annotations.runs import Runs, expand, from_edges
from groupcm.utils.typing import Index

__all__ = ["fill", "fill_box"]

_FINE = 5


def fill(points: ArrayLike, height: int, width: int) -> Runs:
    """Return the runs, column by column, of the pixels inside one closed polygon.

    Parameters
    ----------
    points
        One row ``x, y`` per corner.

    Examples
    --------
    >>> fill([[1, 0], [3, 0], [3, 2], [1, 2]], height=3, width=4)
    array([3, 2, 1, 2, 4])
    """
    fine = np.trunc(_FINE * np.asarray(points, dtype=np.float64) + 0.5).astype(np.int64)
    begin, end = fine, np.roll(fine, -1, axis=0)
    across = np.abs(end - begin)
    flat = across[:, 0] >= across[:, 1]
    column, top = (
        np.concatenate(both)
        for both in zip(
            _flat_crossings(begin[flat], end[flat], width),
            _steep_crossings(begin[~flat], end[~flat], width),
            strict=True,
        )
    )
    row = np.ceil(np.clip((top + 0.5) / _FINE - 0.5, 0, height)).astype(np.int64)
    return from_edges(column * height + row, height * width)


def fill_box(left: float, top: float, right: float, bottom: float, height: int, width: int) -> Runs:
    """Return the runs, column by column, of the pixels inside an upright box.

    They equal those of its polygon. All columns of a box are alike, so no edges are sorted.

    Examples
    --------
    >>> fill_box(1, 0, 3, 2, height=3, width=4)
    array([3, 2, 1, 2, 4])
    """
    begin, end, upper, lower = (
        math.trunc(_FINE * edge + 0.5) for edge in (left, right, top, bottom)
    )
    first, last = max(-((2 - begin) // _FINE), 0), min((end - 3) // _FINE, width - 1)
    rows = ((math.trunc(edge + 0.5) + 0.5) / _FINE - 0.5 for edge in (upper, lower))
    first_row, end_row = (math.ceil(min(max(row, 0), height)) for row in rows)
    n_columns, n_rows = last - first + 1, end_row - first_row
    if n_columns < 1 or n_rows < 1:
        return np.array([height * width])
    if n_rows == height:
        n_columns, n_rows = 1, n_columns * height
    check_columns(n_columns)
    runs = np.full(2 * n_columns + 1, n_rows)
    runs[2::2] = height - n_rows
    runs[0] = first * height + first_row
    runs[-1] = height * width - int(runs[:-1].sum())
    return runs if runs[-1] else runs[:-1]


def _flat_crossings(begin: Index, end: Index, width: int) -> tuple[Index, Index]:
    """Return where edges at least as wide as high cross columns: column and higher grid point."""
    begin, end = _ordered(begin, end, axis=0)
    edge, column = _columns_passed(begin[:, 0], end[:, 0], width)
    (x, y), (dx, dy) = begin[edge].T, (end - begin)[edge].T
    slope = dy / np.maximum(dx, 1)
    step = _FINE * column + 2 - x
    v = [np.trunc(y + slope * (step + side) + 0.5).astype(np.int64) for side in (0, 1)]
    return column, np.minimum(*v)


def _steep_crossings(begin: Index, end: Index, width: int) -> tuple[Index, Index]:
    """Return where edges higher than wide cross columns: column and higher grid point."""
    begin, end = _ordered(begin, end, axis=1)
    left, right = np.minimum(begin[:, 0], end[:, 0]), np.maximum(begin[:, 0], end[:, 0])
    edge, column = _columns_passed(left, right, width)
    (x, y), (dx, dy) = begin[edge].T, (end - begin)[edge].T
    slope = dx / np.maximum(dy, 1)
    beyond = _FINE * column + 3
    to_the_right = dx > 0
    # The first step with u = ⌊x + slope·step + ½⌋ beyond the middle: a closed form, corrected by
    # trying the steps around it in the order and with the arithmetic of COCO.
    guess = np.floor((beyond - 0.5 - x) / np.where(dx == 0, 1.0, slope)).astype(np.int64)
    tried = guess[:, None] + np.arange(-2, 4)
    right_of = x[:, None] + slope[:, None] * tried + 0.5 >= beyond[:, None]
    passed = right_of == to_the_right[:, None]
    step = guess - 2 + np.argmax(passed, axis=1)
    return column, y + step - 1


def _ordered(begin: Index, end: Index, axis: int) -> tuple[Index, Index]:
    """Return the edges with the end of the smaller coordinate first."""
    turn = (begin[:, axis] > end[:, axis])[:, None]
    return np.where(turn, end, begin), np.where(turn, begin, end)


def _columns_passed(left: Index, right: Index, width: int) -> tuple[Index, Index]:
    """Return pairs of an edge and a column whose middle is between the ends of the edge."""
    first = np.maximum(-((2 - left) // _FINE), 0)
    last = np.minimum((right - 3) // _FINE, width - 1)
    count = np.maximum(last - first + 1, 0)
    check_columns(int(count.sum()))
    return expand(first, count)
