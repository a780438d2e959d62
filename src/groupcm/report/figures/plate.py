"""A figure with its name, its caption and its words for those who cannot see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from matplotlib.figure import Figure

from groupcm.report.figures.svg import as_inline, figure_svg

__all__ = ["Plate"]


@dataclass(frozen=True)
class Plate:
    """A figure as a page shows it.

    Attributes
    ----------
    name : str
        Of its files, without an ending.
    title : str
    reading : str
        One sentence on how to read it.
    shows : str
        What is to be seen, in words.
    figure : matplotlib.figure.Figure
    """

    name: str
    title: str
    reading: str
    shows: str
    figure: Figure

    @cached_property
    def svg(self) -> str:
        """As a file of its own."""
        return figure_svg(self.figure, prefix=self.name, title=self.title, shows=self.shows)

    @cached_property
    def inline_svg(self) -> str:
        """As a part of a page."""
        return as_inline(self.svg)
