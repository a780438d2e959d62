"""Candidates from several ways to find them, without near duplicates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import Argument, ParameterError
from groupcm.images.proposals.base import Proposer, distinct, turn_order
from groupcm.images.proposals.extremal import ExtremalRegions, Ridges
from groupcm.images.proposals.merging import Merging
from groupcm.images.proposals.windows import Given, Windows
from groupcm.images.regions import Regions
from groupcm.images.view import View

__all__ = ["Proposals"]


@dataclass(frozen=True)
class Proposals:
    """Candidates of several proposers by turns; the whole picture is always the last.

    Of every proposer about the same share of what it finds is taken; given candidates come first.

    Parameters
    ----------
    parts
        The proposers. Each gives its most promising candidates first.
    at_most
        How many candidates a picture has at most, the whole picture among them.
    distinct
        A candidate is dropped where an earlier one is so much alike: the overlap of their boxes
        and the ratio of the sides of squares of their areas are both at least this.

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
        """What finds most objects of most pictures."""
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

    def with_origin(self, view: View) -> tuple[Regions, NDArray[np.int64]]:
        """Return the candidates, and which of the given ones each is, -1 where it is none."""
        whole = Regions.from_boxes([[0, 0, view.width, view.height]], view.height, view.width)
        found = [part.propose(view) for part in self.parts]
        given = [
            np.arange(len(regions)) if isinstance(part, Given) else np.full(len(regions), -1)
            for part, regions in zip(self.parts, found, strict=True)
        ]
        order = np.append(0, turn_order([len(regions) for regions in found]) + 1)
        # What a detector gave is not dropped for what looks alike.
        is_given = np.concatenate([[-1], *given])[order] >= 0
        order = np.concatenate([order[:1], order[is_given], order[1:][~is_given[1:]]])
        joined = Regions.joined([whole, *found]).take(order)
        kept = distinct(joined.edges, joined.areas, self.distinct, self.at_most)
        chosen = np.append(kept[1:], 0)
        return joined.take(chosen), np.concatenate([[-1], *given])[order][chosen]
