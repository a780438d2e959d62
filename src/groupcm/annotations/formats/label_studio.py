"""Label Studio: one JSON file, a list of tasks; coordinates in percent of the picture.

A task with an annotation is done, with or without objects: an annotation without results is how
Label Studio stores a picture that was submitted as empty. A task with predictions alone is to do,
with their objects, and so is one that was skipped. A task with none of these is merely listed, and
the reader's ``unannotated`` decides.

A polygon of several parts is written as a brush mask of its pixels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groupcm.annotations.json_files import field, load, number, save, whole
from groupcm.annotations.model import AnnotatedObject, Annotations, Picture
from groupcm.annotations.reading import Draft, Reading
from groupcm.annotations.regions import Box, Mask, Polygons, Region
from groupcm.annotations.runs import from_rows, to_rows
from groupcm.annotations.shapes import turned_box
from groupcm.annotations.writing import Writing

from .label_studio_runs import decode, encode
from .label_studio_tasks import address, name_of_task, size_of_task

__all__ = ["read", "write"]

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
    save(writing.path, tasks)


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
