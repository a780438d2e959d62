"""YOLO: one text file per picture, one line per object, and a file with the category names.

A line is ``category x y width height`` with the box's centre, or ``category x1 y1 x2 y2 x3 y3 …``
with a polygon's corners, all as fractions of the picture's width and height. A sixth number after a
box is a detector's score. The category names are one per line, or the ``names`` of a ``data.yaml``.

An empty file means "verified empty"; a picture without a file is to do. Pictures to do that already
have objects are listed in ``to_do.txt`` next to the folder ``labels``, one name per line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath

from groupcm.annotations.known_pictures import KnownPictures
from groupcm.annotations.model import AnnotatedObject, Annotations, Picture
from groupcm.annotations.parsing import read_number, save_text, text_of
from groupcm.annotations.pictures import find_pictures
from groupcm.annotations.reading import Draft, Reading
from groupcm.annotations.regions import Box, Polygons
from groupcm.annotations.writing import Writing, stems
from groupcm.errors import FileName, InputError
from groupcm.utils.files import whole_folder

__all__ = ["NAME_FILES", "read", "write"]

NAME_FILES = ("classes.txt", "obj.names", "data.yaml", "data.yml", "dataset.yaml")
_LISTED = re.compile(r"^\s*-\s+(?P<name>.*)$")
_COMMENT = re.compile(r"(?<=\s)#")
# Possessive quantifiers, so that a line of spaces or quotation marks takes linear time.
_ITEM = re.compile(r"""\s*+(?:\d++\s*+:\s*+)?+('[^']*+'|"[^"]*+"|[^,]*+)[^,]*+(?:,|$)""")
_NUMBERED = re.compile(r"^\s+(?P<number>\d+)\s*:\s*(?P<name>.*)$")


_TO_DO = "to_do.txt"
_DIGITS = 9  # of a pixel: restores what the division by the width rounded


def read(reading: Reading) -> Annotations:
    """Read a folder of text files; sizes are those of known pictures or of pictures next to it."""
    folder = reading.path
    labels = folder / "labels" if (folder / "labels").is_dir() else folder
    names = _category_names([folder, labels, *list(folder.parents)[:2]])
    if reading.known is None:
        reading.known = _pictures_of(labels)
    files = sorted(file for file in labels.rglob("*.txt") if file.name not in NAME_FILES)
    if not files:
        raise InputError("there is no text file with labels in ", FileName(labels))
    to_do = _to_do(labels)
    for file in files:
        place = file.relative_to(labels).as_posix()
        with reading.perhaps(place):
            draft = reading.picture(reading.name(place.removesuffix(".txt")), None, None)
            draft.done = place.removesuffix(".txt") not in to_do
            for number, line in enumerate(text_of(file).splitlines(), start=1):
                if words := line.split():
                    build = lambda words=words, draft=draft: _object(words, draft, names)  # noqa: E731
                    draft.add(f"{place}, line {number}", build)
    return reading.annotations(tuple(names))


def _category_names(folders: list[Path]) -> list[str]:
    """Read the first file of names in the folders."""
    for folder in folders:
        for name in NAME_FILES:
            if (file := folder / name).is_file():
                names = _from_yaml(file) if file.suffix in (".yaml", ".yml") else _lines(file)
                _check(names, file)
                return names
    raise InputError(
        FileName(folders[0]),
        f" has no {NAME_FILES[0]} or {NAME_FILES[2]}; "
        "write the names of the categories into one, in their order",
    )


