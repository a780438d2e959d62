"""COCO: one JSON file of images, categories and annotations.

Fields that COCO does not define are kept. The state of a picture is stored in its image as
``"done": true`` or ``"done": false``, a field that COCO does not define: ``true`` without
annotations is "verified empty". For an image without this field and without annotations,
``unannotated`` of `groupcm.annotations.read` decides.

Files are written with ``"groupcm": {"states": "done"}``, which states that ``done`` has this
meaning.

Version 0.1 wrote ``done`` only for pictures to do, so that in its files an image without the field
is done. Such a file lacks the entry ``groupcm`` and is recognised by containing ``"done": false``
and no ``"done": true``, or by the layout of the annotate page, one image or annotation per line
(`in_lines`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import chain, count
from typing import Any

from groupcm.annotations.limits import read_bytes
from groupcm.annotations.model import AnnotatedObject, Annotations, Picture
from groupcm.annotations.parsing import field, load, number, save_json, whole
from groupcm.annotations.reading import Reading
from groupcm.annotations.regions import Box, Mask, Polygons, Region
from groupcm.annotations.runs import compress, decompress
from groupcm.annotations.writing import Writing

__all__ = [
    "STATES",
    "TABLES",
    "fill",
    "image_record",
    "in_lines",
    "object_record",
    "pairs",
    "piece",
    "read",
    "write",
]

_OWN = frozenset({"id", "image_id", "category_id", "bbox", "segmentation", "area", "score"})
STATES: Mapping[str, Any] = {"groupcm": {"states": "done"}}
TABLES = ("images", "annotations", "categories")


def read(reading: Reading) -> Annotations:
    """Read a COCO file."""
    return reading.annotations(*fill(reading, load(reading.path)))


def fill(reading: Reading, content: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Read the JSON of a COCO file; return its categories and all fields besides the tables."""
    with reading.at(""):
        images = field(content, "images", list)
        records = field(content, "annotations", list, [])
        categories, category_fields = _categories(field(content, "categories", list, []))
    done_by_default = True if _is_of_v01(images, content, reading) else None
    pictures = {}
    for position, image in enumerate(images, start=1):
        with reading.perhaps(f"image {position}"):
            key = field(image, "id", (int, str))
            if key in pictures:
                raise ValueError(f"the id {key!r} is taken; each image needs its own")
            name = reading.name(field(image, "file_name", str))
            known = {"file_name", "width", "height", "done"}
            extra = {name: value for name, value in image.items() if name not in known}
            draft = reading.picture(name, whole(image, "width"), whole(image, "height"), extra)
            draft.done = field(image, "done", bool, done_by_default)
            pictures[key] = draft
    for position, record in enumerate(records, start=1):
        key = record.get("id") if isinstance(record, dict) else None
        place = f"annotation {position}" if key is None else f"annotation with the id {key}"
        draft = None
        with reading.perhaps(place):
            key = field(record, "image_id", (int, str))
            draft = pictures.get(key)
            if draft is None:
                raise ValueError(f"there is no image with the id {key!r}")
        if draft is not None:
            draft.add(f"{place} ({draft.name})", lambda record=record: _object(record, categories))
    extra = {name: content[name] for name in content if name not in {*TABLES, *STATES}}
    names = tuple(categories.values())
    return names, extra | {"category_fields": category_fields}


def _is_of_v01(images: list[Any], content: dict[str, Any], reading: Reading) -> bool:
    """Return whether version 0.1 wrote the file, in which an image without ``done`` is done."""
    if any(name in content for name in STATES):
        return False
    stated = [image.get("done") for image in images if isinstance(image, dict)]
    if True in stated or None not in stated:
        return False
    if False in stated:
        return True
    written = read_bytes(reading.path)
    # The beginning and the end are compared first, as the whole may be large.
    if b'"images": [\n{' not in written or not written.endswith(b"]}\n"):
        return False
    tables = [content.get(name) for name in TABLES]
    if not all(isinstance(table, list) for table in tables):
        return False
    rest = {name: value for name, value in content.items() if name not in TABLES}
    try:
        return written == in_lines(rest, [list(map(piece, table or ())) for table in tables])
    except ValueError:
        return False


def in_lines(rest: Mapping[str, Any], tables: Iterable[list[bytes]]) -> bytes:
    r"""Return a COCO file in the layout of the annotate page: one image or annotation per line.

    Parameters
    ----------
    rest
        Everything but the three tables.
    tables
        The images, annotations and categories, each as JSON.

    Examples
    --------
    >>> print(in_lines({"year": 2026}, [[b'{"id": 1}', b'{"id": 2}'], [], []]).decode())
    {"year": 2026,
    "images": [
    {"id": 1},
    {"id": 2}
    ],
    "annotations": [],
    "categories": []}
    <BLANKLINE>
    """
    parts = [piece(name) + b": " + piece(value) for name, value in rest.items()]
    for name, pieces in zip(TABLES, tables, strict=True):
        inner = b"\n" + b",\n".join(pieces) + b"\n" if pieces else b""
        parts.append(piece(name) + b": [" + inner + b"]")
    return b"{" + b",\n".join(parts) + b"}\n"


