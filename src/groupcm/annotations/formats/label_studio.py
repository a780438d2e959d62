"""Label Studio: one JSON file, a list of tasks; coordinates in percent of the picture.

A task with an annotation is done, with or without objects: an annotation without results is how
Label Studio stores a picture that was submitted as empty. A task with predictions alone is to do,
with their objects, and so is one that was skipped. A task with none of these is merely listed, and
the reader's ``unannotated`` decides.

A polygon of several parts is written as a brush mask of its pixels.

Label Studio's run-length code of a brush mask.

A stream of bits: the number of values (32 bits), the bits of a value less 1 (5), four sizes less 1
(4 each). Then blocks: one bit says whether one value is repeated, two bits choose one of the four
sizes, that many bits tell the length less 1; one value follows, or as many as the length says. The
values are the picture's, row by row, four to a pixel: red, green, blue and the opacity, which is
the mask.

Which picture a Label Studio task is about, and how large it is.
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
from groupcm.annotations.reading import Draft, Reading, turned_box
from groupcm.annotations.regions import Box, Mask, Polygons, Region
from groupcm.annotations.runs import Runs, from_edges, from_rows, to_rows
from groupcm.annotations.writing import Writing
from groupcm.utils.typing import Index

__all__ = ["address", "decode", "encode", "name_of_task", "read", "size_of_task", "write"]

_SIZES = (3, 4, 8, 16)
_CHANNELS = 4
_HALF_OPAQUE = 128


class _Bits:
    """Bits read one number after another."""

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
    """Read a brush mask; return its runs row by row. A pixel belongs to it that is at least half
    opaque.

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
            raise ValueError("the brush mask goes on beyond the picture; it is damaged")
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
    """Write a brush mask, given by its runs row by row.

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


_UPLOADED = re.compile(r"^/?data/upload/(?:\d+/)?")
_UPLOAD_MARK = re.compile(r"^[0-9a-f]{8}-")


def address(name: str, prefix: str) -> str:
    """Write a picture's address: the name alone, or quoted after the prefix of a storage.

    Examples
    --------
    >>> address("day 1/a.jpg", "/data/local-files/?d=")
    '/data/local-files/?d=day%201/a.jpg'
    """
    return prefix + quote(name) if prefix else name


def name_of_task(task: dict[str, Any], reading: Reading) -> str:
    """Name of the picture, from a plain name, an upload, a local storage or a web address."""
    names = _possible_names(_written(field(task, "data", dict)))
    if reading.known is None:
        return reading.name(names[-1])
    places = [[name] for name in names]
    if len(names) == 1 or "/" not in names[0]:
        return reading.known.name(names[-1], places)
    if names[-1] in reading.known:
        # Where the folders of an address are not known, its file name must be that of one picture.
        places[-1] = reading.known.with_base_name(names[-1])
    return reading.known.name(names[0], places)


def size_of_task(task: dict[str, Any], marks: list[Any]) -> tuple[int | None, int | None]:
    """Width and height as a region tells them, or the task's data; None where none does."""
    for mark in marks:
        if isinstance(mark, dict) and "original_width" in mark:
            return whole(mark, "original_width"), whole(mark, "original_height")
    return whole(task["data"], "width"), whole(task["data"], "height")


def _written(data: dict[str, Any]) -> str:
    if isinstance(data.get("image"), str):
        return data["image"]
    for value in data.values():
        if (
            isinstance(value, str)
            and PurePosixPath(_path(value)).suffix.lower() in PICTURE_SUFFIXES
        ):
            return value
    raise ValueError("the task's data name no picture")


def _path(written: str) -> str:
    parts = urlsplit(written) if "://" in written or "?d=" in written else None
    if parts is None:
        return written
    local = parse_qs(parts.query).get("d")
    return local[0] if local else unquote(parts.path)


def _possible_names(written: str) -> list[str]:
    """What the picture may be called, the best guess last."""
    path = _path(written)
    if "://" in written:
        parts = path.lstrip("/").split("/")
        return ["/".join(parts[level:]) for level in range(len(parts))]
    if _UPLOADED.match(path):
        uploaded = unquote(_UPLOADED.sub("", path))
        return [uploaded, _UPLOAD_MARK.sub("", uploaded)]
    return [path]


_NO_OBJECTS = frozenset(
    {"choices", "textarea", "rating", "taxonomy", "number", "datetime", "relation"}
)
_READABLE = frozenset({"rectangle", "polygon", "brush", "labels"})
_MOST_PIXELS_OF_A_BRUSH = 2**30 - 1  # it counts four values for each in 32 bits
_DIGITS = 9  # of a pixel: what the division by the width took is put back


def read(reading: Reading) -> Annotations:
    """Read an export in the format that Label Studio calls JSON."""
    tasks = load(reading.path)
    with reading.at(""):
        tasks = tasks if isinstance(tasks, list) else [tasks]
        if not tasks or not all(isinstance(task, dict) and "data" in task for task in tasks):
            raise ValueError(
                "this is no list of Label Studio's tasks; export as JSON (not as JSON-MIN)"
            )
    for position, task in enumerate(tasks, start=1):
        place = f"task {task.get('id', position)}"
        with reading.perhaps(place):
            _read_task(reading, task, place)
    return reading.annotations()