def _lines(file: Path) -> list[str]:
    lines = [line.strip() for line in text_of(file).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _check(names: list[str], file: Path) -> None:
    seen: set[str] = set()
    for position, name in enumerate(names):
        if not name:
            raise InputError(FileName(file), f": the category {position} has no name")
        if name in seen:
            raise InputError(
                FileName(file), f": two categories have the name {name!r}; each needs its own"
            )
        seen.add(name)


def _from_yaml(file: Path) -> list[str]:
    """Return the names of a ``data.yaml``: an inline list, a block list or numbered entries."""
    lines = [_COMMENT.split(line, maxsplit=1)[0].rstrip() for line in text_of(file).splitlines()]
    begin = next((i for i, line in enumerate(lines) if re.match(r"names\s*:", line)), None)
    if begin is None:
        raise InputError(FileName(file), " has no line 'names:' for the names of the categories")
    rest = lines[begin].split(":", 1)[1].strip()
    if rest:
        return _inline(" ".join([rest, *lines[begin + 1 :]]), file)
    names: list[str] = []
    for number, line in enumerate(lines[begin + 1 :], start=begin + 2):
        if not line.strip():
            continue
        found = _LISTED.match(line) or _NUMBERED.match(line)
        if found is None:
            if line[0].isspace():
                raise InputError(
                    FileName(file), f", line {number}: this is not the name of a category"
                )
            break
        if (found.groupdict().get("number") or str(len(names))) != str(len(names)):
            raise InputError(
                FileName(file),
                f", line {number}: the categories must be numbered 0, 1, 2 and so on",
            )
        names.append(_unquoted(found["name"]))
    return names


def _inline(text: str, file: Path) -> list[str]:
    """Return names written as ``[polyp, 'vascular lesion']`` or ``{0: polyp}``."""
    closing = {"[": "]", "{": "}"}.get(text[0])
    if closing is None or closing not in text:
        raise InputError(FileName(file), ": 'names' must be a list of the names of the categories")
    inner = text[1 : text.index(closing)]
    items = []
    at = 0
    while at < len(inner):
        found = _ITEM.match(inner, at)
        assert found is not None  # an item may be empty
        items.append(found[1].strip())
        at = found.end()
    return [_unquoted(item) for item in items if item]


def _unquoted(name: str) -> str:
    name = name.strip()
    if len(name) < 2 or name[0] != name[-1] or name[0] not in "'\"":
        return name
    if name[0] == '"':
        with suppress(ValueError):
            return str(json.loads(name)).strip()
    return name[1:-1].replace("''", "'").strip()


def _to_do(labels: Path) -> frozenset[str]:
    """Return the label files, without their suffix, whose pictures are to do.

    They are listed next to the folder ``labels``, of which only a subfolder may be read.
    """
    labels = labels.absolute()
    for folder in (labels, *labels.parents):
        file = folder.parent / _TO_DO
        if (folder == labels or folder.name == "labels") and file.is_file():
            inside = PurePosixPath(labels.relative_to(folder).as_posix())
            listed = (PurePosixPath(line) for line in text_of(file).splitlines())
            return frozenset(
                str(name.relative_to(inside)) for name in listed if name.is_relative_to(inside)
            )
    return frozenset()


def _pictures_of(labels: Path) -> KnownPictures | None:
    """Return the pictures in ``images`` instead of ``labels``, or next to the label files."""
    for parent in (labels, *labels.parents):
        if parent.name == "labels":
            images = parent.with_name("images") / labels.relative_to(parent)
            if images.is_dir():
                return KnownPictures(images)
    return KnownPictures(labels) if find_pictures(labels) else None


def _object(words: list[str], draft: Draft, names: list[str]) -> AnnotatedObject:
    if not (words[0].isascii() and words[0].isdigit()):
        raise ValueError(f"the category is {words[0]!r}; it must be a whole number")
    digits = words[0].lstrip("0") or "0"
    if len(digits) > _DIGITS or int(digits) >= len(names):
        raise ValueError(f"there is no category {words[0]}; the last is {len(names) - 1}")
    category = names[int(digits)]
    numbers = [read_number(word, f"number {i}") for i, word in enumerate(words[1:], start=2)]
    if len(numbers) in (4, 5):
        score = numbers[4] if len(numbers) == 5 else None
        return AnnotatedObject(category, _box(numbers, draft), score=score)
    if len(numbers) < 6 or len(numbers) % 2:
        raise ValueError(
            f"the line has {len(words)} numbers; a box has 5, a polygon 7 or more, an odd number"
        )
    corners = zip(numbers[::2], numbers[1::2], strict=True)
    scaled = [
        (round(x * draft.width, _DIGITS), round(y * draft.height, _DIGITS)) for x, y in corners
    ]
    return AnnotatedObject(category, Polygons([scaled]))


def _box(numbers: list[float], draft: Draft) -> Box:
    width, height = numbers[2] * draft.width, numbers[3] * draft.height
    left, top = numbers[0] * draft.width - width / 2, numbers[1] * draft.height - height / 2
    return Box(*(round(value, _DIGITS) for value in (left, top, width, height)))


def write(annotations: Annotations, writing: Writing) -> None:
    """Write a folder with ``classes.txt`` and the text files in ``labels``."""
    pictures = list(writing.known_pictures(annotations))
    number = {name: position for position, name in enumerate(annotations.categories)}
    with whole_folder(writing.path) as folder:
        _save_lines(folder / NAME_FILES[0], annotations.categories)
        named = list(zip(pictures, stems(pictures, writing.format), strict=True))
        if to_do := [stem for picture, stem in named if not picture.done]:
            _save_lines(folder / _TO_DO, to_do)
        for picture, stem in named:
            file = folder / "labels" / f"{stem}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            lines = [
                f"{number[each.category]} {_numbers(picture, each, writing)}"
                for each in picture.objects
            ]
            _save_lines(file, lines)


def _save_lines(path: Path, lines: Iterable[str]) -> None:
    save_text(path, "".join(f"{line}\n" for line in lines))


def _numbers(picture: Picture, annotated: AnnotatedObject, writing: Writing) -> str:
    region = annotated.region
    if isinstance(region, Polygons) and len(region.parts) == 1:
        values = [value for x, y in region.parts[0] for value in (x, y)]
    else:
        box = writing.box(picture, annotated)
        values = [box.x + box.width / 2, box.y + box.height / 2, box.width, box.height]
    sides = (picture.width, picture.height)
    return " ".join(repr(value / sides[i % 2]) for i, value in enumerate(values))
