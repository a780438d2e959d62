"""Forest plots: one line with its interval per model, or per pair of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from groupcm.metrics import Interval
from groupcm.plots.axes import clean, plain_ticks, shorten
from groupcm.plots.style import MUTED, SURFACE, Series, empty_axes
from groupcm.report.figures.style import in_style, new_axes
from groupcm.utils.formatting import interval as format_interval

__all__ = ["ForestRow", "forest_figure"]

_LONGEST_NAME = 34
_ROW_HEIGHT = 0.37  # inches


@dataclass(frozen=True)
class ForestRow:
    """One line of the plot."""

    name: str
    interval: Interval
    look: Series


@in_style
def forest_figure(
    rows: Sequence[ForestRow], label: str, *, reference: float | None = None
) -> Figure:
    """Draw intervals below each other, the name and the numbers of each above its line.

    Parameters
    ----------
    rows : sequence of ForestRow
    label : str
        What the intervals are of.
    reference : float, optional
        Where to draw a line: 0 for differences.

    Examples
    --------
    >>> look = Series("#0072b2", "solid", "o")
    >>> row = ForestRow("GCM", Interval(0.9, 0.8, 0.95), look)
    >>> [text.get_text() for text in forest_figure([row], "AUC").axes[0].texts]
    ['GCM', '0.900 (0.800 to 0.950)']
    """
    figure, axes = new_axes(0.6 + _ROW_HEIGHT * max(len(rows), 1))
    if not rows:
        empty_axes(axes, "nothing to compare")
        return figure
    if reference is not None:
        axes.axvline(reference, color=MUTED, linewidth=1.1, zorder=0.5)
    for k, row in enumerate(rows):
        estimate, low, high = row.interval
        axes.plot([low, high], [k, k], color=row.look.colour, linewidth=2)
        axes.plot(
            estimate, k, row.look.marker, color=row.look.colour, markersize=6.5, clip_on=False
        )
        _write(axes, 0.0, k, shorten(row.name, _LONGEST_NAME), "left")
        _write(axes, 1.0, k, format_interval(row.interval), "right")
    ends = [end for row in rows for end in row.interval if np.isfinite(end)]
    ends += [] if reference is None else [reference]
    margin = 0.06 * float(np.ptp(ends)) or 0.01
    axes.set_xlim(min(ends) - margin, max(ends) + margin)
    axes.set_ylim(len(rows) - 0.6, -0.8)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    plain_ticks(axes.xaxis, 5)
    axes.set_xlabel(clean(label))
    return figure


def _write(axes: Axes, x: float, row: int, text: str, side: str) -> None:
    """Write above a line of the plot, on a background that hides the grid."""
    axes.text(
        x,
        row - 0.46,
        text,
        horizontalalignment=side,
        verticalalignment="center",
        transform=axes.get_yaxis_transform(),
        fontsize=8.5,
        bbox={"facecolor": SURFACE, "edgecolor": "none", "pad": 0.6},
    )
