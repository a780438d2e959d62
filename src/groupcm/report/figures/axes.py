"""Axes that several figures share: shares in percent, and logarithmic ones with plain numbers."""

from __future__ import annotations

from math import floor, log10

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MultipleLocator, NullLocator
from numpy.typing import ArrayLike

__all__ = ["log_left", "log_x", "plain", "share_x", "share_y"]

_MARGIN = 0.02


def share_x(axes: Axes) -> None:
    """Let x run from 0 to 1."""
    axes.set_xlim(-_MARGIN, 1 + _MARGIN)
    axes.xaxis.set_major_locator(MultipleLocator(0.2))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))


def share_y(axes: Axes) -> None:
    """Let y run from 0 to 1."""
    axes.set_ylim(-_MARGIN, 1 + _MARGIN)
    axes.yaxis.set_major_locator(MultipleLocator(0.2))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))


def log_left(values: ArrayLike) -> float:
    """Where a logarithmic axis begins so that the smallest positive value is on it.

    Examples
    --------
    >>> log_left([0, 0.004, 0.3])
    0.002
    """
    positive = np.asarray(values, float)
    positive = positive[positive > 0]
    if not len(positive):
        return 0.01
    smallest = float(positive.min())
    decade = 10.0 ** floor(log10(smallest) + 1e-9)
    steps = (0.5, 1, 2, 5)
    return max(round(step * decade, 12) for step in steps if step * decade < smallest * 0.999)


def log_x(axes: Axes, left: float, right: float) -> None:
    """Let x run over decades, with plain numbers at its ticks."""
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    few_decades = right / left < 30
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few_decades else (1.0,)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))


def plain(value: float) -> str:
    """Write a tick's number without powers of ten.

    Examples
    --------
    >>> plain(0.001), plain(0.6000000000000001), plain(-1.5), plain(100000.0), plain(1e7)
    ('0.001', '0.6', '−1.5', '100,000', '10 M')
    """
    if abs(value) >= 1e6:
        text = f"{value / 1e6:,.6g} M"
    elif abs(value) >= 1:
        text = f"{value:,.6g}"
    else:
        text = np.format_float_positional(round(value, 9) + 0.0, trim="-")
    return text.replace("-", "−")
