"""CVAT for images 1.1: one XML file.

Rotated boxes become polygons. A mask is stored as the runs of a part of the picture, row by row. A
polygon of several parts is written as the mask of its pixels.

CVAT lists all images of a task, annotated or not. The tag "verified empty" of an image states that
it shows no object, and the tag "to do" that its shapes are incomplete. For an image with neither
tag and without shapes, ``unannotated`` of `groupcm.annotations.read` decides. Version 0.1 wrote
finished images only; its files are recognised by a ``<task>`` that contains nothing but labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element, SubElement

from groupcm.annotations import runs as run_lengths
from groupcm.annotations.model import AnnotatedObject, Annotations, Picture
from groupcm.annotations.parsing import line_of, parse, read_number, read_whole, save_xml, shortest
from groupcm.annotations.reading import Draft, Reading, rotated_box
from groupcm.annotations.regions import Box, Mask, Polygons, Region, check_part
from groupcm.annotations.writing import Writing

__all__ = ["read", "write"]

_REGIONS = frozenset({"box", "polygon", "mask"})
_NO_OBJECTS = frozenset({"tag"})
_STATES = ("verified empty", "to do")  # tags


def read(reading: Reading) -> Annotations:
    """Read CVAT's XML for images."""
    root = parse(reading.path)
    with reading.at(""):
        if root.tag != "annotations":
            raise ValueError(f"the XML is a <{root.tag}>; CVAT's is <annotations>")
        if root.find("track") is not None:
            raise ValueError("this is CVAT's XML for video; export 'CVAT for images 1.1'")
    # Version 0.1 wrote a task of nothing but labels; all of its images are done.
    task = root.find("./meta/task")
    is_of_v01 = task is not None and [each.tag for each in task] == ["labels"]
    done_by_default = True if is_of_v01 else None
    for image in root.iter("image"):
        with reading.perhaps(line_of(image)):
            _read_image(reading, image, done_by_default)
    labels = [
        (label.findtext("name") or "").strip()
        for label in root.iterfind("./meta//labels/label")
        if not _is_state(label)
    ]
    used = {
        shape.get("label", "").strip()
        for shape in root.iterfind("./image/*")
        if shape.tag not in _NO_OBJECTS
    }
    # Without a complete list of labels, the categories are those of the objects.
    return reading.annotations(tuple(labels) if used <= set(labels) else ())


def _is_state(label: Element) -> bool:
    """Return whether a label belongs to the tags that store the states of pictures."""
    is_tag = (label.findtext("type") or "").strip() == "tag"
    return is_tag and (label.findtext("name") or "").strip() in _STATES


def _read_image(reading: Reading, image: Element, done_by_default: bool | None) -> None:
    width, height = (read_whole(image.get(side), side) for side in ("width", "height"))
    draft = reading.picture(reading.name(image.get("name", "")), width, height)
    tags = {tag.get("label", "").strip() for tag in image.iterfind("tag")}
    draft.done = True if "verified empty" in tags else done_by_default
    if "to do" in tags:
        draft.done = False
    for shape in image:
        place = f"{line_of(shape)} ({draft.name})"
        if shape.tag in _REGIONS:
            draft.add(place, lambda shape=shape: _object(shape, draft))
        elif shape.tag not in _NO_OBJECTS:
            draft.leave_out(f"shapes <{shape.tag}>", place)


def _object(shape: Element, draft: Draft) -> AnnotatedObject:
    attributes = {
        attribute.get("name", ""): attribute.text or "" for attribute in shape.iterfind("attribute")
    }
    readers = {"box": _box, "polygon": _polygon, "mask": _mask}
    region = readers[shape.tag](shape, draft)
    return AnnotatedObject(shape.get("label", ""), region, attributes=attributes)


def _box(shape: Element, draft: Draft) -> Region:
    edges = [read_number(shape.get(name), name) for name in ("xtl", "ytl", "xbr", "ybr")]
    box = Box.from_corners(*edges)
    angle = shape.get("rotation")
    if angle is None:
        return box
    centre = (box.x + box.width / 2, box.y + box.height / 2)
    return rotated_box(box, read_number(angle, "rotation"), around=centre)


def _polygon(shape: Element, draft: Draft) -> Region:
    pairs = [pair.split(",") for pair in shape.get("points", "").split(";") if pair.strip()]
    return Polygons([[[read_number(value, "points") for value in pair] for pair in pairs]])


def _mask(shape: Element, draft: Draft) -> Region:
    left, top, width, height = (
        read_whole(shape.get(name), name) for name in ("left", "top", "width", "height")
    )
    if left is None or top is None or not width or not height:
        raise ValueError("the mask needs left, top, width and height")
    if width > draft.width or height > draft.height:
        raise ValueError(f"the mask of {width} × {height} pixels is larger than its picture")
    counts = [read_whole(word, "rle") or 0 for word in shape.get("rle", "").split(",")]
    check_part(left, top, (height, width), (draft.height, draft.width))
    runs = run_lengths.from_rows(
        run_lengths.canonical(counts, width * height),
        (height, width),
        (top, left),
        (draft.height, draft.width),
        spend=draft.budget.spend_runs,
    )
    return Mask(draft.height, draft.width, runs)


def write(annotations: Annotations, writing: Writing) -> None:
    """Write CVAT's XML for images."""
    root = Element("annotations")
    SubElement(root, "version").text = "1.1"
    pictures = list(writing.known_pictures(annotations))
    task = SubElement(SubElement(root, "meta"), "task")
    SubElement(task, "size").text = str(len(pictures))
    labels = SubElement(task, "labels")
    states = [name for name in _STATES if any(name == each.state for each in pictures)]
    for name in (*annotations.categories, *states):
        label = SubElement(labels, "label")
        SubElement(label, "name").text = name
        if name in states:
            SubElement(label, "type").text = "tag"
        SubElement(label, "attributes")
    for number, picture in enumerate(pictures):
        _write_image(SubElement(root, "image", {"id": str(number)}), picture, writing)
    save_xml(writing.path, root)


def _write_image(image: Element, picture: Picture, writing: Writing) -> None:
    image.attrib |= {
        "name": picture.name,
        "width": str(picture.width),
        "height": str(picture.height),
    }
    if picture.state in _STATES:
        SubElement(image, "tag", {"label": picture.state, "source": "manual"})
    for annotated in picture.objects:
        tag, values = _shape(annotated, picture, writing)
        common = {"label": annotated.category, "source": "manual", "occluded": "0"}
        shape = SubElement(image, tag, common | dict(values) | {"z_order": "0"})
        for name, value in annotated.attributes.items():
            SubElement(shape, "attribute", {"name": str(name)}).text = str(value)


def _shape(
    annotated: AnnotatedObject, picture: Picture, writing: Writing
) -> tuple[str, Mapping[str, str]]:
    region = annotated.region
    if isinstance(region, Box):
        edges = {"xtl": region.x, "ytl": region.y, "xbr": region.right, "ybr": region.bottom}
        return "box", {name: shortest(round(value, 9)) for name, value in edges.items()}
    if isinstance(region, Polygons) and len(region.parts) == 1:
        pairs = (f"{shortest(x)},{shortest(y)}" for x, y in region.parts[0])
        return "polygon", {"points": ";".join(pairs)}
    runs, left, top, height, width = writing.mask(picture, annotated).part_runs()
    numbers = {"left": left, "top": top, "width": width, "height": height}
    rle = ", ".join(map(str, run_lengths.to_rows(runs, height, width).tolist()))
    return "mask", {"rle": rle} | {name: str(value) for name, value in numbers.items()}
