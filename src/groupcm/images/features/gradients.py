"""Edges of a candidate: along its outline, inside it, and by direction in the cells of its box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.features.bands import smoothed
from groupcm.images.features.cells import (
    direction_shares,
    distinct_cells,
    mirrored_shares,
    turned_shares,
)
from groupcm.images.features.channels import CHANNELS, column_by_column
from groupcm.images.features.outline_edges import OUTLINE_NUMBERS, outline_numbers
from groupcm.images.features.picture_scale import LEAST_SPREAD, PictureScale
from groupcm.images.features.slopes import SLOPE_NUMBERS, slope_numbers, slopes
from groupcm.images.features.surroundings import Surroundings
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.features_gradient import oriented_strength

__all__ = ["Gradients"]

_LAB = CHANNELS[:3]
_SMOOTH = 1.0

_MOST_NUMBERS = 100_000


@dataclass(frozen=True)
class Gradients:
    """Edges in the slightly smoothed picture, in units of the picture's own spread.

    ``outline`` is of lightness and colour across the candidate's outline, ``inside`` of
    lightness within it, ``cell`` its directions in the cells of the box (HOG), by row, column
    and direction, the same for mirror images, and ``turned`` the same in a form that turning the
    candidate hardly changes.

    Parameters
    ----------
    cells
        Cells along a side of the box.
    orientations
        Directions told apart, over half a turn.
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
        if self.cells**2 * self.orientations > _MOST_NUMBERS:
            raise ValueError(
                f"{self.cells} × {self.cells} cells of {self.orientations} orientations are more "
                f"than {_MOST_NUMBERS:,} features; take fewer"
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

    def measure(self, view: View, regions: Regions) -> NDArray[np.float32]:
        """Measure every region; shape (n, number of names)."""
        lab = column_by_column(view.lab) / np.float32(100)
        lab /= PictureScale.of(lab, LEAST_SPREAD).spread[:, :, None].astype(np.float32)
        lab = np.stack([smoothed(each, _SMOOTH) for each in lab])
        down, right = slopes(lab[0])
        oriented = np.zeros((self.orientations, *down.shape), dtype=np.float32)
        oriented_strength(down, right, oriented)
        shares = mirrored_shares(direction_shares(oriented, regions, self.cells))
        surroundings = Surroundings(regions, self.margin)
        parts = [
            outline_numbers(lab, surroundings.strips),
            slope_numbers(down, right, surroundings),
            np.sqrt(turned_shares(shares)[: self.orientations // 2 + 1]),
            np.sqrt(shares[tuple(np.transpose(self._cells()))]),
        ]
        return np.concatenate(parts).T.astype(np.float32)

    def _cells(self) -> list[tuple[int, int, int]]:
        return distinct_cells(self.orientations, self.cells)
