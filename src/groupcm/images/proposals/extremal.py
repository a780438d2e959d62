"""Regions that are brighter, darker or of another colour than all that surrounds them.

Long thin lines, dark or bright: cracks, scratches, vessels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.proposals.base import (
    by_turns,
    check_whole,
    check_widths,
    details,
    smoothed,
    tree_regions,
)
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.images.tree import component_tree, contrasts
from groupcm.utils.extras import IMAGES

__all__ = ["ExtremalRegions", "Ridges", "parts_above"]

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


_STEP = 0.25


@dataclass(frozen=True)
class Ridges:
    """Connected parts of lines that stand out from both their sides, the clearest first.

    A line is where the picture, smoothed, is bent across and not along: where the larger of the
    two curvatures of its lightness is positive for a dark line, the smaller negative for a
    bright one.

    Parameters
    ----------
    dark, bright
        Widths of the smoothing in pixels, for dark and for bright lines.
    smallest
        Pixels that a candidate needs.
    each
        Candidates of each width at most.

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
        """Return the lines, those of the widths by turns."""
        lightness = view.lab[:, :, 0]
        maps = [_bend(lightness, width) for width in self.dark]
        maps += [_bend(-lightness, width) for width in self.bright]
        found = [parts_above(each, _STEP, self.smallest, self.each) for each in maps]
        return by_turns(found) if found else Regions.from_boxes([], view.height, view.width)


def _bend(plane: NDArray[np.float32], width: float) -> NDArray[np.float32]:
    """Curvature across a dark line, without what is bent along it too."""
    feature = IMAGES.load("skimage.feature")
    if min(plane.shape) < 2:
        return np.zeros_like(plane)
    hessian = feature.hessian_matrix(
        plane, sigma=width, mode="nearest", use_gaussian_derivatives=False
    )
    larger, smaller = feature.hessian_matrix_eigvals(hessian)
    return (width**2 * np.maximum(larger - np.maximum(smaller, 0), 0)).astype(np.float32)
