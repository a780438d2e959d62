"""Names of YOLO's categories: a list, one a line, or the ``names`` of a ``data.yaml``."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

from groupcm.annotations.json_files import text_of
from groupcm.errors import InputError

__all__ = ["NAME_FILES", "find_names"]

NAME_FILES = ("classes.txt", "obj.names", "data.yaml", "data.yml", "dataset.yaml")
_LISTED = re.compile(r"^\s*-\s+(?P<name>.*)$")
_COMMENT = re.compile(r"(?<=\s)#")
# No part gives back what it took, so that a line of spaces or quotation marks takes no longer.
_ITEM = re.compile(r"""\s*+(?:\d++\s*+:\s*+)?+('[^']*+'|"[^"]*+"|[^,]*+)[^,]*+(?:,|$)""")
_NUMBERED = re.compile(r"^\s+(?P<number>\d+)\s*:\s*(?P<name>.*)$")


def find_names(folders: list[Path]) -> list[str]:
    """Read the first file of names in the folders."""
    for folder in folders:
        for name in NAME_FILES:
            if (file := folder / name).is_file():
                names = _from_yaml(file) if file.suffix in (".yaml", ".yml") else _lines(file)
                _check(names, file)
                return names
    raise InputError(
        f"{folders[0]} has no {NAME_FILES[0]} or {NAME_FILES[2]}; "
        "write the names of the categories into one, in their order"
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
            raise InputError(f"{file}: the category {position} has no name")
        if name in seen:
            raise InputError(f"{file}: two categories have the name {name!r}; each needs its own")
        seen.add(name)


def _from_yaml(file: Path) -> list[str]:
    """Names of a ``data.yaml`` in any of the three ways they are written there."""
    lines = [_without_comment(line) for line in text_of(file).splitlines()]
    begin = next((i for i, line in enumerate(lines) if re.match(r"names\s*:", line)), None)
    if begin is None:
        raise InputError(f"{file} has no line 'names:' for the names of the categories")
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
                raise InputError(f"{file}, line {number}: this is no name of a category")
            break
        if (found.groupdict().get("number") or str(len(names))) != str(len(names)):
            raise InputError(
                f"{file}, line {number}: the categories must be numbered 0, 1, 2 and so on"
            )
        names.append(_unquoted(found["name"]))
    return names


def _without_comment(line: str) -> str:
    """Leave out what follows a ``#`` after a space; every character is looked at once."""
    comment = _COMMENT.search(line)
    return line.rstrip() if comment is None else line[: comment.start()].rstrip()


def _inline(text: str, file: Path) -> list[str]:
    """Names written as ``[polyp, 'vascular lesion']`` or ``{0: polyp}``."""
    closing = {"[": "]", "{": "}"}.get(text[0])
    if closing is None or closing not in text:
        raise InputError(f"{file}: 'names' must be a list of the names of the categories")
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
