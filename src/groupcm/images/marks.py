"""Candidates that score at least the threshold, as annotations that other programs read."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations import AnnotatedObject, Annotations, Picture, write
from groupcm.images.regions import Regions

__all__ = ["marks_of", "write_marks"]


def marks_of(
    name: str, regions: Regions, scores: NDArray[np.float64], category: str = "object"
) -> Picture:
    """Return a picture with candidates as its objects, each with its score.

    No person has looked at them, so the picture is to do.

    Examples
    --------
    >>> regions = Regions.from_boxes([[1, 1, 4, 3]], height=10, width=10)
    >>> marks_of("a.png", regions, np.array([0.5])).objects[0].region
    Box(x=1.0, y=1.0, width=3.0, height=2.0)
    """
    objects = [
        AnnotatedObject(category, regions.region(place), score=float(score))
        for place, score in enumerate(scores)
    ]
    return Picture(name, regions.width, regions.height, tuple(objects), done=False)


def write_marks(
    pictures: Iterable[Picture], path: str | os.PathLike[str], category: str = "object"
) -> None:
    """Write marked pictures in COCO's format, whole or not at all."""
    write(Annotations(tuple(pictures), (category,)), path, "coco")
