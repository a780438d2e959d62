"""What all writers share: regions that a format cannot carry, and pictures to do."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from groupcm.annotations.model import AnnotatedObject, Annotations, Picture
from groupcm.annotations.reading import Tally
from groupcm.annotations.regions import Box, Mask
from groupcm.errors import InputError

__all__ = ["Writing", "stems"]


class Writing:
    """One call of `write`: the place, and the counts of what the format could not carry."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.format = name
        self.tally = Tally(path)

    def box(self, picture: Picture, marked: AnnotatedObject) -> Box:
        """Box of an object, for a format that has boxes alone."""
        region = marked.region
        if isinstance(region, Box):
            return region
        self.tally.count(
            f"polygons and masks became boxes, as {self.format} cannot carry them", picture.name
        )
        box = region.box
        return Box.from_corners(
            max(box.x, 0),
            max(box.y, 0),
            min(box.right, picture.width),
            min(box.bottom, picture.height),
        )

    def mask(self, picture: Picture, marked: AnnotatedObject) -> Mask:
        """Exact pixels of an object."""
        if isinstance(marked.region, Mask):
            return marked.region
        runs = marked.region.runs(picture.height, picture.width)
        if runs.size < 2:
            raise InputError(
                f"an object ({marked.category}) of {picture.name} covers no pixel's centre, so it "
                f"cannot be written as the mask that {self.format} needs; make it larger or "
                "remove it"
            )
        return Mask(picture.height, picture.width, runs)

    def known_pictures(self, annotations: Annotations) -> Iterator[Picture]:
        """Pictures for a format in which other programs take a picture that is there as done.

        Pictures to do without objects are left out; those with objects are written and counted.
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
    """Names of pictures without their endings, for formats with one file a picture.

    Examples
    --------
    >>> stems([Picture("day/a.jpg", 3, 2), Picture("b.png", 3, 2)], "YOLO")
    ['day/a', 'b']
    """
    taken: dict[str, str] = {}
    found = []
    for picture in pictures:
        stem = str(PurePosixPath(picture.name.replace("\\", "_")).with_suffix(""))
        other = taken.setdefault(unicodedata.normalize("NFC", stem), picture.name)
        if other != picture.name:
            raise InputError(
                f"{format} cannot tell the pictures {other!r} and {picture.name!r} apart, as it "
                "names its files without the ending; rename one of them"
            )
        found.append(stem)
    return found
