"""Pieces of similar colour, merged with their neighbours step by step.

Superpixels: compact pieces of similar colour that cover the picture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.proposals.base import (
    by_turns,
    check_positive,
    check_whole,
    check_widths,
    details,
    smoothed,
    tree_regions,
)
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.images.merging import graph_pieces, merge_tree, pieces_and_borders
from groupcm.utils.extras import IMAGES

__all__ = ["Merging", "Superpixels"]

_MOST_PIECES = 1500  # the table of borders grows with its square
_COARSE = 16.0
# Of the distance of colours and the strength of the border: what joins two pieces. The exponent
# of the smaller area makes small pieces join first.
_CRITERIA = ((1.0, 0.0, 0.5), (0.0, 1.0, 0.5))
_SURFACES = ("colour", "detail", "chroma")


@dataclass(frozen=True)
class Merging:
    """Graph-based pieces (Felzenszwalb and Huttenlocher 2004) and all that they merge into.

    Neighbours that are most alike merge first, until one piece is left; one tree goes by the
    colours of pieces, one by the edge along their border. A candidate is the more promising the
    longer it lasts.

    Parameters
    ----------
    surface
        What is alike: ``"colour"``, ``"detail"`` (colour less what is coarser than 16 pixels),
        or ``"chroma"``, where lightness counts little.
    scale
        Larger makes larger pieces to begin with.
    smallest
        Pixels that a piece needs.
    smooth
        Width of the smoothing beforehand, in pixels.
    each
        Candidates of each tree at most.

    Examples
    --------
    >>> rgb = np.full((40, 40, 3), 0.5, dtype=np.float32)
    >>> rgb[10:30, 12:24, 0] = 0.8
    >>> found = Merging().propose(View(rgb))
    >>> [12.0, 10.0, 24.0, 30.0] in found.edges.tolist()
    True
    """

    surface: str = "colour"
    scale: float = 10.0
    smallest: int = 10
    smooth: float = 0.8
    each: int = 60

    def __post_init__(self) -> None:
        if self.surface not in _SURFACES:
            raise ValueError(
                f"the surface {self.surface!r} is not one of {', '.join(map(repr, _SURFACES))}"
            )
        check_whole(smallest=self.smallest, each=self.each)
        check_positive(scale=self.scale)
        check_widths(smooth=self.smooth)

    def propose(self, view: View) -> Regions:
        """Return the pieces of the trees by turns, without the whole picture."""
        planes = self._planes(view)
        labels, count = _few_pieces(planes, self.scale, self.smallest)
        strength = 100 * np.hypot(*view.gradient).astype(np.float32)
        pieces = pieces_and_borders(planes, strength, labels, count)
        # In the tree of merging, pieces come before what they merge into; here it is turned round.
        own = (2 * count - 2) - labels
        found = []
        for criteria in _CRITERIA:
            parent, cost, area, edges = merge_tree(*pieces, *criteria)
            lasts = cost[parent][::-1]
            order = np.argsort(-lasts, kind="stable")
            order = order[order > 0]
            around = (len(parent) - 1 - parent)[::-1]
            tree = around, edges[::-1], area[::-1]
            found.append(tree_regions(*tree, own, order, self.each))
        return by_turns(found)

    def _planes(self, view: View) -> NDArray[np.float32]:
        if self.surface == "detail":
            return np.ascontiguousarray(details(view.lab, self.smooth, _COARSE))
        weight = (0.3, 1.0, 1.0) if self.surface == "chroma" else (1.0, 1.0, 1.0)
        return np.ascontiguousarray(
            smoothed(view.lab * np.array(weight, dtype=np.float32), self.smooth)
        )


def _few_pieces(
    planes: NDArray[np.float32], scale: float, smallest: int
) -> tuple[NDArray[np.int32], int]:
    """Graph-based pieces; where there are too many, small ones join until there are not."""
    while True:
        labels, count = graph_pieces(planes, scale, smallest)
        if count <= _MOST_PIECES:
            return labels, count
        smallest *= 2


@dataclass(frozen=True)
class Superpixels:
    """Pieces found by SLIC (Achanta et al. 2012), about ``count`` of them, largest first.

    Parameters
    ----------
    count
        About how many pieces.
    compactness
        Larger makes squarer pieces, smaller lets them follow colours.

    Examples
    --------
    >>> view = View(np.zeros((20, 30, 3), dtype=np.float32))
    >>> len(Superpixels(count=6).propose(view))
    6
    """

    count: int = 100
    compactness: float = 10.0

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"count is {self.count}; it must be 1 or more")
        if self.compactness <= 0:
            raise ValueError(f"compactness is {self.compactness}; it must be positive")

    def propose(self, view: View) -> Regions:
        """Return the pieces, the largest first."""
        labels = IMAGES.load("skimage.segmentation").slic(
            view.lab,
            n_segments=min(self.count, view.height * view.width),
            compactness=self.compactness,
            convert2lab=False,
            start_label=1,
            channel_axis=2,
        )
        _, labels = np.unique(labels, return_inverse=True)
        pieces = Regions.from_labels(labels.reshape(view.height, view.width) + 1)
        return pieces.take(np.argsort(-pieces.areas, kind="stable"))
