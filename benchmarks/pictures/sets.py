"""Sets of real pictures: pixels, objects in them, and what may not be split between folds."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groupcm.images.reading import Pixels, read_picture
from groupcm.images.regions import Regions

__all__ = ["PICTURE_SETS", "PictureSet", "RealPicture"]

_Rows = list[dict[str, str]]
_DEFECTS = ("blowhole", "crack", "break")


@dataclass(frozen=True)
class RealPicture:
    """A picture, or the window of it that counts as one.

    Attributes
    ----------
    name
        Unlike that of any other picture of the set.
    file
        Where it lies.
    positive
        Whether it shows an object.
    cluster
        Pictures of one cluster are alike and stay on one side of a fold.
    boxes
        Left, top, right and bottom of every object, in pixels of the window.
    window
        Left, top, right and bottom of what is looked at; None for the whole picture.
    """

    name: str
    file: Path
    positive: bool
    cluster: str
    boxes: tuple[tuple[float, ...], ...] = ()
    window: tuple[int, int, int, int] | None = None

    def read(self) -> Pixels:
        """Read the picture, cut to its window."""
        whole = read_picture(self.file)
        if self.window is None:
            return whole
        left, top, right, bottom = self.window
        return np.ascontiguousarray(whole[top:bottom, left:right])

    def objects(self, height: int, width: int) -> Regions:
        """Boxes of the objects in a picture of that size."""
        boxes: NDArray[np.float64] = np.asarray(self.boxes, dtype=np.float64).reshape(-1, 4)
        return Regions.from_boxes(boxes, height, width, what=f"object of {self.name}")


@dataclass(frozen=True)
class PictureSet:
    """A set of pictures by the file that lists them.

    Attributes
    ----------
    title, listing
        What people call it, and the file below the data folder that lists its pictures.
    cluster
        The column whose values folds never split.
    """

    title: str
    listing: str
    cluster: str
    read: Callable[[Path, PictureSet], Iterator[RealPicture]]

    def pictures(self, data: Path) -> list[RealPicture]:
        """Every picture, in the order of the listing."""
        return list(self.read((data / self.listing).parent, self))


def _magnetic_tiles(folder: Path, this: PictureSet) -> Iterator[RealPicture]:
    boxes = _boxes(folder)
    for row in _rows(folder.parent / this.listing):
        name = row["image"]
        if row["defect"] in (*_DEFECTS, "free"):
            file = folder / "images" / f"{name}.jpg"
            positive = row["defect"] != "free"
            yield RealPicture(name, file, positive, row[this.cluster], boxes.get(name, ()))


def _polyp_windows(folder: Path, this: PictureSet) -> Iterator[RealPicture]:
    boxes = _boxes(folder)
    for row in _rows(folder.parent / this.listing):
        left, top, right, bottom = (int(row[edge]) for edge in _EDGES)
        positive = row["positive"] == "1"
        inside = tuple(
            (x0 - left, y0 - top, x1 - left, y1 - top)
            for x0, y0, x1, y1 in boxes.get(row["image"], ())
            if x0 >= left and y0 >= top and x1 <= right and y1 <= bottom and positive
        )
        name = f"{row['image']}{'+' if positive else '-'}"
        file = folder / "images" / f"{row['image']}.jpg"
        window = left, top, right, bottom
        yield RealPicture(name, file, positive, row[this.cluster], inside, window)


def _bleedings(folder: Path, this: PictureSet) -> Iterator[RealPicture]:
    boxes = _boxes(folder)
    for row in _rows(folder.parent / this.listing):
        name = row["image"]
        file = folder / "images" / f"{name}.jpg"
        yield RealPicture(
            name, file, row["positive"] == "1", row[this.cluster], boxes.get(name, ())
        )


_EDGES = ("x0", "y0", "x1", "y1")


def _rows(file: Path) -> _Rows:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _boxes(folder: Path) -> dict[str, tuple[tuple[float, ...], ...]]:
    found: dict[str, tuple[tuple[float, ...], ...]] = {}
    for row in _rows(folder / "boxes.csv"):
        box = tuple(float(row[edge]) for edge in _EDGES)
        found[row["image"]] = (*found.get(row["image"], ()), box)
    return found


PICTURE_SETS: dict[str, PictureSet] = {
    "magnetic_tile": PictureSet(
        "magnetic tiles", "magnetic_tile/groups.csv", "tile_cluster", _magnetic_tiles
    ),
    "cvc_clinicdb": PictureSet(
        "polyp windows", "cvc_clinicdb/tiles.csv", "sequence", _polyp_windows
    ),
    "wce_bleedgen": PictureSet("bleedings", "wce_bleedgen/groups.csv", "cluster", _bleedings),
}
