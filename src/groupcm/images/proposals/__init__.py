"""Proposers of candidate regions in a picture, and their union."""

from __future__ import annotations

from groupcm.images.proposals.base import Proposer
from groupcm.images.proposals.extremal import ExtremalRegions, Ridges
from groupcm.images.proposals.merging import Merging, Superpixels
from groupcm.images.proposals.recall import Recall, proposal_recall
from groupcm.images.proposals.union import Proposals
from groupcm.images.proposals.windows import Given, Windows

__all__ = [
    "PROPOSERS",
    "ExtremalRegions",
    "Given",
    "Merging",
    "Proposals",
    "Proposer",
    "Recall",
    "Ridges",
    "Superpixels",
    "Windows",
    "proposal_recall",
]

PROPOSERS: dict[str, type] = {
    "superpixels": Superpixels,
    "merging": Merging,
    "extremal": ExtremalRegions,
    "ridges": Ridges,
    "windows": Windows,
    "given": Given,
}
