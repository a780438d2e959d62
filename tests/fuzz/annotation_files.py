"""Target: damaged annotation files of every format, read, converted, and imported as ZIP files."""

from __future__ import annotations

import base64
import io
import json
import re
import tempfile
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

from annotation_examples import full_set, write_pictures
from hypothesis import strategies as st

from fuzz.damage import (
    byte_edits,
    damage_bytes,
    damage_json,
    damage_text,
    dump_damaged,
    json_edits,
    text_edits,
)
from fuzz.forking import Sandbox
from fuzz.outcomes import Failed, Verdict, judge_refusal
from groupcm.annotations import FORMATS, Annotations, AnnotationWarning, read, write
from groupcm.errors import InputError

__all__ = ["MEGABYTES", "cases", "run", "warm_up"]

Case = dict[str, Any]

MEGABYTES = 2000
FILE_SECONDS = 8
FILE_MEGABYTES = 300
FORMAT_NAMES = ("coco", "voc", "yolo", "labelme", "label_studio", "cvat", "masks", "csv")
# Widths and heights that pictures are made to have.
SIZES = ([2000, 1500], [20_000, 20_000], [65_000, 30], [40, 65_000], [40_000, 30_000])
# Pixels of a mask are asked for up to this size of a picture.
_PIXELS = 4_000_000
# The files of each format, written once by `warm_up`.
_files: dict[str, dict[str, bytes]] = {}
_pictures: dict[str, bytes] = {}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a format, one of its files, what is wrong with it, and how it is read."""
    how = draw(st.sampled_from(["inside"] * 6 + ["bytes", "zip", "laughs", "large picture"]))
    case: Case = {
        "format": draw(st.sampled_from(FORMAT_NAMES)),
        "file": draw(st.integers(0, 9)),
        "how": how,
        "via": draw(st.sampled_from(["read", "skip", "sniff", "convert", "import"])),
        "to": draw(st.sampled_from(FORMAT_NAMES)),
        "text": draw(text_edits()),
        "json": draw(json_edits()),
        "bytes": draw(byte_edits()),
    }
    if how == "large picture":
        case["size"] = draw(st.sampled_from(SIZES))
    used = {"inside": ("text", "json"), "bytes": ("bytes",), "zip": ("bytes",)}.get(how, ())
    return {k: v for k, v in case.items() if k not in ("text", "json", "bytes") or k in used}


def warm_up() -> None:
    """Write a small set in every format, and read it once."""
    import groupcm.web.annotate.exchange  # noqa: F401

    assert set(FORMAT_NAMES) == set(FORMATS)
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(name)
        for format in FORMAT_NAMES:
            write(full_set(), folder / format, format)
            _files[format] = _contents(folder / format)
            _use(read(folder / format, full_set(), format), "masks", folder / f"{format}-masks")
        names = _files["yolo"].pop("classes.txt").decode().split()
        lines = [f"  {number}: {name}\n" for number, name in enumerate(names)]
        _files["yolo"]["data.yaml"] = ("names:\n" + "".join(lines)).encode()
        write_pictures(folder / "pictures", full_set())
        _pictures.update(_contents(folder / "pictures"))


def _contents(path: Path) -> dict[str, bytes]:
    if path.is_file():
        return {"": path.read_bytes()}
    files = sorted(each for each in path.rglob("*") if each.is_file())
    return {each.relative_to(path).as_posix(): each.read_bytes() for each in files}


def run(case: Case, sandbox: Sandbox) -> Verdict:
    """Read damaged annotations: they are refused in one sentence, or can be used."""
    files = dict(_files[case["format"]])
    name = list(files)[case["file"] % len(files)]
    if case["how"] != "zip":
        files[name] = _damaged(case, files[name])
    with sandbox.budget(f"reading annotations ({case['how']}, {case['via']})", FILE_SECONDS):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", AnnotationWarning)
                _read_and_use(case, files, sandbox)
            verdict = Verdict("ok")
        except InputError as error:
            verdict = judge_refusal(error)
    sandbox.require_memory(FILE_MEGABYTES)
    return verdict


def _damaged(case: Case, content: bytes) -> bytes:
    how = case["how"]
    if how == "bytes":
        return damage_bytes(content, case["bytes"])
    if how == "large picture":
        return _enlarged(content, *case["size"])
    if how == "laughs":
        return _laughs(content) if content.lstrip().startswith(b"<") else content
    if content[:1] in (b"{", b"["):
        return dump_damaged(*damage_json(json.loads(content), case["json"])).encode()
    if content.startswith(b"\x89PNG"):
        return content
    return damage_text(content.decode(), case["text"]).encode()


def _enlarged(content: bytes, width: int, height: int) -> bytes:
    """The same file, but for the size of its pictures of 40 × 30 pixels."""
    if content.startswith(b"\x89PNG"):
        return large_picture(width, height)
    text = content.decode()
    text = re.sub(r'(width["=> :]+)40\b', rf"\g<1>{width}", text, flags=re.IGNORECASE)
    text = re.sub(r'(height["=> :]+)30\b', rf"\g<1>{height}", text, flags=re.IGNORECASE)
    text = text.replace(",40,30,", f",{width},{height},")
    # Masks that begin and end with their picture: runs of COCO, pictures of labelme.
    text = text.replace('"size": [30, 40]', f'"size": [{height}, {width}]')
    runs = f'"counts": [35, 5, {width * height - 40}]'
    text = re.sub(r'"counts": "[^"]*"', runs, text)
    picture = base64.b64encode(large_picture(width, height)).decode()
    return re.sub(r'"mask": "[^"]*"', f'"mask": "{picture}"', text).encode()


def large_picture(width: int, height: int) -> bytes:
    """A small PNG file of many black pixels."""
    packer = zlib.compressobj(1)
    line = bytes(1 + (width + 7) // 8)
    packed = b"".join(packer.compress(line * 1000) for _ in range(height // 1000))
    packed += packer.compress(line * (height % 1000)) + packer.flush()
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([1, 0, 0, 0, 0])
    chunks = [(b"IHDR", header), (b"IDAT", packed), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
        for kind, data in chunks
    )


def _laughs(content: bytes) -> bytes:
    """XML whose entities grow tenfold nine times."""
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "haha"}">' for i in range(10))
    text = content.decode()
    at = text.index("?>") + 2 if text.startswith("<?xml") else 0
    body = text[at:].lstrip()
    root = body[1:].split(">")[0].split()[0]
    body = body.replace("polyp", "&e9;")
    return f"{text[:at]}<!DOCTYPE {root} [{entities}]>{body}".encode()


def _read_and_use(case: Case, files: dict[str, bytes], sandbox: Sandbox) -> None:
    path = sandbox.folder / "marked"
    format = case["format"]
    if case["via"] == "import" or case["how"] == "zip":
        _import(case, files, sandbox)
        return
    for name, content in files.items():
        target = path / name if name else path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    images = full_set() if format == "yolo" else None
    given = None if case["via"] == "sniff" else format
    found = read(path, images, given, skip_damaged=case["via"] == "skip")
    _use(found, case["to"] if case["via"] == "convert" else None, sandbox.folder / "out")


def _use(found: Annotations, to: str | None, path: Path) -> None:
    for picture in found:
        for marked in picture.objects:
            box = marked.region.box
            if not (box.width > 0 and box.height > 0 and marked.region.area >= 0):
                raise Failed("wrong_model", "an object without extent", f"{box}")
            if picture.width * picture.height <= _PIXELS:
                mask = marked.region.mask(picture.height, picture.width)
                if mask.shape != (picture.height, picture.width):
                    raise Failed("wrong_model", "a mask of another size", f"{mask.shape}")
    if to is not None:
        write(found, path, to)


def _import(case: Case, files: dict[str, bytes], sandbox: Sandbox) -> None:
    """As the page does it: a file as it is, a folder as a ZIP file, perhaps itself damaged."""
    from groupcm.web.annotate.exchange import import_bytes
    from groupcm.web.annotate.store import AnnotationStore
    from groupcm.web.server.library import PictureLibrary

    folder = sandbox.folder / "pictures"
    for name, content in _pictures.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    content = files.get("", b"")
    if "" not in files or case["how"] == "zip":
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, inner in files.items():
                archive.writestr(name or "marked", inner)
        content = held.getvalue()
        if case["how"] == "zip":
            content = damage_bytes(content, case["bytes"])
    library = PictureLibrary(folder)
    store = AnnotationStore(library, folder / "annotations.json")
    try:
        import_bytes(store, library, content, case["format"])
    finally:
        store.close()
    outside = {path.name for path in sandbox.folder.iterdir()} - {"pictures"}
    if any(not name.startswith(".") for name in outside):
        raise Failed("wrong_model", "an import wrote outside its folder", f"{sorted(outside)}")
