"""The union of several proposers, without near duplicates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groupcm.errors import Argument, ParameterError
from groupcm.images.proposals.base import Proposer, distinct, turn_order
from groupcm.images.proposals.branches import Branches, regions_of
from groupcm.images.proposals.extremal import ExtremalRegions, Ridges
from groupcm.images.proposals.merging import Merging
from groupcm.images.proposals.windows import Given, Windows
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.utils.typing import Index

__all__ = ["Proposals"]


@dataclass(frozen=True)
class Proposals:
    """Interleaved candidates of several proposers; the whole picture is always the last.

    About the same share of the candidates of each proposer is taken; given candidates come first.

    Parameters
    ----------
    parts
        The proposers. Each returns its most promising candidates first.
    at_most
        The largest number of candidates per picture, including the whole picture.
    distinct
        A candidate is dropped as a near duplicate of an earlier one where both the IoU of their
        boxes and the ratio of the square roots of their areas are at least this.

    Examples
    --------
    >>> view = View(np.zeros((20, 40, 3), dtype=np.float32))
    >>> found = Proposals((Windows(),), at_most=10).propose(view)
    >>> len(found), found.edges[-1].tolist()
    (10, [0.0, 0.0, 40.0, 20.0])
    """

    parts: tuple[Proposer, ...]
    at_most: int = 300
    distinct: float = 0.7

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("there is no way to find candidates; name one or more")
        if self.at_most < 1:
            raise ParameterError(Argument("at_most"), f" is {self.at_most}; it must be 1 or more")
        if not 0 < self.distinct <= 1:
            raise ValueError(f"distinct is {self.distinct}; it must be above 0 and at most 1")

    @classmethod
    def default(cls) -> Proposals:
        """Return proposers that find most objects in many kinds of pictures."""
        return cls(
            (
                Merging("detail", each=90),
                Merging("chroma", scale=5.0, each=90),
                ExtremalRegions(smallest=6, each=60),
                Ridges(dark=(1.0, 1.5, 3.0), smallest=6, each=45),
                Windows(aspects=(1.0,)),
            )
        )

    def propose(self, view: View) -> Regions:
        """Return the candidates of a picture; the last is the whole picture."""
        return self.with_origin(view)[0]

    def with_origin(self, view: View) -> tuple[Regions, Index]:
        """Return the candidates, and the index of each among the given ones, -1 for others."""
        whole = Regions.from_boxes([[0, 0, view.width, view.height]], view.height, view.width)
        found = [_found(part, view) for part in self.parts]
        given = [
            np.arange(len(regions)) if isinstance(part, Given) else np.full(len(regions), -1)
            for part, regions in zip(self.parts, found, strict=True)
        ]
        origin = np.concatenate([[-1], *given])
        order = np.append(0, turn_order([len(regions) for regions in found]) + 1)
        # Given candidates come first, so that they are not dropped as near duplicates.
        is_given = origin[order] >= 0
        order = np.concatenate([order[:1], order[is_given], order[1:][~is_given[1:]]])
        several = [whole, *found]
        edges = np.concatenate([each.edges for each in several])[order]
        areas = np.concatenate([each.areas for each in several])[order]
        kept = distinct(edges, areas, self.distinct, self.at_most)
        chosen = np.append(kept[1:], 0)
        return regions_of(several, order[chosen]), origin[order][chosen]


def _found(part: Proposer, view: View) -> Regions | Branches:
    """Return the candidates of a proposer, without pixels where it can."""
    branches = getattr(part, "branches", None)
    found = None if branches is None else branches(view)
    return part.propose(view) if found is None else found
