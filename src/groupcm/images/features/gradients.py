"""Gradients of a candidate: along its outline, inside it, and in the cells of its box (HOG)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groupcm.images import filters
from groupcm.images.features._areas import (
    Areas,
    Strips,
    Surroundings,
    areas_of,
    pixel_edges,
    strips_of,
    surroundings_of,
)
from groupcm.images.features._maps import (
    CHANNELS,
    lab_maps,
    lab_scale,
    log_ratio,
    signed_and_size,
    smooth_lightness,
)
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.images.regions import outline_differences, outline_lengths
from groupcm.kernels.images.sums import oriented_sums, slope_sums, step_sums
from groupcm.utils.typing import Float32, Index, Matrix

__all__ = ["Gradients", "slopes"]

# The part of the picture's mean strength that is added to denominators: directions of weak
# gradients are noise.
_CALM = 0.25
_LAB = CHANNELS[:3]
_SMOOTH = 1.0
_MOST_FEATURES = 100_000
_LEAST_ENERGY = 1e-4
_LEAST_STEP = 0.01
OUTLINE_NUMBERS = ("picture", "inside", "signed", "signed_size", "agreement")
SLOPE_NUMBERS = (
    *("strength_picture", "strength_ring", "parallel", "parallel_ring"),
    *("radial", "radial_size"),
)


@dataclass(frozen=True)
class Gradients:
    """Gradients of the slightly smoothed picture, in units of the picture's own spread.

    ``outline`` is of lightness and colour across the candidate's outline, ``inside`` of lightness
    within it, ``cell`` the directions in the cells of the box (HOG), by row, column and direction,
    the same for mirror images, and ``turned`` the same in a form that is nearly invariant to
    rotation.

    Parameters
    ----------
    cells
        Number of cells along a side of the box.
    orientations
        Number of directions over half a turn.
    margin
        Width of the ring; see `Surroundings`.
    """

    cells: int = 3
    orientations: int = 8
    margin: float = 0.25

    def __post_init__(self) -> None:
        for name, value in (("cells", self.cells), ("orientations", self.orientations)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}; it must be a whole number, 1 or more")
        if self.cells**2 * self.orientations > _MOST_FEATURES:
            raise ValueError(
                f"{self.cells} × {self.cells} cells of {self.orientations} orientations are more "
                f"than {_MOST_FEATURES:,} features; take fewer"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, in their order."""
        return (
            *(f"gradients_outline_{what}_{c}" for what in OUTLINE_NUMBERS for c in _LAB),
            *(f"gradients_inside_{what}" for what in SLOPE_NUMBERS),
            *(f"gradients_turned_{i}" for i in range(self.orientations // 2 + 1)),
            *(f"gradients_cell_{r}_{c}_{i}" for i, r, c in self._cells()),
        )

    def measure(self, view: View, regions: Regions) -> Float32:
        """Return the features of each region, shape (n, d)."""
        spread = lab_scale(view).spread[1:, :, None].astype(np.float32)
        colour = (filters.gaussian(each, _SMOOTH) for each in lab_maps(view)[1:] / spread)
        lab = np.stack([smooth_lightness(view, _SMOOTH), *colour])
        down, right = slopes(lab[0])
        directions = direction_shares(down, right, self.orientations, regions, self.cells)
        shares = mirrored_shares(directions)
        surroundings = surroundings_of(regions, self.margin)
        parts = [
            outline_numbers(lab, regions),
            slope_numbers(down, right, surroundings),
            np.sqrt(turned_shares(shares)[: self.orientations // 2 + 1]),
            np.sqrt(shares[tuple(np.transpose(self._cells()))]),
        ]
        return np.concatenate(parts).T.astype(np.float32)

    def _cells(self) -> list[tuple[int, int, int]]:
        return distinct_cells(self.orientations, self.cells)


def cell_boxes(regions: Regions, cells: int) -> Index:
    """Split the box of each region into cells × cells boxes, shape (rows, columns, n, 4).

    In a box with fewer pixels than cells, cells overlap, so that each has a pixel.

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


def direction_shares(
    down: Float32, right: Float32, directions: int, regions: Regions, cells: int
) -> Matrix:
    """Return the shares of directions, rows and columns of cells in the gradients of a box.

    Parameters
    ----------
    down, right
        Gradients, shape (width, height).
    directions
        Number of directions over half a turn.
    regions
        The candidates.
    cells
        Number of cells along a side.

    Returns
    -------
    Shape (directions, cells, cells, n). The sum is below 1, and small where the gradients of the
    box are weak compared with the picture.
    """
    boxes = cell_boxes(regions, cells)
    areas = Areas(Strips.of_boxes(boxes.reshape(-1, 4), regions.width))
    parts = [
        areas.sums_by(oriented_sums, down, right, directions, start)
        for start in range(0, directions, 8)
    ]
    sums = np.concatenate([sums for sums, _ in parts])[:directions]
    means = (sums / areas.pixels).reshape(directions, *boxes.shape[:3])
    usual = sum(whole.sum() for _, whole in parts) / down.size
    total = means.sum(axis=(0, 1, 2)) + _CALM * cells**2 * usual
    return means / np.where(total > 0, total, 1)


def turned_shares(shares: Matrix) -> Matrix:
    """Sum the cells around the centre, with directions relative to the line to the centre.

    Rotating the content of a box by a right angle does not change the sums. The first is of
    gradients along the line to the centre, as for a round spot. Shape (directions, n).
    """
    directions, cells = shares.shape[:2]
    turned = np.zeros((directions, shares.shape[3]))
    for row, column in np.ndindex(cells, cells):
        down, right = 2 * row - cells + 1, 2 * column - cells + 1
        if down or right:
            turn = round(np.arctan2(down, right) * directions / np.pi)
            turned += np.roll(shares[:, row, column], -turn, axis=0)
    return turned


def mirrored_shares(shares: Matrix) -> Matrix:
    """Return the mean of the shares of a box and of its horizontal and vertical mirror images.

    The class of a candidate does not depend on mirroring, and a model has three times fewer
    weights to learn. Shape (directions, cells, cells, n), with repeated numbers; `distinct_cells`
    lists those that are not repetitions.
    """
    mirrored = np.roll(shares[::-1], 1, axis=0)
    level = (shares + mirrored[:, :, ::-1]) / 2
    turned = np.roll(level[::-1], 1, axis=0)
    return (level + turned[:, ::-1]) / 2


def distinct_cells(directions: int, cells: int) -> list[tuple[int, int, int]]:
    """Return direction, row and column of the shares that are not mirror images of another.

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


def slopes(grey: Float32) -> tuple[Float32, Float32]:
    """Return central differences of a map (width, height), downwards and to the right."""
    right, down = filters.slopes(grey)
    return down, right


def slope_numbers(down: Float32, right: Float32, surroundings: Surroundings) -> Matrix:
    """Return `SLOPE_NUMBERS`, shape (6, n).

    ``strength`` compares the energy of gradients inside with that of the picture and of the ring.
    ``parallel`` is the coherence of the structure tensor, 1 where all gradients are parallel.
    ``radial`` is the mean of gradient · (position − centre), positive where the candidate is
    brighter away from its centre, in units of strength and size.
    """
    means, whole = surroundings.means_by(slope_sums, down, right)
    usual = float(whole[0] + whole[1]) / down.size
    inside, ring = means.inside[:2].sum(axis=0), means.ring[:2].sum(axis=0)
    parallel = [_parallel(each, usual) for each in (means.inside, means.ring)]
    _, _, _, mean_right, mean_down, outward, middle_x, middle_y = means.inside
    flow = outward - mean_right * middle_x - mean_down * middle_y
    unit = np.sqrt(inside + 0.01 * usual + _LEAST_ENERGY)
    radial = flow / (np.sqrt(surroundings.pixels / np.pi) * unit)
    return np.stack(
        [
            log_ratio(inside, np.full_like(inside, usual), _LEAST_ENERGY),
            log_ratio(inside, ring, _LEAST_ENERGY),
            parallel[0],
            parallel[0] - parallel[1],
            radial,
            np.abs(radial),
        ]
    )


def _parallel(means: Matrix, usual: float) -> Matrix:
    xx, yy, xy = means[:3]
    return np.hypot(xx - yy, 2 * xy) / (xx + yy + 0.05 * usual + _LEAST_ENERGY)


def outline_numbers(maps: Float32, regions: Regions) -> Matrix:
    """Return `OUTLINE_NUMBERS`, each of all maps.

    A step is the difference between two neighbouring pixels. ``picture`` and ``inside`` compare the
    steps across the outline with those in the whole picture and in the candidate; ``signed`` is the
    mean step outwards; ``agreement`` is 1 where all steps outwards have the same sign.

    Parameters
    ----------
    maps
        In units of the picture's spread, shape (maps, width, height).
    regions
        The candidates.
    """
    strips, areas, n = strips_of(regions), areas_of(regions), len(regions)
    length, inner = np.empty((2, n))
    signed, size = np.empty((2, len(maps), n))
    _, width, height = maps.shape
    outline_lengths(*strips.by_area, width, height, length, inner)
    outline_differences(*strips.by_area, maps, signed, size)
    signed, size = signed / np.maximum(inner, 1), size / np.maximum(inner, 1)
    sums, whole = areas.sums_by(step_sums, maps)
    inside = sums[: len(maps)] / areas.pixels
    usual = np.broadcast_to(whole[: len(maps), None] / maps[0].size, size.shape)
    return np.concatenate(
        [
            log_ratio(size, usual, _LEAST_STEP),
            log_ratio(size, inside, _LEAST_STEP),
            *signed_and_size(signed / 0.2),
            np.abs(signed) / (size + 0.1 * _LEAST_STEP),
        ]
    )
