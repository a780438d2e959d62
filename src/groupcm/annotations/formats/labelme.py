"""labelme: one JSON file per picture, stored next to it.

Shapes with the same label and the same ``group_id`` are one object. A circle becomes a polygon of
72 corners. The pixels of a mask are a PNG in base64.

The name of a picture is relative to its file. ``imageFolder``, a field that labelme does not
define, is the folder of the picture within the folder of all pictures.

A file without shapes means "verified empty"; a picture without a file is to do. A picture to do
that already has objects has the flag ``to do``.
"""

from __future__ import annotations

import base64
import io
import struct
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from groupcm.annotations.limits import Budget
from groupcm.annotations.model import AnnotatedObject, Annotations, Picture
from groupcm.annotations.parsing import field, load, save_json, whole
from groupcm.annotations.pictures import pillow
from groupcm.annotations.reading import Draft, Reading, circle
from groupcm.annotations.regions import Box, Mask, Polygons, Region, as_point
from groupcm.annotations.runs import union
from groupcm.annotations.writing import Writing, stems
from groupcm.utils.files import whole_folder
from groupcm.utils.merged_warnings import ignore_warnings
from groupcm.utils.typing import Flags

__all__ = ["read", "write"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_READABLE = frozenset({"polygon", "rectangle", "circle", "mask"})
_TO_DO = "to do"
_FOLDER = "imageFolder"  # labelme keeps fields that it does not define


def read(reading: Reading) -> Annotations:
    """Read one JSON file, or all of a folder and its subfolders."""
    for file, folder, place in reading.files(reading.path, "JSON"):
        with reading.perhaps(place):
            _read_file(reading, file, folder, place)
    return reading.annotations()


def _read_file(reading: Reading, file: Path, folder: Path, place: str) -> None:
    reading.begin_file(file)
    content = load(file)
    shapes = field(content, "shapes", list)
    written, stated = field(content, "imagePath", str), field(content, _FOLDER, str, None)
    name = reading.name_in_own_file(written, file, folder, stated)
    draft = reading.picture(name, whole(content, "imageWidth"), whole(content, "imageHeight"))
    draft.done = not field(content, "flags", dict, {}).get(_TO_DO, False)
    objects: dict[Any, list[tuple[str, Any]]] = {}
    for position, shape in enumerate(shapes, start=1):
        where = f"{place + ', ' if place else ''}shape {position}"
        kind = str(shape.get("shape_type") or "polygon") if isinstance(shape, dict) else "polygon"
        if kind not in _READABLE:
            draft.leave_out(f"shapes of the type {kind!r}", where)
            continue
        group = shape.get("group_id") if isinstance(shape, dict) else None
        key = position if group is None else (str(shape.get("label")), str(group))
        objects.setdefault(key, []).append((where, shape))
    for group in objects.values():
        draft.add(group[0][0], lambda group=group: _object([shape for _, shape in group], draft))


def _object(shapes: list[Any], draft: Draft) -> AnnotatedObject:
    regions = [_region(shape, draft) for shape in shapes]
    attributes = field(shapes[0], "attributes", dict, {})
    category = field(shapes[0], "label", str)
    return AnnotatedObject(category, _union(regions, draft), attributes=attributes)


def _union(regions: list[Region], draft: Draft) -> Region:
    """Return one region for the shapes of a group: polygons if all are, otherwise a mask."""
    if len(regions) == 1:
        return regions[0]
    parts = [part for region in regions if isinstance(region, Polygons) for part in region.parts]
    if all(isinstance(region, Polygons) for region in regions):
        return Polygons(parts)
    size = draft.height, draft.width
    runs = union(
        (region.runs(*size) for region in regions),
        draft.height * draft.width,
        spend=draft.budget.spend_runs,
    )
    return Mask(*size, runs)


def _region(shape: Any, draft: Draft) -> Region:
    kind = field(shape, "shape_type", str, "polygon")
    points = field(shape, "points", list)
    if not all(isinstance(point, list) and len(point) == 2 for point in points):
        raise ValueError("'points' must be a list of pairs x, y")
    if kind == "polygon":
        return Polygons([points])
    if len(points) != 2:
        raise ValueError(f"a {kind} has {len(points)} points; it needs 2")
    first, second = map(as_point, points)
    if kind == "circle":
        return circle(first, second)
    (left, right), (top, bottom) = (sorted(pair) for pair in zip(first, second, strict=True))
    if kind == "rectangle":
        return Box.from_corners(left, top, right, bottom)
    return _mask(field(shape, "mask", str), (left, top, right, bottom), draft)


def _mask(text: str, edges: tuple[float, ...], draft: Draft) -> Mask:
    """Return the mask of the part of the picture from one pixel to another, both inclusive."""
    left, top, right, bottom = (round(edge) for edge in edges)
    part = _decode_mask(text, bottom - top + 1, right - left + 1, draft.budget)
    return Mask.from_part(part, left, top, draft.height, draft.width)


def _decode_mask(text: str, height: int, width: int, budget: Budget) -> Flags:
    """Read a mask of known size from a PNG in base64."""
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise ValueError("the mask is not a PNG picture in base64") from error
    # Checked in the header, before anything is decoded: Pillow would refuse some sizes first.
    if content[:8] != _SIGNATURE or content[12:16] != b"IHDR" or len(content) < 24:
        raise ValueError("the mask is not a PNG picture in base64")
    found = struct.unpack(">II", content[16:24])
    if found != (width, height):
        raise ValueError(
            f"the mask is {found[0]} × {found[1]} pixels and its box {width} × {height}"
        )
    budget.spend_pixels(width, height)
    try:
        with (
            ignore_warnings(),
            pillow().open(io.BytesIO(content), formats=("PNG",)) as picture,
        ):
            return np.asarray(picture if picture.mode == "1" else picture.convert("L")) > 0
    except Exception as error:  # Pillow raises many classes for damaged files
        raise ValueError(f"the mask is a damaged PNG picture ({error})") from error


def _encode_mask(mask: Flags) -> str:
    content = io.BytesIO()
    pillow().fromarray(mask.astype(np.uint8) * 255).convert("1").save(content, format="PNG")
    return base64.b64encode(content.getvalue()).decode("ascii")


def write(annotations: Annotations, writing: Writing) -> None:
    """Write a folder of JSON files, to be stored next to the pictures."""
    pictures = [picture for picture in annotations if picture.done or picture.objects]
    with whole_folder(writing.path) as folder:
        for picture, stem in zip(pictures, stems(pictures, writing.format), strict=True):
            file = folder / f"{stem}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            save_json(file, _content(picture))


def _content(picture: Picture) -> dict[str, Any]:
    shapes: list[dict[str, Any]] = []
    for position, annotated in enumerate(picture.objects, start=1):
        parts = _shapes(annotated.region)
        group = position if len(parts) > 1 else None
        common = {"label": annotated.category, "group_id": group, "description": "", "flags": {}}
        if annotated.attributes:
            common["attributes"] = dict(annotated.attributes)
        shapes += [common | part for part in parts]
    return {
        "version": "5.5.0",
        "flags": {} if picture.done else {_TO_DO: True},
        "shapes": shapes,
        "imagePath": PurePosixPath(picture.name).name,
        _FOLDER: str(PurePosixPath(picture.name).parent),
        "imageData": None,
        "imageHeight": picture.height,
        "imageWidth": picture.width,
    }


def _shapes(region: Region) -> list[dict[str, Any]]:
    if isinstance(region, Polygons):
        return [
            {"shape_type": "polygon", "points": [list(point) for point in part], "mask": None}
            for part in region.parts
        ]
    box = region.box
    if isinstance(region, Box):
        points = [[box.x, box.y], [box.right, box.bottom]]
        return [{"shape_type": "rectangle", "points": points, "mask": None}]
    pixels, left, top = region.part()
    points = [[left, top], [left + pixels.shape[1] - 1, top + pixels.shape[0] - 1]]
    return [{"shape_type": "mask", "points": points, "mask": _encode_mask(pixels)}]
