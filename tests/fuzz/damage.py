"""Damage to files, byte by byte or by what they hold, as lists of edits that shrink.

An edit is a small dictionary of plain numbers. A place is a number that is taken modulo the size
of what is there, so that every edit means something for every file.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

__all__ = ["byte_edits", "damage_bytes", "damage_json", "damage_text", "json_edits", "text_edits"]

Edit = dict[str, Any]

_PIECES = (
    b"\x00", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"-", b"999999999999", b"nan", b"1e400",
    b"<", b'"', b",", b"\n", b"..", b"../../", b"\x1b[31m", "é".encode(), b"\xed\xa0\x80",
)  # fmt: skip
# What a number in a text may become: signs, ends of the integers, no number at all.
_NUMBERS = (
    "-1", "0", "1", "2", "3", "40000", "65536", "100000", "1000000", "2147483647", "2147483648",
    "4294967296", "99999999999999999999", "-2147483649", "1e308", "-1e308", "1e999", "nan", "inf",
    "-inf", "0.5", "1e-320", "", "x", "1 2", "0x10", "١",
)  # fmt: skip
# What a value in JSON may become. The last ones go into the text as they are.
_VALUES: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 3, 0.5, 1000, 40_000, 10**6, 2**31, 2**53 + 1, 2**63, 10**30,
    -(10**9), 1e308, -1e308, 5e-324, "", "x", "1", "../../x", "\x1b[31mred", "\u202e", "a" * 5000,
    [], {}, [[]], [None], [1, 2], [0] * 3000, {"x": 1}, {"$float": "nan"}, {"$float": "inf"},
    {"$float": "x"}, {"$float": []}, {"$tuple": [1, 2]}, {"$tuple": 3}, {"$dtype": "<f8"},
    {"$array": [], "dtype": "<f8", "shape": [0]}, {"$array": [1.0], "dtype": "<f8", "shape": [1]},
    {"$array": [1.0, 2.0], "dtype": "<f8", "shape": [1, 2]},
    {"$array": ["a"], "dtype": "<U500000000", "shape": [1]},
    {"$array": ["a"], "dtype": "<U1", "shape": [1]},
    {"$array": [1], "dtype": "<i8", "shape": None},
    {"$array": [{"$float": "nan"}], "dtype": "<f8", "shape": [1]},
    {"$model": "GroupClassifier", "params": {}, "state": {}},
    {"$sklearn": "PCA", "version": "1.6.1", "params": {}, "attributes": {}},
    "<f4", "<f8", "<i8", "<u1", "|b1", ">f8", "<U1", "<U500000000", "|S9", "|V8", "<M8[s]", "<c16",
    "object", "float128", "f8,f8", "$model", "$array", "GroupClassifier", "Polynomial", "Fitted",
    [10**9], [-1], [2, 3], [1, 10**9], [0, 5], [2**40, 2**40], ["a"], [1.5], "F", "K",
)  # fmt: skip
_RAW = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e-999", "1" * 5000, "[" * 3000)
_RAW_MARK = "raw-text-goes-here"


def _edits(ops: Sequence[str]) -> st.SearchStrategy[list[Edit]]:
    edit = st.fixed_dictionaries(
        {
            "op": st.sampled_from(ops),
            "at": st.integers(0, 2**20 - 1),
            "to": st.integers(0, 2**20 - 1),
            "n": st.integers(1, 200),
        }
    )
    return _few(edit)


@st.composite
def _few(draw: st.DrawFn, edit: st.SearchStrategy[Edit]) -> list[Edit]:
    return [draw(edit) for _ in range(draw(st.sampled_from([1, 1, 1, 2, 4])))]


def byte_edits() -> st.SearchStrategy[list[Edit]]:
    """Draw edits for `damage_bytes`."""
    return _edits(["flip", "set", "delete", "insert", "copy", "number", "end"])


def damage_bytes(content: bytes, edits: Sequence[Edit]) -> bytes:
    """Change, cut out, put in or copy a few bytes, or lose the end."""
    data = bytearray(content)
    for edit in edits:
        at, to, n = edit["at"] % (len(data) + 1), edit["to"], edit["n"]
        match edit["op"]:
            case "flip" if at < len(data):
                data[at] ^= 1 << (n % 8)
            case "set":
                data[at : at + 1] = bytes([to % 256])
            case "delete":
                del data[at : at + n]
            case "insert":
                data[at:at] = _PIECES[to % len(_PIECES)]
            case "copy":
                data[at:at] = data[to % (len(data) + 1) :][:n]
            case "number":  # a length or an offset, as binary formats store them
                value = (0, 1, n, 2**31 - 1, 2**32 - 1, 2**20)[to % 6]
                data[at : at + 4] = value.to_bytes(4, ("little", "big")[n % 2])
            case "end":
                del data[at:]
    return bytes(data)


def text_edits() -> st.SearchStrategy[list[Edit]]:
    """Draw edits for `damage_text`."""
    return _edits(
        ["number", "number", "number", "word", "delete line", "copy line", "cut line", "spaces"]
    )


def damage_text(text: str, edits: Sequence[Edit]) -> str:
    """Change numbers and words, lose, copy and cut lines, or put in many spaces."""
    for edit in edits:
        at, to, n = edit["at"], edit["to"], edit["n"]
        lines = text.split("\n")
        row = at % len(lines)
        match edit["op"]:
            case "number":
                text = _with_token(text, r"-?\d+(?:\.\d+)?(?:e-?\d+)?", at, _number(to))
            case "word":
                words = re.findall(r"[A-Za-z_]+", text) or [""]
                text = _with_token(text, r"[A-Za-z_]+", at, words[to % len(words)])
            case "delete line":
                text = "\n".join(lines[:row] + lines[row + 1 :])
            case "copy line":
                lines.insert(to % (len(lines) + 1), lines[row])
                text = "\n".join(lines)
            case "cut line":
                lines[row] = lines[row][: to % (len(lines[row]) + 1)]
                text = "\n".join(lines)
            case "spaces":
                place = to % (len(text) + 1)
                text = text[:place] + " " * (2000 * n) + text[place:]
    return text


def _number(choice: int) -> str:
    """A number to put in: mostly a special one, else a small whole number."""
    if choice % 3 == 0:
        return str(choice // 3 % 40)
    return _NUMBERS[choice % len(_NUMBERS)]


def _with_token(text: str, pattern: str, at: int, token: str) -> str:
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    match = found[at % len(found)]
    return text[: match.start()] + token + text[match.end() :]


def json_edits() -> st.SearchStrategy[list[Edit]]:
    """Draw edits for `damage_json`."""
    edit = st.fixed_dictionaries(
        {
            "op": st.sampled_from(
                [
                    *("replace", "replace", "replace", "delete", "repeat", "cut", "copy", "scale"),
                    *("raw", "array", "array"),
                ]
            ),
            # Which child to go to at each level; the last places count in shallow trees too.
            "path": st.lists(st.integers(0, 999), min_size=1, max_size=9),
            "to": st.integers(0, 2**20 - 1),
            "n": st.integers(1, 200),
        }
    )
    return _few(edit)


def damage_json(root: Any, edits: Sequence[Edit]) -> tuple[Any, dict[str, str]]:
    """Lose, replace, repeat, cut or copy parts of a JSON value.

    Returns the damaged value, and for each mark in it the text that `dump_damaged` shall write
    there, which no JSON value can be.
    """
    root = json.loads(json.dumps(root))
    raw: dict[str, str] = {}
    for number, edit in enumerate(edits):
        if edit["op"] == "array" and (arrays := list(_arrays(root))):
            _reshape(arrays[edit["path"][0] % len(arrays)], edit["to"], edit["n"])
            continue
        holder, key = _place(root, edit["path"])
        if holder is None:
            continue
        value = holder[key]
        match edit["op"]:
            case "delete":
                del holder[key]
            case "repeat" if isinstance(value, list) and value:
                holder[key] = (value * edit["n"])[:20_000]
            case "repeat" if isinstance(value, str):
                holder[key] = (value * edit["n"])[:100_000]
            case "cut" if isinstance(value, list | str):
                holder[key] = value[: edit["to"] % (len(value) + 1)]
            case "copy":
                other, there = _place(root, random.Random(edit["to"]).choices(range(999), k=6))
                if other is not None:
                    holder[key] = json.loads(json.dumps(other[there]))
            case "scale" if isinstance(value, int | float):
                holder[key] = value * (-1, 10, 1000, 10**9, 0.5)[edit["to"] % 5]
            case "raw":
                holder[key] = mark = f"{_RAW_MARK}-{number}"
                raw[mark] = _RAW[edit["to"] % len(_RAW)]
            case _:
                holder[key] = json.loads(json.dumps(_VALUES[edit["to"] % len(_VALUES)]))
    return root, raw


def _arrays(node: Any) -> Iterator[dict[str, Any]]:
    """The arrays of a model file, wherever they are."""
    if isinstance(node, dict) and isinstance(node.get("$array"), list):
        yield node
    for child in node.values() if isinstance(node, dict) else node:
        if isinstance(child, dict | list):
            yield from _arrays(child)


def _reshape(array: dict[str, Any], choice: int, n: int) -> None:
    """Give an array another shape with the numbers to fill it, so that it is whole in itself."""
    shape, items = array.get("shape"), array["$array"]
    if not isinstance(shape, list) or not all(isinstance(size, int) for size in shape):
        shape = [len(items)]
    shape = shape or [1]
    axis, change = choice % len(shape), choice // 8 % 6
    if change < 4:
        shape[axis] = max(0, (shape[axis] + n, shape[axis] + 1, shape[axis] - 1, n)[change])
    else:
        shape = [1, *shape] if change == 4 else shape[1:] or [1]
    size = min(math.prod(shape), 20_000)
    array["shape"], array["$array"] = (
        shape,
        ((items or [0]) * (1 + size // max(1, len(items))))[:size],
    )


def dump_damaged(root: Any, raw: dict[str, str]) -> str:
    """Write a damaged value as text."""
    text = json.dumps(root)
    for mark, instead in raw.items():
        text = text.replace(json.dumps(mark), instead)
    return text


def _place(root: Any, path: Sequence[int]) -> tuple[Any, Any]:
    """A container and a key in it, found by going down a path."""
    holder = key = None
    node = root
    for step in path:
        if not isinstance(node, dict | list) or not node:
            break
        holder = node
        key = list(node)[step % len(node)] if isinstance(node, dict) else step % len(node)
        node = node[key]
    return holder, key
