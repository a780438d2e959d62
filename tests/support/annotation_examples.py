"""Annotations for tests: strategies that draw them, and one small set with everything in it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from groupcm.annotations import AnnotatedObject, Annotations, Box, Mask, Picture, Polygons

CATEGORIES = ("polyp", "vascular lesion", "été & <fête>")
# File names people have: spaces, accents, folders, dots, quotes, markup, a comma.
NAMES = (
    "a.jpg",
    "été 1.png",
    "day one/frame 2.jpg",
    "day one/deep/3.4.tif",
    'it\'s & <b>bold</b>, "really".png',
    "日本.bmp",
)


def marked_set() -> Annotations:
    """A box, polygons, masks, overlaps, nothing, and a picture nobody has looked at."""
    ring = np.zeros((30, 40), dtype=bool)
    ring[5:15, 5:20] = True
    ring[8:12, 9:16] = False
    two = Polygons([[(1, 1), (9.5, 2), (5, 8.25)], [(20, 20), (30, 20), (30, 28), (20, 28)]])
    return Annotations(
        (
            Picture(
                "a.jpg",
                40,
                30,
                (
                    AnnotatedObject("polyp", Box(2.5, 3, 10, 12.25)),
                    AnnotatedObject("lesion", Mask.from_array(ring)),
                ),
            ),
            Picture("day one/b.png", 40, 30, (AnnotatedObject("polyp", two),)),
            Picture("c.jpg", 17, 11),
            Picture("d.jpg", 17, 11, done=False),
        ),
        ("lesion", "polyp"),
    )


def full_set() -> Annotations:
    """The small set with ids, scores and attributes everywhere."""
    pictures = []
    for picture in marked_set():
        objects = tuple(
            dataclasses.replace(each, id=i, score=0.5, attributes={"difficult": "1"})
            for i, each in enumerate(picture.objects, start=1)
        )
        pictures.append(dataclasses.replace(picture, objects=objects))
    return Annotations(tuple(pictures), marked_set().categories)


def coordinates(most: int) -> st.SearchStrategy[float]:
    """Places in a picture: whole, halves, tenths, and any with up to six digits."""
    return st.one_of(
        st.integers(0, most).map(float),
        st.integers(0, 2 * most).map(lambda value: value / 2),
        st.integers(0, 10 * most).map(lambda value: value / 10),
        st.floats(0, most).map(lambda value: round(value, 6)),
    )


@st.composite
def boxes(draw: st.DrawFn, width: int, height: int) -> Box:
    """Boxes inside a picture."""
    left, right = sorted(draw(st.lists(coordinates(width), min_size=2, max_size=2)))
    top, bottom = sorted(draw(st.lists(coordinates(height), min_size=2, max_size=2)))
    left, top = min(left, width - 0.5), min(top, height - 0.5)
    right, bottom = max(right, left + 0.5), max(bottom, top + 0.5)
    return Box(left, top, right - left, bottom - top)


def polygons(width: int, height: int) -> st.SearchStrategy[Polygons]:
    """One to three parts inside a picture; they may cross themselves and cover no pixel."""
    point = st.tuples(coordinates(width), coordinates(height))
    part = st.lists(point, min_size=3, max_size=7).filter(_has_extent)
    return st.lists(part, min_size=1, max_size=3).map(Polygons)


def _has_extent(part: list[tuple[float, float]]) -> bool:
    return all(len(set(values)) > 1 for values in zip(*part, strict=True))


@st.composite
def masks(draw: st.DrawFn, width: int, height: int) -> Mask:
    """Any pixels, at least one."""
    bits = draw(st.binary(min_size=1, max_size=(width * height + 7) // 8))
    flat = np.zeros(width * height, dtype=bool)
    drawn = np.unpackbits(np.frombuffer(bits, dtype=np.uint8))[: flat.size].astype(bool)
    flat[: drawn.size] = drawn
    flat[draw(st.integers(0, flat.size - 1))] = True
    return Mask.from_array(flat.reshape(height, width))


@st.composite
def pictures(draw: st.DrawFn, name: str) -> Picture:
    """A picture with up to four objects of any kind, done or to do."""
    width, height = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    regions = st.one_of(boxes(width, height), polygons(width, height), masks(width, height))
    marked = st.builds(AnnotatedObject, st.sampled_from(CATEGORIES), regions)
    objects = tuple(draw(st.lists(marked, max_size=4)))
    return Picture(name, width, height, objects, draw(st.booleans()))


@st.composite
def annotations(draw: st.DrawFn) -> Annotations:
    """A set of pictures with names of all kinds."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=4))
    return Annotations(tuple(draw(pictures(name)) for name in names), CATEGORIES)


def write_pictures(folder: Path, wanted: Annotations) -> None:
    """Make the picture files of a set, black."""
    from PIL import Image

    for picture in wanted:
        path = folder / picture.name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (picture.width, picture.height)).save(path)
