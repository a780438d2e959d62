"""A plain CSV of boxes, one per line; a picture without objects has one line with an empty box.

The columns are ``image``, the box as ``x, y, width, height`` or by its edges ``xmin, ymin, xmax,
ymax``, and optionally ``category``, ``score``, ``image_width``, ``image_height`` and ``state``;
many synonyms are accepted. The upper edges are exclusive: ``xmax − xmin`` is the width.

``state`` is "verified empty", "annotated" or "to do", the same in all lines of a picture. For a
picture with an empty box and without a state, ``unannotated`` of `groupcm.annotations.read`
decides. Only in a file with exactly the columns of version 0.1 does an empty box mean "verified
empty".
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from groupcm.annotations.model import AnnotatedObject, Annotations
from groupcm.annotations.parsing import read_number, read_whole, shortest, text_of
from groupcm.annotations.reading import Draft, Reading
from groupcm.annotations.regions import Box
from groupcm.annotations.writing import Writing
from groupcm.errors import FileName, InputError
from groupcm.utils.files import whole_file

__all__ = ["read", "write"]

_NAMES = {
    "image": "image filename file imagefile imagename imagepath path picture frame imageid img",
    "category": "category label class classname labelname categoryname defect type",
    "score": "score confidence probability",
    "image_width": "imagewidth imgwidth picturewidth",
    "image_height": "imageheight imgheight pictureheight",
    "state": "state",
}
# Left, top, right, bottom; then left, top, width, height. The first complete set counts.
_EDGES = (
    ("xmin", "ymin", "xmax", "ymax"),
    ("left", "top", "right", "bottom"),
    ("x0", "y0", "x1", "y1"),
    ("x1", "y1", "x2", "y2"),
    ("bboxxmin", "bboxymin", "bboxxmax", "bboxymax"),
    ("xtl", "ytl", "xbr", "ybr"),
)
_SIZES = (
    ("x", "y", "width", "height"),
    ("x", "y", "w", "h"),
    ("left", "top", "width", "height"),
    ("xmin", "ymin", "width", "height"),
    ("bboxx", "bboxy", "bboxwidth", "bboxheight"),
    ("bboxx", "bboxy", "bboxw", "bboxh"),
)
_DEFAULT_CATEGORY = "object"
_COLUMNS_OF_V01 = ("image", "x", "y", "width", "height", "category", "image_width", "image_height")


class _Columns:
    """The columns of the file by their meaning."""

    def __init__(self, header: list[str]) -> None:
        plain = ["".join(filter(str.isalnum, name.lower())) for name in header]
        self.at: dict[str, int] = {}
        for position, name in enumerate(plain):
            self.at.setdefault(name, position)
        self.named = {
            meaning: next((self.at[name] for name in names.split() if name in self.at), None)
            for meaning, names in _NAMES.items()
        }
        self.is_of_v01 = tuple(header) in (_COLUMNS_OF_V01, (*_COLUMNS_OF_V01, "score"))
        edges = next((names for names in _EDGES if self._all(names)), None)
        sizes = next((names for names in _SIZES if self._all(names)), None)
        self.by_edges = edges is not None
        self.box = edges or sizes
        if self.by_edges and self._all(("width", "height")):
            # Next to edges, these names can only refer to the picture.
            for side in ("width", "height"):
                if self.named[f"image_{side}"] is None:
                    self.named[f"image_{side}"] = self.at[side]
        missing = "the name of the picture" if self.named["image"] is None else "the box"
        if self.box is None or self.named["image"] is None:
            raise ValueError(
                f"no column holds {missing}; the columns should be called image, x, y, width, "
                f"height and category, and are called {', '.join(header)}"
            )

    def _all(self, names: tuple[str, ...]) -> bool:
        return all(name in self.at for name in names)

    def cell(self, row: list[str], meaning: str) -> str:
        position = self.named[meaning]
        return row[position] if position is not None else ""

    def box_cells(self, row: list[str]) -> Mapping[str, str]:
        assert self.box is not None
        return {name: row[self.at[name]].strip() for name in self.box}


def read(reading: Reading) -> Annotations:
    """Read a CSV of boxes."""
    text = text_of(reading.path)
    if not text.strip():
        raise InputError(
            FileName(reading.path), " is empty; it should begin with the names of its columns"
        )
    first = text.lstrip().splitlines()[0]
    separator = max(",;\t", key=first.count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        rows = (row for row in lines if any(cell.strip() for cell in row))
        header = next(rows, [])
        with reading.at("line 1"):
            columns = _Columns(header)
        for row in rows:
            place = f"line {lines.line_num}"
            draft = None
            with reading.perhaps(place):
                if len(row) != len(header):
                    raise ValueError(f"{len(row)} cells, and the header has {len(header)} columns")
                draft = _picture(reading, columns, row)
                _note_state(draft, columns, row)
            if draft is not None and any(columns.box_cells(row).values()):
                draft.add(place, lambda row=row: _object(columns, row))
    except csv.Error as error:
        reading.fail(f"line {lines.line_num}", f"this is not CSV ({error})")
    return reading.annotations()


def _picture(reading: Reading, columns: _Columns, row: list[str]) -> Draft:
    name = reading.name(columns.cell(row, "image"))
    width, height = (
        read_whole(columns.cell(row, side).strip(), side)
        for side in ("image_width", "image_height")
    )
    draft = reading.drafted(name)
    if draft is None:
        return reading.picture(name, width, height)
    if (width, height) not in ((None, None), (draft.width, draft.height)):
        raise ValueError(
            f"the picture {name!r} is {width} × {height} pixels here and "
            f"{draft.width} × {draft.height} above"
        )
    return draft


def _note_state(draft: Draft, columns: _Columns, row: list[str]) -> None:
    """Store the state that a line gives its picture; states of other programs are ignored."""
    state = "".join(filter(str.isalnum, columns.cell(row, "state").lower()))
    has_box = any(columns.box_cells(row).values())
    if state == "verifiedempty" and has_box:
        raise ValueError(f"the picture {draft.name!r} is verified empty and has a box")
    if state == "todo":
        draft.done = False
    elif state == "verifiedempty" or (columns.is_of_v01 and not has_box):
        draft.done = True


def _object(columns: _Columns, row: list[str]) -> AnnotatedObject:
    numbers = [read_number(text, name) for name, text in columns.box_cells(row).items()]
    box = Box.from_corners(*numbers) if columns.by_edges else Box(*numbers)
    score = columns.cell(row, "score").strip()
    if columns.named["category"] is None:
        category = _DEFAULT_CATEGORY
    else:
        category = columns.cell(row, "category")
    return AnnotatedObject(category, box, score=read_number(score, "score") if score else None)


def write(annotations: Annotations, writing: Writing) -> None:
    """Write a CSV of boxes."""
    scored = any(annotated.score is not None for annotated in annotations.objects())
    rows = [[*_COLUMNS_OF_V01, "state"] + ["score"] * scored]
    for picture in writing.known_pictures(annotations):
        of_picture = [str(picture.width), str(picture.height), picture.state]
        for each in picture.objects:
            box = writing.box(picture, each)
            numbers = [shortest(value) for value in (box.x, box.y, box.width, box.height)]
            score = ["" if each.score is None else repr(each.score)] * scored
            rows.append([picture.name, *numbers, each.category, *of_picture, *score])
        if not picture.objects:
            rows.append([picture.name, "", "", "", "", "", *of_picture, *([""] * scored)])
    with (
        whole_file(writing.path) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        csv.writer(file, lineterminator="\n").writerows(rows)
