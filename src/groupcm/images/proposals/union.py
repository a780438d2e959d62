"""Candidates from several ways to find them, without near duplicates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.images.proposals.extremal import ExtremalRegions
from groupcm.images.proposals.merging import Merging
from groupcm.images.proposals.proposer import Proposer
from groupcm.images.proposals.ridges import Ridges
from groupcm.images.proposals.windows import Windows
from groupcm.images.regions import Regions
from groupcm.images.view import View

__all__ = ["Proposals"]


@dataclass(frozen=True)
class Proposals:
    """Candidates of several proposers by turns; the whole picture is always the last.

    Parameters
    ----------
    parts
        The proposers. Each gives its most promising candidates first.
    at_most
        How many candidates a picture has at most, the whole picture among them.
    distinct
        A candidate is dropped where an earlier one is so much alike: the overlap of their boxes
        and the ratio of their areas are both at least this.

    Examples
    --------
    >>> view = View(np.zeros((20, 40, 3), dtype=np.float32))
    >>> found = Proposals((Windows(),), at_most=10).propose(view)
    >>> len(found), found.edges[-1].tolist()
    (10, [0.0, 0.0, 40.0, 20.0])
    """

    parts: tuple[Proposer, ...]
    at_most: int = 500
    distinct: float = 0.9

    def __post_init__(self) -> None:
        if self.at_most < 1:
            raise ValueError(f"at_most is {self.at_most}; it must be 1 or more")
        if not 0 < self.distinct <= 1:
            raise ValueError(f"distinct is {self.distinct}; it must be above 0 and at most 1")

    @classmethod
    def default(cls) -> Proposals:
        """What finds most objects of most pictures."""
        return cls((Merging(), ExtremalRegions(), Ridges(), Windows()))

    def propose(self, view: View) -> Regions:
        """Return the candidates of a picture; the last is the whole picture."""
        whole = Regions.from_boxes([[0, 0, view.width, view.height]], view.height, view.width)
        found = [part.propose(view) for part in self.parts]
        turn = np.concatenate([[0], *(np.arange(len(each)) + 1 for each in found)])
        order = np.argsort(turn, kind="stable")
        joined = Regions.joined([whole, *found]).take(order)
        kept = _distinct(joined, self.distinct, self.at_most)
        return joined.take(np.append(kept[1:], 0))


def _distinct(regions: Regions, least: float, at_most: int) -> NDArray[np.int64]:
    """Places of the first regions that are not nearly one before them."""
    kept: list[int] = []
    box_areas = np.prod(regions.edges[:, 2:] - regions.edges[:, :2], axis=1)
    for place in range(len(regions)):
        edges, box, area = regions.edges[place], box_areas[place], regions.areas[place]
        others = regions.edges[kept]
        first = np.maximum(edges[:2], others[:, :2])
        last = np.minimum(edges[2:], others[:, 2:])
        shared = np.maximum(last - first, 0).prod(axis=1)
        alike = shared >= least * (box + box_areas[kept] - shared)
        areas = regions.areas[kept]
        alike &= np.minimum(areas, area) >= least * np.maximum(areas, area)
        if not alike.any():
            kept.append(place)
            if len(kept) == at_most:
                break
    return np.array(kept, dtype=np.int64)
