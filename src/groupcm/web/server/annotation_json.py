"""Conversion of annotated objects between JSON, as the pages use it, and `AnnotatedObject`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from groupcm.annotations import AnnotatedObject, Box, Mask, Picture, Polygons, Region
from groupcm.annotations.formats.coco import pairs
from groupcm.annotations.parsing import field, number
from groupcm.annotations.reading import Reading
from groupcm.errors import InputError

__all__ = ["object_from_json", "object_to_json", "picture_from_json", "region_to_json"]

Key = int | str


def region_to_json(region: Region) -> dict[str, Any]:
    """Return a region as JSON.

    Examples
    --------
    >>> region_to_json(Polygons([[(0, 0), (4, 0), (4, 3)]]))
    {'type': 'polygons', 'parts': [[0.0, 0.0, 4.0, 0.0, 4.0, 3.0]]}
    """
    if isinstance(region, Box):
        sides = {name: getattr(region, name) for name in ("x", "y", "width", "height")}
        return {"type": "box", **sides}
    if isinstance(region, Polygons):
        parts = [[value for point in part for value in point] for part in region.parts]
        return {"type": "polygons", "parts": parts}
    counts = list(region.counts)
    return {"type": "mask", "height": region.height, "width": region.width, "counts": counts}


def object_to_json(marked: AnnotatedObject) -> dict[str, Any]:
    """Return an object as JSON."""
    return {
        "id": marked.id,
        "category": marked.category,
        "region": region_to_json(marked.region),
        "score": marked.score,
    }


def object_from_json(
    record: Any, attributes: Mapping[Key, Mapping[str, Any]] | None = None
) -> AnnotatedObject:
    """Read an object from JSON, or raise a `ValueError` with half a sentence.

    Parameters
    ----------
    record
        The JSON of the object.
    attributes
        Further attributes of objects by id, which the page does not send.

    Examples
    --------
    >>> object_from_json({
    ...     "id": "n1", "category": "polyp",
    ...     "region": {"type": "box", "x": 1, "y": 2, "width": 3, "height": 4},
    ... }).region
    Box(x=1.0, y=2.0, width=3.0, height=4.0)
    >>> object_from_json({"id": "n1", "category": "polyp", "region": {"type": "line"}})
    Traceback (most recent call last):
    ValueError: 'type' is 'line'; it must be box, polygons or mask
    """
    key = field(record, "id", (int, str))
    score = None if record.get("score") is None else number(record, "score")
    region = _region(field(record, "region", dict))
    known = (attributes or {}).get(key, {})
    return AnnotatedObject(field(record, "category", str), region, key, score, known)


def picture_from_json(
    record: Any,
    name: str,
    size: tuple[int, int],
    attributes: Mapping[Key, Mapping[str, Any]] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> Picture:
    """Read the annotations of a picture from JSON; boxes are clipped at its border.

    Examples
    --------
    >>> box = {"type": "box", "x": -1, "y": 2, "width": 3, "height": 4}
    >>> sent = {"done": True, "objects": [{"id": "n1", "category": "polyp", "region": box}]}
    >>> picture_from_json(sent, "a.png", (8, 8)).objects[0].region
    Box(x=0.0, y=2.0, width=2.0, height=4.0)
    >>> picture_from_json(sent, "a.png", (8, 2))
    Traceback (most recent call last):
    groupcm.errors.InputError: a.png, object 1: the object from (-1, 2) to (2, 6) lies outside its
    picture 'a.png' of 8 × 2 pixels
    """
    reading = Reading(Path(name))
    with reading.at(""):
        draft = reading.picture(name, *size, extra)
        done = field(record, "done", bool)
        objects = field(record, "objects", list)
    for position, each in enumerate(objects, start=1):
        draft.add(f"object {position}", lambda each=each: object_from_json(each, attributes))
    draft.done = done
    picture = draft.picture()
    seen = set()
    for marked in picture.objects:
        if marked.id in seen:
            raise InputError(f"{name}: two objects have the id {marked.id!r}; each needs its own")
        seen.add(marked.id)
    return picture


def _region(record: dict[str, Any]) -> Region:
    kind = field(record, "type", str)
    if kind == "box":
        return Box(*(number(record, name) for name in ("x", "y", "width", "height")))
    if kind == "polygons":
        return Polygons(pairs(part) for part in field(record, "parts", list))
    if kind == "mask":
        height, width = field(record, "height", int), field(record, "width", int)
        if min(height, width) < 1:
            raise ValueError(f"the mask is {width} × {height} pixels; it must have some")
        return Mask(height, width, field(record, "counts", list))
    raise ValueError(f"'type' is {kind!r}; it must be box, polygons or mask")
