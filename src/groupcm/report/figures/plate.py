"""A figure with its name, its caption and its words for those who cannot see it."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.figure import Figure

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
