"""Directions of gradients in the cells of a candidate's box (HOG)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features.areas import Areas, Strips, pixel_edges
from groupcm.images.regions import Regions

__all__ = ["cell_boxes", "direction_shares", "distinct_cells", "mirrored_shares", "turned_shares"]

_Doubles = NDArray[np.float64]
# How much of the picture's usual strength is added below the line: where there is little
# gradient, its directions are noise.
_CALM = 0.25


def cell_boxes(regions: Regions, cells: int) -> NDArray[np.int64]:
    """Cut the box of every region into cells × cells boxes, shape (rows, columns, n, 4).

    Cells of a box with fewer pixels than cells overlap, so that each has a pixel.

    Examples
    --------
    >>> regions = Regions.from_boxes([[0, 0, 4, 1]], height=3, width=9)
    >>> cell_boxes(regions, 2).reshape(4, 4).tolist()
    [[0, 0, 2, 1], [2, 0, 4, 1], [0, 0, 2, 1], [2, 0, 4, 1]]
    """
    edges = pixel_edges(regions)
    first, sides = edges[:, :2], edges[:, 2:] - edges[:, :2]
    step = np.arange(cells)[:, None, None]
    start = first + sides * step // cells
    end = np.maximum(first + sides * (step + 1) // cells, start + 1)
    boxes = np.empty((cells, cells, len(regions), 4), dtype=np.int64)
    boxes[..., 0], boxes[..., 2] = start[None, :, :, 0], end[None, :, :, 0]
    boxes[..., 1], boxes[..., 3] = start[:, None, :, 1], end[:, None, :, 1]
    return boxes


def direction_shares(oriented: NDArray[np.float32], regions: Regions, cells: int) -> _Doubles:
    """Share the strength of gradients in a box among directions, rows and columns of cells.

    Parameters
    ----------
    oriented
        Maps of `oriented_strength`.
    regions
        The candidates.
    cells
        Cells along a side.

    Returns
    -------
    Shape (directions, cells, cells, n). They add up to less than 1, to little where the box is
    calm compared with the picture.
    """
    boxes = cell_boxes(regions, cells)
    areas = Areas(Strips.of_boxes(boxes.reshape(-1, 4), regions.width))
    means = (areas.sums(oriented) / areas.pixels).reshape(len(oriented), *boxes.shape[:3])
    usual = oriented.sum(axis=0).mean(dtype=np.float64)
    total = means.sum(axis=(0, 1, 2)) + _CALM * cells**2 * usual
    return means / np.where(total > 0, total, 1)


def turned_shares(shares: _Doubles) -> _Doubles:
    """Add up the cells around the middle, each direction told from the line to the middle.

    A box turned by a right angle has the same sums, whatever is in it. The first is of gradients
    along the line to the middle, as a round spot has them. Shape (directions, n).
    """
    directions, cells = shares.shape[:2]
    turned = np.zeros((directions, shares.shape[3]))
    for row, column in np.ndindex(cells, cells):
        down, right = 2 * row - cells + 1, 2 * column - cells + 1
        if down or right:
            turn = round(np.arctan2(down, right) * directions / np.pi)
            turned += np.roll(shares[:, row, column], -turn, axis=0)
    return turned


def mirrored_shares(shares: _Doubles) -> _Doubles:
    """Mean of the shares of a box and of its mirror images, left to right and upside down.

    What a candidate is does not depend on the side one looks from, so that a model has three
    times fewer weights to learn. Shape (directions, cells, cells, n), each number as often as a
    mirror repeats it; `distinct_cells` names those that are not repetitions.
    """
    mirrored = np.roll(shares[::-1], 1, axis=0)
    level = (shares + mirrored[:, :, ::-1]) / 2
    turned = np.roll(level[::-1], 1, axis=0)
    return (level + turned[:, ::-1]) / 2


def distinct_cells(directions: int, cells: int) -> list[tuple[int, int, int]]:
    """Direction, row and column of the shares that no mirror repeats.

    Examples
    --------
    >>> distinct_cells(2, 2)
    [(0, 0, 0), (1, 0, 0)]
    >>> len(distinct_cells(8, 3))
    23
    """
    kept = []
    for place in np.ndindex(directions, cells, cells):
        direction, row, column = place
        other = (-direction) % directions
        images = [
            (other, row, cells - 1 - column),
            (other, cells - 1 - row, column),
            (direction, cells - 1 - row, cells - 1 - column),
        ]
        if all(place <= image for image in images):
            kept.append(place)
    return kept
