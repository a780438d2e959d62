"""Extremal regions, which differ in brightness or colour from all of their surroundings.

`Ridges` are long thin lines, dark or bright, such as cracks, scratches and vessels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from groupcm.images.filters import curvatures, gaussian
from groupcm.images.proposals.base import (
    by_turns,
    check_whole,
    check_widths,
    details,
    smoothed,
    tree_regions,
)
from groupcm.images.proposals.branches import Branches
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.images.tree import component_tree, contrasts
from groupcm.utils.typing import Float32

__all__ = ["ExtremalRegions", "Ridges"]

_N_LEVELS = 256
_AROUND = 1.5
_DARK = 10.0
_RIDGE_STEP = 0.25


@dataclass(frozen=True)
class ExtremalRegions:
    """Connected components above or below every level of a map (its max-tree), by contrast.

    The maps are the lightness without structures coarser than each width, and the redness, with
    and without coarse structures. The contrast of a component is its mean minus the level of the
    smallest component around it that is 1.5 times as large; larger components count more.

    Parameters
    ----------
    widths
        Widths in pixels; one map per width, of the details finer than that.
    smallest
        The smallest area of a candidate in pixels.
    each
        The largest number of candidates per map and sign.

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
        """Return the components, interleaved over the maps."""
        found = self.branches(view)
        return _none(view) if found is None else found.regions()

    def branches(self, view: View) -> Branches | None:
        """Return the same as `propose`, without their pixels; None for no map."""
        found = [
            extremal_regions(sign * plane, step, self.smallest, self.each)
            for plane, step in self._maps(view)
            for sign in (-1, 1)
        ]
        return by_turns(found)

    def _maps(self, view: View) -> Iterator[tuple[Float32, float]]:
        """Iterate over the maps and the steps between their levels."""
        lightness, green_red = view.lab[:, :, 0], view.lab[:, :, 1]
        for width in self.widths:
            yield details(lightness, 1.0 if width <= 4 else 1.5, width), 0.25
        redness = (100 * green_red / (lightness + _DARK)).astype(np.float32)
        yield smoothed(redness, 1.0), 0.5
        yield details(green_red, 1.5, 16.0), 0.25


def extremal_regions(plane: Float32, step: float, smallest: int, at_most: int) -> Branches:
    """Return the components of highest contrast above the levels of a map, ``step`` apart."""
    levels = np.minimum((plane - plane.min()) / step, _N_LEVELS - 1).astype(np.uint8)
    parent, level, area, edges, own = component_tree(np.ascontiguousarray(levels), _N_LEVELS)
    contrast = contrasts(parent, level, area, _AROUND) * area**0.25
    large = np.flatnonzero(area >= smallest)
    large = large[large > 0]
    order = large[np.argsort(-contrast[large], kind="stable")]
    return tree_regions(parent, edges, area, own, order, at_most)


@dataclass(frozen=True)
class Ridges:
    """Connected parts of lines that differ from both of their sides, by contrast.

    On a line the smoothed lightness is curved across and not along it: the larger of its two
    principal curvatures is positive for a dark line, the smaller negative for a bright one.

    Parameters
    ----------
    dark, bright
        Widths of the smoothing in pixels, for dark and for bright lines.
    smallest
        The smallest area of a candidate in pixels.
    each
        The largest number of candidates per width.

    Examples
    --------
    >>> rgb = np.full((40, 60, 3), 0.6, dtype=np.float32)
    >>> rgb[20, 5:55] = 0.1
    >>> left, top, right, bottom = Ridges().propose(View(rgb)).edges[0]
    >>> bool(left < 8 and right > 52 and bottom - top < 8)
    True
    """

    dark: tuple[float, ...] = (1.0, 3.0)
    bright: tuple[float, ...] = (1.5,)
    smallest: int = 10
    each: int = 30

    def __post_init__(self) -> None:
        check_whole(smallest=self.smallest, each=self.each)
        check_widths(dark=self.dark, bright=self.bright)

    def propose(self, view: View) -> Regions:
        """Return the lines, interleaved over the widths."""
        found = self.branches(view)
        return _none(view) if found is None else found.regions()

    def branches(self, view: View) -> Branches | None:
        """Return the same as `propose`, without their pixels; None for no width."""
        lightness = view.lab[:, :, 0]
        by_width = {width: _curvatures(lightness, width) for width in {*self.dark, *self.bright}}
        # The curvatures of the negative are those of the map, negated and exchanged.
        maps = [_ridges(*by_width[width], width) for width in self.dark]
        maps += [_ridges(-by_width[width][1], -by_width[width][0], width) for width in self.bright]
        found = [extremal_regions(each, _RIDGE_STEP, self.smallest, self.each) for each in maps]
        return by_turns(found) if found else None


def _none(view: View) -> Regions:
    return Regions.from_boxes([], view.height, view.width)


def _curvatures(plane: Float32, width: float) -> tuple[Float32, Float32]:
    if min(plane.shape) < 2:
        return np.zeros_like(plane), np.zeros_like(plane)
    return curvatures(gaussian(plane, width, truncate=4.0))


def _ridges(larger: Float32, smaller: Float32, width: float) -> Float32:
    """Return the curvature across dark lines, minus the curvature along them."""
    return (width**2 * np.maximum(larger - np.maximum(smaller, 0), 0)).astype(np.float32)
