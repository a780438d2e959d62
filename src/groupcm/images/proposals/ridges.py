"""Long thin lines, dark or bright: cracks, scratches, vessels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.extra import skimage
from groupcm.images.proposals.checks import check_whole, check_widths
from groupcm.images.proposals.extremal import parts_above
from groupcm.images.proposals.turns import by_turns
from groupcm.images.regions import Regions
from groupcm.images.view import View

__all__ = ["Ridges"]

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
    feature = skimage("feature")
    if min(plane.shape) < 2:
        return np.zeros_like(plane)
    hessian = feature.hessian_matrix(
        plane, sigma=width, mode="nearest", use_gaussian_derivatives=False
    )
    larger, smaller = feature.hessian_matrix_eigvals(hessian)
    return (width**2 * np.maximum(larger - np.maximum(smaller, 0), 0)).astype(np.float32)