def _read_task(reading: Reading, task: dict[str, Any], place: str) -> None:
    name = name_of_task(task, reading)
    submitted = field(task, "annotations", list, field(task, "completions", list, []))
    finished = [each for each in submitted if not field(each, "was_cancelled", bool, False)]
    if len(finished) > 1:
        reading.tally.count("tasks with several annotations, of which the first was taken", place)
    results = finished[:1] or field(task, "predictions", list, [])[:1]
    marks = field(results[0], "result", list, []) if results else []
    draft = reading.picture(name, *size_of_task(task, marks))
    draft.done = None if not (submitted or results) else bool(finished)
    labelled = {
        str(mark["id"])
        for mark in marks
        if isinstance(mark, dict) and "id" in mark and _labels(mark)
    }
    for position, mark in enumerate(marks, start=1):
        where = f"{place}, result {position} ({name})"
        kind = str(mark.get("type", "")) if isinstance(mark, dict) else ""
        shape = kind.removesuffix("labels") or kind
        if kind in _NO_OBJECTS or _stands_twice(mark, shape, labelled):
            continue
        if shape not in _READABLE:
            draft.leave_out(f"results of the type {kind!r}", where)
            continue
        draft.add(where, lambda mark=mark: _object(mark, draft))


def _stands_twice(mark: Any, shape: str, labelled: set[str]) -> bool:
    """Whether a region without label stands there once more, with its label."""
    return shape in _READABLE and not _labels(mark) and str(mark.get("id")) in labelled


def _labels(mark: Mapping[str, Any]) -> list[Any]:
    value = mark.get("value")
    if not isinstance(value, dict):
        return []
    return value.get(str(mark.get("type"))) or value.get("labels") or []


def _object(mark: dict[str, Any], draft: Draft) -> AnnotatedObject:
    labels = _labels(mark)
    if not isinstance(labels, list) or len(labels) != 1 or not isinstance(labels[0], str):
        raise ValueError(f"the region has the labels {labels!r}; it must have one")
    if field(mark, "image_rotation", (int, float), 0) % 360:
        raise ValueError("the picture was turned in Label Studio; annotate it unturned")
    for side, expected in (("original_width", draft.width), ("original_height", draft.height)):
        if whole(mark, side) not in (None, expected):
            raise ValueError(f"{side!r} is {mark[side]} and the picture's is {expected}")
    score = None if mark.get("score") is None else number(mark, "score")
    own_id = field(mark, "id", (int, str), None)
    return AnnotatedObject(labels[0], _region(field(mark, "value", dict), draft), own_id, score)


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
    turn = number(value, "rotation") if value.get("rotation") else 0.0
    return turned_box(Box(x, y, width, height), turn, around=(x, y))


def _pixels(percent: float, side: int) -> float:
    return round(percent * side / 100, _DIGITS)


def write(annotations: Annotations, writing: Writing, *, prefix: str = "") -> None:
    """Write a list of tasks; ``prefix`` stands before the pictures' names, such as
    ``/data/local-files/?d=frames/`` for pictures in Label Studio's own storage.
    """
    tasks = [
        _task(number, picture, writing, prefix)
        for number, picture in enumerate(annotations, start=1)
    ]
    save_json(writing.path, tasks)


def _task(number: int, picture: Picture, writing: Writing, prefix: str) -> dict[str, Any]:
    results = [_result(marked, picture, writing) for marked in picture.objects]
    data = {"image": address(picture.name, prefix)}
    data |= {"width": picture.width, "height": picture.height}
    task = {"id": number, "data": data, "annotations": [], "predictions": []}
    if picture.done:
        task["annotations"] = [{"result": results, "was_cancelled": False}]
    elif results:
        task["predictions"] = [{"result": results}]
    return task


def _result(marked: AnnotatedObject, picture: Picture, writing: Writing) -> dict[str, Any]:
    kind, value = _value(marked, picture, writing)
    result = {
        "type": kind,
        "from_name": kind.removesuffix("labels"),
        "to_name": "image",
        "original_width": picture.width,
        "original_height": picture.height,
        "image_rotation": 0,
        "value": value | {kind: [marked.category]},
    }
    if marked.id is not None:
        result["id"] = str(marked.id)
    return result if marked.score is None else result | {"score": marked.score}


def _value(
    marked: AnnotatedObject, picture: Picture, writing: Writing
) -> tuple[str, dict[str, Any]]:
    region = marked.region
    across, down = 100 / picture.width, 100 / picture.height
    if isinstance(region, Box):
        value = {"x": region.x * across, "y": region.y * down, "rotation": 0}
        return "rectanglelabels", value | {
            "width": region.width * across,
            "height": region.height * down,
        }
    if isinstance(region, Polygons) and len(region.parts) == 1:
        points = [[x * across, y * down] for x, y in region.parts[0]]
        return "polygonlabels", {"points": points, "closed": True}
    size = picture.height, picture.width
    if picture.height * picture.width > _MOST_PIXELS_OF_A_BRUSH:
        raise ValueError(
            f"the picture {picture.name!r} has {picture.width} × {picture.height} pixels, and a "
            f"brush of Label Studio at most {_MOST_PIXELS_OF_A_BRUSH:,}"
        )
    rows = to_rows(writing.mask(picture, marked).runs(*size), *size)
    return "brushlabels", {"format": "rle", "rle": encode(rows)}
