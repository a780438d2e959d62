"""Regions that are brighter, darker or of another colour than all that surrounds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.proposals.checks import check_whole, check_widths
from groupcm.images.proposals.smoothing import details, smoothed
from groupcm.images.proposals.tree_regions import tree_regions
from groupcm.images.proposals.turns import by_turns
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.proposals_contrast import contrasts
from groupcm.kernels.proposals_tree import component_tree

__all__ = ["ExtremalRegions", "parts_above"]

_N_LEVELS = 256
_AROUND = 1.5
_DARK = 10.0


@dataclass(frozen=True)
class ExtremalRegions:
    """Connected parts above or below every level of a map (its max-tree), the clearest first.

    The maps are the lightness less what is coarser than some width, and the redness, as it is
    and less what is coarse. A part is clear where its mean stands far above the level of the
    first part around it that is half as large again, the more so if it is large.

    Parameters
    ----------
    widths
        Widths in pixels; a map each of details finer than that.
    smallest
        Pixels that a candidate needs.
    each
        Candidates of each map and sign at most.

    Examples
    --------
    >>> rgb = np.full((40, 40, 3), 0.5, dtype=np.float32)
    >>> rgb[10:20, 12:24] = 0.2
    >>> found = ExtremalRegions().propose(View(rgb)).edges
    >>> bool((np.abs(found - [12, 10, 24, 20]).max(axis=1) <= 1).any())
    True
    """

    widths: tuple[float, ...] = (4.0, 8.0, 32.0)
    smallest: int = 10
    each: int = 30

    def __post_init__(self) -> None:
        check_whole(smallest=self.smallest, each=self.each)
        check_widths(widths=self.widths)

    def propose(self, view: View) -> Regions:
        """Return the parts, those of the maps by turns."""
        found = [
            parts_above(sign * plane, step, self.smallest, self.each)
            for plane, step in self._maps(view)
            for sign in (-1, 1)
        ]
        return by_turns(found)

    def _maps(self, view: View) -> Iterator[tuple[NDArray[np.float32], float]]:
        """Maps, and the step from one level to the next."""
        lightness, green_red = view.lab[:, :, 0], view.lab[:, :, 1]
        for width in self.widths:
            yield details(lightness, 1.0 if width <= 4 else 1.5, width), 0.25
        redness = (100 * green_red / (lightness + _DARK)).astype(np.float32)
        yield smoothed(redness, 1.0), 0.5
        yield details(green_red, 1.5, 16.0), 0.25


def parts_above(plane: NDArray[np.float32], step: float, smallest: int, at_most: int) -> Regions:
    """Return the clearest connected parts above levels of a map, so far apart as ``step``."""
    levels = np.minimum((plane - plane.min()) / step, _N_LEVELS - 1).astype(np.uint8)
    parent, level, area, edges, own = component_tree(np.ascontiguousarray(levels), _N_LEVELS)
    clear = contrasts(parent, level, area, _AROUND) * area**0.25
    order = np.argsort(-clear, kind="stable")
    order = order[(area[order] >= smallest) & (order > 0)]
    return tree_regions(parent, edges, area, own, order, at_most)
