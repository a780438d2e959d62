"""Shapes that are no region here, as polygons."""

from __future__ import annotations

import math

from groupcm.annotations.regions import Box, Point, Polygons

__all__ = ["circle", "turned_box"]

_CORNERS_OF_A_CIRCLE = 72


def circle(centre: Point, on_the_edge: Point) -> Polygons:
    """Return the polygon of 72 corners on the circle around a centre through a point.

    Examples
    --------
    >>> circle((10, 10), (10, 15)).box
    Box(x=5.0, y=5.0, width=10.0, height=10.0)
    """
    (x, y), radius = centre, math.dist(centre, on_the_edge)
    turns = [2 * math.pi * corner / _CORNERS_OF_A_CIRCLE for corner in range(_CORNERS_OF_A_CIRCLE)]
    return Polygons(
        [[(x + radius * math.cos(turn), y + radius * math.sin(turn)) for turn in turns]]
    )


def turned_box(box: Box, degrees: float, around: Point) -> Box | Polygons:
    """Return the box turned clockwise around a point; a polygon unless the turn is whole.

    Examples
    --------
    >>> turned_box(Box(0, 0, 2, 1), 0, (0, 0))
    Box(x=0.0, y=0.0, width=2.0, height=1.0)
    >>> turned_box(Box(2, 2, 2, 1), 90, (2, 2)).box
    Box(x=1.0, y=2.0, width=1.0, height=2.0)
    """
    if degrees % 360 == 0:
        return box
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    corners = []
    for x, y in box.corners():
        dx, dy = x - around[0], y - around[1]
        corners.append((around[0] + cosine * dx - sine * dy, around[1] + sine * dx + cosine * dy))
    return Polygons([[(round(x, 9), round(y, 9)) for x, y in corners]])
