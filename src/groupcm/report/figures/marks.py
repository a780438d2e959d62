"""Marks that several figures share."""

from __future__ import annotations

from matplotlib.axes import Axes

from groupcm.report.figures.style import INK, SURFACE

__all__ = ["mark_point"]


def mark_point(
    axes: Axes,
    x: float,
    y: float,
    *,
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
) -> None:
    """Mark the chosen threshold, with the intervals of both its coordinates.

    Examples
    --------
    >>> from groupcm.report.figures.style import new_axes
    >>> _, axes = new_axes()
    >>> mark_point(axes, 0.1, 0.8)
    >>> axes.get_legend_handles_labels()[1]
    ['chosen threshold']
    """
    thin = {"color": INK, "linewidth": 1.1, "zorder": 4}
    if x_range is not None:
        axes.plot(x_range, (y, y), **thin)
    if y_range is not None:
        axes.plot((x, x), y_range, **thin)
    axes.plot(
        x,
        y,
        marker="o",
        markersize=7,
        markerfacecolor=INK,
        markeredgecolor=SURFACE,
        markeredgewidth=1.2,
        linestyle="none",
        zorder=5,
        clip_on=False,
        label="chosen threshold",
    )
