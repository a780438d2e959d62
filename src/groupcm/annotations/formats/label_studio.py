"""Label Studio: one JSON file, a list of tasks; coordinates in percent of the picture.

A task with an annotation is done, with or without objects: Label Studio stores a picture that was
submitted as empty as an annotation without results. A task with predictions only is to do, with
their objects, and so is a skipped task. For a task with none of these, ``unannotated`` of
`groupcm.annotations.read` decides.

A polygon of several parts is written as a brush mask of its pixels. The run-length code of a brush
mask is a stream of bits: the number of values (32 bits), the bits of a value less 1 (5), four sizes
less 1 (4 each); then blocks. In a block, one bit states whether one value is repeated, two bits
select one of the four sizes, that many bits are the length less 1; one value follows, or as many as
the length. The values are those of the picture, row by row, four per pixel: red, green, blue and
the opacity, which is the mask.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import numpy as np
from numpy.typing import ArrayLike

from groupcm.annotations.model import AnnotatedObject, Annotations, Picture
from groupcm.annotations.parsing import field, load, number, save_json, whole
from groupcm.annotations.pictures import PICTURE_SUFFIXES
from groupcm.annotations.reading import Draft, Reading, rotated_box
from groupcm.annotations.regions import Box, Mask, Polygons, Region
from groupcm.annotations.runs import Runs, from_edges, from_rows, to_rows
from groupcm.annotations.writing import Writing
from groupcm.utils.typing import Index

__all__ = ["decode", "encode", "read", "write"]

_SIZES = (3, 4, 8, 16)
_CHANNELS = 4
_HALF_OPAQUE = 128
_UPLOADED = re.compile(r"^/?data/upload/(?:\d+/)?")
_UPLOAD_PREFIX = re.compile(r"^[0-9a-f]{8}-")
_NO_OBJECTS = {"choices", "textarea", "rating", "taxonomy", "number", "datetime", "relation"}
_READABLE = frozenset({"rectangle", "polygon", "brush", "labels"})
_MOST_BRUSH_PIXELS = 2**30 - 1  # a brush mask counts four values per pixel in 32 bits
_DIGITS = 9  # of a pixel: restores what the division by the width rounded


class _Bits:
    """A stream of bits, read number by number."""

    def __init__(self, content: bytes) -> None:
        self._bits = np.unpackbits(np.frombuffer(content, dtype=np.uint8))
        self._content = content + bytes(8)
        self._at = 0

    def read(self, size: int) -> int:
        byte, offset = divmod(self._at, 8)
        self._move(size)
        window = int.from_bytes(self._content[byte : byte + 8], "big")
        return (window >> (64 - offset - size)) & ((1 << size) - 1)

    def read_many(self, count: int, size: int) -> Index:
        begin = self._at
        self._move(count * size)
        bits = self._bits[begin : self._at].reshape(count, size)
        return bits @ (1 << np.arange(size - 1, -1, -1, dtype=np.int64))

    def _move(self, size: int) -> None:
        self._at += size
        if self._at > self._bits.size:
            raise ValueError("the brush mask ends too early; it is cut short or damaged")


def decode(code: list[int], height: int, width: int) -> Runs:
    """Return the runs of a brush mask, row by row; its pixels are at least half opaque.

    Examples
    --------
    >>> decode(encode([1, 2, 2, 1]), 2, 3)
    array([1, 2, 2, 1])
    >>> decode([0, 0, 0, 8], 2, 3)
    Traceback (most recent call last):
    ValueError: the brush mask has 2 pixels and the picture 3 × 2
    """
    if not all(type(value) is int and 0 <= value <= 255 for value in code):
        raise ValueError("the brush mask must be a list of whole numbers from 0 to 255")
    bits = _Bits(bytes(code))
    size = bits.read(32)
    if size != height * width * _CHANNELS:
        raise ValueError(
            f"the brush mask has {size // _CHANNELS} pixels and the picture {width} × {height}"
        )
    word = bits.read(5) + 1
    sizes = [bits.read(4) + 1 for _ in range(4)]
    edges: list[int] = []
    at, inside = 0, False
    while at < size:
        repeated = bits.read(1)
        length = bits.read(sizes[bits.read(2)]) + 1
        if length > size - at:
            raise ValueError("the brush mask extends beyond the picture; it is damaged")
        # The opacity of pixel p is the value 4p + 3.
        first, end = at // _CHANNELS, (at + length) // _CHANNELS
        if repeated:
            opaque = bits.read(word) >= _HALF_OPAQUE
            if first < end and opaque != inside:
                edges.append(first)
                inside = opaque
        else:
            values = bits.read_many(length, word)
            opaque = values[_CHANNELS - 1 - at % _CHANNELS :: _CHANNELS] >= _HALF_OPAQUE
            changes = np.flatnonzero(np.diff(opaque, prepend=inside))
            edges += (first + changes).tolist()
            inside ^= bool(changes.size % 2)
        at += length
    return from_edges(edges, height * width)


def encode(rows: ArrayLike) -> list[int]:
    """Return the code of a brush mask, given by its runs row by row.

    Examples
    --------
    >>> encode([0, 1, 1])
    [0, 0, 0, 8, 57, 27, 252, 127, 241, 128, 0]
    """
    runs = np.asarray(rows, dtype=np.int64)
    code = [format(int(runs.sum()) * _CHANNELS, "032b"), format(8 - 1, "05b")]
    code += [format(size - 1, "04b") for size in _SIZES]
    for turn, length in enumerate((runs * _CHANNELS).tolist()):
        value = "11111111" if turn % 2 else "00000000"
        while length > 0:
            part = min(length, 1 << _SIZES[-1])
            chosen = next(i for i, size in enumerate(_SIZES) if part <= 1 << size)
            code.append(f"1{chosen:02b}{part - 1:0{_SIZES[chosen]}b}{value}")
            length -= part
    bits = "".join(code)
    bits += "0" * (-len(bits) % 8)
    return list(int(bits, 2).to_bytes(len(bits) // 8, "big"))


def _picture_name(task: dict[str, Any], reading: Reading) -> str:
    """Return the picture's name from a plain name, an upload, a local storage or a web address."""
    names = _possible_names(_written(field(task, "data", dict)))
    if reading.known is None:
        return reading.name(names[-1])
    places = [[name] for name in names]
    if len(names) == 1 or "/" not in names[0]:
        return reading.known.name(names[-1], places)
    if names[-1] in reading.known:
        # Where the folders of an address do not match, its file name must match one picture only.
        places[-1] = reading.known.with_base_name(names[-1])
    return reading.known.name(names[0], places)


