"""What finds candidates in a picture."""

from __future__ import annotations

from typing import Protocol

from groupcm.images.regions import Regions
from groupcm.images.view import View

__all__ = ["Proposer"]


class Proposer(Protocol):
    """Finds candidates in a picture; its fields are plain values that a file can hold."""

    def propose(self, view: View) -> Regions:
        """Return candidates, the most promising first; there may be none."""
        ...
