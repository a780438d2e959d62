"""Candidates that the user's own detector found, from a file in any format of annotations."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from groupcm.annotations import Annotations, Region
from groupcm.images.truth import read_for

__all__ = ["GivenCandidates", "read_given"]

GivenCandidates = dict[str, tuple[Region, ...]]


def read_given(
    given: str | os.PathLike[str] | Annotations,
    names: Collection[str],
    folder: Path | None,
    missing_pictures: str | None = None,
) -> GivenCandidates:
    """Read what a detector found in each picture, the surest first where it has scores.

    Parameters
    ----------
    given
        A file or folder of any format, or what was read.
    names
        The pictures that are there.
    folder
        Where they are; None where they are frames of a video.
    missing_pictures
        As for `groupcm.images.truth.read_for`.

    Examples
    --------
    >>> from groupcm.annotations import AnnotatedObject, Box, Picture
    >>> found = [AnnotatedObject("x", Box(0, 0, k, k), score=k / 10) for k in (1, 2)]
    >>> given = Annotations([Picture("a.png", 9, 9, found, done=False)])
    >>> [box.area for box in read_given(given, {"a.png"}, None)["a.png"]]
    [4.0, 1.0]
    """
    marked, _ = read_for(given, names, folder, missing_pictures)
    return {
        picture.name: tuple(
            found.region for found in sorted(picture.objects, key=lambda each: -(each.score or 0))
        )
        for picture in marked
    }
