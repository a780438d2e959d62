"""Pascal VOC: one XML file a picture, boxes alone.

VOC counts pixels from 1 and its corners belong to the box, so the box from ``xmin`` to ``xmax``
begins at ``x = xmin − 1`` and is ``xmax − xmin + 1`` wide.

A file without objects says "verified empty"; a picture without a file is to do. A picture to do
that holds objects already has ``<state>to do</state>``, an element that VOC does not define.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from xml.etree.ElementTree import Element, SubElement

from groupcm.annotations.model import AnnotatedObject, Annotations, Picture
from groupcm.annotations.parsing import line_of, parse, read_number, read_whole, save_xml, shortest
from groupcm.annotations.reading import Reading
from groupcm.annotations.regions import Box
from groupcm.annotations.writing import Writing, stems
from groupcm.errors import FileName, InputError
from groupcm.utils.files import whole_folder

__all__ = ["read", "write"]

_ATTRIBUTES = ("pose", "truncated", "difficult", "occluded")
_EDGES = ("xmin", "ymin", "xmax", "ymax")


def read(reading: Reading) -> Annotations:
    """Read one XML file, or all of a folder and the folders in it."""
    folder = reading.path
    if folder.is_file():
        files = [folder]
        folder = folder.parent
    else:
        folder = folder / "Annotations" if (folder / "Annotations").is_dir() else folder
        files = sorted(folder.rglob("*.xml"))
        if not files:
            raise InputError("there is no XML file in ", FileName(folder))
    for file in files:
        place = "" if file == reading.path else file.relative_to(folder).as_posix()
        with reading.perhaps(place):
            _read_file(reading, file, folder, place)
    return reading.annotations()


def _read_file(reading: Reading, file: Path, folder: Path, place: str) -> None:
    root = parse(file)
    if root.tag != "annotation":
        raise ValueError(f"the XML is a <{root.tag}>; Pascal VOC's is an <annotation>")
    written = (root.findtext("filename") or "").strip("\r\n\t")
    told = (root.findtext("folder") or "").strip() or None
    if "/" in written:
        name = reading.name(written)
    else:
        name = reading.name_in_own_file(written or file.stem, file, folder, told)
    width, height = (_side(root, side) for side in ("width", "height"))
    draft = reading.picture(name, width, height)
    draft.done = (root.findtext("state") or "").strip() != "to do"
    for position, element in enumerate(root.iter("object"), start=1):
        where = f"{place + ', ' if place else ''}{line_of(element)}, object {position}"
        draft.add(where, lambda element=element: _object(element))


def _side(root: Element, side: str) -> int | None:
    """Width or height; some tools write 0 for what they do not know."""
    size = root.find("size")
    return None if size is None else read_whole(size.findtext(side), side) or None


def _object(element: Element) -> AnnotatedObject:
    box = element.find("bndbox")
    if box is None:
        raise ValueError("the object has no <bndbox>")
    left, top, right, bottom = (read_number(box.findtext(edge), edge) for edge in _EDGES)
    attributes = {
        name: text.strip() for name in _ATTRIBUTES if (text := element.findtext(name)) is not None
    }
    region = Box.from_corners(left - 1, top - 1, right, bottom)
    return AnnotatedObject(element.findtext("name") or "", region, attributes=attributes)


def write(annotations: Annotations, writing: Writing) -> None:
    """Write a folder of XML files."""
    pictures = list(writing.known_pictures(annotations))
    with whole_folder(writing.path) as folder:
        for picture, stem in zip(pictures, stems(pictures, writing.format), strict=True):
            save_xml(folder / f"{stem}.xml", _annotation(picture, writing))


def _annotation(picture: Picture, writing: Writing) -> Element:
    root = Element("annotation")
    SubElement(root, "folder").text = str(PurePosixPath(picture.name).parent)
    SubElement(root, "filename").text = PurePosixPath(picture.name).name
    size = SubElement(root, "size")
    for side, value in (("width", picture.width), ("height", picture.height), ("depth", 3)):
        SubElement(size, side).text = str(value)
    SubElement(root, "segmented").text = "0"
    if not picture.done:
        SubElement(root, "state").text = picture.state
    for marked in picture.objects:
        element = SubElement(root, "object")
        SubElement(element, "name").text = marked.category
        for name, absent in zip(_ATTRIBUTES, ("Unspecified", "0", "0"), strict=False):
            SubElement(element, name).text = str(marked.attributes.get(name, absent))
        box = writing.box(picture, marked)
        edges = zip(_EDGES, (box.x + 1, box.y + 1, box.right, box.bottom), strict=True)
        bounds = SubElement(element, "bndbox")
        for edge, value in edges:
            SubElement(bounds, edge).text = shortest(round(value, 9))
    return root