def _picture_size(task: dict[str, Any], results: list[Any]) -> tuple[int | None, int | None]:
    """Return width and height from a result, or from the data of the task; None without either."""
    for result in results:
        if isinstance(result, dict) and "original_width" in result:
            return whole(result, "original_width"), whole(result, "original_height")
    return whole(task["data"], "width"), whole(task["data"], "height")


def _written(data: dict[str, Any]) -> str:
    if isinstance(data.get("image"), str):
        return data["image"]
    for value in data.values():
        is_text = isinstance(value, str)
        if is_text and PurePosixPath(_path(value)).suffix.lower() in PICTURE_SUFFIXES:
            return value
    raise ValueError("the task's data name no picture")


def _path(written: str) -> str:
    if "://" not in written and "?d=" not in written:
        return written
    parts = urlsplit(written)
    local = parse_qs(parts.query).get("d")
    return local[0] if local else unquote(parts.path)


def _possible_names(written: str) -> list[str]:
    """Return the possible names of a picture, the best guess last."""
    path = _path(written)
    if "://" in written:
        parts = path.lstrip("/").split("/")
        return ["/".join(parts[level:]) for level in range(len(parts))]
    if _UPLOADED.match(path):
        uploaded = unquote(_UPLOADED.sub("", path))
        return [uploaded, _UPLOAD_PREFIX.sub("", uploaded)]
    return [path]


def read(reading: Reading) -> Annotations:
    """Read an export of Label Studio in its format JSON."""
    tasks = load(reading.path)
    with reading.at(""):
        tasks = tasks if isinstance(tasks, list) else [tasks]
        if not tasks or not all(isinstance(task, dict) and "data" in task for task in tasks):
            raise ValueError(
                "this is not a list of Label Studio's tasks; export as JSON (not as JSON-MIN)"
            )
    for position, task in enumerate(tasks, start=1):
        place = f"task {task.get('id', position)}"
        with reading.perhaps(place):
            _read_task(reading, task, place)
    return reading.annotations()


def _read_task(reading: Reading, task: dict[str, Any], place: str) -> None:
    name = _picture_name(task, reading)
    submitted = field(task, "annotations", list, field(task, "completions", list, []))
    finished = [each for each in submitted if not field(each, "was_cancelled", bool, False)]
    if len(finished) > 1:
        reading.tally.count("tasks with several annotations, of which the first was taken", place)
    sources = finished[:1] or field(task, "predictions", list, [])[:1]
    results = field(sources[0], "result", list, []) if sources else []
    draft = reading.picture(name, *_picture_size(task, results))
    draft.done = None if not (submitted or sources) else bool(finished)
    labelled = {
        str(result["id"])
        for result in results
        if isinstance(result, dict) and "id" in result and _labels(result)
    }
    for position, result in enumerate(results, start=1):
        where = f"{place}, result {position} ({name})"
        kind = str(result.get("type", "")) if isinstance(result, dict) else ""
        shape = kind.removesuffix("labels") or kind
        if kind in _NO_OBJECTS or _is_listed_twice(result, shape, labelled):
            continue
        if shape not in _READABLE:
            draft.leave_out(f"results of the type {kind!r}", where)
            continue
        draft.add(where, lambda result=result: _object(result, draft))