def piece(value: Any) -> bytes:
    r"""Return a value as JSON.

    Examples
    --------
    >>> piece({"name": "Polyp é"}).decode()
    '{"name": "Polyp é"}'
    >>> piece("\ud800")
    b'"\\ud800"'
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False).encode()


def _categories(records: list[Any]) -> tuple[dict[Any, str], dict[str, dict[str, Any]]]:
    """Return the names by id, and all other fields by name."""
    names: dict[Any, str] = {}
    fields: dict[str, dict[str, Any]] = {}
    for record in records:
        key, name = field(record, "id", (int, str)), field(record, "name", str).strip()
        if key in names:
            raise ValueError(f"two categories have the id {key!r}; each needs its own")
        if name in fields:
            raise ValueError(f"two categories have the name {name!r}; each needs its own")
        names[key] = name
        fields[name] = {field: value for field, value in record.items() if field != "name"}
    return names, fields


def _object(record: dict[str, Any], categories: dict[Any, str]) -> AnnotatedObject:
    key = field(record, "category_id", (int, str))
    if key not in categories:
        raise ValueError(f"there is no category with the id {key!r}")
    score = None if record.get("score") is None else number(record, "score")
    attributes = {name: value for name, value in record.items() if name not in _OWN}
    if attributes.get("iscrowd") == 0:
        del attributes["iscrowd"]
    own_id = field(record, "id", (int, str), None)
    return AnnotatedObject(categories[key], _region(record), own_id, score, attributes)


def _region(record: dict[str, Any]) -> Region:
    segmentation = field(record, "segmentation", (dict, list), None)
    if isinstance(segmentation, dict):
        size = field(segmentation, "size", list)
        if len(size) != 2 or not all(type(side) is int and side > 0 for side in size):
            raise ValueError(f"the mask's size is {size}; it must be its height and width")
        counts = field(segmentation, "counts", (list, str))
        if isinstance(counts, str):
            counts = decompress(counts)
        return Mask(size[0], size[1], counts)
    if segmentation:
        return Polygons(pairs(part) for part in segmentation)
    box = field(record, "bbox", list)
    if len(box) != 4:
        raise ValueError(f"'bbox' has {len(box)} numbers; it needs x, y, width and height")
    return Box(*box)


def pairs(part: Any) -> Iterable[tuple[float, float]]:
    """Return the corners of a polygon that is stored as x, y, x, y, ….

    Examples
    --------
    >>> list(pairs([1, 2, 3, 4]))
    [(1, 2), (3, 4)]
    """
    if not isinstance(part, list) or len(part) % 2:
        raise ValueError("a polygon must be a list of an even number of coordinates")
    return zip(part[::2], part[1::2], strict=True)


def write(annotations: Annotations, writing: Writing, *, compressed: bool = True) -> None:
    """Write a COCO file; ``compressed`` selects one of COCO's two encodings of masks."""
    fields = annotations.extra.get("category_fields", {})
    fields = fields if isinstance(fields, dict) else {}
    known = [fields.get(name, {}) for name in annotations.categories]
    category_ids = _ids(each.get("id") for each in known)
    categories = [
        {**each, "id": key, "name": name}
        for each, key, name in zip(known, category_ids, annotations.categories, strict=True)
    ]
    by_name = dict(zip(annotations.categories, category_ids, strict=True))
    image_ids = _ids(picture.extra.get("id") for picture in annotations)
    images = [
        image_record(picture, key)
        for picture, key in zip(annotations.pictures, image_ids, strict=True)
    ]
    object_ids = iter(_ids(annotated.id for annotated in annotations.objects()))
    records = [
        {"id": next(object_ids), "image_id": key, "category_id": by_name[annotated.category]}
        | object_record(annotated, compressed)
        for picture, key in zip(annotations.pictures, image_ids, strict=True)
        for annotated in picture.objects
    ]
    rest = {
        name: value
        for name, value in annotations.extra.items()
        if name not in TABLES and name != "category_fields"
    }
    content = {**STATES, **rest, "images": images, "annotations": records, "categories": categories}
    save_json(writing.path, content)


def _ids(wanted: Iterable[Any]) -> list[int]:
    """Return the wanted ids where they are integers and not yet used, else the next free ones."""
    wanted = list(wanted)
    whole_numbers = {key for key in wanted if type(key) is int}
    free = (key for key in count(1) if key not in whole_numbers)
    given: set[int] = set()
    ids = []
    for key in wanted:
        ids.append(key if type(key) is int and key not in given else next(free))
        given.add(ids[-1])
    return ids


def image_record(picture: Picture, key: int | str) -> dict[str, Any]:
    """Return the entry of a picture, without its objects."""
    image = {**picture.extra, "id": key, "file_name": picture.name}
    return image | {"width": picture.width, "height": picture.height, "done": picture.done}


def object_record(annotated: AnnotatedObject, compressed: bool = True) -> dict[str, Any]:
    """Return the entry of an object, without the ids of the object, its picture and category."""
    region = annotated.region
    box = region.box
    record = {name: value for name, value in annotated.attributes.items() if name not in _OWN}
    record |= {"bbox": [box.x, box.y, box.width, box.height], "area": region.area}
    record.setdefault("iscrowd", 0)
    if isinstance(region, Polygons):
        record["segmentation"] = [list(chain.from_iterable(part)) for part in region.parts]
    elif isinstance(region, Mask):
        size = [region.height, region.width]
        counts = compress(region.runs(*size)) if compressed else list(region.counts)
        record["segmentation"] = {"size": size, "counts": counts}
    else:
        record["segmentation"] = []
    if annotated.score is not None:
        record["score"] = annotated.score
    return record
