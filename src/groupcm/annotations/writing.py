"""What the writers of all formats share: conversion of regions, pictures to do, names of files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from groupcm.annotations.model import AnnotatedObject, Annotations, Picture
from groupcm.annotations.reading import Tally
from groupcm.annotations.regions import Box, Mask
from groupcm.errors import InputError
from groupcm.utils.text import composed

__all__ = ["Writing", "stems"]


class Writing:
    """One call of `write`: the path, and the counts of what the format cannot represent."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.format = name
        self.tally = Tally(path)

    def box(self, picture: Picture, annotated: AnnotatedObject) -> Box:
        """Return the box of an object, for a format that supports boxes only."""
        region = annotated.region
        if isinstance(region, Box):
            return region
        self.tally.count(
            f"polygons and masks became boxes, because {self.format} cannot carry them",
            picture.name,
        )
        box = region.box
        return Box.from_corners(
            max(box.x, 0),
            max(box.y, 0),
            min(box.right, picture.width),
            min(box.bottom, picture.height),
        )

    def mask(self, picture: Picture, annotated: AnnotatedObject) -> Mask:
        """Return the exact pixels of an object."""
        if isinstance(annotated.region, Mask):
            return annotated.region
        runs = annotated.region.runs(picture.height, picture.width)
        if runs.size < 2:
            raise InputError(
                f"an object ({annotated.category}) of {picture.name} covers no pixel's centre, so "
                f"it cannot be written as the mask that {self.format} needs; make it larger or "
                "remove it"
            )
        return Mask(picture.height, picture.width, runs)

    def known_pictures(self, annotations: Annotations) -> Iterator[Picture]:
        """Iterate over the pictures to write in a format where listed pictures are finished.

        Pictures to do are left out if they have no objects, and counted otherwise.
        """
        for picture in annotations:
            if picture.done:
                yield picture
            elif picture.objects:
                self.tally.count(
                    "pictures in progress were written with a mark that groupcm reads; "
                    f"to other programs that read {self.format} they are done",
                    picture.name,
                )
                yield picture


def stems(pictures: list[Picture], format: str) -> list[str]:
    """Return the names of pictures without their suffixes, for formats with one file per picture.

    Examples
    --------
    >>> stems([Picture("day/a.jpg", 3, 2), Picture("b.png", 3, 2)], "YOLO")
    ['day/a', 'b']
    """
    taken: dict[str, str] = {}
    found = []
    for picture in pictures:
        stem = str(PurePosixPath(picture.name.replace("\\", "_")).with_suffix(""))
        other = taken.setdefault(composed(stem), picture.name)
        if other != picture.name:
            raise InputError(
                f"{format} cannot distinguish the pictures {other!r} and {picture.name!r}, as it "
                "names its files without the ending; rename one of them"
            )
        found.append(stem)
    return found
