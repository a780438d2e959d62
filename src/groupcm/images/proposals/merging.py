"""Segments of similar colour: hierarchical merging of neighbours, and superpixels."""

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
from groupcm.images.proposals.branches import Branches
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.images.merge_tree import merge_tree
from groupcm.kernels.images.merging import (
    large_pieces,
    pieces_and_borders,
    similar_pieces,
)
from groupcm.utils.extras import IMAGES
from groupcm.utils.typing import Float32

__all__ = ["Merging", "Superpixels"]

_MOST_SEGMENTS = 1500  # the matrix of borders grows with the square
_COARSE = 16.0
# Weights of colour distance and border strength in the cost of a merge, and the exponent of the
# harmonic area, by which small segments merge first.
_CRITERIA = ((1.0, 0.0, 0.5), (0.0, 1.0, 0.5))
_SURFACES = ("colour", "detail", "chroma")


@dataclass(frozen=True)
class Merging:
    """Graph-based segments (Felzenszwalb and Huttenlocher 2004) and all their hierarchical merges.

    The most similar neighbours merge first, until one segment is left; one tree is by colour, one
    by the edge strength along the border. Candidates that persist longer come first.

    Parameters
    ----------
    surface
        The measure of similarity: ``"colour"``, ``"detail"`` (colour without structures coarser
        than 16 pixels), or ``"chroma"``, with a low weight of lightness.
    scale
        Larger values give larger initial segments.
    smallest
        The smallest area of a segment in pixels.
    smooth
        Width of the initial smoothing in pixels.
    each
        The largest number of candidates per tree.

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
        """Return the segments of both trees, interleaved, without the whole picture."""
        return self.branches(view).regions()

    def branches(self, view: View) -> Branches:
        """Return the same as `propose`, without their pixels."""
        planes = self._planes(view)
        labels, count = _initial_segments(planes, self.scale, self.smallest)
        strength = 100 * np.hypot(*view.gradient).astype(np.float32)
        segments = pieces_and_borders(planes, strength, labels, count)
        # The merge tree lists children before parents; the reversed order lists parents first.
        own = (2 * count - 2) - labels
        found = []
        for criteria in _CRITERIA:
            parent, cost, area, edges = merge_tree(*segments, *criteria)
            order = np.argsort(-cost[parent][::-1], kind="stable")
            tree = (len(parent) - 1 - parent)[::-1], edges[::-1], area[::-1]
            found.append(tree_regions(*tree, own, order[order > 0], self.each))
        return by_turns(found)

    def _planes(self, view: View) -> Float32:
        if self.surface == "detail":
            return np.ascontiguousarray(details(view.lab, self.smooth, _COARSE))
        weight = (0.3, 1.0, 1.0) if self.surface == "chroma" else (1.0, 1.0, 1.0)
        return np.ascontiguousarray(
            smoothed(view.lab * np.array(weight, dtype=np.float32), self.smooth)
        )


def _initial_segments(
    planes: Float32, scale: float, smallest: int
) -> tuple[NDArray[np.int32], int]:
    """Return graph-based segments, with a larger minimum area where there would be too many."""
    pieces = similar_pieces(planes, scale)
    while True:
        labels, count = large_pieces(*pieces, smallest)
        if count <= _MOST_SEGMENTS:
            return labels, count
        smallest *= 2


@dataclass(frozen=True)
class Superpixels:
    """Superpixels of SLIC (Achanta et al. 2012), about ``count`` of them, the largest first.

    Parameters
    ----------
    count
        The approximate number of superpixels.
    compactness
        Larger values give squarer superpixels, smaller ones follow colours more closely.

    Examples
    --------
    >>> view = View(np.zeros((20, 30, 3), dtype=np.float32))
    >>> len(Superpixels(count=6).propose(view))
    6
    """

    count: int = 100
    compactness: float = 10.0

    def __post_init__(self) -> None:
        check_whole(count=self.count)
        check_positive(compactness=self.compactness)

    def propose(self, view: View) -> Regions:
        """Return the superpixels, the largest first."""
        labels = IMAGES.load("skimage.segmentation").slic(
            view.lab,
            n_segments=min(self.count, view.height * view.width),
            compactness=self.compactness,
            convert2lab=False,
            start_label=1,
            channel_axis=2,
        )
        _, labels = np.unique(labels, return_inverse=True)
        regions = Regions.from_labels(labels.reshape(view.height, view.width) + 1)
        return regions.take(np.argsort(-regions.areas, kind="stable"))