def _is_listed_twice(result: Any, shape: str, labelled: set[str]) -> bool:
    """Return whether a region without a label is listed again with its label."""
    return shape in _READABLE and not _labels(result) and str(result.get("id")) in labelled


def _labels(result: Mapping[str, Any]) -> list[Any]:
    value = result.get("value")
    if not isinstance(value, dict):
        return []
    return value.get(str(result.get("type"))) or value.get("labels") or []


def _object(result: dict[str, Any], draft: Draft) -> AnnotatedObject:
    labels = _labels(result)
    if not isinstance(labels, list) or len(labels) != 1 or not isinstance(labels[0], str):
        raise ValueError(f"the region has the labels {labels!r}; it must have one")
    if field(result, "image_rotation", (int, float), 0) % 360:
        raise ValueError("the picture was turned in Label Studio; annotate it unturned")
    for side, expected in (("original_width", draft.width), ("original_height", draft.height)):
        if whole(result, side) not in (None, expected):
            raise ValueError(f"{side!r} is {result[side]} and the picture's is {expected}")
    score = None if result.get("score") is None else number(result, "score")
    own_id = field(result, "id", (int, str), None)
    return AnnotatedObject(labels[0], _region(field(result, "value", dict), draft), own_id, score)


def _region(value: dict[str, Any], draft: Draft) -> Region:
    if "rle" in value:
        size = draft.height, draft.width
        rows = decode(field(value, "rle", list), *size)
        return Mask(*size, from_rows(rows, size, spend=draft.budget.spend_runs))
    if "points" in value:
        pairs = [
            point if isinstance(point, list) and len(point) == 2 else (None, None)
            for point in field(value, "points", list)
        ]
        checked = [(number({"x": x}, "x"), number({"y": y}, "y")) for x, y in pairs]
        return Polygons([[(_pixels(x, draft.width), _pixels(y, draft.height)) for x, y in checked]])
    x, width = (_pixels(number(value, name), draft.width) for name in ("x", "width"))
    y, height = (_pixels(number(value, name), draft.height) for name in ("y", "height"))
    angle = number(value, "rotation") if value.get("rotation") else 0.0
    return rotated_box(Box(x, y, width, height), angle, around=(x, y))


def _pixels(percent: float, side: int) -> float:
    return round(percent * side / 100, _DIGITS)


def write(annotations: Annotations, writing: Writing, *, prefix: str = "") -> None:
    """Write a list of tasks.

    ``prefix`` is put before the quoted names of the pictures, such as
    ``/data/local-files/?d=frames/`` for pictures in Label Studio's own storage.
    """
    tasks = [
        _task(number, picture, writing, prefix)
        for number, picture in enumerate(annotations, start=1)
    ]
    save_json(writing.path, tasks)


def _task(number: int, picture: Picture, writing: Writing, prefix: str) -> dict[str, Any]:
    results = [_result(annotated, picture, writing) for annotated in picture.objects]
    address = prefix + quote(picture.name) if prefix else picture.name
    data = {"image": address, "width": picture.width, "height": picture.height}
    task = {"id": number, "data": data, "annotations": [], "predictions": []}
    if picture.done:
        task["annotations"] = [{"result": results, "was_cancelled": False}]
    elif results:
        task["predictions"] = [{"result": results}]
    return task


def _result(annotated: AnnotatedObject, picture: Picture, writing: Writing) -> dict[str, Any]:
    kind, value = _value(annotated, picture, writing)
    result = {
        "type": kind,
        "from_name": kind.removesuffix("labels"),
        "to_name": "image",
        "original_width": picture.width,
        "original_height": picture.height,
        "image_rotation": 0,
        "value": value | {kind: [annotated.category]},
    }
    if annotated.id is not None:
        result["id"] = str(annotated.id)
    return result if annotated.score is None else result | {"score": annotated.score}


def _value(
    annotated: AnnotatedObject, picture: Picture, writing: Writing
) -> tuple[str, dict[str, Any]]:
    region = annotated.region
    across, down = 100 / picture.width, 100 / picture.height
    if isinstance(region, Box):
        value = {"x": region.x * across, "y": region.y * down, "rotation": 0}
        sides = {"width": region.width * across, "height": region.height * down}
        return "rectanglelabels", value | sides
    if isinstance(region, Polygons) and len(region.parts) == 1:
        points = [[x * across, y * down] for x, y in region.parts[0]]
        return "polygonlabels", {"points": points, "closed": True}
    size = picture.height, picture.width
    if picture.height * picture.width > _MOST_BRUSH_PIXELS:
        raise ValueError(
            f"the picture {picture.name!r} has {picture.width} × {picture.height} pixels, and a "
            f"brush of Label Studio at most {_MOST_BRUSH_PIXELS:,}"
        )
    rows = to_rows(writing.mask(picture, annotated).runs(*size), *size)
    return "brushlabels", {"format": "rle", "rle": encode(rows)}
